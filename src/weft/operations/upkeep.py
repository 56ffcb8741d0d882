"""Keeping a store well: rebuild, diff, statistics, backup, self-test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.audit import AUDIT
from weft.errors import Corrupt, NotFound, StoreError, WeftError
from weft.governing import is_operator
from weft.instants import parse_instant, to_iso
from weft.log.verify import verify
from weft.loom import Loom
from weft.operations.auditing import audit_line, audit_store
from weft.operations.fields import Label, Limit
from weft.operations.moments import commit_time, looks_like_sha, looks_like_tx
from weft.operations.paths import read_path
from weft.operations.pending import waiting_line
from weft.operations.registry import Operation
from weft.operations.showing import TxShown, beginnings, show_tx
from weft.operations.vectors_held import VectorsHeld, vectors_held, vectors_line
from weft.projection.digest import graph_digest
from weft.projection.weave import weave
from weft.queries import TextQuery
from weft.types import KindStat, StoreStats, Viewer, When


class Rebuild(Struct, frozen=True, kw_only=True):
    """Input of `rebuild`."""


class Rebuilt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The graph before and after; `equal` is None where others wrote meanwhile, so that it cannot be said."""

    events: int
    equal: bool | None
    digest_before: str
    digest_after: str
    notes: tuple[str, ...] = ()


def rebuild(loom: Loom, given: Rebuild) -> Rebuilt:
    """Throws graph and text index away and makes them again from the log, beside running agents.

    The log is verified first: a graph is never made from a log that was changed. The two digests are equal unless the
    graph was damaged; then the one after is right.
    """
    viewer = loom.operator("rebuild the graph")
    if problem := verify(loom.store, viewer).problem:
        raise Corrupt(
            f"the log was changed, so the graph is not made again from it: {problem}",
            hint="what stands may be the last good copy: restore a backup from before the change",
        )
    began = loom.store.head(viewer).pos
    before, readable = _digest_if_readable(loom, viewer)
    loom.store.rebuild(viewer, weave, progress=lambda done, total: loom.progress("folding", done, total))
    after = graph_digest(loom.store.graph_rows(viewer))
    events = loom.store.head(viewer).pos
    moved = readable and before != after and events != began
    return Rebuilt(
        events=events,
        equal=None if moved else before == after,
        digest_before=before,
        digest_after=after,
        notes=(f"{events - began} events were written meanwhile: the two digests cannot be compared",) if moved else (),
    )


def _digest_if_readable(loom: Loom, viewer: Viewer) -> tuple[str, bool]:
    try:
        return graph_digest(loom.store.graph_rows(viewer)), True
    except StoreError as problem:
        return f"unreadable: {problem.message}", False


class DiffInput(Struct, frozen=True, kw_only=True):
    """Input of `diff`."""

    since: (
        Annotated[str, Meta(max_length=128, description="a moment, a Tx id or a git commit; the beginning if unset")]
        | None
    ) = None
    agent: Annotated[Label | None, Meta(description="only what this agent changed")] = None
    limit: Limit = 50


