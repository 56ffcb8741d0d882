"""Changes: transactions, and the difference between two positions."""

from __future__ import annotations

from typing import TypeVar

from weft.backends.memory.account import Account
from weft.backends.memory.visible import GuardedAccount, ReadTime, holds, known
from weft.core.types import Diff, EdgeVersion, NodeVersion, Tx

Key = TypeVar("Key", bound=tuple[str, ...])
Sides = tuple[bool, bool, bool]  # held before, holds after, touched in between

_ADDED: Sides = (False, True, True)
_REMOVED: Sides = (True, False, True)
_MODIFIED: Sides = (True, True, True)


def transactions(account: Account, limit: int, git_commit: str | None) -> tuple[Tx, ...]:
    """Newest first; of one git commit, by its hash or a prefix of seven digits or more."""
    every = account.graph.transactions.values()
    found = [tx for tx in every if git_commit is None or _same_commit(tx.git_commit, git_commit)]
    return tuple(sorted(found, key=lambda tx: -tx.opened_pos)[:limit])


def _same_commit(written: str | None, asked: str) -> bool:
    return written is not None and len(asked) >= 7 and written.startswith(asked)


def diff(
    sight: GuardedAccount,
    now: ReadTime,
    since_pos: int,
    agent: str | None,
    projects: tuple[str | None, ...] | None,
    limit: int,
) -> Diff:
    """The visible graph at a position, against the visible graph now."""
    graph = sight.graph
    since_pos = sight.account.whole_commits(since_pos)

    def counts(made: int | None, tx_id: str | None) -> bool:
        """The change landed since: it was made, and what it is part of was complete, by now and not then."""
        if made is None or tx_id is None:
            return False
        tx = graph.transactions[tx_id]
        if tx.closed_pos is None or max(made, tx.closed_pos) <= since_pos:
            return False
        return agent is None or tx.agent == agent

    def sides(rows: list[NodeVersion] | list[EdgeVersion]) -> Sides:
        holding = [row for row in rows if holds(row.interval, now.valid_at)]
        before = any(known(graph, row, since_pos) for row in holding)
        after = any(known(graph, row, now.pos) for row in holding)
        touched = any(counts(row.born, row.tx) or counts(row.retired_pos, row.retired_tx) for row in rows)
        return before, after, touched

    by_node: dict[tuple[str, str], list[NodeVersion]] = {}
    for row in graph.nodes.values():
        if sight.sees(row):
            by_node.setdefault((row.kind, row.id), []).append(row)
    by_edge: dict[tuple[str, str, str], list[EdgeVersion]] = {}
    visible = {node_id for _, node_id in by_node}
    for edge in graph.edges.values():
        if sight.sees_edge(edge) and {edge.src, edge.dst} <= visible:
            by_edge.setdefault((edge.src, edge.rel, edge.dst), []).append(edge)

    def wanted(node_id: str) -> bool:
        return projects is None or graph.identities[node_id].guard.project in projects

    nodes = {key: sides(rows) for key, rows in by_node.items() if wanted(key[1])}
    edges = {key: sides(rows) for key, rows in by_edge.items() if wanted(key[0])}
    return _make_diff(nodes, edges, limit)


def _make_diff(
    nodes: dict[tuple[str, str], Sides],
    edges: dict[tuple[str, str, str], Sides],
    limit: int,
) -> Diff:
    added, removed, modified = (_keys(nodes, sides) for sides in (_ADDED, _REMOVED, _MODIFIED))
    edges_added, edges_removed = (_keys(edges, sides) for sides in (_ADDED, _REMOVED))
    lists = (added, removed, modified, edges_added, edges_removed)
    return Diff(
        added=added[:limit],
        removed=removed[:limit],
        modified=modified[:limit],
        edges_added=edges_added[:limit],
        edges_removed=edges_removed[:limit],
        truncated=any(len(each) > limit for each in lists),
    )


def _keys(table: dict[Key, Sides], wanted: Sides) -> tuple[Key, ...]:
    return tuple(sorted(key for key, sides in table.items() if sides == wanted))
