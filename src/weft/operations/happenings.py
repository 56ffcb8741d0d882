"""What happened, and what led to what."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import asdict

from weft.errors import Invalid
from weft.instants import parse_instant, to_iso
from weft.lexical import name_key
from weft.log.kinds.graph import Asserted, EdgeAssertion, NodeAssertion
from weft.loom import Loom
from weft.operations.fields import Moment, NodeName
from weft.operations.making import Making, check_words
from weft.operations.planned import Planned, SoFar, answered, asserts, write
from weft.operations.references import looks_like_id, unknown
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.projection.weave import MAX_ID_CHARACTERS
from weft.types import NOW, EdgeVersion, When

MAX_LINKS: Final = 100  # entities or events that one write names
MAX_CIRCLE: Final = 500  # causes looked at for a circle, at most 10 steps away
MAX_STEPS: Final = 10
CAUSES: Final = "CAUSES"
EVENTS: Final = frozenset({"Event", "Episode"})

Words = Annotated[str, Meta(min_length=1)]
Entities = Annotated[
    tuple[NodeName, ...],
    Meta(max_length=MAX_LINKS, description="entities, by id, name or alias; new names make new ones"),
]


class AddEvent(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_event`."""

    description: Annotated[Words, Meta(description="what happened")]
    occurred_at: Annotated[Moment, Meta(description="when it happened: 2026-05-08 or 2026-05-08T09:30:00Z")]
    entities: Entities = ()


def add_event(loom: Loom, given: AddEvent) -> Remembered:
    """Records that something happened at a moment, and whom or what it involved.

    The same words at the same moment are the same event. Each entity gets an INVOLVES edge, by which questions about
    it find the event; one that is named for the first time is made.
    """
    if before := answered(loom, given.request_id, lambda payload: asserts(payload, "Event", given.description)):
        return before
    return write(loom, lambda so_far: plan_event(loom, given, so_far), request_id=given.request_id)


def plan_event(loom: Loom, given: AddEvent, so_far: SoFar) -> Planned:
    """What adding an event comes to."""
    check_words(given.description, field="description")
    at = parse_instant(given.occurred_at, field="occurred_at")
    ahead = at > loom.clock.now_us()
    making = Making(loom, guard_of(loom, given), so_far, when=When(valid_at=at) if ahead else NOW)
    begins = to_iso(at)
    same = [node for node in making.saying("Event", given.description) if node.valid_from == begins]
    before = same[0] if same else None
    main = NodeAssertion(
        id=before.id if before else loom.new_id(given.request_id),
        kind="Event",
        text=before.text if before else given.description,
        props={**(before.props if before else {}), **props_of(given)},
        focus=focus_of(loom, given),
        **asdict(making.guard),
        valid_from=begins,
    )
    linked = [making.thing(each) for each in given.entities]
    for entity in linked:
        making.edge(main.id, "INVOLVES", entity, valid_from=begins)
    if ahead:
        making.notes.append("it lies ahead: until then, --as-of that time finds it")
    return making.told(main, before, linked, occurred_at=at)