class Changed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What changed, per kind. `words` are the beginnings of what is there today, by id."""

    since: str
    added: dict[str, tuple[str, ...]]
    removed: dict[str, tuple[str, ...]]
    modified: dict[str, tuple[str, ...]]
    edges_added: tuple[str, ...]
    edges_removed: tuple[str, ...]
    transactions: tuple[TxShown, ...]
    words: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def diff(loom: Loom, given: DiffInput) -> Changed:
    """Shows what was added, removed and modified since a moment, a transaction or a git commit."""
    since_pos, label = _since(loom, given.since)
    found = loom.store.diff(loom.viewer, since_pos=since_pos, agent=given.agent, limit=given.limit)
    every = loom.store.transactions(loom.viewer, limit=given.limit)
    later = [tx for tx in every if tx.opened_pos > since_pos and given.agent in (None, tx.agent)]
    return Changed(
        since=label,
        added=_by_kind(found.added),
        removed=_by_kind(found.removed),
        modified=_by_kind(found.modified),
        edges_added=tuple(f"{src} -{rel}-> {dst}" for src, rel, dst in found.edges_added),
        edges_removed=tuple(f"{src} -{rel}-> {dst}" for src, rel, dst in found.edges_removed),
        transactions=tuple(map(show_tx, later)),
        words=beginnings(loom, [node for _, node in (*found.added, *found.modified)]),
        notes=("there is more than the limit shows: raise --limit",) if found.truncated else (),
    )


def _since(loom: Loom, written: str | None) -> tuple[int, str]:
    if written is None:
        return 0, "the beginning"
    if looks_like_tx(written):
        tx = loom.store.transaction(loom.viewer, written)
        if tx is None:
            raise NotFound(f"there is no transaction {written!r}", hint="`weft diff` lists transactions")
        return tx.closed_pos or tx.opened_pos, f"{written} ({to_iso(tx.at)})"
    at = commit_time(loom, written) if looks_like_sha(written) else parse_instant(written, field="since")
    return loom.store.position_at(loom.viewer, at), to_iso(at)


def _by_kind(pairs: tuple[tuple[str, str], ...]) -> dict[str, tuple[str, ...]]:
    kinds: dict[str, list[str]] = {}
    for kind, node in pairs:
        kinds.setdefault(kind, []).append(node)
    return {kind: tuple(nodes) for kind, nodes in kinds.items()}


class StatsInput(Struct, frozen=True, kw_only=True):
    """Input of `stats`."""


class Stats(Struct, frozen=True, kw_only=True):
    """Counts of what you may see. How many texts have vectors is told to operators."""

    store: StoreStats
    kinds: tuple[KindStat, ...]
    vectors: VectorsHeld | None = None


def stats(loom: Loom, given: StatsInput) -> Stats:
    """Counts nodes, edges, events and bytes, and lists the kinds and properties that can be searched."""
    counted, vectors = loom.store.stats(loom.viewer), None
    if is_operator(loom.writer.actor, loom.viewer):  # the size tells of what others keep, too
        viewer = loom.operator("see how large the store is")
        counted = replace(counted, bytes_on_disk=loom.store.stats(viewer).bytes_on_disk)
        vectors = vectors_held(loom, viewer)
    return Stats(store=counted, kinds=loom.store.indexes(loom.viewer), vectors=vectors)


class Backup(Struct, frozen=True, kw_only=True):
    """Input of `backup`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, description="a new or empty directory")]


