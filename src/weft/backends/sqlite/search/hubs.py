"""The heaviest edges of nodes that have very many, from the arrays of the graph: a bounded read of any hub.

They are proposals: whoever asks reads each through all guards, and asks for more where some are not to be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.backends.half_edges import HalfEdges
from weft.backends.sqlite.search.adjacency import Snapshot
from weft.core.types import Way

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class HubEdges:
    """Keys of edges of some relations (`rels`, or all but `without`), on one side of a node, heaviest first."""

    def __init__(self, snapshot: Snapshot, rels: tuple[str, ...] | None, without: tuple[str, ...], side: Way) -> None:
        self._base, self._overlay = snapshot.base, snapshot.overlay
        # By `HalfEdges.rel`. The last relation stands for several, so an edge of it may be any.
        followed = [*(rel in rels if rels is not None else rel not in without for rel in self._base.rels), True]
        self._allowed = np.array([each and side == way for each in followed for way in ("out", "in")])

    def of(self, node: int) -> Ints:
        """Those of one node, by the key of the node."""
        edge, weight = self._some(self._base.edges, node)
        if self._overlay.gone.size:
            stands = ~np.isin(edge, self._overlay.gone)
            edge, weight = edge[stands], weight[stands]
        more, heavy = self._some(self._overlay.came, node)
        if more.size:
            edge, weight = np.concatenate([edge, more]), np.concatenate([weight, heavy])
        return edge if not edge.size or weight.min() == weight.max() else edge[np.argsort(-weight, kind="stable")]

    def _some(self, edges: HalfEdges, node: int) -> tuple[Ints, NDArray[np.float32]]:
        if node + 1 >= len(edges.start):
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        begin, end = edges.start[node], edges.start[node + 1]
        chosen = self._allowed[edges.rel[begin:end]]
        return edges.edge[begin:end][chosen], edges.weight[begin:end][chosen]
