"""Applies the whole log again to side tables, beside readers and writers, then swaps them in.

Each slice is a short write transaction: writers wait for one slice, never for the whole. The last slice and the swap
are one transaction. A crash leaves side tables that the next rebuild drops.

One rebuild at a time: `SqliteStore.rebuild` holds a `flock` throughout. Where there is none, a row in the side tables
names their owner and progress, and a rebuild that no longer finds its own row stops.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Final

import apsw

from weft.backends.sqlite import rows
from weft.backends.sqlite.query import every, first
from weft.backends.sqlite.schema import GRAPH_TABLES, KEPT_TABLES, SIDE_PREFIX, graph_tables
from weft.backends.sqlite.write.apply import GraphWriter
from weft.backends.sqlite.write.plan_view import SqliteView
from weft.core.commits import ApplyEvents
from weft.core.errors import Conflict
from weft.core.types import Commit, Event

SLICE_EVENTS = 150
_EPOCH: Final = re.compile(rf"(?:{SIDE_PREFIX})?g(\d+)_")
OWNER: Final = f"{SIDE_PREFIX}owner"  # one row: the owner of the side tables, and its progress


class SideTableRebuild:
    """One rebuild over one connection: `begin`, `slice` until little is left, then the rest and `swap` in one
    transaction.

    `slice` and `swap` raise Conflict if another rebuild has begun since: the side tables are then its own.
    """

    def __init__(self, db: apsw.Connection, account: str, genesis: bytes, fold: ApplyEvents) -> None:
        self._db, self._account, self._fold = db, account, fold
        self._view = SqliteView(db, account, genesis, SIDE_PREFIX)
        self._id = uuid.uuid4().hex
        self.done_pos = 0

    def begin(self) -> None:
        """Drops the remains of an earlier rebuild and creates empty side tables. Inside a write transaction."""
        drop_side(self._db)
        for statement in (*KEPT_TABLES, *graph_tables(SIDE_PREFIX, _next_epoch(self._db))):
            self._db.execute(statement)
        self._db.execute(f"CREATE TABLE {OWNER}(id TEXT NOT NULL, done_pos INTEGER NOT NULL) STRICT")
        self._db.execute(f"INSERT INTO {OWNER} VALUES(?, 0)", (self._id,))

    def slice(self) -> int:
        """Applies the next commits. Inside a write transaction. Returns the number of events."""
        self._check_ours()
        taken = 0
        for commit, events in read_log(self._db, self._account, after=self.done_pos, limit=SLICE_EVENTS):
            changes = self._fold(self._view, events)
            GraphWriter(self._db, SIDE_PREFIX, self._view.expected).apply(changes, events[-1].pos)
            self.done_pos = commit.first_pos + commit.count - 1
            taken += len(events)
        self._db.execute(f"UPDATE {OWNER} SET done_pos = ?", (self.done_pos,))
        return taken

    def swap(self) -> None:
        """Replaces the tables by the side tables. Inside the write transaction of the last slice."""
        self._check_ours()
        self._db.execute(f"DROP TABLE {OWNER}")
        for table in GRAPH_TABLES:
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
            self._db.execute(f"ALTER TABLE {SIDE_PREFIX}{table} RENAME TO {table}")

    def _check_ours(self) -> None:
        there = self._db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (OWNER,)).fetchall()
        found = self._db.execute(f"SELECT id, done_pos FROM {OWNER}").fetchall() if there else []
        if found != [(self._id, self.done_pos)]:
            raise Conflict(
                "another process has begun to rebuild the graph, or erased something meanwhile",
                hint="let it finish, then rebuild again; the graph is unchanged",
            )


def _next_epoch(db: apsw.Connection) -> int:
    """A number that no earlier rebuild had: indexes and caches of other epochs must not be taken for current ones.

    If the table with the epoch is missing, the names of existing indexes carry it.
    """
    there = first(db, "SELECT 1 FROM sqlite_schema WHERE name = 'text_state'") is not None
    row = first(db, "SELECT epoch FROM text_state") if there else None
    if row is not None:
        return int(row[0]) + 1
    names = [_EPOCH.match(name) for (name,) in every(db, "SELECT name FROM sqlite_schema WHERE type = 'index'")]
    return max((int(found[1]) for found in names if found), default=0) + 1


def drop_side(db: apsw.Connection) -> None:
    """Removes side tables, if any."""
    db.execute(f"DROP TABLE IF EXISTS {OWNER}")
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
