"""The edges of a graph as compressed sparse rows in numpy, for walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class HalfEdges(Struct, frozen=True):
    """Half-edges by source: `start[n]` to `start[n + 1]` are node n's, those out of it before those into it, each in
    the order of their rows. `weight` is the edge's own; `rel` is twice the relation's number, plus one into the node.
    """

    start: Any
    target: Any
    weight: Any
    ward: Any
    edge: Any
    rel: Any

    @classmethod
    def of(cls, size: int, columns: Any) -> HalfEdges:
        """From (src, dst, weight, group, edge, relation) rows; each edge can be walked both ways."""
        here = _both(columns[:, 0], columns[:, 1], np.int32)
        order = np.argsort(here, kind="stable")
        start = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(here, minlength=size), out=start[1:])
        weight, ward, edge, rel = (columns[:, at] for at in range(2, 6))
        return cls(
            start,
            _both(columns[:, 1], columns[:, 0], np.int32)[order],
            _both(weight, weight, np.float32)[order],
            _both(ward, ward, np.int32)[order],
            _both(edge, edge, np.int64)[order],
            _both(2 * rel, 2 * rel + 1, np.int16)[order],
        )

    def of_nodes(self, nodes: Ints) -> tuple[Ints, Ints]:
        """(index into `nodes`, position of a half-edge) for every half-edge of these nodes."""
        inside = nodes < len(self.start) - 1
        first = self.start[np.where(inside, nodes, 0)]
        counts = np.where(inside, self.start[np.where(inside, nodes, 0) + 1] - first, 0)
        index = np.repeat(np.arange(len(nodes)), counts)
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return index, np.repeat(first, counts) + offsets


def _both(one: Any, other: Any, kind: type[np.generic]) -> Any:
    """Two columns as one. Each gets its type first: sorting millions of wider numbers takes the most memory."""
    return np.concatenate([one.astype(kind), other.astype(kind)])
