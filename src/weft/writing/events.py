"""`add_event` and `add_causal_link`: what happened, and causes with their effects."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import asdict

from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Invalid
from weft.core.types import NOW, EdgeVersion, When
from weft.graph.apply_moves import MAX_ID_CHARACTERS
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment, NodeName
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.entity_builder import WriteBuilder, check_text_field
from weft.writing.build.planned_write import BatchState, PlannedWrite, asserts, earlier_result, write_planned
from weft.writing.build.references import looks_like_id, reference_not_found
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

MAX_LINKS: Final = 100  # entities or events in one write
MAX_CIRCLE: Final = 500  # causes searched for a cycle, at most 10 steps away
MAX_STEPS: Final = 10
CAUSES: Final = "CAUSES"
EVENTS: Final = frozenset({"Event", "Episode"})

Words = Annotated[str, Meta(min_length=1)]
Entities = Annotated[
    tuple[NodeName, ...],
    Meta(max_length=MAX_LINKS, description="entities, by id, name or alias; new names create new entities"),
]


class AddEvent(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_event`."""

    description: Annotated[Words, Meta(description="what happened")]
    occurred_at: Annotated[Moment, Meta(description="when it happened: 2026-05-08 or 2026-05-08T09:30:00Z")]
    entities: Entities = ()


def add_event(ctx: CallContext, given: AddEvent) -> WriteResult:
    """Records that something happened at a time, and the entities it involved.

    The same words at the same time are the same event. An INVOLVES edge leads to each entity, so that questions about
    it find the event; entities that do not exist are created.
    """
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, "Event", given.description)):
        return before
    return write_planned(ctx, lambda so_far: plan_event(ctx, given, so_far), request_id=given.request_id)


def plan_event(ctx: CallContext, given: AddEvent, so_far: BatchState) -> PlannedWrite:
    """The plan of `add_event`."""
    check_text_field(given.description, field="description")
    at = parse_instant(given.occurred_at, field="occurred_at")
    ahead = at > ctx.clock.now_us()
    making = WriteBuilder(ctx, guard_of(ctx, given), so_far, when=When(valid_at=at) if ahead else NOW)
    begins = to_iso(at)
    same = [node for node in making.saying("Event", given.description) if node.valid_from == begins]
    before = same[0] if same else None
    main = NodeAssertion(
        id=before.id if before else ctx.new_id(given.request_id),
        kind="Event",
        text=before.text if before else given.description,
        props={**(before.props if before else {}), **props_of(ctx, given)},
        focus=focus_of(ctx, given),
        **asdict(making.guard),
        valid_from=begins,
    )
    linked = [making.thing(each) for each in given.entities]
    for entity in linked:
        making.edge(main.id, "INVOLVES", entity, valid_from=begins)
    if ahead:
        making.notes.append("it is in the future: until then only --as-of that time finds it")
    return making.told(main, before, linked, occurred_at=at)


