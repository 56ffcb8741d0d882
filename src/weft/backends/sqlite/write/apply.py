"""Writes a batch: rows of the log, then of the graph. Inside a write transaction that the caller ends."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.search.names import write_names
from weft.backends.sqlite.search.words import WordIndex
from weft.backends.sqlite.write.prefetch import Prefetched
from weft.backends.sqlite.write.replace import scrub_graph
from weft.core.commits import Changes, LexedText, Retirement, Scrub
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.types import Commit, EdgeVersion, Event, Guard, Identity, NodeVersion, Tx


def write_log(db: apsw.Connection, commit: Commit, events: Sequence[Event]) -> None:
    """Appends events and their commit."""
    keys: dict[str, int] = {}
    for event in events:
        keys[event.session] = 0
    last = {event.session: event for event in events}
    for session, event in last.items():
        (keys[session],) = one(
            db,
            """INSERT INTO session(name, seq, hash) VALUES (?, ?, ?)
               ON CONFLICT(name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash RETURNING key""",
            (session, event.seq, event.hash),
        )
    db.executemany(
        "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        [
            (
                event.pos,
                keys[event.session],
                event.seq,
                event.kind,
                event.actor.agent,
                event.actor.role,
                event.recorded_at,
                event.known_at,
                event.occurred_at,
                orjson.dumps(event.caused_by).decode() if event.caused_by else None,
                event.task,
                event.conversation,
                event.request_id,
                event.payload,
                event.salt,
                event.payload_hash,
                event.prev_hash,
                event.hash,
                int(event.rewritten),
            )
            for event in events
        ],
    )
    db.execute("INSERT INTO commits VALUES (?,?,?,?)", (commit.first_pos, commit.count, commit.at, commit.digest))


class GraphWriter:
    """Applies changes to the graph tables of one prefix, and keeps the word statistics in step."""

    def __init__(self, db: apsw.Connection, prefix: str = "", expected: Prefetched | None = None) -> None:
        """`expected` is what the plan read of these tables, which have not changed since."""
        self._db, self._p, self._pos = db, prefix, 0
        self._expected = expected or Prefetched(db, prefix)
        self._words = WordIndex(db, prefix)
        self._wards: dict[Guard, int] = {}
        self._last_guard: Guard | None = None
        self._last_ward = 0
        self._node_keys: dict[str, int] = {}
        self._text_ids: dict[bytes, int] = {}
        self._node_wards: dict[int, int | None] = {}  # None: deleted or a record, not counted

    def apply(self, changes: Changes, pos: int, scrub: Scrub | None = None) -> None:
        """Applies all changes, in the order that keeps references and statistics right. `pos` is the commit's last
        position.

        The scrub comes first: the changes use its new names.
        """
        self._pos = pos
        scrubbed = () if scrub is None else scrub.texts
        if scrub is not None:
            self._write_texts(scrubbed)
            scrub_graph(self._db, scrub, self._words, self._text_ids)
        tx_keys = {tx.id: self._write_tx(tx) for tx in changes.transactions}
        self._write_identities(changes.identities)
        self._write_texts(changes.texts)
        self._write_nodes(changes.nodes, tx_keys)
        self._retire_nodes(changes.nodes_retired, tx_keys)
        self._write_edges(changes.edges, tx_keys)
        self._retire("edge_version", changes.edges_retired, tx_keys)
        self._words.settle((*scrubbed, *changes.texts), self._text_ids)

    def _ward(self, guard: Guard) -> int:
        if guard is self._last_guard:  # hashing a guard costs as much as the rest of a row, and most rows share one
            return self._last_ward
        self._last_guard, self._last_ward = guard, self._ward_of(guard)
        return self._last_ward

    def _ward_of(self, guard: Guard) -> int:
        known = self._wards.get(guard)
        if known is not None:
            return known
        values = (guard.project, guard.scope, int(guard.sensitive), orjson.dumps(guard.agents).decode())
        row = first(
            self._db,
            f"SELECT id FROM {self._p}ward WHERE project IS ? AND scope = ? AND sensitive = ? AND agents = ?",
            values,
        ) or one(
            self._db,
            f"INSERT INTO {self._p}ward(project, scope, sensitive, agents) VALUES (?,?,?,?) RETURNING id",
            values,
        )
        self._wards[guard] = row[0]
        return self._wards[guard]

    def _write_identities(self, identities: Sequence[Identity]) -> None:
        """New nodes in one statement, others one by one."""
        new = [each for each in identities if self._expected.identities.get(each.id, each) is None]
        first_key = self._next("node", "key") if new else 0
        values = []
        for key, identity in enumerate(new, start=first_key):
            ward = self._ward(identity.guard)
            values.append((key, identity.id, identity.kind, ward, identity.deleted_at, self._pos))
            counted = identity.deleted_at is None and identity.kind not in UNSEARCHED_KINDS
            self._node_keys[identity.id] = key
            self._node_wards[key] = ward if counted else None
        self._db.executemany(f"INSERT INTO {self._p}node VALUES (?,?,?,?,?,?)", values)
        for identity in identities:
            if identity.id not in self._node_keys:
                self._write_identity(identity)

    def _next(self, table: str, column: str) -> int:
        (found,) = one(self._db, f"SELECT ifnull(max({column}), 0) + 1 FROM {self._p}{table}")
        return int(found)

    def _write_identity(self, identity: Identity) -> None:
        ward = self._ward(identity.guard)
        record = identity.kind in UNSEARCHED_KINDS
        counted = None if identity.deleted_at is not None or record else ward
        before = first(self._db, f"SELECT key, ward, deleted_at FROM {self._p}node WHERE id = ?", (identity.id,))
        if before is None:
            (key,) = one(
                self._db,
                f"INSERT INTO {self._p}node(id, kind, ward, deleted_at, changed_pos) VALUES (?,?,?,?,?) RETURNING key",
                (identity.id, identity.kind, ward, identity.deleted_at, self._pos),
            )
            self._node_keys[identity.id] = key
            self._node_wards[key] = counted
            return
        key, ward_before, deleted_before = before
        live = f"SELECT text FROM {self._p}node_version WHERE node = ? AND retired_pos IS NULL"
        for (text,) in every(self._db, live, (key,)):
            if deleted_before is None and not record:
                self._words.count(ward_before, text, -1)
            if counted is not None:
                self._words.count(counted, text, +1)
        self._db.execute(
            f"UPDATE {self._p}node SET ward = ?, deleted_at = ?, changed_pos = ? WHERE key = ?",
            (ward, identity.deleted_at, self._pos, key),
        )
        self._node_keys[identity.id] = key
        self._node_wards[key] = counted

    def _node_key(self, node_id: str) -> int:
        if node_id not in self._node_keys and (known := self._expected.keys.get(node_id)) is not None:
            key, ward, kind, deleted_at = known
            self._node_keys[node_id] = key
            self._node_wards[key] = ward if deleted_at is None and kind not in UNSEARCHED_KINDS else None
        if node_id not in self._node_keys:
            query = f"SELECT key, kind, ward, deleted_at FROM {self._p}node WHERE id = ?"
            key, kind, ward, deleted_at = one(self._db, query, (node_id,))
            self._node_keys[node_id] = key
            self._node_wards[key] = ward if deleted_at is None and kind not in UNSEARCHED_KINDS else None
        return self._node_keys[node_id]

    def _write_texts(self, texts: Sequence[LexedText]) -> None:
        if not texts:
            return
        values = [
            (key, text.content_hash, text.name, text.name_key, text.summary, text.body, text.vector, text.length)
            for key, text in enumerate(texts, start=self._next("text", "id"))
        ]
        self._text_ids.update({content_hash: key for key, content_hash, *_ in values})
        self._db.executemany(f"INSERT INTO {self._p}text VALUES (?,?,?,?,?,?,?,?)", values)
        write_names(self._db, self._p, [(self._text_ids[text.content_hash], text.aliases) for text in texts])

    def _text_id(self, content_hash: bytes) -> int:
        if content_hash not in self._text_ids:
            query = f"SELECT id FROM {self._p}text WHERE hash = ?"
            (self._text_ids[content_hash],) = one(self._db, query, (content_hash,))
        return self._text_ids[content_hash]

    def _write_nodes(self, nodes: Sequence[NodeVersion], tx_keys: dict[str, int]) -> None:
        values = []
        for node in nodes:
            key, text, interval = self._node_key(node.id), self._text_id(node.content_hash), node.interval
            ward = self._node_wards[key]
            if ward is not None:
                self._words.count(ward, text, +1)
            values.append(
                (
                    node.row,
                    key,
                    text,
                    orjson.dumps(node.props, option=orjson.OPT_SORT_KEYS).decode() if node.props else None,
                    node.focus,
                    None if node.slot == node.id else node.slot,
                    self._ward(node.recorded_guard),
                    interval.valid_from,
                    interval.valid_to,
                    interval.asserted_from,
                    interval.asserted_to,
                    node.recorded_at,
                    node.born,
                    tx_keys[node.tx],
                    None,
                    None,
                    None,
                    node.event,
                )
            )
        self._db.executemany(f"INSERT INTO {self._p}node_version VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", values)

    def _retire_nodes(self, retired: Sequence[Retirement], tx_keys: dict[str, int]) -> None:
        for gone in retired:
            text, kind, ward, deleted_at = one(
                self._db,
                f"""SELECT v.text, n.kind, n.ward, n.deleted_at FROM {self._p}node_version v
                    JOIN {self._p}node n ON n.key = v.node WHERE v.row = ?""",
                (gone.row,),
            )
            if deleted_at is None and kind not in UNSEARCHED_KINDS:
                self._words.count(ward, text, -1)
        self._retire("node_version", retired, tx_keys)

    def _retire(self, table: str, retired: Sequence[Retirement], tx_keys: dict[str, int]) -> None:
        self._db.executemany(
            f"UPDATE {self._p}{table} SET retired_at = ?, retired_pos = ?, retired_tx = ?"
            " WHERE row = ? AND retired_pos IS NULL",
            [(gone.at, gone.pos, tx_keys[gone.tx], gone.row) for gone in retired],
        )

    def _write_edges(self, edges: Sequence[EdgeVersion], tx_keys: dict[str, int]) -> None:
        keys = self._new_edges(edges)
        values = []
        for edge in edges:
            key = keys.get(edge.row) or self._edge_key(edge)
            interval = edge.interval
            alone = f"{edge.src}\x1f{edge.rel}\x1f{edge.dst}"
            values.append(
                (
                    edge.row,
                    key,
                    orjson.dumps(edge.props).decode() if edge.props else None,
                    edge.weight,
                    None if edge.slot == alone else edge.slot,
                    self._ward(edge.guard),
                    interval.valid_from,
                    interval.valid_to,
                    interval.asserted_from,
                    interval.asserted_to,
                    edge.recorded_at,
                    edge.born,
                    tx_keys[edge.tx],
                    None,
                    None,
                    None,
                    edge.event,
                )
            )
        self._db.executemany(f"INSERT INTO {self._p}edge_version VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", values)

    def _new_edges(self, edges: Sequence[EdgeVersion]) -> dict[int, int]:
        """Inserts edges that never existed in one statement. Returns their keys by the first version of each."""
        new: dict[tuple[str, str, str], EdgeVersion] = {}
        never = self._expected.new_edges
        for edge in edges if never else ():
            name = (edge.src, edge.rel, edge.dst)
            if name in never:
                new.setdefault(name, edge)
        first_key = self._next("edge", "key") if new else 0
        known = self._node_keys
        values = [
            (
                key,
                known.get(src) or self._node_key(src),
                rel,
                known.get(dst) or self._node_key(dst),
                self._ward(edge.guard),
                self._pos,
            )
            for key, ((src, rel, dst), edge) in enumerate(new.items(), start=first_key)
        ]
        self._db.executemany(f"INSERT INTO {self._p}edge VALUES (?,?,?,?,?,?)", values)
        return {edge.row: key for key, edge in enumerate(new.values(), start=first_key)}

    def _edge_key(self, edge: EdgeVersion) -> int:
        # A copy of an older version must not restore its rights.
        today = "excluded.ward" if edge.born == edge.event else "ward"
        (key,) = one(
            self._db,
            f"""INSERT INTO {self._p}edge(src, rel, dst, ward, changed_pos) VALUES (?,?,?,?,?)
                ON CONFLICT(src, rel, dst) DO UPDATE SET ward = {today},
                  changed_pos = iif(ward = {today}, changed_pos, excluded.changed_pos) RETURNING key""",
            (self._node_key(edge.src), edge.rel, self._node_key(edge.dst), self._ward(edge.guard), self._pos),
        )
        return int(key)

    def _write_tx(self, tx: Tx) -> int:
        row = one(
            self._db,
            f"""INSERT INTO {self._p}tx(id, kind, agent, session, at, opened_pos, closed_pos, long, git_commit, files,
                                        counts, duration_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)
                ON CONFLICT(id) DO UPDATE SET at = excluded.at, closed_pos = excluded.closed_pos,
                  files = excluded.files, counts = excluded.counts, duration_ms = excluded.duration_ms
                RETURNING key""",
            (
                tx.id,
                tx.kind,
                tx.agent,
                tx.session,
                tx.at,
                tx.opened_pos,
                tx.closed_pos,
                int(tx.closed_pos is None),
                tx.git_commit,
                orjson.dumps(tx.files).decode(),
                orjson.dumps(tx.counts, option=orjson.OPT_SORT_KEYS).decode(),
                tx.duration_ms,
            ),
        )
        key: int = row[0]
        return key
