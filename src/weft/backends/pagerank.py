"""Personalised PageRank by forward push: work in proportion to the nodes reached.

Each round pushes, in numpy at once, every node whose residual exceeds EPSILON, until none does. Before the first round,
three arrays as long as the graph has nodes are allocated. Only visible nodes and edges count, in the degree too, so
that hidden content cannot change what a viewer is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from weft.core.types import DAMPING

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPSILON = 3e-4
MAX_ROUNDS = 60
MAX_FRONTIER = 20_000  # nodes pushed in one round, largest residual first


class WalkableGraph(Protocol):
    """A graph by node number."""

    @property
    def size(self) -> int:
        """Node numbers are below this."""
        ...

    def neighbours(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """(index into `nodes`, neighbour, weight) of every visible step from these nodes."""
        ...


def forward_push(graph: WalkableGraph, seeds: dict[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes reached and their scores. Seeds are normalised to add up to 1; a residual below EPSILON is dropped."""
    total = sum(seeds.values())
    residual, stays = np.zeros(graph.size), np.zeros(graph.size)
    stamp = np.zeros(graph.size, np.int64)
    for node, share in seeds.items():
        residual[node] = share / total
    frontier = np.fromiter(seeds, dtype=np.int64)
    pushed = [frontier]
    for _ in range(MAX_ROUNDS):
        held = residual[frontier]
        residual[frontier] = 0.0
        stays[frontier] += (1.0 - DAMPING) * held
        start, reached, weight = graph.neighbours(frontier)
        degree = np.bincount(start, weights=weight, minlength=frontier.size)
        stuck = degree == 0.0  # no way on: the walk ends here
        stays[frontier[stuck]] += DAMPING * held[stuck]
        np.add.at(residual, reached, (DAMPING * held)[start] * (weight / degree[start]))
        frontier = _once(reached[residual[reached] > EPSILON], stamp)
        if not frontier.size:
            break
        if frontier.size > MAX_FRONTIER:
            frontier = frontier[np.argsort(-residual[frontier], kind="stable")[:MAX_FRONTIER]]
        pushed.append(frontier)
    touched = _once(np.concatenate(pushed), stamp)
    return touched, stays[touched]


def _once(nodes: NDArray[np.int64], stamp: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each node once, in linear time: the last index written to `stamp` is the one that stays."""
    places = np.arange(nodes.size)
    stamp[nodes] = places
    unique: NDArray[np.int64] = nodes[stamp[nodes] == places]
    return unique
