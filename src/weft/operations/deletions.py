"""Taking nodes out of sight and bringing them back: one mechanism, whatever is deleted and by which operation.

What goes with a thing is decided once and recorded: its parts, and what was read out of it or of them. It goes in one
commit, so it shares the moment of its deletion, and by that it comes back together: what had been deleted before on its
own has another moment, and stays where it is. What is too much for one commit goes in several that share a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.kinds import CHUNK_MARK, RECORD_KINDS
from weft.log.draft import Draft
from weft.log.kinds import graph, payload_of
from weft.loom import Loom
from weft.operations.committing import Committed, commit
from weft.queries import Which
from weft.retrieval.derived import DERIVED_FROM
from weft.types import NOW, SCOPES, Event, NodeVersion, Viewer

STANDING: Final = Which(deleted=False)
CLEARED: Final = "clear:"  # how the names of deletions begin that retire a whole project
CAME_AGAIN: Final = "its source came again"
WHOLES: Final = frozenset({"Document", "File", "Session", "Conversation"})
MAX_AT_ONCE: Final = 400  # nodes that one commit deletes or restores: others wait no longer than that takes
MAX_EVENT_BYTES: Final = 400_000  # of ids in one event
MAX_MOMENTS: Final = 10_000  # deletions that are looked through for those of one name
MAX_DEPTH: Final = 12  # sections inside sections
MAX_INSIDE: Final = 10_000  # sections and chunks right under one section
PAGE: Final = 1_000


class Deed(Struct, frozen=True, kw_only=True):
    """A deletion as the log has it: when, by whom, why, which node was meant, and the name several commits share."""

    at: int
    by: str
    citation: str
    root: str = ""
    reason: str = ""
    name: str = ""


# What goes with what


def going_with(loom: Loom, roots: Iterable[NodeVersion], among: Which = STANDING) -> tuple[NodeVersion, ...]:
    """The roots, each followed by its parts and by what was read out of them, of every moment; each once.

    Only nodes that fit `among`: what is deleted already does not go again. Nor does what the caller may not see.
    """
    found: dict[str, NodeVersion] = {}
    for root in roots:
        found.setdefault(root.id, root)
        for node in _parts(loom, root, among):
            found.setdefault(node.id, node)
    return tuple(found.values())


def _parts(loom: Loom, root: NodeVersion, among: Which) -> Iterator[NodeVersion]:
    if root.kind in ("Session", "Conversation"):
        yield from _below(loom, f"{root.id}#", among)
        own = pages(loom, replace(among, id_prefix=f"{root.id}:briefing"))
        yield from (node for node in own if node.id == f"{root.id}:briefing")
    elif root.kind == "File":
        yield from _below(loom, f"{root.id}::", among)
    elif root.kind == "Document":
        yield from _below(loom, f"{root.id}#", among)
        yield from _read_out_of(loom, root.id, among)
    elif root.kind == "Section":
        for section in (root, *_contained(loom, root)):
            if section is not root:
                yield section
            for chunk in _chunks(loom, section.id, among):
                yield chunk
                yield from _read_out_of(loom, chunk.id, among)
            yield from _read_out_of(loom, section.id, among)
    else:
        yield from _read_out_of(loom, root.id, among)


def _below(loom: Loom, prefix: str, among: Which) -> Iterator[NodeVersion]:
    """What belongs to a whole: not another whole whose name begins alike, nor what belongs to that."""
    others: tuple[str, ...] = ()
    for node in pages(loom, replace(among, id_prefix=prefix)):
        if node.kind in WHOLES:
            others += (f"{node.id}#", f"{node.id}::", f"{node.id}:")
        elif not node.id.startswith(others) and node.kind not in RECORD_KINDS - {"Proposal"}:
            yield node


def _read_out_of(loom: Loom, node_id: str, among: Which) -> Iterator[NodeVersion]:
    """Claims, preferences, causes and proposals of a memory. Their ids begin with its own, as others may by chance."""
    for node in pages(loom, replace(among, id_prefix=f"{node_id}:")):
        if node.props.get(DERIVED_FROM) == node_id or node.kind == "Proposal":
            yield node


def _chunks(loom: Loom, section_id: str, among: Which) -> Iterator[NodeVersion]:
    """The chunks of a section: it and a number make their ids."""
    prefix = f"{section_id}{CHUNK_MARK}"
    for node in pages(loom, replace(among, id_prefix=prefix)):
        if node.kind == "Chunk" and node.id.removeprefix(prefix).isdecimal():
            yield node


def _contained(loom: Loom, section: NodeVersion) -> Iterator[NodeVersion]:
    """Sections under a section, as they stand: "C" and "C#" begin alike, so ids do not tell."""
    around = [section.id]
    for _ in range(MAX_DEPTH):
        steps = loom.store.neighbours(loom.viewer, NOW, around, rels=("CONTAINS",), direction="out", limit=MAX_INSIDE)
        sections = [step.node for step in steps if step.node.kind == "Section"]
        yield from sections
        around = [node.id for node in sections]
        if not around:
            return


def pages(loom: Loom, which: Which, *, viewer: Viewer | None = None) -> Iterator[NodeVersion]:
    """The last versions of all nodes that fit, by id, a page at a time."""
    while page := loom.store.last_versions(viewer or loom.viewer, which, limit=PAGE):
        yield from page
        if len(page) < PAGE:
            return
        which = replace(which, after=page[-1].id)


# Writing


def deletion_drafts(ids: Sequence[str], *, reason: str = "", name: str = "") -> tuple[Draft, ...]:
    """The events of one commit that takes these out of sight; the first id is what was meant."""
    made = (graph.Deleted(nodes=some, reason=reason, deletion=name) for some in _by_size(ids))
    return tuple(Draft(kind="graph.deleted", payload=payload) for payload in made)


def restoration_drafts(ids: Sequence[str], *, reason: str = "") -> tuple[Draft, ...]:
    """The events of one commit that brings these back."""
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


def slices(ids: Sequence[str]) -> Iterator[list[str]]:
    """As many at a time as one commit takes."""
    left = iter(ids)
    while some := list(islice(left, MAX_AT_ONCE)):
        yield some


def delete_in_slices(loom: Loom, ids: Sequence[str], *, reason: str, name: str) -> Committed:
    """Takes a great many out of sight, in commits that share a name; the first of `ids`, which was meant, goes last.

    So whoever is stopped halfway finds it still there, and calls again under the same name.
    """
    done: Committed | None = None
    batches = list(slices(ids))
    for number, some in enumerate(reversed(batches), start=1):
        done = commit(loom, deletion_drafts(some, reason=reason, name=name))
        loom.progress("deleting", number, len(batches))
    assert done is not None
    return done


def restore_in_slices(loom: Loom, ids: Sequence[str], *, reason: str = "") -> Committed:
    """Brings a great many back; the first commit tells."""
    first: Committed | None = None
    for number, some in enumerate(slices(ids)):
        done = commit(loom, restoration_drafts(some, reason=reason))
        first = first or done
        loom.progress("restoring", min(len(ids), (number + 1) * MAX_AT_ONCE), len(ids))
    assert first is not None
    return first


# Reading


def deleted_node(loom: Loom, node_id: str) -> NodeVersion | None:
    """A node that is deleted, as it last was; None where it is not deleted, not there, or not the caller's to see."""
    found = loom.store.last_versions(loom.viewer, Which(ids=(node_id,), deleted=True), limit=1)
    return found[0] if found else None


