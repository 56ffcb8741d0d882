"""Applies the whole log again to another graph of the account, beside readers and writers, then makes it the one read.

Each slice is a write transaction of its own. A crash leaves rows that no reader sees; the next rebuild removes them.
"""

from __future__ import annotations

import uuid
from typing import Final

from weft.backends.neo4j.read.log_queries import whole_log
from weft.backends.neo4j.write.cypher_writer import CypherWriter
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.backends.neo4j.write.locked_view import PlanView
from weft.core.commits import ApplyEvents
from weft.core.errors import Conflict

SLICE_EVENTS: Final = 500
ROWS_AT_ONCE: Final = 5_000
_DERIVED: Final = (
    "WeftVersion",
    "WeftNode",
    "WeftText",
    "WeftName",
    "WeftWord",
    "WeftGroup",
    "WeftTerm",
    "WeftTx",
    "WeftGraph",
)


class SideGraph:
    """One rebuild. `slice` and `swap` raise Conflict if another has begun since, or something was erased."""

    def __init__(self, fold: ApplyEvents) -> None:
        self._fold = fold
        self._g = ""
        self.done_pos = 0

    def begin(self, place: LockedAccount) -> None:
        """Names the new graph."""
        self._g = f"{place.a}#{uuid.uuid4().hex[:12]}"
        place.run("MATCH (x:WeftAccount {a: $a}) SET x.folding = $g", g=self._g)

    def slice(self, place: LockedAccount) -> int:
        """Applies the next commits. Returns the number of events."""
        self._check_ours(place)
        taken = 0
        for commit, events in whole_log(place.rows, place.account, self.done_pos, SLICE_EVENTS):
            view = PlanView(place, self._g)
            changes = self._fold(view, events)
            CypherWriter(place, self._g, view.new_edges).apply(changes, events[-1].pos)
            self.done_pos = commit.first_pos + commit.count - 1
            taken += len(events)
        return taken

    def swap(self, place: LockedAccount) -> str:
        """Makes the new graph the one read. Returns the former one, whose rows are then removed."""
        self._check_ours(place)
        place.run("MATCH (x:WeftAccount {a: $a}) SET x.folding = null, x.g = $g", g=self._g)
        return place.g

    def _check_ours(self, place: LockedAccount) -> None:
        if place.folding != self._g:
            raise Conflict(
                "another process has begun to rebuild the graph, or erased something meanwhile",
                hint="let it finish, then rebuild again; the graph is unchanged",
            )


def remove_some(place: LockedAccount, g: str) -> bool:
    """Deletes some rows of a graph that nobody reads; False once there are none."""
    for label in _DERIVED:
        query = f"MATCH (x:{label} {{g: $g}}) WITH x LIMIT {ROWS_AT_ONCE} DETACH DELETE x RETURN count(*)"
        if place.rows(query, g=g)[0][0]:
            return True
    return False


def stale_graphs(place: LockedAccount) -> list[str]:
    """Graphs of this account that nobody reads: the remains of rebuilds."""
    query = "MATCH (x:WeftGraph) WHERE x.g STARTS WITH $start AND x.g <> $g AND x.g <> $folding RETURN x.g"
    return [g for (g,) in place.rows(query, start=f"{place.a}#", g=place.g, folding=place.folding or "")]
