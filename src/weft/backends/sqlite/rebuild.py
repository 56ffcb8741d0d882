"""Folds the whole log again into side tables, beside readers and writers, then swaps them in.

The log is read in slices outside the write lock; only the last slice and the swap take it. A crash leaves side
tables that the next rebuild drops.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from weft.backends.sqlite import rows
from weft.backends.sqlite.apply import GraphWriter
from weft.backends.sqlite.query import one
from weft.backends.sqlite.schema import GRAPH_TABLES, SIDE_PREFIX, graph_tables
from weft.backends.sqlite.view import SqliteView
from weft.ports import FoldLog
from weft.types import Commit, Event

SLICE_EVENTS = 150


class Rebuild:
    """One rebuild over one connection. `slice` until it says the end is near, then `finish` under the lock."""

    def __init__(self, db: apsw.Connection, account: str, genesis: bytes, fold: FoldLog) -> None:
        self._db, self._account, self._fold = db, account, fold
        self._view = SqliteView(db, account, genesis, SIDE_PREFIX)
        self.done_pos = 0

    def begin(self) -> None:
        """Drops what an earlier rebuild left and makes empty side tables. Inside a write transaction."""
        drop_side(self._db)
        # Never the number of an earlier rebuild: indexes and caches of other epochs must not be taken for ours.
        (generation,) = one(self._db, "SELECT epoch + 1 FROM text_state")
        for statement in graph_tables(SIDE_PREFIX, generation):
            self._db.execute(statement)

    def slice(self) -> int:
        """Folds the next commits. Inside a write transaction. Returns how many events it took."""
        taken = 0
        for commit, events in read_log(self._db, self._account, after=self.done_pos, limit=SLICE_EVENTS):
            GraphWriter(self._db, SIDE_PREFIX).apply(self._fold(self._view, events), events[-1].pos)
            self.done_pos = commit.first_pos + commit.count - 1
            taken += len(events)
        return taken

    def swap(self) -> None:
        """Puts the side tables in place of the old ones. Inside the write transaction of the last slice."""
        for table in GRAPH_TABLES:
            self._db.execute(f"DROP TABLE {table}")
            self._db.execute(f"ALTER TABLE {SIDE_PREFIX}{table} RENAME TO {table}")


def drop_side(db: apsw.Connection) -> None:
    """Removes side tables, if any."""
    for table in GRAPH_TABLES:
        db.execute(f"DROP TABLE IF EXISTS {SIDE_PREFIX}{table}")


def read_log(
    db: apsw.Connection, account: str, *, after: int, limit: int
) -> Sequence[tuple[Commit, tuple[Event, ...]]]:
    """Whole commits past `after`, about `limit` events; at least one commit if there is any."""
    found: list[Commit] = []
    size = 0
    query = "SELECT first_pos, count, at, digest FROM commits WHERE first_pos > ? ORDER BY first_pos LIMIT ?"
    for row in db.execute(query, (after, limit)):
        if found and size + row[1] > limit:
            break
        found.append(rows.commit_of(row))
        size += row[1]
    if not found:
        return ()
    last = found[-1].first_pos + found[-1].count - 1
    events_query = f"{rows.SELECT_EVENT} WHERE e.pos > ? AND e.pos <= ? ORDER BY e.pos"
    events = [rows.event_of(account, row) for row in db.execute(events_query, (found[0].first_pos - 1, last))]
    by_commit, at = [], 0
    for commit in found:
        by_commit.append((commit, tuple(events[at : at + commit.count])))
        at += commit.count
    return tuple(by_commit)