def gone_with(loom: Loom, node: NodeVersion) -> tuple[str, ...]:
    """A deleted node, and all that went with it and is still deleted, as far as the caller may see.

    Of a node that itself went with another, or with a whole project, only what belongs to it.
    """
    assert node.deleted_at is not None
    deed = deed_at(loom, node.deleted_at)
    if deed is None or deed.root != node.id or deed.name.startswith(CLEARED):
        return own_parts_gone(loom, node, deed)
    moments = moments_named(loom, deed.name) if deed.name else (node.deleted_at,)
    ids = [each.id for at in moments for each in pages(loom, Which(deleted_at=at))]
    return tuple(dict.fromkeys((node.id, *ids)))


def own_parts_gone(loom: Loom, node: NodeVersion, deed: Deed | None = None) -> tuple[str, ...]:
    """A deleted node, and those of its parts that went in the same deletion."""
    moments = moments_of(loom, node, deed)
    parts = going_with(loom, [node], Which(deleted=True))
    return tuple(part.id for part in parts if part.deleted_at in moments)


def moments_of(loom: Loom, node: NodeVersion, deed: Deed | None = None) -> frozenset[int]:
    """When a deleted node went, and the rest of what went with it."""
    assert node.deleted_at is not None
    deed = deed or deed_at(loom, node.deleted_at)
    return frozenset({node.deleted_at, *(moments_named(loom, deed.name) if deed is not None and deed.name else ())})


def revive(loom: Loom, node: NodeVersion) -> Committed:
    """Brings a deleted whole back with its parts, because its source came again. Nothing else that went with it."""
    return restore_in_slices(loom, own_parts_gone(loom, node), reason=CAME_AGAIN)


def moments_named(loom: Loom, name: str) -> tuple[int, ...]:
    """When the commits of one deletion were written, as far as what they deleted still is."""
    return tuple(deed.at for deed, _ in deeds(loom, most=MAX_MOMENTS) if deed.name == name)


def deeds(loom: Loom, *, most: int, viewer: Viewer | None = None) -> Iterator[tuple[Deed, int]]:
    """Deletions that still hold, the latest first, each with how many nodes the viewer may see of it."""
    before: int | None = None
    left = most
    while left > 0:
        page = loom.store.deletions(viewer or loom.viewer, before=before, limit=min(left, PAGE))
        for each in page:
            deed = deed_at(loom, each.at)
            yield deed or Deed(at=each.at, by="", citation=""), each.nodes
        if len(page) < min(left, PAGE):
            return
        before, left = page[-1].at, left - len(page)


def deed_at(loom: Loom, at: int) -> Deed | None:
    """The deletion of a moment, from its event."""
    # Not the caller's rights: an event that makes no node is shown to operators only. Who asks for it may see a node
    # that went; of the event it learns who deleted that, and why only where the node that was meant is theirs to see.
    reader = Viewer(account=loom.writer.account, scopes=frozenset(SCOPES), sensitive=True)
    after = loom.store.position_at(reader, at - 1)
    for commit_, events in loom.store.log(reader, after=after, limit=1):
        if commit_.at == at:
            return next((_deed(loom, event) for event in events if event.kind == "graph.deleted"), None)
    return None


def _deed(loom: Loom, event: Event) -> Deed:
    payload = payload_of(loom.screen.event(event))  # why something sensitive went is sealed, too
    bare = Deed(at=event.known_at, by=event.actor.agent, citation=event.citation)
    if not isinstance(payload, graph.Deleted) or not payload.nodes:
        return bare
    root = payload.nodes[0]
    seen = bool(loom.store.last_versions(loom.viewer, Which(ids=(root,)), limit=1))
    return Deed(
        at=event.known_at,
        by=event.actor.agent,
        citation=event.citation,
        root=root if seen else "",
        reason=payload.reason if seen else "",
        name=payload.deletion,
    )