class AddCausalLink(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_causal_link`."""

    cause: Annotated[Words, Meta(description="what led to it: in words, or the id of a cause or an event")]
    effect: Annotated[Words, Meta(description="what came of it: in words, or the id of a cause or an event")]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0, description="how sure it is, from 0 to 1")] | None = None
    entities: Annotated[Entities, Meta(description="entities that are affected, by id, name or alias")] = ()
    events: Annotated[
        tuple[Words, ...], Meta(max_length=MAX_LINKS, description="events it is about, by id or by their exact words")
    ] = ()


def add_causal_link(loom: Loom, given: AddCausalLink) -> Remembered:
    """Records that one thing led to another.

    A cause or effect in the same words as before is the same one, so that links join to chains, which questions with
    "why" follow. Both ends get AFFECTS edges to the entities and REFERS_TO edges to the events. A link that is there
    gets the new confidence.
    """
    if before := answered(loom, given.request_id, _link_of):
        return before
    return write(loom, lambda so_far: plan_causal_link(loom, given, so_far), request_id=given.request_id)


def plan_causal_link(loom: Loom, given: AddCausalLink, so_far: SoFar) -> Planned:
    """What joining a cause and an effect comes to."""
    for name, words in (("cause", given.cause), ("effect", given.effect)):
        check_words(words, field=name)
    making = Making(loom, guard_of(loom, given), so_far)
    events = [making.node(each, kinds=EVENTS, what="event") for each in given.events]
    begins = _beginning(loom, events)
    cause, effect = (_cause(making, words, given, begins) for words in (given.cause, given.effect))
    if cause.id == effect.id:
        raise Invalid("a cause cannot be its own effect", hint="say in other words what came of it")
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
            making.notes.append("this closes a circle: the effect leads back to the cause")
    elif sure and standing.props.get("confidence") != given.confidence:
        since = to_iso(standing.interval.asserted_from) if isinstance(standing, EdgeVersion) else standing.valid_from
        edges.append(_link(making, cause.id, effect.id, {**standing.props, **sure}, since))
        making.notes.append("the link was there already: it has the new confidence")
    cites = standing.event if isinstance(standing, EdgeVersion) else None
    ends = [effect.id, *linked, *(event.id for event in events)]
    return making.asserted(cause.id, tuple(making.nodes.values()), edges, ends, cites=cites)


def _cause(making: Making, words: str, given: AddCausalLink, begins: str | None) -> NodeAssertion:
    """The cause that is meant: by its id, by its words, or a new one. An event's id stands for what it says."""
    known = making.standing(words) if len(words) <= MAX_ID_CHARACTERS else None
    if known is not None:
        making.open_to_all(known)
    if known is not None and known.kind == "Cause":
        return known
    if known is not None and known.kind not in EVENTS:
        raise Invalid(
            f"{words[:80]!r} is a {known.kind}, which is no cause", hint="say it in words, or give a cause or an event"
        )
    if known is None and looks_like_id(words):
        raise unknown(words, "cause")
    said = words if known is None else known.text or known.name
    if same := making.saying("Cause", said):
        cause = same[0]
    else:
        loom = making.loom
        cause = NodeAssertion(
            id=loom.new_id(),
            kind="Cause",
            text=said,
            props=props_of(given),
            focus=focus_of(loom, given),
            **asdict(making.guard),
            valid_from=begins,
        )
        making.nodes[cause.id] = cause
    if known is not None:
        making.edge(cause.id, "REFERS_TO", known.id, valid_from=begins)
    return cause


def _beginning(loom: Loom, events: list[NodeAssertion]) -> str | None:
    """Causes hold since the first of the events that they are about; otherwise since they are told."""
    return min([to_iso(loom.clock.now_us()), *(each.valid_from or "" for each in events)]) if events else None


def _told_by(event: NodeAssertion, cause: NodeAssertion, effect: NodeAssertion) -> list[str]:
    """Which end an event belongs to: the one in the same words, else both."""
    same = [end.id for end in (cause, effect) if name_key(end.text) == name_key(event.text)]
    return same or [cause.id, effect.id]


def _link(making: Making, cause: str, effect: str, props: dict[str, Any], since: str | None) -> EdgeAssertion:
    return EdgeAssertion(src=cause, rel=CAUSES, dst=effect, props=props, **asdict(making.guard), valid_from=since)


def _leads_to(making: Making, start: str, end: str) -> bool:
    """Whether a chain of causes leads from one to the other, as far as a few steps tell."""
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
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_event,
        arguments=("description", "occurred_at"),
    ),
    Operation(
        name="add_causal_link",
        summary="record that one thing led to another",
        input=AddCausalLink,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_causal_link,
        arguments=("cause", "effect"),
    ),
)
