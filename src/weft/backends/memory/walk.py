"""PageRank by iteration until nothing moves."""

from __future__ import annotations

from collections.abc import Mapping

from weft.backends.memory.visible import GuardedAccount, ReadTime
from weft.core.kinds import RECORD_KINDS
from weft.core.types import DAMPING, DEFAULT_RELATION_WEIGHT, RELATION_WEIGHTS, WalkResult


def walk(sight: GuardedAccount, moment: ReadTime, seeds: Mapping[str, float], limit: int) -> WalkResult:
    """Over nodes that may be stepped on, without weft's own records."""
    nodes = {row.id for row in sight.stepping_stones_at(moment) if row.kind not in RECORD_KINDS}
    steps: dict[str, list[tuple[str, float]]] = {node: [] for node in nodes}
    for edge in sight.edges_at(moment):
        weight = edge.weight * RELATION_WEIGHTS.get(edge.rel, DEFAULT_RELATION_WEIGHT)
        if {edge.src, edge.dst} <= nodes and weight > 0:
            steps[edge.src].append((edge.dst, weight))
            steps[edge.dst].append((edge.src, weight))
    started = {node: weight for node, weight in seeds.items() if node in nodes and weight > 0}
    order = sorted(_iterate(steps, started).items(), key=lambda each: (-each[1], each[0]))
    return WalkResult(scores=tuple(order[:limit]))


def _iterate(steps: Mapping[str, list[tuple[str, float]]], seeds: Mapping[str, float]) -> dict[str, float]:
    """Scores of a walk that continues with probability DAMPING and ends where there is no way on."""
    total = sum(seeds.values())
    held = {node: weight / total for node, weight in seeds.items()}
    stays: dict[str, float] = {}
    while held and max(held.values()) > 1e-12:
        moved: dict[str, float] = {}
        for node, share in held.items():
            degree = sum(weight for _, weight in steps[node])
            stays[node] = stays.get(node, 0.0) + share * (1.0 - DAMPING if degree else 1.0)
            for other, weight in steps[node]:
                moved[other] = moved.get(other, 0.0) + DAMPING * share * weight / degree
        held = moved
    return stays
