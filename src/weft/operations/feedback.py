"""Saying what became of a memory that was used: it ranks higher or lower from then on."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from weft.errors import Invalid, NotFound
from weft.kinds import RECORD_KINDS
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.fields import Label
from weft.operations.registry import Operation
from weft.operations.remembering import REPEATED, Remembered
from weft.operations.rights import write_guard
from weft.retrieval.cognitive import FEEDBACK_KIND, FEEDBACK_RELATION, MULTIPLIERS
from weft.types import When

DAY_US = 86_400_000_000


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
    fade within some months. The memory itself stays as it is: an invalidated one is still found.
    """
    if given.outcome not in MULTIPLIERS:
        raise Invalid(f"there is no outcome {given.outcome[:60]!r}", hint=f"choose one of {', '.join(MULTIPLIERS)}")
    found = loom.store.nodes(loom.viewer, When(), [given.id])
    if not found:
        raise NotFound(
            f"there is no memory {given.id[:80]!r} that holds now and that you may see",
            hint="`weft recall` finds memories by their words and gives their ids",
        )
    (memory,) = found
    if memory.kind in RECORD_KINDS:
        raise Invalid(f"{memory.kind} is weft's own kind of record", hint="give feedback on the memory it is about")
    own = memory.guard
    guard = write_guard(loom, scope=own.scope, agents=own.agents, sensitive=own.sensitive, project=own.project)
    record = loom.new_id(given.request_id)
    props: dict[str, object] = {"outcome": given.outcome, "multiplier": MULTIPLIERS[given.outcome], "about": memory.id}
    if given.note.strip():
        props["note"] = given.note
    if given.request_id is not None and (before := _written_before(loom, record, props)):
        return before
    node = graph.NodeAssertion(id=record, kind=FEEDBACK_KIND, props=props, **asdict(guard))
    # The heaviest edges are read first, and of these the latest count most.
    weight = max(1.0, loom.clock.now_us() / DAY_US)
    edge = graph.EdgeAssertion(src=record, rel=FEEDBACK_RELATION, dst=memory.id, weight=weight, **asdict(guard))
    payload = graph.Asserted(nodes=(node,), edges=(edge,))
    done = loom.append([Draft(kind="graph.asserted", payload=payload)], request_id=given.request_id)
    return Remembered(
        status="saved", id=record, citation=done.events[0].citation, notes=(done.note,) if done.note else ()
    )


def _written_before(loom: Loom, record: str, props: dict[str, object]) -> Remembered | None:
    """The same feedback under the same request id, which was given at another time."""
    found = loom.store.history(loom.viewer, record, limit=1)
    if not found or dict(found[0].props) != props:
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
