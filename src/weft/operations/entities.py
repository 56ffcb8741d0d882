"""Things and what joins them: adding an entity, relating two, merging what are two nodes for one thing."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import Meta
from msgspec.structs import replace

from weft.errors import Invalid
from weft.instants import to_iso
from weft.kinds import MENTION, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS, is_thing, spelt
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted, EdgeAssertion, EdgeName, Ended, NodeAssertion
from weft.loom import Loom
from weft.operations.describing import describe, described
from weft.operations.fields import KindName, Moment, Name, NodeName
from weft.operations.making import UNSPECIFIED, Making, check_words, guard_in
from weft.operations.moments import check_interval
from weft.operations.planned import Planned, SoFar, answered, asserts, write
from weft.operations.references import (
    ALWAYS,
    MERGES_INTO,
    ambiguous,
    assertion_of,
    by_id,
    covers,
    merged_into,
    named,
    same_rights,
    unknown,
)
from weft.operations.registry import Operation
from weft.operations.relations import RelationName, check_relation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, guard_of, props_of
from weft.projection.weave import MAX_WEIGHT
from weft.types import EdgeVersion, NodeVersion

MAX_ALIASES: Final = 64

Alias = Annotated[str, Meta(min_length=1, max_length=512)]
EntityName = Annotated[NodeName, Meta(description="an entity's id, name or alias; a new name makes a new entity")]


class AddEntity(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_entity`."""

    name: Annotated[Name, Meta(description="what it is called")]
    kind: Annotated[KindName, Meta(description="Person, Organization, Service, Place, Product, or a kind of yours")] = (
        UNSPECIFIED
    )
    description: Annotated[str, Meta(description="what it is, in a sentence or more")] = ""
    aliases: Annotated[tuple[Alias, ...], Meta(max_length=MAX_ALIASES, description="other names it goes by")] = ()


def add_entity(loom: Loom, given: AddEntity) -> Remembered:
    """Records that there is somebody or something, what it is, and the other names it goes by.

    The same name again is the same entity: nothing is written, or a new version where there is more to say of it.
    References to it, by name or alias, find it from then on. Entities are known in all projects; a description that an
    agent gives without approval is kept for its own project, beside the entity.
    """
    if before := answered(loom, given.request_id, lambda payload: _entity_of(payload, given)):
        return before
    return write(loom, lambda so_far: plan_entity(loom, given, so_far), request_id=given.request_id)


def plan_entity(loom: Loom, given: AddEntity, so_far: SoFar) -> Planned:
    """What adding an entity comes to."""
    given = replace(given, kind=spelt(given.kind))
    if not is_thing(given.kind) or given.kind in VIEWS["code"]:
        raise Invalid(f"{given.kind} is no kind of entity", hint=_instead(given.kind))
    check_words(given.name, field="name")
    if given.description:
        check_words(given.description, field="description")
    making = Making(loom, replace(guard_of(loom, given), project=None), so_far)
    before = _entity_named(making, given)
    main = before or making.new_thing(given.name, given.kind)
    making.nodes.pop(main.id, None)  # it is written as what it becomes, below
    aliases = _with_aliases(making, main, given.aliases)
    apart = bool(given.description) and not loom.may_write_global
    told = {} if apart and before is not None else props_of(given)  # of the description then, not of the thing
    main = replace(
        main,
        text=main.text if apart else given.description or main.text,
        props={**main.props, **told, **({"aliases": aliases} if aliases else {})},
    )
    linked = describe(making, given, main, given.description) if apart else ()
    if given.kind not in VIEWS["entity"]:
        making.notes.append(
            f"{given.kind} is no kind that relations are followed to: {', '.join(sorted(VIEWS['entity']))} are"
        )
    return making.told(main, before, linked)


def _entity_of(payload: Any, given: AddEntity) -> str | None:
    """The entity that an earlier call with the same request id wrote of, if it was this one."""
    found = asserts(payload, spelt(given.kind), given.name)
    return found or (described(payload, given.description) if given.description else None)


def _instead(kind: str) -> str:
    if kind in RECORD_KINDS or kind in STRUCTURAL_KINDS or kind in VIEWS["code"]:
        return "weft makes these itself; choose another kind, such as Entity"
    ways = {"Event": "add_event", "Fact": "add_fact", "Cause": "add_causal_link", "Concept": "add_concept"}
    return f"use {ways.get(kind, 'memory_write')} for it, or another kind, such as Entity"


