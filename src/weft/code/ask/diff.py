"""Symbol-level diff of a workspace: since a commit, a time, a transaction or an agent's change.

Since a commit, git's tree is compared with the index, even if that commit was never indexed. Otherwise an earlier state
of the index is compared with the present one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct

from weft.code.ask.workspaces import workspace_of
from weft.code.index.reader import reader_of
from weft.code.parse.parse import MAX_SOURCE_BYTES
from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Forbidden, Invalid, NotFound, WeftError
from weft.core.queries import NodeFilter
from weft.core.types import NOW, SCOPES, Find, NodeVersion, Viewer, When
from weft.documents.keep.freshness import freshness_note
from weft.files import git
from weft.files.document_suffixes import form_of
from weft.files.gitignore import read_patterns
from weft.files.languages import language_of
from weft.recall.answer_limits import bounded_lists
from weft.retrieval.citations.file_ids import SYMBOL_KINDS, file_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import POINT_IN_TIME
from weft.runtime.indexed_commits import of_project
from weft.runtime.moments import looks_like_sha, looks_like_tx, names_commit
from weft.runtime.operation import Operation
from weft.runtime.read_nodes import read_nodes

CODE_KINDS: Final = ("File", *SYMBOL_KINDS)
MOST_FILES: Final = 1_000_000
MOST_READ: Final = 400  # files of a commit that are read symbol by symbol; the rest is told as files
MOST_SYMBOLS: Final = 10_000  # of one file
MOST_CHANGES: Final = 100_000
MOST_TRANSACTIONS: Final = 50
MORE_THAN_LIMIT: Final = "there are more changes: raise limit"
LOOKED_THROUGH: Final = 1_000  # of the latest transactions, for an agent's last


class DiffSince(Struct, frozen=True, kw_only=True):
    """Input of `diff_since`."""

    since: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=128,
            description="a git commit, a time, a Tx id, or an agent's name",
            extra={POINT_IN_TIME: True},
        ),
    ]
    types: Annotated[
        tuple[str, ...], Meta(max_length=8, description="File, Class, Function or Test; all of them if unset")
    ] = ()
    limit: Annotated[int, Meta(ge=1, le=1_000, description="the most to list of each")] = 100


class NodeDelta(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An added, removed or modified file or symbol."""

    id: str
    type: str
    path: str
    symbol: str = ""
    line: int = 0


