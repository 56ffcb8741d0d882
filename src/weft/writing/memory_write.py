"""`memory_write`: a node of any kind, with properties and relations."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.core.clock import to_iso
from weft.core.errors import Invalid
from weft.core.kinds import DERIVED_FROM, RECORD_KINDS, VIEWS, spelt
from weft.graph.placeholders import KEPT_KINDS
from weft.log.kinds.graph import NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindName, Moment, NodeName
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.writing.build.entity_builder import WriteBuilder, check_text_field
from weft.writing.build.planned_write import BatchState, PlannedWrite, asserts, earlier_result, write_planned
from weft.writing.checks.predicates import RelationName, check_relation
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

MAX_RELATIONS: Final = 100
TO_THINGS: Final = frozenset({"INVOLVES", "REPRESENTS", "AFFECTS"})  # their targets are entities
OF_ITS_NAME: Final = VIEWS["entity"]  # nodes that are identified by their names

Value = str | int | float | bool | None
Props = dict[str, Value | list[str]]


class Relation(Struct, frozen=True, kw_only=True):
    """A relation to or from another node."""

    rel: RelationName
    target: NodeName
    direction: Annotated[Literal["out", "in"], Meta(description="out: to the target; in: from it")] = "out"
    target_kind: Annotated[
        KindName | None, Meta(description="create the target, of this kind, if it does not exist")
    ] = None


class MemoryWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `memory_write`."""

    kind: Annotated[KindName, Meta(description="kind of node: Memory, Learning, Task, or your own")]
    text: Annotated[str, Meta(description="its text, kept verbatim")] = ""
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    relations: Annotated[
        tuple[Relation, ...], Meta(max_length=MAX_RELATIONS, description="relations to other nodes")
    ] = ()
    valid_from: Annotated[Moment | None, Meta(description="when it became true; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="when it stops being true")] = None


def memory_write(ctx: CallContext, given: MemoryWrite) -> WriteResult:
    """Writes one node of any kind, with its properties and relations.

    Entities, events, facts, causes, concepts and decisions have simpler operations of their own. An entity whose name
    exists gets a new version; anything else is a new node.
    """
    said = given.text or given.name
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, spelt(given.kind), said)):
        return before
    return write_planned(ctx, lambda so_far: plan_write(ctx, given, so_far), request_id=given.request_id)


def plan_write(ctx: CallContext, given: MemoryWrite, so_far: BatchState) -> PlannedWrite:
    """The plan of `memory_write`."""
    given = replace(given, kind=spelt(given.kind))
    if DERIVED_FROM in given.props:
        raise Invalid(f"the property {DERIVED_FROM} is reserved by weft", hint="choose another name")
    _check_kind(given.kind, hint="choose another kind, such as Memory")
    if given.text or not given.name:
        check_text_field(given.text, field="text")
    if given.name:
        check_text_field(given.name, field="name")
    begin, end = check_interval(given.valid_from, given.valid_to)
    making = WriteBuilder(ctx, guard_of(ctx, given), so_far)
    if given.kind in OF_ITS_NAME:
        before, main = _thing(making, given)
    else:
        before = None
        node_id = ctx.new_id(given.request_id)
        main = NodeAssertion(id=node_id, kind=given.kind, name=given.name, **asdict(making.guard))
    main = replace(
        main,
        text=given.text or main.text,
        props={**main.props, **given.props, **props_of(ctx, given)},
        focus=focus_of(ctx, given),
        valid_from=main.valid_from if begin is None else to_iso(begin),
        valid_to=None if end is None else to_iso(end),
    )
    linked = [_join(making, main.id, relation) for relation in given.relations]
    return making.told(main, before, [*linked, *([] if ctx.task is None else [ctx.task])])


def _check_kind(kind: str, *, hint: str) -> None:
    """Raises Invalid for weft's own records, and for projects and focus areas, which no erasure removes."""
    if kind in RECORD_KINDS:
        raise Invalid(f"weft keeps {kind} records itself", hint=hint)
    if kind in KEPT_KINDS:
        raise Invalid(
            f"a {kind} is not a memory", hint=f"{hint}; `weft project-create` and `weft focus-create` create these"
        )


def _thing(making: WriteBuilder, given: MemoryWrite) -> tuple[NodeAssertion | None, NodeAssertion]:
    """The entity of this name and kind as it is, and as it will be."""
    if not given.name:
        raise Invalid(f"a {given.kind} needs a name", hint="give a name, by which it is found")
    made = making.new_thing(given.name, given.kind)
    del making.nodes[made.id]  # it is the main node of the write
    before = making.standing(made.id)
    return before, before or made


def _join(making: WriteBuilder, node_id: str, relation: Relation) -> str:
    check_relation(relation.rel, between_entities=False)
    to_thing = relation.rel in TO_THINGS and relation.direction == "out"
    if relation.target_kind is not None or to_thing:
        kind = relation.target_kind or "Entity"
        _check_kind(kind, hint="choose another kind for the target")
        target = making.thing(relation.target, kind=kind)
    else:
        target = making.node(relation.target).id
    if target == node_id:
        raise Invalid(f"{relation.rel} would join the node to itself", hint="give a different target")
    ends = (node_id, target) if relation.direction == "out" else (target, node_id)
    making.edge(ends[0], relation.rel, ends[1])
    return target


OPERATIONS = (
    Operation(
        name="memory_write",
        summary="write a node of any kind, with properties and relations",
        input=MemoryWrite,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=memory_write,
        arguments=("kind", "text"),
    ),
)
