"""`add_entity`, `link_entities`, `merge_entities`, `split_entities`: entities, their relations and duplicates."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import asdict, replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid
from weft.core.kinds import DESCRIBES, MENTION, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS, is_thing, spelt
from weft.core.types import EdgeVersion, NodeVersion
from weft.graph.apply_moves import MAX_WEIGHT
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, EdgeName, Ended, NodeAssertion
from weft.log.kinds.memory import Remembered as MemoryRemembered
from weft.retrieval.judging.derived import description_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindName, Moment, Name, NodeName
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.entity_builder import UNSPECIFIED, WriteBuilder, check_text_field, guard_in
from weft.writing.build.planned_write import BatchState, PlannedWrite, asserts, earlier_result, write_planned
from weft.writing.build.references import (
    ALWAYS,
    MERGES_INTO,
    ambiguous_reference,
    assertion_of,
    by_id,
    covers,
    merged_into,
    named,
    reference_not_found,
    same_rights,
)
from weft.writing.checks.predicates import RelationName, check_relation
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

MAX_ALIASES: Final = 64

Alias = Annotated[str, Meta(min_length=1, max_length=512)]
EntityName = Annotated[NodeName, Meta(description="an entity's id, name or alias; a new name makes a new entity")]


class AddEntity(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_entity`."""

    name: Annotated[Name, Meta(description="its name")]
    kind: Annotated[KindName, Meta(description="Person, Organization, Service, Place, Product, or a kind of yours")] = (
        UNSPECIFIED
    )
    description: Annotated[str, Meta(description="what it is, in one or more sentences")] = ""
    aliases: Annotated[tuple[Alias, ...], Meta(max_length=MAX_ALIASES, description="other names of it")] = ()


def add_entity(ctx: CallContext, given: AddEntity) -> WriteResult:
    """Records an entity: what it is, and its other names.

    The same name again is the same entity: nothing is written, or a new version if there is something new. References
    by name or alias find it from then on. Entities belong to all projects; a description that an agent gives without
    approval is kept for its own project, as a memory about the entity.
    """
    if before := earlier_result(ctx, given.request_id, lambda payload: _entity_of(payload, given)):
        return before
    return write_planned(ctx, lambda so_far: plan_entity(ctx, given, so_far), request_id=given.request_id)


def plan_entity(ctx: CallContext, given: AddEntity, so_far: BatchState) -> PlannedWrite:
    """The plan of `add_entity`."""
    given = replace(given, kind=spelt(given.kind))
    if not is_thing(given.kind) or given.kind in VIEWS["code"]:
        raise Invalid(f"{given.kind} is not a kind of entity", hint=_instead(given.kind))
    check_text_field(given.name, field="name")
    if given.description:
        check_text_field(given.description, field="description")
    making = WriteBuilder(ctx, replace(guard_of(ctx, given), project=None), so_far)
    before = _entity_named(making, given)
    main = before or making.new_thing(given.name, given.kind)
    making.nodes.pop(main.id, None)  # it is written below, with its changes
    aliases = _with_aliases(making, main, given.aliases)
    apart = bool(given.description) and not ctx.may_write_global
    told = (
        {} if apart and before is not None else props_of(ctx, given)
    )  # these then belong to the description, not to the entity
    main = replace(
        main,
        text=main.text if apart else given.description or main.text,
        props={**main.props, **told, **({"aliases": aliases} if aliases else {})},
    )
    linked = describe(making, given, main, given.description) if apart else ()
    if given.kind not in VIEWS["entity"]:
        making.notes.append(
            f"relations are not followed to the kind {given.kind}, only to {', '.join(sorted(VIEWS['entity']))}"
        )
    return making.told(main, before, linked)


def _entity_of(payload: Any, given: AddEntity) -> str | None:
    """The entity that an earlier call with the same request id wrote, if it was the same call."""
    found = asserts(payload, spelt(given.kind), given.name)
    return found or (described(payload, given.description) if given.description else None)


def _instead(kind: str) -> str:
    if kind in RECORD_KINDS or kind in STRUCTURAL_KINDS or kind in VIEWS["code"]:
        return "weft creates these nodes itself; choose another kind, such as Entity"
    ways = {"Event": "add_event", "Fact": "add_fact", "Cause": "add_causal_link", "Concept": "add_concept"}
    return f"use {ways.get(kind, 'memory_write')} for it, or choose another kind, such as Entity"


