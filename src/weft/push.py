"""Forward push: personalised PageRank that touches only what the walk reaches.

Each round pushes every node that holds more than `EPSILON` times its degree, all at once in numpy: a dozen rounds,
whatever the size of the graph. Only visible nodes and edges count, in the degree too, so that what a viewer may not
see cannot change what it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from weft.types import DAMPING

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPSILON = 1e-5
MAX_ROUNDS = 40
MAX_FRONTIER = 20_000  # nodes pushed in one round, most held first


class Adjacency(Protocol):
    """A graph by node number."""

    @property
    def size(self) -> int:
        """Node numbers are below this."""
        ...

    def neighbours(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """(index into `nodes`, neighbour, weight) of every visible step from these nodes."""
        ...


def forward_push(graph: Adjacency, seeds: dict[int, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes reached and what stays with each. Seeds are weighed to add up to 1."""
    total = sum(seeds.values())
    residual = np.zeros(graph.size)
    stays = np.zeros(graph.size)
    for node, share in seeds.items():
        residual[node] = share / total
    touched = np.fromiter(seeds, dtype=np.int64)
    frontier = touched
    for _ in range(MAX_ROUNDS):
        if not frontier.size:
            break
        if frontier.size > MAX_FRONTIER:
            frontier = frontier[np.argsort(-residual[frontier], kind="stable")[:MAX_FRONTIER]]
        held = residual[frontier]
        residual[frontier] = 0.0
        stays[frontier] += (1.0 - DAMPING) * held
        start, reached, weight = graph.neighbours(frontier)
        degree = np.bincount(start, weights=weight, minlength=frontier.size)
        moved = DAMPING * held[start] * weight / degree[start]
        np.add.at(residual, reached, moved)
        stuck = degree == 0.0  # nowhere to go: the walk ends here
        stays[frontier[stuck]] += DAMPING * held[stuck]
        reached = np.unique(reached)
        touched = np.union1d(touched, reached)
        frontier = reached[residual[reached] > EPSILON]
    return touched, stays[touched]
