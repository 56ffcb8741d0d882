"""`memory_feedback`: the outcome of using a memory, which changes its rank."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.core.kinds import MULTIPLIERS, RECORD_KINDS
from weft.core.types import NOW, NodeVersion
from weft.retrieval.citations.resolve import resolve
from weft.runtime.call_context import CallContext
from weft.runtime.fields import RequestId
from weft.runtime.operation import Operation
from weft.writing.build.commit import REPEATED, WriteDecision, decide_and_commit
from weft.writing.build.versions import READ_KINDS, new_versions, node_fence, result_of, version_draft
from weft.writing.checks.novelty import feedback_props, reinforcement
from weft.writing.write_contract import WriteResult

DATED_CHARACTERS = 100_000


class MemoryFeedback(Struct, frozen=True, kw_only=True):
    """Input of `memory_feedback`."""

    id: Annotated[str, Meta(min_length=1, max_length=1024, description="the memory's id, as recall shows it")]
    outcome: Annotated[str, Meta(max_length=64, description="confirmed, surfaced, promoted or invalidated")]
    note: Annotated[str, Meta(max_length=2_000, description="why, in a few words")] = ""
    request_id: RequestId = None


def memory_feedback(ctx: CallContext, given: MemoryFeedback) -> WriteResult:
    """Records that a memory was confirmed, surfaced (it was useful), promoted or invalidated.

    Useful memories rank higher for those who may see them, wrong ones lower; both effects fade within some months. The
    text does not change, and an invalidated memory is still found. `last_validated_at` keeps the time of a
    confirmation.
    """
    if given.outcome not in MULTIPLIERS:
        raise Invalid(f"there is no outcome {given.outcome[:60]!r}", hint=f"choose one of {', '.join(MULTIPLIERS)}")
    memory = _found(ctx, given)
    record = ctx.new_id(given.request_id)
    if given.request_id is not None and (before := _written_before(ctx, record, memory, given)):
        return before

    def choose(pos: int) -> WriteDecision[WriteResult]:
        stands = _found(ctx, given)
        draft = reinforcement(ctx, stands, given.outcome, record=record, note=given.note)
        told = WriteResult(status="saved", id=record)
        if given.outcome != "confirmed" or not _keeps_a_date(stands):
            return WriteDecision(answer=told, drafts=(draft,))
        props = {**stands.props, "last_validated_at": to_iso(ctx.clock.now_us())}
        version = version_draft(ctx, stands, new_versions(ctx, stands, props=props))
        return WriteDecision(answer=told, drafts=(draft, version), fence=node_fence(stands, pos))

    return result_of(*decide_and_commit(ctx, choose, request_id=given.request_id))


def _found(ctx: CallContext, given: MemoryFeedback) -> NodeVersion:
    found = ctx.store.nodes(ctx.viewer, NOW, [resolve(ctx, given.id, NOW)])
    if not found:
        raise NotFound(
            f"there is no memory {given.id[:80]!r} that holds now and that you may see",
            hint="`weft recall` finds memories by their words and gives their ids",
        )
    if found[0].kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {found[0].kind} records itself", hint="give feedback on the memory it is about")
    return found[0]


def _keeps_a_date(node: NodeVersion) -> bool:
    """Whether the time of a confirmation is stored on the node, which makes a new version with all its words.

    Not for nodes that are read from a source, which reading again confirms, nor for very long texts.
    """
    return node.kind not in READ_KINDS and len(node.text) <= DATED_CHARACTERS


def _written_before(ctx: CallContext, record: str, memory: NodeVersion, given: MemoryFeedback) -> WriteResult | None:
    """The result of the same feedback under the same request id, at another time."""
    found = ctx.store.history(ctx.viewer, record, limit=1)
    if not found or dict(found[0].props) != feedback_props(memory, given.outcome, given.note):
        return None
    citation = ctx.store.citations(ctx.viewer, [found[0].event])[found[0].event]
    return WriteResult(status="duplicate_skip", id=record, citation=citation, notes=(REPEATED,))


OPERATIONS = (
    Operation(
        name="memory_feedback",
        summary="report whether a memory was useful: it ranks higher or lower from then on",
        input=MemoryFeedback,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=memory_feedback,
        arguments=("id", "outcome"),
    ),
)