def _entity_named(making: WriteBuilder, given: AddEntity) -> NodeAssertion | None:
    """The existing entity with this name and these rights, of the kind asked for if there is one."""
    found = [node for node in making.things(given.name) if same_rights(guard_in(node), making.guard)]
    found = [node for node in found if node.kind != MENTION]  # a mere mention becomes an entity
    if given.kind == UNSPECIFIED:
        known = [node for node in found if node.kind != UNSPECIFIED] or found
    else:
        known = [node for node in found if node.kind == given.kind]
        making.notes += [
            f"{node.id} ({node.kind}) has this name too: if it is the same entity, join them with merge_entities"
            for node in found
            if node.kind != given.kind
        ]
    if len(known) > 1:
        raise ambiguous_reference(given.name, known)
    if known and name_key(known[0].name) != name_key(given.name):
        making.notes.append(f"{given.name[:80]!r} is an alias of {known[0].name!r}")
    return known[0] if known else None


def _with_aliases(making: WriteBuilder, main: NodeAssertion, aliases: tuple[str, ...]) -> list[str]:
    """All aliases of an entity, including these; each new one gets a record by which it is looked up."""
    known = [each for each in main.props.get("aliases", ()) if isinstance(each, str)]
    keys = {name_key(main.name), *map(name_key, known)}
    for alias in aliases:
        key = name_key(check_text_field(alias, field="an alias"))
        if key in keys:
            continue
        keys.add(key)
        known.append(alias)
        records = [
            node
            for node in making.things(alias, follow=False)
            if node.id != main.id and same_rights(guard_in(node), making.guard)
        ]
        if strangers := [node for node in records if not node.props.get("alias")]:
            raise Invalid(
                f"{alias[:80]!r} is the name of another entity, {strangers[0].id}",
                hint=f"if they are the same entity, call merge_entities with duplicate {strangers[0].id}",
            )
        words = f"Another name of {main.name}." if making.ctx.may_write_global else ""
        record = records[0] if records else making.new_thing(alias, main.kind, text=words)
        if records:
            making.notes.append(f"{alias[:80]!r} is also an alias of other entities: refer to this one by name or id")
        else:
            making.nodes[record.id] = replace(record, props={"alias": True})
        making.edge(record.id, MERGES_INTO, main.id, valid_from=ALWAYS)
    return known


