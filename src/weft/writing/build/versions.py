"""New versions of existing nodes: the same node with other content, for the same valid time.

A new version changes what weft knows, not what was true. A query at any valid time returns the newest version; a query
with an earlier record time (`known_at`) returns the older one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from weft.append.append import Fence
from weft.core.clock import to_iso
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.core.kinds import RECORD_KINDS, VIEWS
from weft.core.types import NOW, NodeVersion
from weft.graph import timeline
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.citations.resolve import resolve
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import Committed, WriteDecision, decide_and_commit
from weft.writing.build.references import assertion_of
from weft.writing.checks.current_value import FactStatement, statements_fence
from weft.writing.write_contract import WriteResult

# Read from files and transcripts: they repeat their source and change with it.
READ_KINDS: Final = frozenset({"Document", "Section", "Chunk", "Message", "Session", "Conversation"}) | VIEWS["code"]
MAX_VERSIONS: Final = 1_000  # of one node that are searched for a current one
Result = TypeVar("Result", bound=WriteResult)


class NodeChange(Struct, frozen=True, kw_only=True):
    """The events that change a node, notes on them, and the slots and statements they depend on besides the node."""

    drafts: tuple[Draft, ...]
    notes: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    claims: tuple[FactStatement, ...] = ()


def change_node(
    ctx: CallContext, written: str, decide: Callable[[NodeVersion], NodeChange | str], *, request_id: str | None
) -> WriteResult:
    """Changes one node. `decide` returns the change, or a note if there is nothing to change.

    `decide` is called again if others change the node meanwhile: it must not write.
    """

    def choose(pos: int) -> WriteDecision[WriteResult]:
        node = current_node(ctx, written)
        change = decide(node)
        if isinstance(change, str):
            return WriteDecision(answer=WriteResult(status="duplicate_skip", id=node.id, notes=(change,)))
        fence = node_fence(node, pos)
        return WriteDecision(
            answer=WriteResult(status="saved", id=node.id, notes=change.notes),
            drafts=change.drafts,
            fence=statements_fence(change.claims, pos, slots=(*fence.slots, *change.slots)),
        )

    with hidden_as_missing(written):
        return result_of(*decide_and_commit(ctx, choose, request_id=request_id))


def current_node(ctx: CallContext, written: str) -> NodeVersion:
    """The node of an id, a citation or a name, as it holds now, or as it last held.

    Raises NotFound if it does not exist, was deleted, or is not visible to the caller: the error is the same.
    """
    node_id = resolve(ctx, written, NOW)
    if found := ctx.store.nodes(ctx.viewer, NOW, [node_id]):
        return found[0]
    current = [row for row in ctx.store.history(ctx.viewer, node_id, limit=MAX_VERSIONS) if row.retired_at is None]
    if not current:
        raise node_not_found(written)
    return max(current, key=lambda version: version.interval.valid_from)


def node_not_found(written: str) -> NotFound:
    """The error for a node that does not exist, was deleted, or is not visible to the caller."""
    return NotFound(
        f"there is no node {written[:80]!r} that you may see; it may be deleted already",
        hint="`weft recall` finds nodes and gives their ids; `weft deletion-list` lists what was deleted",
    )


@contextmanager
def hidden_as_missing(written: str) -> Iterator[None]:
    """Reports a node that is hidden from the caller like one that does not exist."""
    try:
        yield
    except (Forbidden, NotFound) as problem:
        raise node_not_found(written) from problem


def check_editable(node: NodeVersion, *, to: str) -> None:
    """Raises Invalid for weft's own records and for nodes that were read from a source."""
    if node.kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {node.kind} records itself", hint=f"{to} the memory that the record is about")
    if node.kind in READ_KINDS:
        raise Invalid(
            f"{node.id[:80]!r} is a {node.kind} that was read from a source, and the source still says the same",
            hint="change the source and ingest it again, or remember what is right",
        )


