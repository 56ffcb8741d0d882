"""Deleting nodes and restoring them: one mechanism for every operation.

Dependents (parts, and what was extracted from a node or its parts) are determined once and recorded. They are deleted
in one commit and so share its time; by that time they are restored together, and what was deleted before on its own
stays deleted. Deletions too large for one commit use several that share a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import CHUNK_MARK, DERIVED_FROM, RECORD_KINDS
from weft.core.queries import NodeFilter
from weft.core.slices import in_slices
from weft.core.types import NOW, SCOPES, Event, NodeVersion, Viewer
from weft.graph.folds import moves_of
from weft.graph.moves import PutNode
from weft.log.citation import is_event_citation
from weft.log.draft import Draft
from weft.log.kinds import graph, payload_of
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import Committed, commit

NOT_DELETED: Final = NodeFilter(deleted=False)
CLEARED: Final = "clear:"  # prefix of the names of deletions of whole projects
CAME_AGAIN: Final = "its source came again"
WHOLES: Final = frozenset({"Document", "File", "Session", "Conversation"})
MAX_AT_ONCE: Final = 400  # nodes per commit, which bound how long the write lock is held
MAX_EVENT_BYTES: Final = 400_000  # of ids in one event
MAX_MOMENTS: Final = 10_000  # deletions searched for those of one name
MAX_DEPTH: Final = 12  # sections inside sections
MAX_INSIDE: Final = 10_000  # sections and chunks directly under one section
PAGE: Final = 1_000


class DeletionRecord(Struct, frozen=True, kw_only=True):
    """A deletion in the log: when, by whom, why, the root node, and the name that several commits share."""

    at: int
    by: str
    citation: str
    root: str = ""
    reason: str = ""
    name: str = ""


# Dependents


def with_dependents(
    ctx: CallContext, roots: Iterable[NodeVersion], among: NodeFilter = NOT_DELETED
) -> tuple[NodeVersion, ...]:
    """The roots, each followed by its parts and by what was extracted from them, of every time; each once.

    Only nodes that match `among`, and only those that the caller may see.
    """
    found: dict[str, NodeVersion] = {}
    for root in roots:
        found.setdefault(root.id, root)
        for node in _parts(ctx, root, among):
            found.setdefault(node.id, node)
    return tuple(found.values())


def _parts(ctx: CallContext, root: NodeVersion, among: NodeFilter) -> Iterator[NodeVersion]:
    if root.kind in ("Session", "Conversation"):
        yield from _below(ctx, f"{root.id}#", among)
        own = pages(ctx, replace(among, id_prefix=f"{root.id}:briefing"))
        yield from (node for node in own if node.id == f"{root.id}:briefing")
    elif root.kind == "File":
        yield from _below(ctx, f"{root.id}::", among)
    elif root.kind == "Document":
        yield from _below(ctx, f"{root.id}#", among)
        yield from _read_out_of(ctx, root.id, among)
    elif root.kind == "Section":
        for section in (root, *_contained(ctx, root)):
            if section is not root:
                yield section
            for chunk in _chunks(ctx, section.id, among):
                yield chunk
                yield from _read_out_of(ctx, chunk.id, among)
            yield from _read_out_of(ctx, section.id, among)
    else:
        yield from _read_out_of(ctx, root.id, among)


def _below(ctx: CallContext, prefix: str, among: NodeFilter) -> Iterator[NodeVersion]:
    """The parts of a whole; not other wholes whose ids begin alike, nor their parts."""
    others: tuple[str, ...] = ()
    for node in pages(ctx, replace(among, id_prefix=prefix)):
        if node.kind in WHOLES:
            others += (f"{node.id}#", f"{node.id}::", f"{node.id}:")
        elif not node.id.startswith(others) and node.kind not in RECORD_KINDS - {"Proposal"}:
            yield node


def _read_out_of(ctx: CallContext, node_id: str, among: NodeFilter) -> Iterator[NodeVersion]:
    """Extracted nodes and proposals of a memory. Their ids begin with its own; other ids may too, by chance."""
    for node in pages(ctx, replace(among, id_prefix=f"{node_id}:")):
        if node.props.get(DERIVED_FROM) == node_id or node.kind == "Proposal":
            yield node


def _chunks(ctx: CallContext, section_id: str, among: NodeFilter) -> Iterator[NodeVersion]:
    """The chunks of a section, whose ids are the section's and a number."""
    prefix = f"{section_id}{CHUNK_MARK}"
    for node in pages(ctx, replace(among, id_prefix=prefix)):
        if node.kind == "Chunk" and node.id.removeprefix(prefix).isdecimal():
            yield node