class LinkEntities(WriteOptions, frozen=True, kw_only=True):
    """Input of `link_entities`."""

    source: EntityName
    target: EntityName
    relation: RelationName
    weight: Annotated[float, Meta(gt=0.0, le=MAX_WEIGHT, description="strength of the relation; 1 is usual")] = 1.0
    valid_from: Annotated[Moment | None, Meta(description="when it became true; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="when it stops being true")] = None


def link_entities(ctx: CallContext, given: LinkEntities) -> WriteResult:
    """Records that one entity is related to another, in one direction, for a time.

    Entities that do not exist are created. The same relation again, with another weight or time, is a new version.
    """
    if before := earlier_result(ctx, given.request_id, lambda payload: _edge_of(payload, given.relation)):
        return before
    return write_planned(ctx, lambda so_far: plan_link(ctx, given, so_far), request_id=given.request_id)


def plan_link(ctx: CallContext, given: LinkEntities, so_far: BatchState) -> PlannedWrite:
    """The plan of `link_entities`."""
    check_relation(given.relation, between_entities=True)
    begin, end = check_interval(given.valid_from, given.valid_to)
    making = WriteBuilder(ctx, guard_of(ctx, given), so_far)
    source, target = making.thing(given.source), making.thing(given.target)
    if source == target:
        raise Invalid(
            f"{given.source[:80]!r} and {given.target[:80]!r} are the same entity", hint="give two different entities"
        )
    edge = {
        "props": props_of(ctx, given),
        "weight": given.weight,
        "valid_from": None if begin is None else to_iso(begin),
        "valid_to": None if end is None else to_iso(end),
    }
    making.edge(source, given.relation, target, **edge)
    standing = making.edge_standing(source, given.relation, target)
    same = standing is not None and _holds_already(standing, edge)
    edges = () if same else tuple(making.edges.values())
    cites = standing.event if isinstance(standing, EdgeVersion) else None
    return making.asserted(source, tuple(making.nodes.values()), edges, (target,), cites=cites)


def _holds_already(standing: EdgeVersion | EdgeAssertion, edge: dict[str, Any]) -> bool:
    """Whether the current relation says the same; without a given beginning, any beginning matches."""
    if isinstance(standing, EdgeVersion):
        interval = standing.interval
        begin: str | None = to_iso(interval.asserted_from)
        end = None if interval.asserted_to is None else to_iso(interval.asserted_to)
    else:
        begin, end = standing.valid_from, standing.valid_to
    same_time = edge["valid_from"] in (None, begin) and edge["valid_to"] == end
    return same_time and (standing.weight, dict(standing.props)) == (edge["weight"], edge["props"])


class MergeEntities(WriteOptions, frozen=True, kw_only=True):
    """Input of `merge_entities`."""

    duplicate: Annotated[NodeName, Meta(description="the duplicate: id, name or alias")]
    into: Annotated[NodeName, Meta(description="the entity that it is: id, name or alias")]
    reason: Annotated[str, Meta(max_length=2_000, description="how you know that they are the same")]


def merge_entities(ctx: CallContext, given: MergeEntities) -> WriteResult:
    """Merges two entities that are the same: names of the duplicate then refer to the other.

    Nothing is deleted: memories about the duplicate stay joined to it, and `split_entities` undoes the merge.
    """
    if before := earlier_result(ctx, given.request_id, lambda payload: _edge_of(payload, MERGES_INTO)):
        return before
    return write_planned(ctx, lambda _: _plan_merge(ctx, given), request_id=given.request_id)


def _plan_merge(ctx: CallContext, given: MergeEntities) -> PlannedWrite:
    check_text_field(given.reason, field="reason")
    duplicate = _existing(ctx, given.duplicate)
    meant = _existing(ctx, given.into)
    into = merged_into(ctx, [meant])[0]
    if duplicate.id in (meant.id, into.id):
        raise Invalid(
            f"{given.duplicate[:80]!r} and {given.into[:80]!r} are one entity already",
            hint="give two different entities",
        )
    guard = guard_of(ctx, given) if given.scope or given.agents or given.sensitive else duplicate.guard
    making = WriteBuilder(ctx, replace(guard, project=None), BatchState())
    making.known(duplicate)
    for step in making.steps_from(duplicate.id, MERGES_INTO):
        if step.node.id == into.id:
            return making.planned(duplicate.id, (), (into.id,), cites=step.edge.event)
        raise Invalid(
            f"{given.duplicate[:80]!r} was already merged into {step.node.id}",
            hint="undo that with split_entities, or merge the entity that it was merged into",
        )
    making.edge(duplicate.id, MERGES_INTO, into.id, props={"reason": given.reason}, valid_from=ALWAYS)
    target = assertion_of(into)
    known = [each for each in target.props.get("aliases", ()) if isinstance(each, str)]
    new_name = name_key(duplicate.name) not in {name_key(each) for each in (target.name, *known)}
    nodes: tuple[NodeAssertion, ...] = ()
    if new_name and covers(duplicate.guard, into.guard):
        nodes = (replace(target, props={**target.props, "aliases": [*known, duplicate.name]}),)
    elif new_name:
        making.notes.append("the two have different audiences: the duplicate's name is not listed as an alias")
    return making.asserted(duplicate.id, nodes, tuple(making.edges.values()), (into.id,), cites=None)


class SplitEntities(WriteOptions, frozen=True, kw_only=True):
    """Input of `split_entities`."""

    duplicate: Annotated[NodeName, Meta(description="the merged duplicate: id or name")]


def split_entities(ctx: CallContext, given: SplitEntities) -> WriteResult:
    """Undoes a merge: the duplicate is an entity of its own again, as if they had never been merged."""
    if before := earlier_result(ctx, given.request_id, _split_of):
        return before
    return write_planned(ctx, lambda _: _plan_split(ctx, given), request_id=given.request_id)


def _plan_split(ctx: CallContext, given: SplitEntities) -> PlannedWrite:
    duplicate = _existing(ctx, given.duplicate)
    making = WriteBuilder(ctx, replace(duplicate.guard, project=None), BatchState())
    making.known(duplicate)
    steps = making.steps_from(duplicate.id, MERGES_INTO)
    if not steps:
        raise Invalid(f"{given.duplicate[:80]!r} is not merged into anything", hint="give the id of the duplicate")
    key = name_key(duplicate.name)
    without: list[NodeAssertion] = []
    for step in steps:
        target = assertion_of(step.node)
        kept = [each for each in target.props.get("aliases", ()) if name_key(each) != key]
        if kept != list(target.props.get("aliases", ())):
            props = {**target.props, "aliases": kept}
            without.append(replace(target, props={name: value for name, value in props.items() if value != []}))
    ended = Ended(
        nodes=(duplicate.id,) if duplicate.props.get("alias") else (),  # an alias record has no meaning by itself
        edges=tuple(EdgeName(src=duplicate.id, rel=MERGES_INTO, dst=step.node.id) for step in steps),
        at=ALWAYS,
        reason="split",
    )
    drafts = [Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(without)))] if without else []
    drafts.append(Draft(kind="graph.ended", payload=ended))
    return making.planned(duplicate.id, tuple(drafts), [step.node.id for step in steps])