def _entity_named(making: Making, given: AddEntity) -> NodeAssertion | None:
    """The entity of this name and these rights that is there; of the kind asked for, if one is."""
    found = [node for node in making.things(given.name) if same_rights(guard_in(node), making.guard)]
    found = [node for node in found if node.kind != MENTION]  # a text named it: now it is told of
    if given.kind == UNSPECIFIED:
        known = [node for node in found if node.kind != UNSPECIFIED] or found
    else:
        known = [node for node in found if node.kind == given.kind]
        making.notes += [
            f"{node.id} ({node.kind}) has this name too: if it is the same, merge_entities joins them"
            for node in found
            if node.kind != given.kind
        ]
    if len(known) > 1:
        raise ambiguous(given.name, known)
    if known and name_key(known[0].name) != name_key(given.name):
        making.notes.append(f"{given.name[:80]!r} is another name of {known[0].name!r}")
    return known[0] if known else None


def _with_aliases(making: Making, main: NodeAssertion, aliases: tuple[str, ...]) -> list[str]:
    """All aliases of an entity with these; each new one gets a record of its own, by which it is looked up."""
    known = [each for each in main.props.get("aliases", ()) if isinstance(each, str)]
    keys = {name_key(main.name), *map(name_key, known)}
    for alias in aliases:
        key = name_key(check_words(alias, field="an alias"))
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
                hint=f"if they are the same, call merge_entities with duplicate {strangers[0].id}",
            )
        words = f"Another name of {main.name}." if making.loom.may_write_global else ""
        record = records[0] if records else making.new_thing(alias, main.kind, text=words)
        if records:
            making.notes.append(f"{alias[:80]!r} is another name of others too: refer to this one by name or id")
        else:
            making.nodes[record.id] = replace(record, props={"alias": True})
        making.edge(record.id, MERGES_INTO, main.id, valid_from=ALWAYS)
    return known


class LinkEntities(WriteOptions, frozen=True, kw_only=True):
    """Input of `link_entities`."""

    source: EntityName
    target: EntityName
    relation: RelationName
    weight: Annotated[float, Meta(gt=0.0, le=MAX_WEIGHT, description="how strong it is; 1 is usual")] = 1.0
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None


def link_entities(loom: Loom, given: LinkEntities) -> Remembered:
    """Records that one entity is related to another, in one direction, for a time.

    Entities named for the first time are made. The same relation again, with another weight or another time, is a new
    version of it.
    """
    if before := answered(loom, given.request_id, lambda payload: _edge_of(payload, given.relation)):
        return before
    return write(loom, lambda so_far: plan_link(loom, given, so_far), request_id=given.request_id)


