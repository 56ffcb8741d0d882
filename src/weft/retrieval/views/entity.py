"""The entity view: entities related to the seeds."""

from __future__ import annotations

from collections.abc import Sequence

from weft.core.types import NodeVersion
from weft.retrieval.judging.derived import description_id
from weft.retrieval.views.shared import (
    ENTITY_KINDS,
    NOT_BETWEEN_ENTITIES,
    ExpandedView,
    GraphReader,
    SeenNode,
    label,
    onward,
    stopped,
)


def expand_entities(ground: GraphReader, seeds: Sequence[SeenNode], depth: int) -> ExpandedView:
    """Entities up to `depth` relations away, either way; score 1/(steps + 1), the nearest first.

    Relations between views and containment do not count. A project's description of an entity comes with it, as one
    step more. At most `view_max_nodes` in all.
    """
    seen = {each.node.id: each for each in seeds[: ground.max_nodes]}
    apart = tuple(sorted(NOT_BETWEEN_ENTITIES))
    frontier, taken, notes = list(seen), 0, []
    for hop in range(1, depth + 1):
        steps = ground.step(frontier, direction="both", without=apart)
        frontier = []
        for step in steps:
            there = step.node
            if there.kind not in ENTITY_KINDS and there.id not in seen:
                continue
            taken += 1
            if there.id in seen:
                continue
            if len(seen) >= ground.max_nodes:
                notes = [stopped("entity", ground.max_nodes)]
                break
            seen[there.id] = onward(seen[step.start], step, score=1.0 / (hop + 1), depth=hop)
            frontier.append(there.id)
        if not frontier or notes:
            break
    told = _descriptions(ground, list(seen.values()))[: ground.max_nodes - len(seen)]
    nodes = sorted((*seen.values(), *told), key=lambda each: each.depth)
    return ExpandedView(view="entity", nodes=tuple(nodes), steps=taken + len(told), notes=tuple(notes))


def _descriptions(ground: GraphReader, seen: Sequence[SeenNode]) -> list[SeenNode]:
    """The descriptions of these entities by the projects asked about."""
    ctx = ground.ctx
    projects = [each for each in ground.projects or (ctx.settings.project,) if each is not None]
    about = {description_id(ctx, project, each.node.id): each for each in seen for project in projects}
    found = ctx.store.nodes(ctx.viewer, ground.when, list(about)) if about else ()
    return [_told_of(about[node.id], node) for node in found if ctx.viewer.admits(node.guard)]


def _told_of(thing: SeenNode, node: NodeVersion) -> SeenNode:
    path = f"{thing.path} <-[INVOLVES]- {label(node)}"
    return SeenNode(
        node=node, score=1.0 / (thing.depth + 2), depth=thing.depth + 1, path=path, way=(*thing.way, node.id)
    )