def new_versions(ctx: CallContext, node: NodeVersion, **changes: Any) -> tuple[graph.NodeAssertion, ...]:
    """Asserts a node again with some fields changed, for exactly the valid time that its assertion still has.

    If possible with the original, open-ended interval, so that later values of its slot meet it as before. Otherwise
    each remaining piece is asserted by itself.
    """
    own = version_pieces(ctx, node)
    again = replace(assertion_of(node), **changes)
    if _is_open_ended(ctx, own):
        return (replace(again, valid_from=to_iso(own[0].interval.asserted_from), valid_to=None),)
    return tuple(assert_piece(again, piece) for piece in own)


def assert_piece(again: graph.NodeAssertion, piece: NodeVersion) -> graph.NodeAssertion:
    """An assertion for the valid time of one piece only."""
    begin, end = piece.interval.valid_from, piece.interval.valid_to
    return replace(again, valid_from=to_iso(begin), valid_to=None if end is None else to_iso(end))


def version_pieces(ctx: CallContext, node: NodeVersion) -> tuple[NodeVersion, ...]:
    """The rows that remain of what a version's event asserted of the node, in order of valid time."""
    versions = ctx.store.history(ctx.viewer, node.id, limit=MAX_VERSIONS)
    own = [row for row in versions if row.retired_at is None and (row.event, row.slot) == (node.event, node.slot)]
    return tuple(sorted(own, key=lambda row: row.interval.valid_from)) or (node,)


def _is_open_ended(ctx: CallContext, own: Sequence[NodeVersion]) -> bool:
    """Whether an assertion without an end would take these pieces again, and no free time or time of others."""
    begin = own[0].interval.asserted_from
    if any(row.interval.asserted_to is not None or row.interval.asserted_from != begin for row in own):
        return False
    if own[0].slot == own[0].id:
        versions = ctx.store.history(ctx.viewer, own[0].id, limit=MAX_VERSIONS)
        rows = sorted((row for row in versions if row.retired_at is None), key=lambda row: row.interval.valid_from)
    else:
        rows = list(ctx.store.current_in_slot(ctx.viewer, own[0].slot, after=begin, limit=MAX_VERSIONS))
    takeover = timeline.take(rows, begin, None)
    joined: list[timeline.Span] = []
    for row in own:
        touches = bool(joined) and joined[-1].end == row.interval.valid_from
        start = joined.pop().start if touches else row.interval.valid_from
        joined.append(timeline.Span(start, row.interval.valid_to))
    return list(takeover.taken) == joined and all(cut.row in own for cut in takeover.cuts)


def version_draft(
    ctx: CallContext,
    node: NodeVersion,
    assertions: tuple[graph.NodeAssertion, ...],
    *,
    reason: str = "",
    edges: tuple[graph.EdgeAssertion, ...] = (),
) -> Draft:
    """The event of a new version; its cause is the event of the version before."""
    cited = ctx.store.citations(ctx.viewer, [node.event]).get(node.event)
    payload = graph.Asserted(nodes=assertions, edges=edges, reason=reason)
    return Draft(kind="graph.asserted", payload=payload, caused_by=() if cited is None else (cited,))


def node_fence(node: NodeVersion, pos: int) -> Fence:
    """The condition that nobody changes the node, or what is current in its slot."""
    return Fence(pos=pos, slots=tuple({node.slot, node.id}))


def result_of(decided: Result, done: Committed | None) -> Result:
    """The decided result with the outcome of its commit."""
    if done is None:
        return decided
    status = decided.status if done.status == "saved" else done.status
    return replace(decided, status=status, citation=done.citation, notes=(*decided.notes, *done.notes))


def last_end(ctx: CallContext, node: NodeVersion) -> int | None:
    """The end of a node's valid time; None if it has none, or has more versions than are read."""
    versions = ctx.store.history(ctx.viewer, node.id, limit=MAX_VERSIONS)
    if len(versions) == MAX_VERSIONS:
        return None
    ends = [each.interval.valid_to for each in versions if each.retired_at is None]
    return None if None in ends else max((end for end in ends if end is not None), default=None)
