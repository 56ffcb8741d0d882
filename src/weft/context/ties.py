"""How the nodes of a context hang together: read from the graph again, never taken from whoever lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from weft.loom import Loom
from weft.retrieval.views.causal import confidence
from weft.retrieval.views.ground import CAUSES, CROSS_VIEW, ENTITY_KINDS, NOT_BETWEEN_ENTITIES, Ground, label
from weft.types import NodeVersion, When


class Entity(Struct, frozen=True, kw_only=True):
    """Somebody or something that lines are about."""

    id: str
    kind: str
    name: str


class Ties(Struct, frozen=True, kw_only=True):
    """Between the nodes given: causes (cause, effect -> confidence), and the events that causes refer to.

    `origins` are all causes of each cause, given or not, as far as the viewer may see them. From the nodes given to any
    entity: whom each is about, and the relations of those that are entities themselves, whose own names are `names`.
    Where they are not `known`, there may be any.
    """

    causes: Mapping[tuple[str, str], float] = {}
    origins: Mapping[str, frozenset[str]] = {}
    told: Mapping[str, tuple[str, ...]] = {}
    about: Mapping[str, tuple[Entity, ...]] = {}
    related: Mapping[str, tuple[tuple[str, Entity], ...]] = {}
    names: Mapping[str, str] = {}
    known: bool = True


def ties_of(loom: Loom, when: When, nodes: Sequence[NodeVersion]) -> Ties:
    """What joins these nodes in the projects that they are of, as far as the viewer may see it."""
    given = {node.id for node in nodes}
    ground = Ground(loom=loom, when=when, projects=(None, *{node.guard.project for node in nodes}))
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
