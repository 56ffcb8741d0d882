"""`rebuild`, `diff`, `stats`, `backup`, `doctor`: maintenance of a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.access.audit import audit_store, check_audit
from weft.append.approval import is_operator
from weft.core.clock import to_iso
from weft.core.errors import Corrupt, NotFound, StoreError, WeftError
from weft.core.queries import TextQuery
from weft.core.types import KindStat, StoreStats, Viewer, When
from weft.files.paths import read_path
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.verify import verify
from weft.recall.show_values import TxShown, beginnings, show_tx
from weft.runtime.audit_log import AUDIT
from weft.runtime.call_context import CallContext
from weft.runtime.fields import POINT_IN_TIME, Label, Limit
from weft.runtime.moments import looks_like_tx, read_moment
from weft.runtime.operation import Operation
from weft.upkeep.pending import check_outbox
from weft.writing.build.missing_vectors import VectorCounts, check_vectors, vector_counts


class RebuildInput(Struct, frozen=True, kw_only=True):
    """Input of `rebuild`."""


class Rebuilt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Digests of the graph before and after; `equal` is None if others wrote meanwhile, so that they cannot be
    compared.
    """

    events: int
    equal: bool | None
    digest_before: str
    digest_after: str
    notes: tuple[str, ...] = ()


def rebuild(ctx: CallContext, given: RebuildInput) -> Rebuilt:
    """Builds graph and text index again from the log, while agents keep working.

    The log is verified first: a graph is never built from a changed log. The two digests are equal unless the
    graph was damaged; then the second one is right.
    """
    viewer = ctx.operator("rebuild the graph")
    if problem := verify(ctx.store, viewer).problem:
        raise Corrupt(
            f"the log was changed, so the graph is not rebuilt from it: {problem}",
            hint="the present graph may be the last good copy: restore a backup from before the change",
        )
    began = ctx.store.head(viewer).pos
    before, readable = _digest_if_readable(ctx, viewer)
    ctx.store.rebuild(viewer, apply_events, progress=lambda done, total: ctx.progress("folding", done, total))
    after = graph_digest(ctx.store.graph_rows(viewer))
    events = ctx.store.head(viewer).pos
    moved = readable and before != after and events != began
    return Rebuilt(
        events=events,
        equal=None if moved else before == after,
        digest_before=before,
        digest_after=after,
        notes=(f"{events - began} events were written meanwhile, so the two digests cannot be compared",)
        if moved
        else (),
    )


def _digest_if_readable(ctx: CallContext, viewer: Viewer) -> tuple[str, bool]:
    try:
        return graph_digest(ctx.store.graph_rows(viewer)), True
    except StoreError as problem:
        return f"unreadable: {problem.message}", False


class DiffInput(Struct, frozen=True, kw_only=True):
    """Input of `diff`."""

    since: (
        Annotated[
            str,
            Meta(
                max_length=128,
                description="a time, a transaction id or a git commit; the beginning if unset",
                extra={POINT_IN_TIME: True},
            ),
        ]
        | None
    ) = None
    agent: Annotated[Label | None, Meta(description="only changes by this agent")] = None
    everywhere: Annotated[bool, Meta(description="of every project")] = False
    limit: Limit = 50