class CodeChanged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Changed files and symbols, by path. `tx_ids` are the transactions in between, the latest first."""

    summary: str
    since: str
    added: tuple[NodeDelta, ...]
    removed: tuple[NodeDelta, ...]
    modified: tuple[NodeDelta, ...]
    tx_ids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Found(NamedTuple):
    since: str
    pos: int
    added: list[NodeDelta]
    removed: list[NodeDelta]
    modified: list[NodeDelta]
    notes: list[str]
    quiet: str = "nothing changed"


def diff_since(ctx: CallContext, given: DiffSince) -> CodeChanged:
    """Lists files, classes, functions and tests that were added, removed or modified.

    Since a git commit (indexed or not), a time such as 2026-05-08, a transaction (tx-…), or the last change of an
    agent, by its name. The comparison is with the index: run `weft index` first if files changed.
    """
    ctx = workspace_of(ctx)
    kinds = _kinds(given.types)
    found = None
    if looks_like_sha(given.since) or names_commit(ctx, given.since):
        found = _since_commit(ctx, given.since)
    if found is None:
        found = _since_known(ctx, given.since)
    sides = [
        sorted((each for each in side if each.type in kinds), key=lambda each: (each.path, each.line, each.id))
        for side in (found.added, found.removed, found.modified)
    ]
    added, removed, modified = (tuple(side[: given.limit]) for side in sides)
    if any(len(side) > given.limit for side in sides):
        found.notes.append(MORE_THAN_LIMIT)
    counts = [len(side) for side in sides]
    changed = CodeChanged(
        summary=f"{_counted(sides) if any(counts) else found.quiet} since {found.since}",
        since=found.since,
        added=added,
        removed=removed,
        modified=modified,
        tx_ids=_later(ctx, found.pos),
        notes=tuple(found.notes),
    )
    return bounded_lists(changed, ("modified", "removed", "added"))


def _kinds(asked: tuple[str, ...]) -> tuple[str, ...]:
    known = {kind.lower(): kind for kind in CODE_KINDS}
    if unknown := [each for each in asked if each.lower() not in known]:
        raise Invalid(f"unknown type {unknown[0][:40]!r}", hint=f"types are {', '.join(CODE_KINDS)}")
    return tuple(known[each.lower()] for each in asked) or CODE_KINDS


def _counted(sides: list[list[NodeDelta]]) -> str:
    """Counts in words: 1 file, 3 functions added; 2 functions modified."""
    told = []
    for side, word in zip(sides, ("added", "removed", "modified"), strict=True):
        counts = [(sum(each.type == kind for each in side), kind) for kind in CODE_KINDS]
        some = [f"{n:,} {_plural(kind) if n != 1 else kind.lower()}" for n, kind in counts if n]
        if some:
            told.append(f"{', '.join(some)} {word}")
    return "; ".join(told)


def _plural(kind: str) -> str:
    return "classes" if kind == "Class" else f"{kind.lower()}s"


# ---- since a commit


def _since_commit(ctx: CallContext, written: str) -> _Found | None:
    """The difference from git's tree of that commit; None if git does not know it."""
    root = ctx.settings.root
    tree = git.tree_of(root, written)
    if tree is None:
        return None
    then = {entry.path: entry for entry in tree}
    prefix = f"{ctx.settings.project}/" if ctx.settings.project else ""
    files = ctx.store.find(
        ctx.viewer, NOW, Find(kinds=("File",), projects=(ctx.settings.project,)), limit=MOST_FILES
    ).nodes
    now = {str(node.props.get("path", "")): node for node in files}
    found = _Found(f"commit {written[:12]}", 0, [], [], [], [])
    if not now:
        found.notes.append("nothing is indexed here yet: run `weft index`")
    changed = _changed(ctx, then, now)
    gone = _gone(ctx, [path for path in then if path not in now and _is_kept(ctx, path)], found.notes)
    came = _came(ctx, written, [path for path in now if path not in then], found.notes)
    if (note := freshness_note(ctx, now)) is not None:
        found.notes.append(note)
    blobs = {path: then[path].blob for path in (*changed, *gone)[:MOST_READ]}
    old = dict(_symbols_then(ctx, blobs, prefix, found.notes))
    for path in came:
        found.added.append(_of_node(now[path]))
        found.added.extend(_of_node(node) for node in _symbols_now(ctx, now[path]))
    for path in gone:
        found.removed.append(NodeDelta(id=file_id(ctx.settings.project, path), type="File", path=path))
        found.removed.extend(delta for delta, _ in old.get(path, {}).values())
    for path in changed:
        found.modified.append(_of_node(now[path]))
        if path in old:
            _compare(old[path], _symbols_now(ctx, now[path]), found)
    if len(changed) + len(gone) > MOST_READ:
        found.notes.append(
            f"{len(changed) + len(gone):,} files differ; symbols are compared in the first {MOST_READ} only"
        )
    return found


def _is_kept(ctx: CallContext, path: str) -> bool:
    """Whether a file of a commit would be indexed: no document, not hidden, not ignored."""
    if language_of(path) is not None:
        return True
    hidden = any(part.startswith(".") for part in path.split("/"))
    ignored = read_patterns("", ctx.settings.ignore).verdict(path, folder=False)
    return form_of(path) is None and not hidden and not ignored


def _changed(ctx: CallContext, then: Mapping[str, git.TreeFile], now: Mapping[str, NodeVersion]) -> list[str]:
    """The files whose content differs now.

    Git may convert line ends, and hashes content differently: where hashes differ, the texts are compared.
    """
    unlike = [
        path
        for path, node in now.items()
        if path in then and node.props.get("blob") and node.props["blob"] != then[path].blob
    ]
    by_blob: dict[str, list[str]] = {}
    for path in unlike:
        if then[path].size <= MAX_SOURCE_BYTES:
            by_blob.setdefault(then[path].blob, []).append(path)
    same: set[str] = set()
    for blob, raw in git.blobs_of(ctx.settings.root, tuple(by_blob)):
        plain = raw.replace(b"\r\n", b"\n")
        hashes = {hashlib.sha256(each).hexdigest() for each in (raw, plain, plain.replace(b"\n", b"\r\n"))}
        same.update(path for path in by_blob[blob] if now[path].props.get("sha256") in hashes)
    return [path for path in unlike if path not in same]