def _contained(ctx: CallContext, section: NodeVersion) -> Iterator[NodeVersion]:
    """Sections under a section, by edges: ids of unrelated sections may begin alike ("C" and "C#")."""
    around = [section.id]
    for _ in range(MAX_DEPTH):
        steps = ctx.store.neighbours(ctx.viewer, NOW, around, rels=("CONTAINS",), direction="out", limit=MAX_INSIDE)
        sections = [step.node for step in steps if step.node.kind == "Section"]
        yield from sections
        around = [node.id for node in sections]
        if not around:
            return


def pages(ctx: CallContext, which: NodeFilter, *, viewer: Viewer | None = None) -> Iterator[NodeVersion]:
    """The last versions of all matching nodes, by id, read in pages."""
    while page := ctx.store.last_versions(viewer or ctx.viewer, which, limit=PAGE):
        yield from page
        if len(page) < PAGE:
            return
        which = replace(which, after=page[-1].id)


# Writing


def deletion_drafts(ids: Sequence[str], *, reason: str = "", name: str = "") -> tuple[Draft, ...]:
    """The events of one commit that deletes these nodes; the first id is the root."""
    made = (graph.Deleted(nodes=some, reason=reason, deletion=name) for some in _by_size(ids))
    return tuple(Draft(kind="graph.deleted", payload=payload) for payload in made)


def restoration_drafts(ids: Sequence[str], *, reason: str = "") -> tuple[Draft, ...]:
    """The events of one commit that restores these nodes."""
    made = (graph.Restored(nodes=some, reason=reason) for some in _by_size(ids))
    return tuple(Draft(kind="graph.restored", payload=payload) for payload in made)


