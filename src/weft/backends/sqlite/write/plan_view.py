"""The view of a plan inside the write lock: the log's heads, and live rows by key."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw
import orjson

from weft.backends.sqlite import rows
from weft.backends.sqlite.guards import marks
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.write.prefetch import Prefetched
from weft.core.types import AccountHead, EdgeVersion, Event, Guard, Identity, NodeVersion, SessionHead, Tx

SEPARATOR = "\x1f"  # begins a shared slot, joins the parts of an edge's own
_LIVE_AFTER = "v.retired_pos IS NULL AND (v.valid_to IS NULL OR v.valid_to > ?)"


class SqliteView:
    """Implements `weft.core.commits.LockedView` over the graph tables of one prefix."""

    def __init__(self, db: apsw.Connection, account: str, genesis: bytes, prefix: str = "") -> None:
        self._db, self._account, self._genesis, self._p = db, account, genesis, prefix
        self.expected = Prefetched(db, prefix)

    def expect(
        self, nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], texts: Sequence[bytes]
    ) -> Collection[tuple[str, str, str]]:
        self.expected = Prefetched(self._db, self._p)
        self.expected.read(nodes, edges, texts)
        return self.expected.new_edges

    def head(self) -> AccountHead:
        return read_head(self._db, self._genesis)

    def session_head(self, session: str) -> SessionHead | None:
        row = first(self._db, "SELECT seq, hash FROM session WHERE name = ?", (session,))
        return None if row is None else SessionHead(session=session, seq=row[0], hash=row[1])

    def event_hash(self, session: str, seq: int) -> bytes | None:
        query = "SELECT e.hash FROM event e JOIN session s ON s.key = e.session WHERE s.name = ? AND e.seq = ?"
        row = first(self._db, query, (session, seq))
        return None if row is None else row[0]

    def event(self, session: str, seq: int) -> Event | None:
        row = first(self._db, f"{rows.SELECT_EVENT} WHERE s.name = ? AND e.seq = ?", (session, seq))
        return None if row is None else rows.event_of(self._account, row)

    def events_since(self, pos: int, *, limit: int) -> tuple[Event, ...]:
        found = self._db.execute(f"{rows.SELECT_EVENT} WHERE e.pos > ? ORDER BY e.pos LIMIT ?", (pos, limit))
        return tuple(rows.event_of(self._account, row) for row in found)

    def request(self, request_id: str) -> tuple[Event, ...]:
        found = self._db.execute(f"{rows.SELECT_EVENT} WHERE e.request_id = ? ORDER BY e.pos", (request_id,))
        return tuple(rows.event_of(self._account, row) for row in found)

    def identity(self, node_id: str) -> Identity | None:
        if node_id in self.expected.identities:
            return self.expected.identities[node_id]
        row = first(
            self._db,
            f"""SELECT n.kind, w.project, w.scope, w.agents, w.sensitive, n.deleted_at
                FROM {self._p}node n JOIN {self._p}ward w ON w.id = n.ward WHERE n.id = ?""",
            (node_id,),
        )
        if row is None:
            return None
        guard: Guard = rows.guard_of(row[1], row[2], row[3], row[4])
        return Identity(id=node_id, kind=row[0], guard=guard, deleted_at=row[5])

    def live_nodes(self, slot: str, after: int) -> tuple[NodeVersion, ...]:
        live = "v.retired_pos IS NULL AND (v.valid_to IS NULL OR v.valid_to > ?)"
        own = f"{rows.select_nodes(self._p)} WHERE n.id = ? AND v.slot IS NULL AND {live}"
        shared = f"{rows.select_nodes(self._p)} WHERE v.slot = ? AND {live}"
        found = [*self._db.execute(own, (slot, after)), *self._db.execute(shared, (slot, after))]
        return tuple(sorted(map(rows.node_of, found), key=lambda row: row.interval.valid_from))

    def live_versions(self, node_id: str) -> tuple[NodeVersion, ...]:
        query = f"{rows.select_nodes(self._p)} WHERE n.id = ? AND v.retired_pos IS NULL ORDER BY v.valid_from"
        return tuple(map(rows.node_of, self._db.execute(query, (node_id,))))

    def live_edge_versions(self, src: str, rel: str, dst: str) -> tuple[EdgeVersion, ...]:
        query = f"""{rows.select_edges(self._p)} WHERE a.id = ? AND e.rel = ? AND b.id = ? AND v.retired_pos IS NULL
            ORDER BY v.valid_from"""
        return tuple(map(rows.edge_of, self._db.execute(query, (src, rel, dst))))

    def live_edges(self, slot: str, after: int) -> tuple[EdgeVersion, ...]:
        if slot.startswith(SEPARATOR):
            parts, which = [slot], "v.slot = ?"
        else:
            parts, which = slot.split(SEPARATOR), "a.id = ? AND e.rel = ? AND b.id = ? AND v.slot IS NULL"
        query = f"{rows.select_edges(self._p)} WHERE {which} AND {_LIVE_AFTER} ORDER BY v.valid_from"
        return tuple(map(rows.edge_of, self._db.execute(query, (*parts, after))))

    def transaction(self, tx_id: str) -> Tx | None:
        row = first(self._db, f"{rows.select_tx(self._p)} WHERE id = ?", (tx_id,))
        return None if row is None else rows.tx_of(row)

    def open_changes(self) -> tuple[str, ...]:
        found = every(self._db, f"SELECT id FROM {self._p}tx WHERE long AND closed_pos IS NULL")
        return tuple(tx for (tx,) in found)

    def toucher_of_nodes(self, slot: str, changes: Sequence[str]) -> str | None:
        p = self._p
        alone = f"{p}node n JOIN {p}node_version v ON v.node = n.key WHERE n.id = ? AND v.slot IS NULL"
        return self._toucher(f"{p}node_version", alone, [slot], slot, changes)

    def toucher_of_edges(self, slot: str, changes: Sequence[str]) -> str | None:
        p = self._p
        alone = f"""{p}edge e JOIN {p}node a ON a.key = e.src JOIN {p}node b ON b.key = e.dst
            JOIN {p}edge_version v ON v.edge = e.key WHERE a.id = ? AND e.rel = ? AND b.id = ? AND v.slot IS NULL"""
        return self._toucher(f"{p}edge_version", alone, slot.split(SEPARATOR), slot, changes)

    def _toucher(
        self, versions: str, alone: str, names: Sequence[str], slot: str, changes: Sequence[str]
    ) -> str | None:
        if slot.startswith(SEPARATOR):  # live rows and retired ones each have their index
            begun = f"(SELECT min(opened_pos) FROM {self._p}tx WHERE id IN ({marks(changes)}))"
            rows = f"""SELECT v.tx, v.retired_tx FROM {versions} v WHERE v.slot = ? AND v.retired_pos IS NULL
                UNION ALL SELECT v.tx, v.retired_tx FROM {versions} v WHERE v.slot = ? AND v.retired_pos >= {begun}"""
            params = [slot, slot, *changes]
        else:
            rows, params = f"SELECT v.tx, v.retired_tx FROM {alone}", [*names]
        query = f"""SELECT t.id FROM ({rows}) v JOIN {self._p}tx t ON t.key = v.tx OR t.key = v.retired_tx
            WHERE t.id IN ({marks(changes)}) LIMIT 1"""
        row = first(self._db, query, (*params, *changes))
        return None if row is None else row[0]

    def touched_since(
        self, pos: int, *, kinds: Sequence[str] = (), slots: Sequence[str] = (), limit: int
    ) -> tuple[NodeVersion, ...]:
        p, values = self._p, (*kinds, *slots, *slots)
        which = f"""(n.kind IN ({marks(kinds)}) OR v.slot IN ({marks(slots)})
            OR (v.slot IS NULL AND n.id IN ({marks(slots)})))"""
        done = f"NOT IN (SELECT key FROM {p}tx WHERE long AND closed_pos IS NULL)"
        # CROSS JOIN, and a plus before a column, keep the planner to the indexes of positions.
        versions = f"SELECT v.row FROM {p}node_version v CROSS JOIN {p}node n ON n.key = v.node WHERE"
        late = f"SELECT v.row FROM {p}tx x CROSS JOIN {p}node_version v CROSS JOIN {p}node n ON n.key = v.node"
        closed = f"{late} WHERE x.long AND x.closed_pos > ?"
        touched = (
            f"{versions} v.born > ? AND v.tx {done} AND {which}",
            f"{versions} v.retired_pos > ? AND v.retired_tx {done} AND {which}",
            f"""SELECT v.row FROM {p}node n CROSS JOIN {p}node_version v ON v.node = n.key
                WHERE n.changed_pos > ? AND v.retired_pos IS NULL AND v.tx {done} AND {which}""",
            f"{closed} AND v.born BETWEEN x.opened_pos AND x.closed_pos AND +v.tx = x.key AND {which}",
            f"{closed} AND v.retired_pos BETWEEN x.opened_pos AND x.closed_pos AND +v.retired_tx = x.key AND {which}",
        )
        query = f"{rows.select_nodes(p)} WHERE v.row IN ({' UNION ALL '.join(touched)}) ORDER BY v.row LIMIT ?"
        found = self._db.execute(query, (*(pos, *values) * len(touched), limit))
        return tuple(map(rows.node_of, found))

    def node_rows(self, node_ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        query = f"{rows.select_nodes(self._p)} WHERE n.id IN (SELECT value FROM json_each(?)) ORDER BY v.row"
        return tuple(map(rows.node_of, self._db.execute(query, (orjson.dumps(list(node_ids)).decode(),))))

    def edge_rows(self, edges: Sequence[tuple[str, str, str]]) -> tuple[EdgeVersion, ...]:
        query = f"{rows.select_edges(self._p)} WHERE a.id = ? AND e.rel = ? AND b.id = ? ORDER BY v.row"
        return tuple(rows.edge_of(row) for edge in edges for row in self._db.execute(query, edge))

    def rows_since(self, node_row: int, edge_row: int) -> tuple[tuple[NodeVersion, ...], tuple[EdgeVersion, ...]]:
        nodes = self._db.execute(f"{rows.select_nodes(self._p)} WHERE v.row >= ? ORDER BY v.row", (node_row,))
        edges = self._db.execute(f"{rows.select_edges(self._p)} WHERE v.row >= ? ORDER BY v.row", (edge_row,))
        return tuple(map(rows.node_of, nodes)), tuple(map(rows.edge_of, edges))

    def next_rows(self) -> tuple[int, int]:
        query = f"""SELECT (SELECT ifnull(max(row), 0) + 1 FROM {self._p}node_version),
                           (SELECT ifnull(max(row), 0) + 1 FROM {self._p}edge_version)"""
        nodes, edges = one(self._db, query)
        return nodes, edges

    def has_text(self, content_hash: bytes) -> bool:
        if content_hash in self.expected.texts:
            return self.expected.texts[content_hash]
        query = f"SELECT 1 FROM {self._p}text WHERE hash = ?"
        return first(self._db, query, (content_hash,)) is not None


def read_head(db: apsw.Connection, genesis: bytes) -> AccountHead:
    """The end of the log."""
    row = first(db, "SELECT first_pos + count - 1, at, digest FROM commits ORDER BY first_pos DESC LIMIT 1")
    return (
        AccountHead(pos=0, at=0, digest=genesis) if row is None else AccountHead(pos=row[0], at=row[1], digest=row[2])
    )


def position_at(db: apsw.Connection, at: int) -> int:
    """The last position known at a time."""
    query = "SELECT first_pos + count - 1 FROM commits WHERE at <= ? ORDER BY at DESC LIMIT 1"
    row = first(db, query, (at,))
    return 0 if row is None else row[0]