def _came(ctx: CallContext, written: str, paths: list[str], notes: list[str]) -> list[str]:
    """Files that are new since the commit; files of its submodules are not."""
    others = tuple(f"{folder}/" for folder in git.submodules_of(ctx.settings.root, written)) if paths else ()
    inside = [path for path in paths if path.startswith(others)] if others else []
    if inside:
        notes.append(f"{len(inside):,} files in submodules are not compared: {inside[0]}")
    return [path for path in paths if not (others and path.startswith(others))]


def _gone(ctx: CallContext, paths: list[str], notes: list[str]) -> list[str]:
    """Files of the commit that no longer exist; files on disk that indexing skips do not count.

    Git has no guards: files that are hidden from the viewer are left out, and files that were never indexed are shown
    only to viewers who would see them.
    """
    if not paths:
        return []
    ids = {path: file_id(ctx.settings.project, path) for path in paths}
    which = NodeFilter(ids=tuple(ids.values()))
    anyone = Viewer(account=ctx.viewer.account, scopes=frozenset(SCOPES), sensitive=True)
    known, seen = (
        {node.id for node in ctx.store.last_versions(viewer, which, limit=len(ids))} for viewer in (anyone, ctx.viewer)
    )
    sees_new = ctx.viewer.audience == "internal" and "admin" in ctx.viewer.scopes
    shown = [path for path, node in ids.items() if node in seen or (sees_new and node not in known)]
    there = {path for path in shown if os.path.lexists(ctx.settings.root / path)}
    if named := [path for path in shown if path in there and language_of(path) is not None]:
        notes.append(f"{len(named):,} source files of the commit exist but are not indexed: {named[0]}")
    return [path for path in shown if path not in there]


Old = Mapping[str, tuple[NodeDelta, str]]


def _symbols_then(
    ctx: CallContext, blobs: Mapping[str, str], prefix: str, notes: list[str]
) -> Iterator[tuple[str, Old]]:
    """The symbols of files at a commit, by id, each with its text as it would have been stored."""
    by_blob: dict[str, list[str]] = {}
    for path, blob in blobs.items():
        if language_of(path) is not None:
            by_blob.setdefault(blob, []).append(path)
    for blob, raw in git.blobs_of(ctx.settings.root, tuple(by_blob)):
        for path in by_blob[blob]:
            try:
                read = reader_of(ctx).source(ctx.privacy.redact(raw.decode("utf-8-sig")), path)
            except (UnicodeDecodeError, WeftError) as problem:
                notes.append(f"{path} could not be read as of then: {problem}")
                continue
            yield (
                path,
                {
                    f"{prefix}{path}::{each.key}": (
                        NodeDelta(
                            id=f"{prefix}{path}::{each.key}",
                            type=each.kind,
                            path=path,
                            symbol=each.name,
                            line=each.line,
                        ),
                        each.text,
                    )
                    for each in read.symbols
                },
            )


def _symbols_now(ctx: CallContext, file: NodeVersion) -> tuple[NodeVersion, ...]:
    find = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file.id}::")
    found = ctx.store.find(ctx.viewer, NOW, find, limit=MOST_SYMBOLS).nodes
    return tuple(node for node in found if node.props.get("part_of") == file.id)


def _compare(old: Old, nodes: Iterable[NodeVersion], found: _Found) -> None:
    now = {node.id: node for node in nodes}
    found.added.extend(_of_node(node) for each, node in now.items() if each not in old)
    found.removed.extend(delta for each, (delta, _) in old.items() if each not in now)
    found.modified.extend(
        _of_node(node) for each, node in now.items() if each in old and _plain(old[each][1]) != _plain(node.text)
    )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


# ---- since what weft knew