def _existing(ctx: CallContext, written: str) -> NodeVersion:
    """An existing entity itself, not the one that it was merged into."""
    node = by_id(ctx, written)
    if node is not None:
        if not is_thing(node.kind):
            raise Invalid(f"{written[:80]!r} is a {node.kind}, not an entity", hint="give an entity's id or name")
        return node
    found = named(ctx, written, is_thing)
    if len(found) > 1:
        raise ambiguous_reference(written, found)
    if not found:
        raise reference_not_found(written, "entity")
    return found[0]


def _edge_of(payload: Any, relation: str) -> str | None:
    edges = payload.edges if isinstance(payload, Asserted) else ()
    return next((edge.src for edge in edges if edge.rel == relation), None)


def _split_of(payload: Any) -> str | None:
    if isinstance(payload, Ended):
        return next((edge.src for edge in payload.edges if edge.rel == MERGES_INTO), None)
    return "" if isinstance(payload, Asserted) and payload.nodes and not payload.edges else None


def describe(making: WriteBuilder, given: WriteOptions, thing: NodeAssertion, words: str) -> tuple[str, ...]:
    """Adds a description of an entity as a memory of the caller's project. Returns the ids of descriptions.

    Entities belong to all projects and are read in all, so that changing them is the operator's right, or needs
    approval. The project's next description is a new version of this one.
    """
    ctx = making.ctx
    guard = guard_of(ctx, given)
    node_id = making.id_of(description_id(ctx, guard.project, thing.id))
    node = NodeAssertion(
        id=node_id,
        kind="Memory",
        name=thing.name,
        text=words,
        props={**props_of(ctx, given), DESCRIBES: thing.id},
        focus=focus_of(ctx, given),
        **asdict(guard),
    )
    before = making.standing(node_id)
    if before is None or (before.text, dict(before.props)) != (node.text, node.props):
        making.nodes[node_id] = node
    making.edge(node_id, "INVOLVES", thing.id, project=guard.project)
    making.notes.append(
        f"the description is kept for project {guard.project} only, as {node_id}; for all projects it needs approval"
        " (request_global_write_approval)"
    )
    return (node_id,)


def described(payload: Any, words: str) -> str | None:
    """The id of the entity that a payload describes in these words, if any."""
    nodes = payload.nodes if isinstance(payload, Asserted) else ()
    nodes = payload.entities if isinstance(payload, MemoryRemembered) else nodes
    return next((node.props[DESCRIBES] for node in nodes if DESCRIBES in node.props and node.text == words), None)


OPERATIONS = (
    Operation(
        name="add_entity",
        summary="record an entity (a person, system or thing) and its names",
        input=AddEntity,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=add_entity,
        arguments=("name",),
    ),
    Operation(
        name="link_entities",
        summary="record that one entity is related to another",
        input=LinkEntities,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=link_entities,
        arguments=("source", "relation", "target"),
    ),
    Operation(
        name="merge_entities",
        summary="merge two entities that are the same; can be undone",
        input=MergeEntities,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=merge_entities,
        arguments=("duplicate", "into"),
    ),
    Operation(
        name="split_entities",
        summary="undo a merge of entities",
        input=SplitEntities,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=split_entities,
        arguments=("duplicate",),
    ),
)