class AddCausalLink(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_causal_link`."""

    cause: Annotated[Words, Meta(description="the cause: in words, or the id of a cause or event")]
    effect: Annotated[Words, Meta(description="the effect: in words, or the id of a cause or event")]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0, description="how sure it is, from 0 to 1")] | None = None
    entities: Annotated[Entities, Meta(description="affected entities, by id, name or alias")] = ()
    events: Annotated[
        tuple[Words, ...], Meta(max_length=MAX_LINKS, description="events it is about, by id or by their exact words")
    ] = ()


def add_causal_link(ctx: CallContext, given: AddCausalLink) -> WriteResult:
    """Records that one thing led to another.

    A cause or effect in the same words as before is the same node, so that links form chains, which questions with
    "why" follow. Both ends get AFFECTS edges to the entities and REFERS_TO edges to the events. An existing link gets
    the new confidence.
    """
    if before := earlier_result(ctx, given.request_id, _link_of):
        return before
    return write_planned(ctx, lambda so_far: plan_causal_link(ctx, given, so_far), request_id=given.request_id)


def plan_causal_link(ctx: CallContext, given: AddCausalLink, so_far: BatchState) -> PlannedWrite:
    """The plan of `add_causal_link`."""
    for name, words in (("cause", given.cause), ("effect", given.effect)):
        check_text_field(words, field=name)
    making = WriteBuilder(ctx, guard_of(ctx, given), so_far)
    events = [making.node(each, kinds=EVENTS, what="event") for each in given.events]
    begins = _beginning(ctx, events)
    cause, effect = (_cause(making, words, given, begins) for words in (given.cause, given.effect))
    if cause.id == effect.id:
        raise Invalid("a cause cannot be its own effect", hint="describe the effect in other words")
    linked = [making.thing(each) for each in given.entities]
    for entity in linked:
        making.edge(cause.id, "AFFECTS", entity, valid_from=begins)
        making.edge(effect.id, "AFFECTS", entity, valid_from=begins)
    for event in events:
        for side in _told_by(event, cause, effect):
            making.edge(side, "REFERS_TO", event.id, valid_from=begins)
    edges = list(making.new_edges())
    standing = making.edge_standing(cause.id, CAUSES, effect.id)
    sure = {} if given.confidence is None else {"confidence": given.confidence}
    if standing is None:
        edges.append(_link(making, cause.id, effect.id, sure, begins))
        if _leads_to(making, effect.id, cause.id):
            making.notes.append("this closes a cycle: the effect leads back to the cause")
    elif sure and standing.props.get("confidence") != given.confidence:
        since = to_iso(standing.interval.asserted_from) if isinstance(standing, EdgeVersion) else standing.valid_from
        edges.append(_link(making, cause.id, effect.id, {**standing.props, **sure}, since))
        making.notes.append("the link existed already and has the new confidence")
    cites = standing.event if isinstance(standing, EdgeVersion) else None
    ends = [effect.id, *linked, *(event.id for event in events)]
    return making.asserted(cause.id, tuple(making.nodes.values()), edges, ends, cites=cites)


def _cause(making: WriteBuilder, words: str, given: AddCausalLink, begins: str | None) -> NodeAssertion:
    """The cause by its id, by its words, or a new one. The id of an event means its text."""
    known = making.standing(words) if len(words) <= MAX_ID_CHARACTERS else None
    if known is not None:
        making.open_to_all(known)
    if known is not None and known.kind == "Cause":
        return known
    if known is not None and known.kind not in EVENTS:
        raise Invalid(
            f"{words[:80]!r} is a {known.kind}, not a cause or an event",
            hint="describe it in words, or give the id of a cause or event",
        )
    if known is None and looks_like_id(words):
        raise reference_not_found(words, "cause")
    said = words if known is None else known.text or known.name
    if same := making.saying("Cause", said):
        cause = same[0]
    else:
        ctx = making.ctx
        cause = NodeAssertion(
            id=ctx.new_id(),
            kind="Cause",
            text=said,
            props=props_of(ctx, given),
            focus=focus_of(ctx, given),
            **asdict(making.guard),
            valid_from=begins,
        )
        making.nodes[cause.id] = cause
    if known is not None:
        making.edge(cause.id, "REFERS_TO", known.id, valid_from=begins)
    return cause


def _beginning(ctx: CallContext, events: list[NodeAssertion]) -> str | None:
    """Causes hold since the earliest of their events, else since they are recorded."""
    return min([to_iso(ctx.clock.now_us()), *(each.valid_from or "" for each in events)]) if events else None


def _told_by(event: NodeAssertion, cause: NodeAssertion, effect: NodeAssertion) -> list[str]:
    """The end that an event belongs to: the one with the same words, else both."""
    same = [end.id for end in (cause, effect) if name_key(end.text) == name_key(event.text)]
    return same or [cause.id, effect.id]


def _link(making: WriteBuilder, cause: str, effect: str, props: dict[str, Any], since: str | None) -> EdgeAssertion:
    return EdgeAssertion(src=cause, rel=CAUSES, dst=effect, props=props, **asdict(making.guard), valid_from=since)


def _leads_to(making: WriteBuilder, start: str, end: str) -> bool:
    """Whether a chain of causes leads from one to the other, within a few steps."""
    seen, frontier = {start}, [start]
    for _ in range(MAX_STEPS):
        found = making.leads_from(frontier, CAUSES)
        if end in found:
            return True
        frontier = [each for each in found if each not in seen]
        seen.update(frontier)
        if not frontier or len(seen) > MAX_CIRCLE:
            break
    return False


def _link_of(payload: Any) -> str | None:
    edges = payload.edges if isinstance(payload, Asserted) else ()
    return next((edge.src for edge in edges if edge.rel in (CAUSES, "AFFECTS", "REFERS_TO")), None)


OPERATIONS = (
    Operation(
        name="add_event",
        summary="record what happened, when, and whom it involved",
        input=AddEvent,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=add_event,
        arguments=("description", "occurred_at"),
    ),
    Operation(
        name="add_causal_link",
        summary="record that one thing led to another",
        input=AddCausalLink,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=add_causal_link,
        arguments=("cause", "effect"),
    ),
)