class BackedUp(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the copy is, and the log's digest at that moment; that of the audit's log where calls are recorded."""

    path: str
    digest: str
    audit_digest: str = ""
    notes: tuple[str, ...] = ()


def backup(loom: Loom, given: Backup) -> BackedUp:
    """Copies the account into another directory while agents go on working. The copy is a store by itself.

    The audit goes with it, as its directory `audit`.
    """
    viewer = loom.operator("back up the store")
    digest = loom.store.head(viewer).digest.hex()
    audit, audit_digest = audit_store(loom), ""
    notes: tuple[str, ...] = ("no call is recorded: there is no audit to copy",)
    try:
        target = loom.store.backup(viewer, read_path(given.path))
        if audit is not None and audit.head(viewer).pos:
            audit_digest, notes = audit.head(viewer).digest.hex(), ()
            audit.backup(viewer, target / AUDIT)
    except OSError as problem:
        raise StoreError(
            f"{given.path} cannot be written: {problem}", hint="check the directory and the space left"
        ) from problem
    return BackedUp(path=str(target), digest=digest, audit_digest=audit_digest, notes=notes)


class Doctor(Struct, frozen=True, kw_only=True):
    """Input of `doctor`."""


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One subsystem's self-test."""

    name: str
    ok: bool
    detail: str
    hint: str = ""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All self-tests."""

    ok: bool
    checks: tuple[Check, ...]


def doctor(loom: Loom, given: Doctor) -> Diagnosis:
    """Tests each part of the store and says in a line how it is; a broken part comes with its fix."""
    viewer = loom.operator("examine the store")
    checks = tuple(
        _checked(name, test, loom, viewer)
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


def _checked(name: str, test: Callable[[Loom, Viewer], Check], loom: Loom, viewer: Viewer) -> Check:
    try:
        return test(loom, viewer)
    except WeftError as problem:
        return Check(name=name, ok=False, detail=problem.message, hint=problem.hint)


def _check_settings(loom: Loom, viewer: Viewer) -> Check:
    settings = loom.settings
    detail = f"store {settings.store}, account {settings.account}, project {settings.project}, agent {settings.agent}"
    return Check(name="settings", ok=True, detail=detail)


def _check_files(loom: Loom, viewer: Viewer) -> Check:
    problems = loom.store.check(viewer)
    if problems:
        return Check(
            name="files",
            ok=False,
            detail="; ".join(problems)[:500],
            hint="export the log if `weft log verify` passes, or restore a backup",
        )
    if loom.store.sweep_due(viewer):
        return Check(
            name="files",
            ok=False,
            detail="sound, but they hold copies of what was erased: an erasure was stopped before its end",
            hint="repeat the `weft erase` with --yes: it finishes what is left, also where it finds nothing",
        )
    size = loom.store.stats(viewer).bytes_on_disk
    return Check(name="files", ok=True, detail=f"sound, {size / 1e6:.1f} MB{_open_to_others(loom)}")


def _open_to_others(loom: Loom) -> str:
    """That other users of the machine may read the files: those made before weft kept them for their owner."""
    path = Path(loom.settings.store.removeprefix("sqlite://")).expanduser()
    try:
        others = path.stat().st_mode & 0o077 if loom.settings.store.startswith("sqlite://") else 0
    except OSError:
        return ""
    return f"; others on this machine may read them: chmod -R go= {path}" if others else ""


def _check_log(loom: Loom, viewer: Viewer) -> Check:
    found = verify(loom.store, viewer)
    if found.problem:
        return Check(name="log", ok=False, detail=found.problem, hint="restore a backup from before the damage")
    detail = f"{found.events} events in {found.commits} commits, every hash fits"
    if found.erased:
        some = "1 payload was" if found.erased == 1 else f"{found.erased:,} payloads were"
        detail += f"; {some} replaced, as the log itself says"
    return Check(name="log", ok=True, detail=detail)


def _check_graph(loom: Loom, viewer: Viewer) -> Check:
    figures = loom.store.stats(viewer)
    waiting = [tx for tx in loom.store.transactions(viewer, limit=100) if tx.closed_pos is None]
    detail = f"{figures.nodes} nodes, {figures.edges} edges, {figures.node_versions} versions"
    if waiting:
        detail += f"; {len(waiting)} unfinished changes are hidden, the latest {waiting[0].id}"
    return Check(name="graph", ok=True, detail=detail)


def _check_text(loom: Loom, viewer: Viewer) -> Check:
    found = loom.store.search_text(viewer, When(), TextQuery(terms=(("weft", 1.0),)), limit=1)
    return Check(name="text index", ok=True, detail=f"{found.population} texts can be searched")


def _check_vectors(loom: Loom, viewer: Viewer) -> Check:
    ok, detail, hint = vectors_line(loom, viewer)
    return Check(name="vectors", ok=ok, detail=detail, hint=hint)


def _check_clock(loom: Loom, viewer: Viewer) -> Check:
    ahead_us = loom.store.head(viewer).at - loom.clock.now_us()
    if ahead_us > 60_000_000:
        return Check(
            name="clock",
            ok=False,
            detail=f"the log is {ahead_us // 1_000_000} s ahead of this machine's clock",
            hint="set the clock; writes are stamped after the log's last moment until it catches up",
        )
    return Check(name="clock", ok=True, detail="not behind the log")


def _check_outbox(loom: Loom, viewer: Viewer) -> Check:
    ok, detail, hint = waiting_line(loom.outbox)
    return Check(name="outbox", ok=ok, detail=detail, hint=hint)


def _check_audit(loom: Loom, viewer: Viewer) -> Check:
    ok, detail, hint = audit_line(loom, viewer)
    return Check(name="audit", ok=ok, detail=detail, hint=hint)


OPERATIONS = (
    Operation(
        name="rebuild",
        summary="make graph and index again from the log",
        input=Rebuild,
        output=Rebuilt,
        effect="write",
        toolset="admin",
        run=rebuild,
    ),
    Operation(
        name="diff",
        summary="show what changed since a moment, a transaction or a git commit",
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
        summary="count what is there, and list the kinds that can be searched",
        input=StatsInput,
        output=Stats,
        effect="read",
        toolset="admin",
        run=stats,
    ),
    Operation(
        name="backup",
        summary="copy the account into another directory, while agents go on",
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