def _by_size(ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    taken: list[str] = []
    size = 0
    for each in ids:
        taken.append(each)
        size += len(each.encode()) + 3
        if size >= MAX_EVENT_BYTES:
            yield tuple(taken)
            taken, size = [], 0
    if taken:
        yield tuple(taken)


def delete_in_slices(ctx: CallContext, ids: Sequence[str], *, reason: str, name: str) -> Committed:
    """Deletes many nodes in commits that share a name; the root, first in `ids`, is deleted last.

    So an interrupted call finds the root still there and continues under the same name.
    """
    done: Committed | None = None
    batches = list(in_slices(ids, MAX_AT_ONCE))
    for number, some in enumerate(reversed(batches), start=1):
        done = commit(ctx, deletion_drafts(some, reason=reason, name=name))
        ctx.progress("deleting", number, len(batches))
    assert done is not None
    return done


def restore_in_slices(ctx: CallContext, ids: Sequence[str], *, reason: str = "") -> Committed:
    """Restores many nodes. Returns the first commit."""
    first: Committed | None = None
    for number, some in enumerate(in_slices(ids, MAX_AT_ONCE)):
        done = commit(ctx, restoration_drafts(some, reason=reason))
        first = first or done
        ctx.progress("restoring", min(len(ids), (number + 1) * MAX_AT_ONCE), len(ids))
    assert first is not None
    return first


# Reading


def deleted_node(ctx: CallContext, written: str) -> NodeVersion | None:
    """The last version of a deleted node, by its id or by the citation of an event that wrote or deleted it.

    None if there is no such node, if it is not deleted, or if the caller may not see it.
    """
    for node_id in _cited_ids(ctx, written) if is_event_citation(written) else (written,):
        if found := ctx.store.last_versions(ctx.viewer, NodeFilter(ids=(node_id,), deleted=True), limit=1):
            return found[0]
    return None


def _cited_ids(ctx: CallContext, citation: str) -> Iterator[str]:
    """The nodes that an event wrote or deleted, the one that it is about first."""
    reader = Viewer(account=ctx.writer.account, scopes=frozenset(SCOPES), sensitive=True)
    for event in ctx.store.events_at(reader, tuple(ctx.store.cited(reader, [citation]).values())):
        payload = payload_of(event)
        yield from (payload.id,) if hasattr(payload, "id") else ()
        yield from payload.nodes if isinstance(payload, graph.Deleted) else ()
        yield from (move.id for move in moves_of(event) if isinstance(move, PutNode))


def deleted_together(ctx: CallContext, node: NodeVersion) -> tuple[str, ...]:
    """A deleted node and all that was deleted with it and still is, as far as the caller may see it.

    For a node that was deleted with another or with a whole project: only its own dependents.
    """
    assert node.deleted_at is not None
    deed = deletion_at(ctx, node.deleted_at)
    if deed is None or deed.root != node.id or deed.name.startswith(CLEARED):
        return deleted_parts(ctx, node, deed)
    moments = times_of_deletion(ctx, deed.name) if deed.name else (node.deleted_at,)
    ids = [each.id for at in moments for each in pages(ctx, NodeFilter(deleted_at=at))]
    return tuple(dict.fromkeys((node.id, *ids)))


def deleted_parts(ctx: CallContext, node: NodeVersion, deed: DeletionRecord | None = None) -> tuple[str, ...]:
    """A deleted node and those of its dependents that the same deletion removed."""
    moments = deletion_times(ctx, node, deed)
    parts = with_dependents(ctx, [node], NodeFilter(deleted=True))
    return tuple(part.id for part in parts if part.deleted_at in moments)


def deletion_times(ctx: CallContext, node: NodeVersion, deed: DeletionRecord | None = None) -> frozenset[int]:
    """The times of the commits of the deletion of a node."""
    assert node.deleted_at is not None
    deed = deed or deletion_at(ctx, node.deleted_at)
    return frozenset({node.deleted_at, *(times_of_deletion(ctx, deed.name) if deed is not None and deed.name else ())})


def restore_whole(ctx: CallContext, node: NodeVersion) -> Committed:
    """Restores a deleted whole with its parts because its source was read again, and nothing else."""
    return restore_in_slices(ctx, deleted_parts(ctx, node), reason=CAME_AGAIN)


def times_of_deletion(ctx: CallContext, name: str) -> tuple[int, ...]:
    """The times of the commits of a named deletion, as far as they still have an effect."""
    return tuple(deed.at for deed, _ in deletion_records(ctx, most=MAX_MOMENTS) if deed.name == name)


def deletion_records(
    ctx: CallContext, *, most: int, viewer: Viewer | None = None
) -> Iterator[tuple[DeletionRecord, int]]:
    """Deletions that still have an effect, latest first, each with the number of nodes that the viewer may see."""
    before: int | None = None
    left = most
    while left > 0:
        page = ctx.store.deletions(viewer or ctx.viewer, before=before, limit=min(left, PAGE))
        for each in page:
            deed = deletion_at(ctx, each.at)
            yield deed or DeletionRecord(at=each.at, by="", citation=""), each.nodes
        if len(page) < min(left, PAGE):
            return
        before, left = page[-1].at, left - len(page)


def deletion_at(ctx: CallContext, at: int) -> DeletionRecord | None:
    """The deletion of a moment, from its event."""
    # Not the caller's rights: an event that makes no node is shown to operators only. Who asks for it may see a node
    # that went; of the event it learns who deleted that, and why only where the node that was meant is theirs to see.
    reader = Viewer(account=ctx.writer.account, scopes=frozenset(SCOPES), sensitive=True)
    after = ctx.store.position_at(reader, at - 1)
    for commit_, events in ctx.store.log(reader, after=after, limit=1):
        if commit_.at == at:
            return next((_deed(ctx, event) for event in events if event.kind == "graph.deleted"), None)
    return None


def _deed(ctx: CallContext, event: Event) -> DeletionRecord:
    payload = payload_of(ctx.privacy.event(event))  # why something sensitive went is sealed, too
    bare = DeletionRecord(at=event.known_at, by=event.actor.agent, citation=event.citation)
    if not isinstance(payload, graph.Deleted) or not payload.nodes:
        return bare
    root = payload.nodes[0]
    seen = bool(ctx.store.last_versions(ctx.viewer, NodeFilter(ids=(root,)), limit=1))
    return DeletionRecord(
        at=event.known_at,
        by=event.actor.agent,
        citation=event.citation,
        root=root if seen else "",
        reason=payload.reason if seen else "",
        name=payload.deletion,
    )
