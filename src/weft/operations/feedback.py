"""Saying what became of a memory that was used: it ranks higher or lower from then on."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.kinds import RECORD_KINDS
from weft.loom import Loom
from weft.operations.committing import Choice, decided
from weft.operations.fields import Label
from weft.operations.gate import feedback_props, reinforcement
from weft.operations.registry import Operation
from weft.operations.remembered import REPEATED, Remembered
from weft.operations.versions import READ_KINDS, answer_of, new_versions, node_fence, version_draft
from weft.retrieval.cognitive import MULTIPLIERS
from weft.types import NodeVersion, When

DATED_CHARACTERS = 100_000


class MemoryFeedback(Struct, frozen=True, kw_only=True):
    """Input of `memory_feedback`."""

    id: Annotated[str, Meta(min_length=1, max_length=1024, description="the memory's id, as recall gives it")]
    outcome: Annotated[str, Meta(max_length=64, description="confirmed, surfaced, promoted or invalidated")]
    note: Annotated[str, Meta(max_length=2_000, description="why, in a few words")] = ""
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )


def memory_feedback(loom: Loom, given: MemoryFeedback) -> Remembered:
    """Says that a memory was confirmed, surfaced (it was of use), promoted or invalidated.

    What was found useful ranks higher for those who may see the memory, what was found wrong ranks lower, and both
    fade within some months. The memory's words stay as they are: an invalidated one is still found. Of a confirmed one
    it is kept when that was, in `last_validated_at`.
    """
    if given.outcome not in MULTIPLIERS:
        raise Invalid(f"there is no outcome {given.outcome[:60]!r}", hint=f"choose one of {', '.join(MULTIPLIERS)}")
    memory = _found(loom, given)
    record = loom.new_id(given.request_id)
    if given.request_id is not None and (before := _written_before(loom, record, memory, given)):
        return before

    def choose(pos: int) -> Choice[Remembered]:
        stands = _found(loom, given)
        draft = reinforcement(loom, stands, given.outcome, record=record, note=given.note)
        told = Remembered(status="saved", id=record)
        if given.outcome != "confirmed" or not _keeps_a_date(stands):
            return Choice(told=told, drafts=(draft,))
        props = {**stands.props, "last_validated_at": to_iso(loom.clock.now_us())}
        version = version_draft(loom, stands, new_versions(loom, stands, props=props))
        return Choice(told=told, drafts=(draft, version), fence=node_fence(stands, pos))

    return answer_of(*decided(loom, choose, request_id=given.request_id))


def _found(loom: Loom, given: MemoryFeedback) -> NodeVersion:
    found = loom.store.nodes(loom.viewer, When(), [given.id])
    if not found:
        raise NotFound(
            f"there is no memory {given.id[:80]!r} that holds now and that you may see",
            hint="`weft recall` finds memories by their words and gives their ids",
        )
    if found[0].kind in RECORD_KINDS:
        raise Invalid(f"{found[0].kind} is weft's own kind of record", hint="give feedback on the memory it is about")
    return found[0]


def _keeps_a_date(node: NodeVersion) -> bool:
    """When it was last validated is a property, and so a version of the node, whose words the log then holds again.

    Not of what is read from a source, which is validated by reading it again, nor of very long texts.
    """
    return node.kind not in READ_KINDS and len(node.text) <= DATED_CHARACTERS


def _written_before(loom: Loom, record: str, memory: NodeVersion, given: MemoryFeedback) -> Remembered | None:
    """The same feedback under the same request id, which was given at another time."""
    found = loom.store.history(loom.viewer, record, limit=1)
    if not found or dict(found[0].props) != feedback_props(memory, given.outcome, given.note):
        return None
    citation = loom.store.citations(loom.viewer, [found[0].event])[found[0].event]
    return Remembered(status="duplicate_skip", id=record, citation=citation, notes=(REPEATED,))


OPERATIONS = (
    Operation(
        name="memory_feedback",
        summary="say whether a memory was of use: it ranks higher or lower from then on",
        input=MemoryFeedback,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=memory_feedback,
        arguments=("id", "outcome"),
    ),
)
