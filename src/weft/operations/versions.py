"""New versions of what stands: the same node saying something else, for the time for which it said it before.

What weft knows changes, not what was true: asked as of any moment a node answers with its newest version, asked as
known at an earlier one with the older.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from weft.append import Fence
from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.kinds import RECORD_KINDS, VIEWS
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import Committed
from weft.operations.reading import resolve
from weft.operations.references import assertion_of
from weft.operations.remembered import Remembered
from weft.types import MAX_LIMIT, NOW, Find, NodeVersion, When

# Read from files and transcripts: they say what their source says, and change with it.
READ_KINDS: Final = frozenset({"Document", "Section", "Chunk", "Message", "Session", "Conversation"}) | VIEWS["code"]
MAX_VERSIONS: Final = 1_000  # of one node that are looked through for one that stands


def standing_node(loom: Loom, written: str) -> NodeVersion:
    """The node of an id, a citation or a name, as it holds now, or as it last held.

    Raises NotFound for what is not there, is forgotten, or is not for the caller to see: the three are told alike.
    """
    node_id = resolve(loom, written, NOW)
    if found := loom.store.nodes(loom.viewer, NOW, [node_id]):
        return found[0]
    versions = loom.store.history(loom.viewer, node_id, limit=MAX_VERSIONS)
    stands = [version for version in versions if version.retired_at is None]
    if not stands:
        raise NotFound(
            f"there is no node {written[:80]!r} that you may see and that is not forgotten",
            hint="`weft recall` finds nodes by their words and gives their ids",
        )
    return max(stands, key=lambda version: version.interval.valid_from)


def must_be_told(node: NodeVersion, *, to: str) -> None:
    """Raises Invalid unless somebody told weft this node: records and what was read from a source are not edited."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"{node.kind} is weft's own kind of record", hint=f"{to} the memory that it is about")
    if node.kind in READ_KINDS:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind}, read from a source that still says so",
            hint="change the source and read it again, or remember what is right",
        )


def new_version(loom: Loom, node: NodeVersion, **changes: Any) -> graph.NodeAssertion:
    """Asserts a node again with some of its fields changed, for exactly the time for which this version holds.

    One that goes on without an end does so again, from where it began: then what comes to its slot later meets it as
    before. One that ended keeps its end.
    """
    interval = node.interval
    whole = interval.asserted_to is None and interval.valid_from == interval.asserted_from
    begin = interval.asserted_from if whole else interval.valid_from
    open_ended = interval.asserted_to is None and (interval.valid_to is None or (whole and _was_followed(loom, node)))
    end = None if open_ended or interval.valid_to is None else to_iso(interval.valid_to)
    return replace(assertion_of(node), **{"valid_from": to_iso(begin), "valid_to": end, **changes})


def _was_followed(loom: Loom, node: NodeVersion) -> bool:
    """Whether it ends because something else begins there, and not because somebody ended it."""
    end = node.interval.valid_to
    assert end is not None
    if node.slot == node.id:
        after = loom.store.nodes(loom.viewer, When(valid_at=end), [node.id])
    else:
        after = loom.store.find(loom.viewer, When(valid_at=end), Find(slots=(node.slot,)), limit=1).nodes
    return any(each.interval.asserted_from == end and each.interval.asserted_to is None for each in after)


def version_draft(loom: Loom, node: NodeVersion, assertion: graph.NodeAssertion, *, reason: str = "") -> Draft:
    """The event of a new version; it names the event of the one before as its cause."""
    cited = loom.store.citations(loom.viewer, [node.event]).get(node.event)
    payload = graph.Asserted(nodes=(assertion,), reason=reason)
    return Draft(kind="graph.asserted", payload=payload, caused_by=() if cited is None else (cited,))


def node_fence(node: NodeVersion, pos: int) -> Fence:
    """What a new version rests on: that nobody changed the node, or what stands in its slot."""
    return Fence(pos=pos, slots=tuple({node.slot, node.id}))


def answer_of(told: Remembered, done: Committed | None) -> Remembered:
    """What was decided, with what became of the commit."""
    if done is None:
        return told
    status = told.status if done.status == "saved" else done.status
    return replace(told, status=status, citation=done.citation, notes=(*told.notes, *done.notes))


def pieces_after(loom: Loom, node: NodeVersion) -> int:
    """How many other versions of the node stand that begin later."""
    versions = loom.store.history(loom.viewer, node.id, limit=max(MAX_VERSIONS, MAX_LIMIT))
    begin = node.interval.valid_from
    return sum(
        each.retired_at is None and each.row != node.row and each.interval.valid_from > begin for each in versions
    )
