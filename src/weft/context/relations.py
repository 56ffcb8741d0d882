"""Relations among the nodes of a context, read from the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from weft.core.types import NodeVersion, When
from weft.retrieval.views.causal import confidence
from weft.retrieval.views.shared import CAUSES, CROSS_VIEW, ENTITY_KINDS, NOT_BETWEEN_ENTITIES, GraphReader, label
from weft.runtime.call_context import CallContext


class Entity(Struct, frozen=True, kw_only=True):
    """An entity that lines are about."""

    id: str
    kind: str
    name: str


class Ties(Struct, frozen=True, kw_only=True):
    """Between the given nodes: causes (cause, effect -> confidence), and the events that causes refer to.

    `origins` are all causes of each cause, given or not, that the viewer may see. `about` are the entities of each
    node, `related` the relations of the given entities, `names` their names. Where they are not `known`, there may be
    any.
    """

    causes: Mapping[tuple[str, str], float] = {}
    origins: Mapping[str, frozenset[str]] = {}
    told: Mapping[str, tuple[str, ...]] = {}
    about: Mapping[str, tuple[Entity, ...]] = {}
    related: Mapping[str, tuple[tuple[str, Entity], ...]] = {}
    names: Mapping[str, str] = {}
    known: bool = True


def ties_of(ctx: CallContext, when: When, nodes: Sequence[NodeVersion]) -> Ties:
    """The relations of these nodes in their projects, as far as the viewer may see them."""
    given = {node.id for node in nodes}
    ground = GraphReader(ctx=ctx, when=when, projects=(None, *{node.guard.project for node in nodes}))
    causes: dict[tuple[str, str], float] = {}
    told: dict[str, list[str]] = {}
    about: dict[str, dict[str, Entity]] = {}
    for step in ground.step([node.id for node in nodes], (*CROSS_VIEW, CAUSES), direction="out"):
        if step.edge.rel == CAUSES:
            if step.node.id in given:
                causes[step.start, step.node.id] = confidence(step.edge.props)
        elif step.edge.rel == "REFERS_TO":
            told.setdefault(step.start, []).append(step.node.id)
        else:
            about.setdefault(step.start, {})[step.node.id] = entity_of(step.node)
    related: dict[str, dict[tuple[str, str], tuple[str, Entity]]] = {}
    for step in ground.step([node.id for node in nodes if node.kind in ENTITY_KINDS], direction="out"):
        rel, there = step.edge.rel, step.node
        if rel not in NOT_BETWEEN_ENTITIES and there.kind in ENTITY_KINDS:
            related.setdefault(step.start, {})[rel, there.id] = (rel, entity_of(there))
    origins: dict[str, set[str]] = {}
    for step in ground.step([node.id for node in nodes if node.kind == "Cause"], (CAUSES,), direction="in"):
        if step.node.kind == "Cause":
            origins.setdefault(step.start, set()).add(step.node.id)
    return Ties(
        causes=causes,
        origins={effect: frozenset(found) for effect, found in origins.items()},
        told={cause: tuple(each for each in events if each in given) for cause, events in told.items()},
        about={node: tuple(found.values()) for node, found in about.items()},
        related={node: tuple(found.values()) for node, found in related.items()},
        names={node.id: label(node) for node in nodes if node.kind in ENTITY_KINDS},
    )


def entity_of(node: NodeVersion) -> Entity:
    """A node as lines speak of it."""
    return Entity(id=node.id, kind=node.kind, name=label(node))