class Changed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Changes by kind. `words` are the first words of changed nodes, by id."""

    since: str
    added: dict[str, tuple[str, ...]]
    removed: dict[str, tuple[str, ...]]
    modified: dict[str, tuple[str, ...]]
    edges_added: tuple[str, ...]
    edges_removed: tuple[str, ...]
    transactions: tuple[TxShown, ...]
    words: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def diff(ctx: CallContext, given: DiffInput) -> Changed:
    """Shows what was added, removed and modified since a time, a transaction or a git commit.

    Covers this project, and memories for all projects.
    """
    since_pos, label = _since(ctx, given.since)
    projects = None if given.everywhere else (ctx.settings.project, None)
    found = ctx.store.diff(ctx.viewer, since_pos=since_pos, agent=given.agent, projects=projects, limit=given.limit)
    every = ctx.store.transactions(ctx.viewer, limit=given.limit)
    later = [tx for tx in every if tx.opened_pos > since_pos and given.agent in (None, tx.agent)]
    return Changed(
        since=label,
        added=_by_kind(found.added),
        removed=_by_kind(found.removed),
        modified=_by_kind(found.modified),
        edges_added=tuple(f"{src} -{rel}-> {dst}" for src, rel, dst in found.edges_added),
        edges_removed=tuple(f"{src} -{rel}-> {dst}" for src, rel, dst in found.edges_removed),
        transactions=tuple(map(show_tx, later)),
        words=beginnings(ctx, [node for _, node in (*found.added, *found.modified)]),
        notes=("there are more changes: raise --limit",) if found.truncated else (),
    )


def _since(ctx: CallContext, written: str | None) -> tuple[int, str]:
    if written is None:
        return 0, "the beginning"
    if looks_like_tx(written):
        tx = ctx.store.transaction(ctx.viewer, written)
        if tx is None:
            raise NotFound(f"there is no transaction {written!r}", hint="`weft diff` lists transactions")
        return tx.closed_pos or tx.opened_pos, f"{written} ({to_iso(tx.at)})"
    at = read_moment(ctx, written, "since")
    return ctx.store.position_at(ctx.viewer, at), to_iso(at)


def _by_kind(pairs: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    kinds: dict[str, list[str]] = {}
    for kind, node in pairs:
        kinds.setdefault(kind, []).append(node)
    return {kind: tuple(nodes) for kind, nodes in kinds.items()}


class StatsInput(Struct, frozen=True, kw_only=True):
    """Input of `stats`."""


class Stats(Struct, frozen=True, kw_only=True):
    """Counts of what you may see. Counts of vectors are for operators."""

    store: StoreStats
    kinds: tuple[KindStat, ...]
    vectors: VectorCounts | None = None


def stats(ctx: CallContext, given: StatsInput) -> Stats:
    """Counts nodes, edges, events and bytes, and lists the kinds and properties that can be searched."""
    operator = is_operator(ctx.writer.actor, ctx.viewer)
    vectors = vector_counts(ctx, ctx.operator("count vectors")) if operator else None
    return Stats(store=counted(ctx), kinds=ctx.store.indexes(ctx.viewer), vectors=vectors)


def counted(ctx: CallContext) -> StoreStats:
    """Counts of what the caller may see; for an operator events, sessions and bytes are those of the whole log."""
    own = ctx.store.stats(ctx.viewer)
    if not is_operator(ctx.writer.actor, ctx.viewer):
        return own
    whole = ctx.store.stats(ctx.operator("see how large the store is"))
    return replace(own, events=whole.events, sessions=whole.sessions, bytes_on_disk=whole.bytes_on_disk)


class Backup(Struct, frozen=True, kw_only=True):
    """Input of `backup`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, description="a new or empty directory")]


