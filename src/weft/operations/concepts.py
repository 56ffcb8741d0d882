"""Ideas by name: what they are about, and what they stand for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import asdict

from weft.errors import Invalid
from weft.lexical import name_key
from weft.log.kinds.graph import NodeAssertion
from weft.loom import Loom
from weft.operations.fields import Name
from weft.operations.happenings import Entities
from weft.operations.hidden import hidden
from weft.operations.making import Making, check_words
from weft.operations.planned import Planned, SoFar, answered, asserts, write
from weft.operations.references import concept_id
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of


class AddConcept(WriteOptions, frozen=True, kw_only=True):
    """Input of `add_concept`."""

    name: Annotated[Name, Meta(description="what it is called")]
    description: Annotated[str, Meta(description="what it means: what questions find it by")] = ""
    entities: Annotated[Entities, Meta(description="entities that it stands for, by id, name or alias")] = ()


def add_concept(loom: Loom, given: AddConcept) -> Remembered:
    """Records an idea by its name, what it means, and the entities that it stands for.

    The same name again is the same concept: it gets the new description and the further entities. Each entity gets a
    REPRESENTS edge, by which a question that finds the concept goes on to what happened to the entity.
    """
    if before := answered(loom, given.request_id, lambda payload: asserts(payload, "Concept", given.name)):
        return before
    return write(loom, lambda so_far: plan_concept(loom, given, so_far), request_id=given.request_id)


def plan_concept(loom: Loom, given: AddConcept, so_far: SoFar) -> Planned:
    """What adding a concept comes to."""
    key = name_key(check_words(given.name, field="name"))
    if not key:
        raise Invalid(
            f"the name {given.name[:80]!r} has no letter or digit in it", hint="give it a name to be found by"
        )
    if given.description:
        check_words(given.description, field="description")
    making = Making(loom, guard_of(loom, given), so_far)
    node_id = making.id_of(concept_id(hidden(loom, key, making.guard), making.guard))
    before = making.standing(node_id)
    main = NodeAssertion(
        id=node_id,
        kind="Concept",
        name=before.name if before else given.name,
        text=given.description or (before.text if before else ""),
        props={**(before.props if before else {}), **props_of(given)},
        focus=focus_of(loom, given),
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
        summary="record an idea, what it means and what it stands for",
        input=AddConcept,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=add_concept,
        arguments=("name",),
    ),
)