def _since_known(ctx: CallContext, written: str) -> _Found:
    """The difference from the state at a time, after a transaction, or at an agent's last change."""
    pos, at, label = _position(ctx, written)
    own = (ctx.settings.project,)
    diff = ctx.store.diff(ctx.viewer, since_pos=pos, agent=None, projects=own, limit=MOST_CHANGES)
    notes = [f"more than {MOST_CHANGES:,} changes; only these are listed"] if diff.truncated else []
    wanted = [[node for kind, node in side if kind in CODE_KINDS] for side in (diff.added, diff.modified)]
    there = _nodes(ctx, NOW, [node for side in wanted for node in side])
    then = _nodes(ctx, When(known_at=at), wanted[1])
    added = [_of_node(there[node]) for node in wanted[0] if node in there]
    # What was told anew of other times may say the same of now.
    modified = [_of_node(there[node]) for node in wanted[1] if node in there and not _same(then.get(node), there[node])]
    prefix = f"{ctx.settings.project}/" if ctx.settings.project else ""
    gone = [(kind, node) for kind, node in diff.removed if kind in CODE_KINDS and node.startswith(prefix)]
    removed = [_by_id(kind, node, prefix) for kind, node in gone]
    quiet = "no file or symbol is among the changes" if diff.truncated else "nothing changed"
    return _Found(label, pos, added, removed, modified, notes, quiet)


def _same(one: NodeVersion | None, other: NodeVersion) -> bool:
    said = (other.name, other.text, other.props, other.guard)
    return one is not None and (one.name, one.text, one.props, one.guard) == said


def _position(ctx: CallContext, written: str) -> tuple[int, int, str]:
    """The last position of the log known then, its time, and a label for it."""
    if looks_like_tx(written):
        tx = ctx.store.transaction(ctx.viewer, written)
        if tx is None:
            raise NotFound(f"there is no transaction {written!r}", hint="`weft diff` lists transactions")
        return tx.closed_pos or tx.opened_pos, tx.at, f"{written} ({to_iso(tx.at)})"
    if looks_like_sha(written):
        known = [tx for tx in ctx.store.transactions(ctx.viewer, limit=20, git_commit=written) if of_project(ctx, tx)]
        if not known:
            raise NotFound(f"git does not know a commit {written} here", hint="give a time instead, such as 2026-05-08")
        return known[0].closed_pos or known[0].opened_pos, known[0].at, f"commit {written[:12]}"
    if written[:1].isdigit():
        at = parse_instant(written, field="since")
        return ctx.store.position_at(ctx.viewer, at), at, to_iso(at)
    own = next((tx for tx in ctx.store.transactions(ctx.viewer, limit=LOOKED_THROUGH) if tx.agent == written), None)
    if own is None:
        raise NotFound(
            f"{written[:60]!r} is neither a git commit of this repository nor an agent with recent changes",
            hint="give a git commit, a time such as 2026-05-08, a Tx id or an agent's name",
        )
    return own.closed_pos or own.opened_pos, own.at, f"the last change of {written} ({to_iso(own.at)})"


def _later(ctx: CallContext, pos: int) -> tuple[str, ...]:
    """The latest transactions after a position; none for viewers who may not see transactions."""
    try:
        latest = ctx.store.transactions(ctx.viewer, limit=MOST_TRANSACTIONS) if pos else ()
        return tuple(tx.id for tx in latest if tx.opened_pos > pos)
    except Forbidden:
        return ()


def _nodes(ctx: CallContext, when: When, ids: list[str]) -> dict[str, NodeVersion]:
    own = ctx.settings.project
    return {node.id: node for node in read_nodes(ctx, when, ids) if node.guard.project == own}


def _of_node(node: NodeVersion) -> NodeDelta:
    line = node.props.get("line")
    return NodeDelta(
        id=node.id,
        type=node.kind,
        path=str(node.props.get("path", "")),
        symbol="" if node.kind == "File" else node.name,
        line=line if isinstance(line, int) and node.kind != "File" else 0,
    )


def _by_id(kind: str, node_id: str, prefix: str) -> NodeDelta:
    """A removed node: its place follows from its id."""
    path, _, key = node_id.removeprefix(prefix).partition("::")
    return NodeDelta(id=node_id, type=kind, path=path, symbol=key.replace("::", "."))


OPERATIONS = (
    Operation(
        name="diff_since",
        summary="list files and symbols changed since a commit, a time, a Tx or an agent's last change",
        input=DiffSince,
        output=CodeChanged,
        effect="read",
        toolset="code",
        run=diff_since,
        arguments=("since",),
    ),
)
