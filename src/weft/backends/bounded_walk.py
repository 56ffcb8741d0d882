"""A walk of a few bounded steps, for times that no graph in memory covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from weft.core.kinds import RECORD_KINDS
from weft.core.types import DAMPING, DEFAULT_RELATION_WEIGHT, RELATION_WEIGHTS, Neighbour, NodeVersion, WalkResult

THEN_STEPS: Final = 2
UNWALKED: Final = tuple(sorted(rel for rel, weight in RELATION_WEIGHTS.items() if weight == 0.0))


def bounded_walk(
    found: Sequence[NodeVersion],
    seeds: Mapping[str, float],
    neighbours: Callable[[Sequence[str]], Sequence[Neighbour]],
    limit: int,
) -> WalkResult:
    """Two steps from the seeds that were found. `neighbours` gives a bounded number of steps from each node."""
    there = {node.id for node in found if node.kind not in RECORD_KINDS and seeds[node.id] > 0}
    total = sum(seeds[node] for node in there)
    held = {node: seeds[node] / total for node in there}
    stays: dict[str, float] = {}
    for _ in range(THEN_STEPS):
        moved: dict[str, float] = {}
        steps = neighbours(list(held))
        ways = [(step, _weight(step)) for step in steps if step.node.kind not in RECORD_KINDS and _weight(step) > 0]
        degree: dict[str, float] = {}
        for step, weight in ways:
            degree[step.start] = degree.get(step.start, 0.0) + weight
        for node, share in held.items():
            stays[node] = stays.get(node, 0.0) + share * (1.0 - DAMPING if degree.get(node) else 1.0)
        for step, weight in ways:
            part = DAMPING * held[step.start] * weight / degree[step.start]
            moved[step.node.id] = moved.get(step.node.id, 0.0) + part
        held = moved
    for node, share in held.items():
        stays[node] = stays.get(node, 0.0) + share
    order = sorted(stays.items(), key=lambda each: (-each[1], each[0]))
    return WalkResult(scores=tuple(order[:limit]))


def _weight(step: Neighbour) -> float:
    return step.edge.weight * RELATION_WEIGHTS.get(step.edge.rel, DEFAULT_RELATION_WEIGHT)
