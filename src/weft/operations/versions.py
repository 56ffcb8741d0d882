"""New versions of what stands: the same node saying something else, for the time for which it said it before.

What weft knows changes, not what was true: asked as of any moment a node answers with its newest version, asked as
known at an earlier one with the older.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec.structs import replace

from weft.append import Fence
from weft.errors import Forbidden, Invalid, NotFound
from weft.instants import to_iso
from weft.kinds import RECORD_KINDS, VIEWS
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import Committed
from weft.operations.reading import resolve
from weft.operations.references import assertion_of
from weft.operations.remembered import Remembered
from weft.projection import timeline
from weft.types import NOW, NodeVersion

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
        raise missing(written)
    return max(stands, key=lambda version: version.interval.valid_from)


def missing(written: str) -> NotFound:
    """The error for a node that is not there, is forgotten, or is not for the caller to see."""
    return NotFound(
        f"there is no node {written[:80]!r} that you may see and that is not forgotten",
        hint="`weft recall` finds nodes by their words and gives their ids",
    )


@contextmanager
def told_alike(written: str) -> Iterator[None]:
    """Makes the store's word that a node is hidden the same as its word that there is none."""
    try:
        yield
    except (Forbidden, NotFound) as problem:
        raise missing(written) from problem


def must_be_told(node: NodeVersion, *, to: str) -> None:
    """Raises Invalid unless somebody told weft this node: records and what was read from a source are not edited."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"{node.kind} is weft's own kind of record", hint=f"{to} the memory that it is about")
    if node.kind in READ_KINDS:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind}, read from a source that still says so",
            hint="change the source and read it again, or remember what is right",
        )


def new_versions(loom: Loom, node: NodeVersion, **changes: Any) -> tuple[graph.NodeAssertion, ...]:
    """Asserts a node again with some of its fields changed, for exactly the moments that its assertion still has.

    Where that can be said as it was said at first (without an end, from where it began), it is: then what comes to its
    slot later meets it as before. Else each piece that is left is said by itself.
    """
    own = pieces_of(loom, node)
    again = replace(assertion_of(node), **changes)
    if _can_be_said_whole(loom, own):
        return (replace(again, valid_from=to_iso(own[0].interval.asserted_from), valid_to=None),)
    return tuple(piece_again(again, piece) for piece in own)


def piece_again(again: graph.NodeAssertion, piece: NodeVersion) -> graph.NodeAssertion:
    """An assertion for the moments of one piece, and no others."""
    begin, end = piece.interval.valid_from, piece.interval.valid_to
    return replace(again, valid_from=to_iso(begin), valid_to=None if end is None else to_iso(end))


def pieces_of(loom: Loom, node: NodeVersion) -> tuple[NodeVersion, ...]:
    """What is left of what the event of a version asserted of the node, in order."""
    versions = loom.store.history(loom.viewer, node.id, limit=MAX_VERSIONS)
    own = [row for row in versions if row.retired_at is None and (row.event, row.slot) == (node.event, node.slot)]
    return tuple(sorted(own, key=lambda row: row.interval.valid_from)) or (node,)


def _can_be_said_whole(loom: Loom, own: Sequence[NodeVersion]) -> bool:
    """Whether an assertion without an end would take these pieces again, and nothing that is free or others'."""
    begin = own[0].interval.asserted_from
    if any(row.interval.asserted_to is not None or row.interval.asserted_from != begin for row in own):
        return False
    if own[0].slot == own[0].id:
        versions = loom.store.history(loom.viewer, own[0].id, limit=MAX_VERSIONS)
        rows = sorted((row for row in versions if row.retired_at is None), key=lambda row: row.interval.valid_from)
    else:
        rows = list(loom.store.standing(loom.viewer, own[0].slot, after=begin, limit=MAX_VERSIONS))
    takeover = timeline.take(rows, begin, None)
    joined: list[timeline.Span] = []
    for row in own:
        touches = bool(joined) and joined[-1].end == row.interval.valid_from
        start = joined.pop().start if touches else row.interval.valid_from
        joined.append(timeline.Span(start, row.interval.valid_to))
    return list(takeover.taken) == joined and all(cut.row in own for cut in takeover.cuts)


def version_draft(
    loom: Loom, node: NodeVersion, assertions: tuple[graph.NodeAssertion, ...], *, reason: str = ""
) -> Draft:
    """The event of a new version; it names the event of the one before as its cause."""
    cited = loom.store.citations(loom.viewer, [node.event]).get(node.event)
    payload = graph.Asserted(nodes=assertions, reason=reason)
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


def last_end(loom: Loom, node: NodeVersion) -> int | None:
    """When the last of all that stands of a node ends; None for never, or where there is too much to tell."""
    versions = loom.store.history(loom.viewer, node.id, limit=MAX_VERSIONS)
    if len(versions) == MAX_VERSIONS:
        return None
    ends = [each.interval.valid_to for each in versions if each.retired_at is None]
    return None if None in ends else max((end for end in ends if end is not None), default=None)
