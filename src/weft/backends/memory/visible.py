"""The part of an account that a viewer sees: guards as of today, and the two clocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from weft.backends.memory.account import Account, Graph
from weft.core.kinds import ERASED, STRUCTURAL_KINDS
from weft.core.types import EdgeVersion, Event, Interval, NodeVersion, Viewer


class ReadTime(NamedTuple):
    """Both clocks of a read: the valid time, and the last known position."""

    valid_at: int
    pos: int


class GuardedAccount:
    """One account as one viewer sees it. Every read goes through here, row by row."""

    def __init__(self, viewer: Viewer, account: Account) -> None:
        self.viewer = viewer
        self.account = account

    @property
    def graph(self) -> Graph:
        return self.account.graph

    # Guards

    def sees(self, row: NodeVersion) -> bool:
        """Whether the node may be in an answer."""
        return self.finds(row.id)

    def finds(self, node_id: str) -> bool:
        """The same by a node's id."""
        identity = self.graph.identities[node_id]
        return identity.deleted_at is None and self.viewer.admits(identity.guard)

    def steps_on(self, row: NodeVersion) -> bool:
        """Whether a walk may pass the node: an agent limited to its tags may pass untagged structure."""
        identity = self.graph.identities[row.id]
        passes = not identity.guard.agents and identity.kind in STRUCTURAL_KINDS
        admitted = self.viewer.admits(identity.guard) or (passes and self._untagged.admits(identity.guard))
        return identity.deleted_at is None and admitted

    def sees_edge(self, edge: EdgeVersion) -> bool:
        guard = self.graph.edge_guards[edge.src, edge.rel, edge.dst]
        return self.viewer.admits(guard) or (not guard.agents and self._untagged.admits(guard))

    def sees_event(self, event: Event) -> bool:
        """Whether all nodes of an event are visible; events without nodes, and of open changes, are for operators.

        Erased nodes were visible once and hold no words now: their existence may be known.
        """
        rows = [row for row in self.graph.nodes.values() if row.born == event.pos and row.event == event.pos]
        finished = bool(rows) and all(map(self.graph.is_finished, rows))
        return all(self.sees(row) or self._sees_erased(row) for row in rows) and (finished or self.viewer.operator)

    def _sees_erased(self, row: NodeVersion) -> bool:
        return row.id.startswith(ERASED) and self.viewer.admits(self.graph.identities[row.id].guard)

    def knows_text(self, content_hash: bytes) -> bool:
        """Whether a node of any time with this text may be found."""
        rows = (row for row in self.graph.nodes.values() if row.content_hash == content_hash)
        return any(self.sees(row) and self.graph.is_finished(row) for row in rows)

    @property
    def _untagged(self) -> Viewer:
        """The same viewer without the restriction to its tags."""
        return replace(self.viewer, audience="internal")

    # Guards and clocks

    def nodes_at(self, moment: ReadTime) -> Iterator[NodeVersion]:
        for row in self.graph.nodes.values():
            if self.sees(row) and self._holds_at(row, moment):
                yield self.graph.today(row)

    def stepping_stones_at(self, moment: ReadTime) -> Iterator[NodeVersion]:
        for row in self.graph.nodes.values():
            if self.steps_on(row) and self._holds_at(row, moment):
                yield self.graph.today(row)

    def edges_at(self, moment: ReadTime) -> Iterator[EdgeVersion]:
        for edge in self.graph.edges.values():
            if self.sees_edge(edge) and self._holds_at(edge, moment):
                yield edge

    def _holds_at(self, row: NodeVersion | EdgeVersion, moment: ReadTime) -> bool:
        return known(self.graph, row, moment.pos) and holds(row.interval, moment.valid_at)


def known(graph: Graph, row: NodeVersion | EdgeVersion, pos: int) -> bool:
    """Record time: made by this position and not retired by it; changes still open at it do not count."""

    def landed(made: int, tx_id: str) -> bool:
        tx = graph.transactions[tx_id]
        if tx.opened_pos <= made and tx.closed_pos is not None:
            return made <= pos and tx.closed_pos <= pos
        return False

    if not landed(row.born, row.tx):
        return False
    return row.retired_pos is None or row.retired_tx is None or not landed(row.retired_pos, row.retired_tx)


def holds(interval: Interval, at: int) -> bool:
    """Valid time: half open."""
    return interval.valid_from <= at and (interval.valid_to is None or at < interval.valid_to)
