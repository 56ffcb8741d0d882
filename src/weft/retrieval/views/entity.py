"""The entity view: who and what the seeds are related to."""

from __future__ import annotations

from collections.abc import Sequence

from weft.retrieval.derived import description_id
from weft.retrieval.views.ground import (
    ENTITY_KINDS,
    MAX_NODES,
    NOT_BETWEEN_ENTITIES,
    Expanded,
    Ground,
    Seen,
    label,
    onward,
    stopped,
)
from weft.types import NodeVersion


def expand_entities(ground: Ground, seeds: Sequence[Seen], depth: int) -> Expanded:
    """Entities up to `depth` relations away, either way; score 1/(steps + 1). At most 50, the nearest first.

    Relations that join a view to another, or only say where a thing stands, are none between entities. What a project
    says that an entity is comes with it, as a step more.
    """
    seen = {each.node.id: each for each in seeds[:MAX_NODES]}
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
            if len(seen) >= MAX_NODES:
                notes = [stopped("entity")]
                break
            seen[there.id] = onward(seen[step.start], step, score=1.0 / (hop + 1), depth=hop)
            frontier.append(there.id)
        if not frontier or notes:
            break
    told = _descriptions(ground, list(seen.values()))[: MAX_NODES - len(seen)]
    nodes = sorted((*seen.values(), *told), key=lambda each: each.depth)
    return Expanded(view="entity", nodes=tuple(nodes), steps=taken + len(told), notes=tuple(notes))


def _descriptions(ground: Ground, seen: Sequence[Seen]) -> list[Seen]:
    """What the projects asked about say that these are."""
    loom = ground.loom
    projects = [each for each in ground.projects or (loom.settings.project,) if each is not None]
    about = {description_id(loom, project, each.node.id): each for each in seen for project in projects}
    found = loom.store.nodes(loom.viewer, ground.when, list(about)) if about else ()
    return [_told_of(about[node.id], node) for node in found if loom.viewer.admits(node.guard)]


def _told_of(thing: Seen, node: NodeVersion) -> Seen:
    path = f"{thing.path} <-[INVOLVES]- {label(node)}"
    return Seen(node=node, score=1.0 / (thing.depth + 2), depth=thing.depth + 1, path=path, way=(*thing.way, node.id))