def plan_link(loom: Loom, given: LinkEntities, so_far: SoFar) -> Planned:
    """What relating two entities comes to."""
    check_relation(given.relation, between_entities=True)
    begin, end = check_interval(given.valid_from, given.valid_to)
    making = Making(loom, guard_of(loom, given), so_far)
    source, target = making.thing(given.source), making.thing(given.target)
    if source == target:
        raise Invalid(f"{given.source[:80]!r} and {given.target[:80]!r} are one entity", hint="relate two entities")
    edge = {
        "props": props_of(given),
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
    """The relation as it holds says the same; where no beginning is given, it may have any."""
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

    duplicate: Annotated[NodeName, Meta(description="the id, name or alias of the one to be merged")]
    into: Annotated[NodeName, Meta(description="the id, name or alias of the one that it is")]
    reason: Annotated[str, Meta(max_length=2_000, description="how you know that they are one")]


def merge_entities(loom: Loom, given: MergeEntities) -> Remembered:
    """Records that two entities are one: names of the duplicate mean the other from then on.

    Nothing is deleted: what was said of the duplicate stays with it, and `split_entities` undoes the merge.
    """
    if before := answered(loom, given.request_id, lambda payload: _edge_of(payload, MERGES_INTO)):
        return before
    return write(loom, lambda _: _plan_merge(loom, given), request_id=given.request_id)


def _plan_merge(loom: Loom, given: MergeEntities) -> Planned:
    check_words(given.reason, field="reason")
    duplicate = _existing(loom, given.duplicate)
    meant = _existing(loom, given.into)
    into = merged_into(loom, [meant])[0]
    if duplicate.id in (meant.id, into.id):
        raise Invalid(
            f"{given.duplicate[:80]!r} and {given.into[:80]!r} are one entity already", hint="give two entities"
        )
    guard = guard_of(loom, given) if given.scope or given.agents or given.sensitive else duplicate.guard
    making = Making(loom, replace(guard, project=None), SoFar())
    making.known(duplicate)
    for step in making.steps_from(duplicate.id, MERGES_INTO):
        if step.node.id == into.id:
            return making.planned(duplicate.id, (), (into.id,), cites=step.edge.event)
        raise Invalid(
            f"{given.duplicate[:80]!r} was merged into {step.node.id} before",
            hint="split_entities undoes that; or merge the one it was merged into",
        )
    making.edge(duplicate.id, MERGES_INTO, into.id, props={"reason": given.reason}, valid_from=ALWAYS)
    target = assertion_of(into)
    known = [each for each in target.props.get("aliases", ()) if isinstance(each, str)]
    new_name = name_key(duplicate.name) not in {name_key(each) for each in (target.name, *known)}
    nodes: tuple[NodeAssertion, ...] = ()
    if new_name and covers(duplicate.guard, into.guard):
        nodes = (replace(target, props={**target.props, "aliases": [*known, duplicate.name]}),)
    elif new_name:
        making.notes.append("not all who may see the one may see the other: its name is not shown as an alias")
    return making.asserted(duplicate.id, nodes, tuple(making.edges.values()), (into.id,), cites=None)


class SplitEntities(WriteOptions, frozen=True, kw_only=True):
    """Input of `split_entities`."""

    duplicate: Annotated[NodeName, Meta(description="the id or name of the one that was merged")]


def split_entities(loom: Loom, given: SplitEntities) -> Remembered:
    """Undoes a merge: the duplicate is an entity of its own again, as if the two had never been taken for one."""
    if before := answered(loom, given.request_id, _split_of):
        return before
    return write(loom, lambda _: _plan_split(loom, given), request_id=given.request_id)


def _plan_split(loom: Loom, given: SplitEntities) -> Planned:
    duplicate = _existing(loom, given.duplicate)
    making = Making(loom, replace(duplicate.guard, project=None), SoFar())
    making.known(duplicate)
    steps = making.steps_from(duplicate.id, MERGES_INTO)
    if not steps:
        raise Invalid(
            f"{given.duplicate[:80]!r} is not merged into anything", hint="give the one that was merged, by its id"
        )
    key = name_key(duplicate.name)
    without: list[NodeAssertion] = []
    for step in steps:
        target = assertion_of(step.node)
        kept = [each for each in target.props.get("aliases", ()) if name_key(each) != key]
        if kept != list(target.props.get("aliases", ())):
            props = {**target.props, "aliases": kept}
            without.append(replace(target, props={name: value for name, value in props.items() if value != []}))
    ended = Ended(
        nodes=(duplicate.id,) if duplicate.props.get("alias") else (),  # a mere alias is nothing by itself
        edges=tuple(EdgeName(src=duplicate.id, rel=MERGES_INTO, dst=step.node.id) for step in steps),
        at=ALWAYS,
        reason="split",
    )
    drafts = [Draft(kind="graph.asserted", payload=Asserted(nodes=tuple(without)))] if without else []
    drafts.append(Draft(kind="graph.ended", payload=ended))
    return making.planned(duplicate.id, tuple(drafts), [step.node.id for step in steps])


def _existing(loom: Loom, written: str) -> NodeVersion:
    """An entity that is there, itself and not what it was merged into."""
    node = by_id(loom, written)
    if node is not None:
        if not is_thing(node.kind):
            raise Invalid(f"{written[:80]!r} is a {node.kind}, not an entity", hint="give an entity's id or name")
        return node
    found = named(loom, written, is_thing, follow=False)
    if len(found) > 1:
        raise ambiguous(written, found)
    if not found:
        raise unknown(written, "entity")
    return found[0]


def _edge_of(payload: Any, relation: str) -> str | None:
    edges = payload.edges if isinstance(payload, Asserted) else ()
    return next((edge.src for edge in edges if edge.rel == relation), None)


def _split_of(payload: Any) -> str | None:
    if isinstance(payload, Ended):
        return next((edge.src for edge in payload.edges if edge.rel == MERGES_INTO), None)
    return "" if isinstance(payload, Asserted) and payload.nodes and not payload.edges else None


OPERATIONS = (
    Operation(
        name="add_entity",
        summary="record somebody or something, and the names it goes by",
        input=AddEntity,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_entity,
        arguments=("name",),
    ),
    Operation(
        name="link_entities",
        summary="record that one entity is related to another",
        input=LinkEntities,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=link_entities,
        arguments=("source", "relation", "target"),
    ),
    Operation(
        name="merge_entities",
        summary="record that two entities are one; can be undone",
        input=MergeEntities,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=merge_entities,
        arguments=("duplicate", "into"),
    ),
    Operation(
        name="split_entities",
        summary="undo a merge of entities",
        input=SplitEntities,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=split_entities,
        arguments=("duplicate",),
    ),
)
