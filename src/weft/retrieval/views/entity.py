"""The entity view: who and what the seeds are related to."""

from __future__ import annotations

from collections.abc import Sequence

from weft.retrieval.views.ground import (
    ENTITY_KINDS,
    MAX_NODES,
    NOT_BETWEEN_ENTITIES,
    Expanded,
    Ground,
    Seen,
    onward,
    stopped,
)


def expand_entities(ground: Ground, seeds: Sequence[Seen], depth: int) -> Expanded:
    """Entities up to `depth` relations away, either way; score 1/(steps + 1). At most 50, the nearest first.

    Relations that join a view to another, or only say where a thing stands, are none between entities.
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
    return Expanded(view="entity", nodes=tuple(seen.values()), steps=taken, notes=tuple(notes))
