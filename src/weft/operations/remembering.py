"""Writing memories: free text, and facts that hold for a time."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.append import Appended
from weft.errors import Invalid
from weft.instants import MIN_INSTANT_US, parse_instant, to_iso
from weft.kinds import RECORD_KINDS
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.loom import Loom
from weft.operations.fields import KindName, Label, Moment, Name, ScopeAsked, Tags
from weft.operations.moments import check_interval
from weft.operations.registry import Operation
from weft.operations.rights import write_guard
from weft.projection.moves import shared_slot
from weft.types import Find, Guard, When

Text = Annotated[str, Meta(min_length=1, max_length=1_000_000, description="the words to keep, verbatim")]
Props = dict[str, str | int | float | bool | None]

ALWAYS = to_iso(MIN_INSTANT_US)
REPEATED = "this request was written before; nothing was written again"

# Predicates with one value at a time: a newer value ends the older one. All others keep every value.
SINGLE_VALUED = frozenset(
    [
        "lives_in",
        "works_at",
        "role",
        "status",
        "owner",
        "version",
        "located_in",
        "employer",
        "title",
        "uses_database",
        "deployed_on",
    ]
)


class Remember(Struct, frozen=True, kw_only=True):
    """Input of `remember`."""

    text: Text
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    kind: Annotated[KindName, Meta(description="what sort of memory")] = "Memory"
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    sensitive: Annotated[bool, Meta(description="leave it out of ordinary reads")] = False
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; when it happened if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None
    occurred_at: Annotated[Moment | None, Meta(description="when it happened")] = None
    level: Annotated[Literal["project", "global"], Meta(description="for this project, or for all")] = "project"
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )
    expected_head: Annotated[int, Meta(ge=0, description="write only if the session stands here")] | None = None


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a write."""

    status: Literal["saved", "duplicate_skip", "superseded"]
    id: str
    citation: str
    supersedes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def remember(loom: Loom, given: Remember) -> Remembered:
    """Keeps words for good, verbatim, with who said them and when.

    They can be found at once by `weft recall`, cited by the citation this prints, and asked for as they were
    known at any later moment.
    """
    if not given.text.strip():
        raise Invalid("the text is empty", hint="say what to remember")
    if given.kind in RECORD_KINDS:
        raise Invalid(f"{given.kind} is weft's own kind of record", hint="choose another kind, such as Memory")
    check_interval(given.valid_from, given.valid_to)
    project = None if given.level == "global" else loom.settings.project
    guard = write_guard(loom, scope=given.scope, agents=given.agents, sensitive=given.sensitive, project=project)
    node_id = loom.new_id(given.request_id)
    payload = memory.Remembered(
        id=node_id,
        text=given.text,
        node_kind=given.kind,
        name=given.name,
        props=dict(given.props),
        **asdict(guard),
        valid_from=_iso(given.valid_from, "valid_from"),
        valid_to=_iso(given.valid_to, "valid_to"),
    )
    occurred_at = None if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    draft = Draft(kind="memory.remembered", payload=payload, occurred_at=occurred_at)
    done = loom.append([draft], request_id=given.request_id, expected_head=given.expected_head)
    return Remembered(
        status="duplicate_skip" if done.repeated else "saved",
        id=node_id,
        citation=done.events[0].citation,
        notes=_notes(done),
    )


class AddFact(Struct, frozen=True, kw_only=True):
    """Input of `add_fact`."""

    subject: Annotated[Name, Meta(description="what the fact is about")]
    predicate: Annotated[Name, Meta(description="which of its properties, such as lives_in")]
    object: Annotated[Name, Meta(description="the value")]
    subject_kind: Annotated[KindName, Meta(description="kind of entity the subject is")] = "Entity"
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None
    cardinality: Annotated[
        Literal["one", "many"] | None, Meta(description="may it have several values at a time? known predicates say")
    ] = None
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    level: Annotated[Literal["project", "global"], Meta(description="for this project, or for all")] = "project"
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )


