"""Bulk reads of what a plan has announced: one query per row would cost many times as much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import orjson

from weft.backends.sqlite import rows
from weft.core.types import Guard, Identity

IDS_AT_ONCE = 2_000
FEW = 8  # below, nothing is read ahead


class Prefetched:
    """Rows known in advance: which nodes and texts exist, and which edges never did. Others are queried.

    Reads the tables of one prefix, as they are before the commit's own changes.
    """

    def __init__(self, db: apsw.Connection, prefix: str) -> None:
        self._db, self._p = db, prefix
        self.identities: dict[str, Identity | None] = {}
        self.keys: dict[str, tuple[int, int, str, int | None]] = {}  # key, ward, kind and deletion of nodes
        self.texts: dict[bytes, bool] = {}
        self.new_edges: set[tuple[str, str, str]] = set()
        self._guards: dict[tuple[Any, ...], Guard] = {}

    def read(self, nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], texts: Sequence[bytes]) -> None:
        """Reads ahead."""
        if len(nodes) + len(edges) + len(texts) < FEW:
            return
        plain = [each for each in nodes if "\x00" not in each]  # SQLite's JSON ends at a NUL
        for start in range(0, len(plain), IDS_AT_ONCE):
            self._read_nodes(plain[start : start + IDS_AT_ONCE])
        self.texts = dict.fromkeys(texts, False)
        query = f"SELECT hash FROM {self._p}text WHERE hash = ?"
        for (found,) in self._db.executemany(query, [(each,) for each in texts]):
            self.texts[found] = True
        self._read_edges(edges)

    def _read_nodes(self, ids: Sequence[str]) -> None:
        self.identities.update(dict.fromkeys(ids))
        query = f"""SELECT n.id, n.key, n.ward, n.kind, n.deleted_at, w.project, w.scope, w.agents, w.sensitive
            FROM json_each(?) j CROSS JOIN {self._p}node n ON n.id = j.value
            CROSS JOIN {self._p}ward w ON w.id = n.ward"""
        for node_id, key, ward, kind, deleted_at, *guard in self._db.execute(query, (orjson.dumps(ids).decode(),)):
            known = self._guards.get(tuple(guard))
            if known is None:
                known = self._guards[tuple(guard)] = rows.guard_of(*guard)
            self.identities[node_id] = Identity(id=node_id, kind=kind, guard=known, deleted_at=deleted_at)
            self.keys[node_id] = key, ward, kind, deleted_at

    def _read_edges(self, edges: Sequence[tuple[str, str, str]]) -> None:
        """The edges that never existed: one of their ends is new, or no row has them."""
        keys, read = self.keys, self.identities
        self.new_edges = {edge for edge in edges if edge[0] in read and edge[2] in read}
        begins: dict[tuple[int, str], list[tuple[int, tuple[str, str, str]]]] = {}  # ends by start and relation
        for edge in self.new_edges:
            src, rel, dst = edge
            if src in keys and dst in keys:
                begins.setdefault((keys[src][0], rel), []).append((keys[dst][0], edge))
        # Most starts have no edge of this relation yet.
        several = [begin for begin, ends in begins.items() if len(ends) > 1]
        query = f"SELECT src, rel FROM {self._p}edge WHERE src = ? AND rel = ? LIMIT 1"
        unused = set(several).difference(self._db.executemany(query, several))
        named = {(*begin, end): edge for begin, ends in begins.items() if begin not in unused for end, edge in ends}
        query = f"SELECT src, rel, dst FROM {self._p}edge WHERE src = ? AND rel = ? AND dst = ?"
        for row in self._db.executemany(query, list(named)):
            self.new_edges.discard(named[row])
