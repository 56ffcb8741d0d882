"""`add_concept`: an idea with its meaning and the entities that it represents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from weft.core.errors import Invalid
from weft.log.kinds.graph import NodeAssertion
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name
from weft.runtime.operation import Operation
from weft.text.lexical import name_key
from weft.writing.build.entity_builder import WriteBuilder, check_text_field
from weft.writing.build.planned_write import BatchState, PlannedWrite, asserts, earlier_result, write_planned
from weft.writing.build.pseudonyms import pseudonym
from weft.writing.build.references import concept_id
from weft.writing.events import Entities
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of


class AddConcept(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_concept`."""

    name: Annotated[Name, Meta(description="its name")]
    description: Annotated[str, Meta(description="what it means; questions find it by these words")] = ""
    entities: Annotated[Entities, Meta(description="entities that it represents, by id, name or alias")] = ()


def add_concept(ctx: CallContext, given: AddConcept) -> WriteResult:
    """Records a concept: its name, its meaning, and the entities that it represents.

    The same name again is the same concept, with the new description and further entities. A REPRESENTS edge leads to
    each entity, so that a question that finds the concept also reaches events about the entity.
    """
    if before := earlier_result(ctx, given.request_id, lambda payload: asserts(payload, "Concept", given.name)):
        return before
    return write_planned(ctx, lambda so_far: plan_concept(ctx, given, so_far), request_id=given.request_id)


def plan_concept(ctx: CallContext, given: AddConcept, so_far: BatchState) -> PlannedWrite:
    """The plan of `add_concept`."""
    key = name_key(check_text_field(given.name, field="name"))
    if not key:
        raise Invalid(
            f"the name {given.name[:80]!r} has no letter or digit in it",
            hint="give a name with at least one letter or digit",
        )
    if given.description:
        check_text_field(given.description, field="description")
    making = WriteBuilder(ctx, guard_of(ctx, given), so_far)
    node_id = making.id_of(concept_id(pseudonym(ctx, key, making.guard), making.guard))
    before = making.standing(node_id)
    main = NodeAssertion(
        id=node_id,
        kind="Concept",
        name=before.name if before else given.name,
        text=given.description or (before.text if before else ""),
        props={**(before.props if before else {}), **props_of(ctx, given)},
        focus=focus_of(ctx, given),
        **asdict(making.guard),
        valid_from=before.valid_from if before else None,
    )
    linked = [making.thing(each) for each in given.entities]
    for entity in linked:
        making.edge(main.id, "REPRESENTS", entity)
    return making.told(main, before, linked)


OPERATIONS = (
    Operation(
        name="add_concept",
        summary="record a concept, its meaning and the entities that it represents",
        input=AddConcept,
        output=WriteResult,
        effect="write",
        toolset="memory",
        run=add_concept,
        arguments=("name",),
    ),
)
