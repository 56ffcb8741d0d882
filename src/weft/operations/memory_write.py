"""The general form of a write: a node of any kind, with properties and relations."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from weft.errors import Invalid
from weft.instants import to_iso
from weft.kinds import RECORD_KINDS, VIEWS, spelt
from weft.log.kinds.graph import NodeAssertion
from weft.loom import Loom
from weft.operations.fields import KindName, Moment, NodeName
from weft.operations.making import Making, check_words
from weft.operations.moments import check_interval
from weft.operations.planned import Planned, SoFar, answered, asserts, write
from weft.operations.registry import Operation
from weft.operations.relations import RelationName, check_relation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.projection.tokens import KEPT_KINDS
from weft.retrieval.derived import DERIVED_FROM

MAX_RELATIONS: Final = 100
TO_THINGS: Final = frozenset({"INVOLVES", "REPRESENTS", "AFFECTS"})  # what these point at is an entity
OF_ITS_NAME: Final = VIEWS["entity"]  # nodes that are told apart by their names

Value = str | int | float | bool | None
Props = dict[str, Value | list[str]]


class Relation(Struct, frozen=True, kw_only=True):
    """A relation of what is written, to or from another node."""

    rel: RelationName
    target: NodeName
    direction: Annotated[Literal["out", "in"], Meta(description="out: to the target; in: from it")] = "out"
    target_kind: Annotated[KindName | None, Meta(description="make the target, of this kind, if it is not there")] = (
        None
    )


class MemoryWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `memory_write`."""

    kind: Annotated[KindName, Meta(description="what sort of node: Memory, Learning, Task, or a kind of yours")]
    text: Annotated[str, Meta(description="its words, kept verbatim")] = ""
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    relations: Annotated[tuple[Relation, ...], Meta(max_length=MAX_RELATIONS, description="what it is joined to")] = ()
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; now if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None


def memory_write(loom: Loom, given: MemoryWrite) -> Remembered:
    """Writes one node of any kind, with its properties and its relations to others.

    For what has a form of its own (entities, events, facts, causes, concepts, decisions) the form is the shorter way.
    An entity of a name that is there gets a new version; anything else is a new node.
    """
    said = given.text or given.name
    if before := answered(loom, given.request_id, lambda payload: asserts(payload, spelt(given.kind), said)):
        return before
    return write(loom, lambda so_far: plan_write(loom, given, so_far), request_id=given.request_id)


def plan_write(loom: Loom, given: MemoryWrite, so_far: SoFar) -> Planned:
    """What a general write comes to."""
    given = replace(given, kind=spelt(given.kind))
    if DERIVED_FROM in given.props:
        raise Invalid(f"the property {DERIVED_FROM} is weft's own", hint="name it otherwise")
    _check_kind(given.kind, hint="choose another kind, such as Memory")
    if given.text or not given.name:
        check_words(given.text, field="text")
    if given.name:
        check_words(given.name, field="name")
    begin, end = check_interval(given.valid_from, given.valid_to)
    making = Making(loom, guard_of(loom, given), so_far)
    if given.kind in OF_ITS_NAME:
        before, main = _thing(making, given)
    else:
        before = None
        node_id = loom.new_id(given.request_id)
        main = NodeAssertion(id=node_id, kind=given.kind, name=given.name, **asdict(making.guard))
    main = replace(
        main,
        text=given.text or main.text,
        props={**main.props, **given.props, **props_of(given)},
        focus=focus_of(loom, given),
        valid_from=main.valid_from if begin is None else to_iso(begin),
        valid_to=None if end is None else to_iso(end),
    )
    linked = [_join(making, main.id, relation) for relation in given.relations]
    return making.told(main, before, [*linked, *([] if loom.task is None else [loom.task])])


def _check_kind(kind: str, *, hint: str) -> None:
    """Raises Invalid for what weft keeps itself, and for projects and focus areas: no erasure takes these."""
    if kind in RECORD_KINDS:
        raise Invalid(f"{kind} is weft's own kind of record", hint=hint)
    if kind in KEPT_KINDS:
        raise Invalid(
            f"a {kind} is no memory", hint=f"{hint}; `weft project-create` and `weft focus-create` make these"
        )


def _thing(making: Making, given: MemoryWrite) -> tuple[NodeAssertion | None, NodeAssertion]:
    """The entity of this name and kind as it stands, and as it is to be."""
    if not given.name:
        raise Invalid(f"a {given.kind} needs a name", hint="give it the name by which it is found")
    made = making.new_thing(given.name, given.kind)
    del making.nodes[made.id]  # it is the node written, not one made along with it
    before = making.standing(made.id)
    return before, before or made


def _join(making: Making, node_id: str, relation: Relation) -> str:
    check_relation(relation.rel, between_entities=False)
    to_thing = relation.rel in TO_THINGS and relation.direction == "out"
    if relation.target_kind is not None or to_thing:
        kind = relation.target_kind or "Entity"
        _check_kind(kind, hint="choose another kind for the target")
        target = making.thing(relation.target, kind=kind)
    else:
        target = making.node(relation.target).id
    if target == node_id:
        raise Invalid(f"{relation.rel} would join the node to itself", hint="give another target")
    ends = (node_id, target) if relation.direction == "out" else (target, node_id)
    making.edge(ends[0], relation.rel, ends[1])
    return target


OPERATIONS = (
    Operation(
        name="memory_write",
        summary="write a node of any kind, with properties and relations",
        input=MemoryWrite,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=memory_write,
        arguments=("kind", "text"),
    ),
)