def add_fact(loom: Loom, given: AddFact) -> Remembered:
    """Records that something holds of something, from a moment on.

    Where a property has one value at a time, a newer value ends the older one where it begins; both stay askable
    with --as-of and --known-at. The fact is joined to its subject in the entity view.
    """
    check_interval(given.valid_from, given.valid_to)
    subject_key, predicate = name_key(given.subject), name_key(given.predicate).replace(" ", "_")
    if not subject_key or not predicate:
        raise Invalid("subject and predicate need at least one letter or digit")
    project = None if given.level == "global" else loom.settings.project
    guard = write_guard(loom, scope=given.scope, agents=given.agents, project=project)
    entity = _entity_id(given.subject_kind, subject_key, guard)
    single = given.cardinality == "one" or (given.cardinality is None and predicate in SINGLE_VALUED)
    slot = f"fact:{project or ''}/{entity}/{predicate}" if single else None
    older = _holding(loom, shared_slot(slot, guard), given) if slot else ()
    node_id = loom.new_id(given.request_id)
    known = loom.store.nodes(loom.viewer, When(), [entity])
    valid_from = _iso(given.valid_from, "valid_from")
    # A thing has no known beginning, and belongs to no one project: facts about it do.
    thing = graph.NodeAssertion(
        id=entity,
        kind=given.subject_kind,
        name=given.subject,
        **asdict(replace(guard, project=None)),
        valid_from=ALWAYS,
    )
    involves = graph.EdgeAssertion(src=node_id, rel="INVOLVES", dst=entity, **asdict(guard), valid_from=valid_from)
    payload = memory.Remembered(
        id=node_id,
        node_kind="Fact",
        name=f"{given.subject} {predicate}",
        text=f"{given.subject} {predicate.replace('_', ' ')} {given.object}",
        props={"subject": entity, "predicate": predicate, "object": given.object} | ({"slot": slot} if slot else {}),
        **asdict(guard),
        valid_from=valid_from,
        valid_to=_iso(given.valid_to, "valid_to"),
        slot=slot,
        entities=() if known else (thing,),
        edges=(involves,),
        supersedes=older,
    )
    if given.request_id is not None and (before := _written_before(loom, payload)):
        return before
    done = loom.append([Draft(kind="memory.remembered", payload=payload)], request_id=given.request_id)
    return Remembered(
        status="duplicate_skip" if done.repeated else "superseded" if older else "saved",
        id=node_id,
        citation=done.events[0].citation,
        supersedes=older,
        notes=_notes(done),
    )


def _entity_id(kind: str, key: str, guard: Guard) -> str:
    """One thing per name and rights: what is kept under other rights neither stands in the way nor shows itself."""
    if guard.scope == "admin" and not guard.agents:
        return f"{kind.lower()}:{key}"
    return f"{kind.lower()}@{','.join((guard.scope, *guard.agents))}/{key}"  # neither sign is in a kind or a tag


def _written_before(loom: Loom, payload: memory.Remembered) -> Remembered | None:
    """The same fact under the same request id: what it found to resolve is different the second time."""
    found = loom.store.history(loom.viewer, payload.id, limit=1)
    if not found or (found[0].text, dict(found[0].props)) != (payload.text, payload.props):
        return None
    citation = loom.store.citations(loom.viewer, [found[0].event])[found[0].event]
    return Remembered(status="duplicate_skip", id=payload.id, citation=citation, notes=(REPEATED,))


def _holding(loom: Loom, slot: str, given: AddFact) -> tuple[str, ...]:
    """The fact that holds in the slot where the new one begins, if another value."""
    begin = None if given.valid_from is None else parse_instant(given.valid_from)
    found = loom.store.find(loom.viewer, When(valid_at=begin), Find(slots=(slot,)), limit=2)
    return tuple(node.id for node in found.nodes if node.props.get("object") != given.object)


def _notes(done: Appended) -> tuple[str, ...]:
    repeated = (REPEATED,) if done.repeated else ()
    return (*repeated, done.note) if done.note else repeated


def _iso(written: str | None, field_name: str) -> str | None:
    return None if written is None else to_iso(parse_instant(written, field=field_name))


OPERATIONS = (
    Operation(
        name="remember",
        summary="keep words for good, verbatim, with their source",
        input=Remember,
        output=Remembered,
        effect="write",
        toolset="core",
        run=remember,
        arguments=("text",),
        eager=True,
    ),
    Operation(
        name="add_fact",
        summary="record that something holds of something, from a moment on",
        input=AddFact,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_fact,
        arguments=("subject", "predicate", "object"),
    ),
)