class BackedUp(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The copy and the log's digest at that time, and the digest of the audit's log, if calls are recorded."""

    path: str
    digest: str
    audit_digest: str = ""
    notes: tuple[str, ...] = ()


def backup(ctx: CallContext, given: Backup) -> BackedUp:
    """Copies the account into another directory while agents keep working. The copy is a complete store.

    The audit is copied too, into its subdirectory `audit`.
    """
    viewer = ctx.operator("back up the store")
    digest = ctx.store.head(viewer).digest.hex()
    audit, audit_digest = audit_store(ctx), ""
    notes: tuple[str, ...] = ("no calls are recorded: there is no audit to copy",)
    try:
        target = ctx.store.backup(viewer, read_path(given.path))
        if audit is not None and audit.head(viewer).pos:
            audit_digest, notes = audit.head(viewer).digest.hex(), ()
            audit.backup(viewer, target / AUDIT)
    except OSError as problem:
        raise StoreError(
            f"{given.path} cannot be written: {problem}", hint="check the directory and the free space"
        ) from problem
    return BackedUp(path=str(target), digest=digest, audit_digest=audit_digest, notes=notes)


class Doctor(Struct, frozen=True, kw_only=True):
    """Input of `doctor`."""


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one self-test."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All self-tests."""

    ok: bool
    checks: tuple[Check, ...]


def doctor(ctx: CallContext, given: Doctor) -> Diagnosis:
    """Tests each part of the store and reports its state in a line, with the fix for a broken part."""
    viewer = ctx.operator("examine the store")
    checks = tuple(
        _checked(name, test, ctx, viewer)
        for name, test in (
            ("settings", _check_settings),
            ("files", _check_files),
            ("log", _check_log),
            ("graph", _check_graph),
            ("text index", _check_text),
            ("vectors", _check_vectors),
            ("clock", _check_clock),
            ("outbox", _check_outbox),
            ("audit", _check_audit),
        )
    )
    return Diagnosis(ok=all(check.ok for check in checks), checks=checks)


def _checked(name: str, test: Callable[[CallContext, Viewer], Check], ctx: CallContext, viewer: Viewer) -> Check:
    try:
        return test(ctx, viewer)
    except WeftError as problem:
        return Check(name=name, ok=False, detail=problem.message, hint=problem.hint)


def _check_settings(ctx: CallContext, viewer: Viewer) -> Check:
    settings = ctx.settings
    detail = f"store {settings.store}, account {settings.account}, project {settings.project}, agent {settings.agent}"
    return Check(name="settings", ok=True, detail=detail)


def _check_files(ctx: CallContext, viewer: Viewer) -> Check:
    problems = ctx.store.check(viewer)
    if problems:
        return Check(
            name="files",
            ok=False,
            detail="; ".join(problems)[:500],
            hint="export the log if `weft log verify` passes, or restore a backup",
        )
    if ctx.store.sweep_due(viewer):
        return Check(
            name="files",
            ok=False,
            detail="sound, but with copies of erased text: an erasure was interrupted",
            hint="repeat the `weft erase` with --yes: it removes the copies, even if it finds nothing else to erase",
        )
    size = ctx.store.stats(viewer).bytes_on_disk
    return Check(name="files", ok=True, detail=f"sound, {size / 1e6:.1f} MB{_open_to_others(ctx)}")


def _open_to_others(ctx: CallContext) -> str:
    """A warning if other users may read the files, as in stores made by early versions."""
    path = Path(ctx.settings.store.removeprefix("sqlite://")).expanduser()
    try:
        others = path.stat().st_mode & 0o077 if ctx.settings.store.startswith("sqlite://") else 0
    except OSError:
        return ""
    return f"; other users of this machine may read them: chmod -R go= {path}" if others else ""


def _check_log(ctx: CallContext, viewer: Viewer) -> Check:
    found = verify(ctx.store, viewer)
    if found.problem:
        return Check(name="log", ok=False, detail=found.problem, hint="restore a backup from before the damage")
    detail = f"{found.events} events in {found.commits} commits, all hashes match"
    if found.erased:
        some = "1 payload was" if found.erased == 1 else f"{found.erased:,} payloads were"
        detail += f"; {some} replaced, as the log records"
    return Check(name="log", ok=True, detail=detail)


def _check_graph(ctx: CallContext, viewer: Viewer) -> Check:
    figures = ctx.store.stats(viewer)
    waiting = [tx for tx in ctx.store.transactions(viewer, limit=100) if tx.closed_pos is None]
    detail = f"{figures.nodes} nodes, {figures.edges} edges, {figures.node_versions} versions"
    if waiting:
        detail += f"; {len(waiting)} unfinished changes are hidden, the latest {waiting[0].id}"
    return Check(name="graph", ok=True, detail=detail)


def _check_text(ctx: CallContext, viewer: Viewer) -> Check:
    found = ctx.store.search_text(viewer, When(), TextQuery(terms=(("weft", 1.0),)), limit=1)
    return Check(name="text index", ok=True, detail=f"{found.population} texts can be searched")


def _check_vectors(ctx: CallContext, viewer: Viewer) -> Check:
    ok, detail, hint = check_vectors(ctx, viewer)
    return Check(name="vectors", ok=ok, detail=detail, hint=hint)


def _check_clock(ctx: CallContext, viewer: Viewer) -> Check:
    ahead_us = ctx.store.head(viewer).at - ctx.clock.now_us()
    if ahead_us > 60_000_000:
        return Check(
            name="clock",
            ok=False,
            detail=f"the log is {ahead_us // 1_000_000} s ahead of this machine's clock",
            hint="set the clock; until it catches up, writes are stamped just after the last event",
        )
    return Check(name="clock", ok=True, detail="not behind the log")


def _check_outbox(ctx: CallContext, viewer: Viewer) -> Check:
    ok, detail, hint = check_outbox(ctx.outbox)
    return Check(name="outbox", ok=ok, detail=detail, hint=hint)


def _check_audit(ctx: CallContext, viewer: Viewer) -> Check:
    ok, detail, hint = check_audit(ctx, viewer)
    return Check(name="audit", ok=ok, detail=detail, hint=hint)


OPERATIONS = (
    Operation(
        name="rebuild",
        summary="rebuild graph and text index from the log",
        input=RebuildInput,
        output=Rebuilt,
        effect="write",
        toolset="admin",
        run=rebuild,
    ),
    Operation(
        name="diff",
        summary="show what changed since a time, a transaction or a git commit",
        input=DiffInput,
        output=Changed,
        effect="read",
        toolset="memory",
        run=diff,
        arguments=("since",),
        priorities={
            "words": "required",
            "edges_added": "medium",
            "edges_removed": "medium",
            "transactions": "low",
        },
    ),
    Operation(
        name="stats",
        summary="count nodes, edges, events and bytes, and list the kinds that can be searched",
        input=StatsInput,
        output=Stats,
        effect="read",
        toolset="admin",
        run=stats,
    ),
    Operation(
        name="backup",
        summary="copy the account into another directory, while agents keep working",
        input=Backup,
        output=BackedUp,
        effect="read",
        toolset="admin",
        reach="machine",
        run=backup,
        arguments=("path",),
    ),
    Operation(
        name="doctor",
        summary="test each part of the store, with the fix for what is broken",
        input=Doctor,
        output=Diagnosis,
        effect="read",
        toolset="admin",
        reach="machine",
        run=doctor,
        priorities={"checks.ok": "required"},
    ),
)
