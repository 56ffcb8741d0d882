"""The view of a plan inside the write lock: the log's heads, and live rows by key."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j.columns import EDGE, EVENT, JOINED, NODE, SEPARATOR, TX, bounded, pair_of
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.core.types import AccountHead, EdgeVersion, Event, Identity, NodeVersion, SessionHead, Tx

FEW: Final = 3  # below, nothing is read ahead
_LIVE: Final = "v.retired_pos IS NULL"


class PlanView:
    """Implements `weft.core.commits.LockedView` over the graph `g` of a locked account."""

    def __init__(self, place: LockedAccount, g: str) -> None:
        self._place, self._g = place, g
        self.identities: dict[str, Identity | None] = {}
        self.texts: dict[str, bool] = {}
        self.new_edges: set[tuple[str, str, str]] = set()
        self._no_versions: set[str] = set()

    def expect(
        self, nodes: Sequence[str], edges: Sequence[tuple[str, str, str]], texts: Sequence[bytes]
    ) -> Collection[tuple[str, str, str]]:
        self.identities, self.texts, self.new_edges = {}, {}, set()
        if len(nodes) + len(edges) + len(texts) < FEW:
            return self.new_edges
        ids, hashes = list(dict.fromkeys(nodes)), [each.hex() for each in dict.fromkeys(texts)]
        pairs = {pair_of(*edge): edge for edge in edges}
        self.identities = {**dict.fromkeys(ids), **self._identities(ids)}
        there = self._rows("UNWIND $hashes AS h MATCH (t:WeftText {g: $g, hash: h}) RETURN h", hashes=hashes)
        self.texts = {**dict.fromkeys(hashes, False), **{found: True for (found,) in there}}
        query = "UNWIND $pairs AS p MATCH ()-[e:EDGE {g: $g, pair: p}]->() RETURN DISTINCT p"
        # An edge of a node that is not there never existed.
        maybe = [pair for pair, (src, _, dst) in pairs.items() if self._may_be(src) and self._may_be(dst)]
        found = {pair for (pair,) in self._rows(query, pairs=maybe)} if maybe else set()
        self.new_edges = {edge for pair, edge in pairs.items() if pair not in found}
        return self.new_edges

    def _may_be(self, node_id: str) -> bool:
        return self.identities.get(node_id, node_id) is not None

    def _identities(self, ids: Sequence[str]) -> dict[str, Identity]:
        query = """UNWIND $ids AS id MATCH (n:WeftNode {g: $g, id: id})
            RETURN n.id, n.kind, n.project, n.scope, n.agents, n.sensitive, n.deleted_at"""
        return {
            row[0]: Identity(
                id=row[0], kind=row[1], guard=rows.guard_of(row[2], row[3], tuple(row[4]), row[5]), deleted_at=row[6]
            )
            for row in self._rows(query, ids=list(ids))
        }

    def _rows(self, query: str, **params: Any) -> list[list[Any]]:
        return self._place.rows(query, g=self._g, **params)

    # The log

    def head(self) -> AccountHead:
        return self._place.head

    def session_head(self, session: str) -> SessionHead | None:
        found = self._rows("MATCH (s:WeftSession {a: $a, name: $name}) RETURN s.seq, s.hash", name=session)
        return SessionHead(session=session, seq=found[0][0], hash=found[0][1]) if found else None

    def event_hash(self, session: str, seq: int) -> bytes | None:
        found = self.event(session, seq)
        return None if found is None else found.hash

    def event(self, session: str, seq: int) -> Event | None:
        query = f"MATCH (e:WeftEvent {{a: $a, session: $session, seq: $seq}}) RETURN {EVENT}"
        found = self._events(query, session=session, seq=seq)
        return found[0] if found else None

    def events_since(self, pos: int, *, limit: int) -> tuple[Event, ...]:
        query = f"MATCH (e:WeftEvent {{a: $a}}) WHERE e.pos > $pos AND e.pos <= $last RETURN {EVENT} ORDER BY e.pos"
        return self._events(query, pos=pos, last=pos + limit)

    def request(self, request_id: str) -> tuple[Event, ...]:
        query = f"MATCH (e:WeftEvent {{a: $a, request_id: $request}}) RETURN {EVENT} ORDER BY e.pos"
        return self._events(query, request=request_id)

    def _events(self, query: str, **params: Any) -> tuple[Event, ...]:
        return tuple(rows.event_of(self._place.account, row) for row in self._rows(query, **params))

    # The graph

    def identity(self, node_id: str) -> Identity | None:
        if node_id not in self.identities:
            self.identities[node_id] = self._identities([node_id]).get(node_id)
        return self.identities[node_id]

    def _nodes(self, match: str, where: str, order: str, **params: Any) -> list[NodeVersion]:
        query = f"MATCH {match} WHERE {where} MATCH {JOINED} RETURN {NODE} ORDER BY {order}"
        return list(map(rows.node_of, self._rows(query, **params)))

    def live_nodes(self, slot: str, after: int) -> tuple[NodeVersion, ...]:
        later = f"{_LIVE} AND (v.valid_to IS NULL OR v.valid_to > $after)"
        own, shared = "(n:WeftNode {g: $g, id: $slot})<-[:OF]-(v)", "(v:WeftVersion {g: $g, slot_key: $key})"
        known = {"slot": slot, "after": after}
        found = [] if slot.startswith(SEPARATOR) else self._nodes(own, f"v.slot IS NULL AND {later}", "v.row", **known)
        found += self._nodes(shared, f"v.slot = $slot AND {later}", "v.row", key=bounded(slot), **known)
        return tuple(sorted(found, key=lambda row: row.interval.valid_from))

    def live_versions(self, node_id: str) -> tuple[NodeVersion, ...]:
        if node_id in self.identities and self.identities[node_id] is None:
            return ()
        return tuple(self._nodes("(n:WeftNode {g: $g, id: $id})<-[:OF]-(v)", _LIVE, "v.valid_from", id=node_id))

    def _edges(self, match: str, where: str, order: str, **params: Any) -> tuple[EdgeVersion, ...]:
        query = f"MATCH (a)-[e:EDGE {match}]->(b) WHERE {where} RETURN {EDGE} ORDER BY {order}"
        return tuple(map(rows.edge_of, self._rows(query, **params)))

    def live_edge_versions(self, src: str, rel: str, dst: str) -> tuple[EdgeVersion, ...]:
        if (src, rel, dst) in self.new_edges:
            return ()
        return self._edges("{g: $g, pair: $pair}", "e.retired_pos IS NULL", "e.valid_from", pair=pair_of(src, rel, dst))

    def live_edges(self, slot: str, after: int) -> tuple[EdgeVersion, ...]:
        later = "e.retired_pos IS NULL AND (e.valid_to IS NULL OR e.valid_to > $after)"
        if slot.startswith(SEPARATOR):
            which, where, params = "{g: $g, slot_key: $key}", "e.slot = $slot", {"slot": slot, "key": bounded(slot)}
        else:
            src, rel, dst = slot.split(SEPARATOR)
            if (src, rel, dst) in self.new_edges:
                return ()
            which, where, params = "{g: $g, pair: $pair}", "e.slot IS NULL", {"pair": pair_of(src, rel, dst)}
        return self._edges(which, f"{where} AND {later}", "e.valid_from", after=after, **params)

    def transaction(self, tx_id: str) -> Tx | None:
        found = self._rows(f"MATCH (x:WeftTx {{g: $g, id: $id}}) RETURN {TX}", id=tx_id)
        return rows.tx_of(found[0]) if found else None

    def open_changes(self) -> tuple[str, ...]:
        return tuple(tx for (tx,) in self._rows("MATCH (x:WeftTx {g: $g, open: true}) RETURN x.id"))

    def toucher_of_nodes(self, slot: str, changes: Sequence[str]) -> str | None:
        own = "MATCH (:WeftNode {g: $g, id: $slot})<-[:OF]-(v) WHERE v.slot IS NULL"
        return self._toucher(own, "MATCH (v:WeftVersion {g: $g, slot_key: $key}) WHERE v.slot = $slot", slot, changes)

    def toucher_of_edges(self, slot: str, changes: Sequence[str]) -> str | None:
        own = "MATCH ()-[v:EDGE {g: $g, pair: $pair}]->() WHERE v.slot IS NULL"
        pair = "" if slot.startswith(SEPARATOR) else pair_of(*slot.split(SEPARATOR))
        shared = "MATCH ()-[v:EDGE {g: $g, slot_key: $key}]->() WHERE v.slot = $slot"
        return self._toucher(own, shared, slot, changes, pair=pair)

    def _toucher(self, own: str, shared: str, slot: str, changes: Sequence[str], **params: Any) -> str | None:
        which = shared if slot.startswith(SEPARATOR) else own
        query = f"{which} UNWIND [v.tx, v.retired_tx] AS tx WITH tx WHERE tx IN $changes RETURN tx LIMIT 1"
        found = self._rows(query, slot=slot, key=bounded(slot), changes=list(changes), **params)
        return found[0][0] if found else None

    def touched_since(
        self, pos: int, *, kinds: Sequence[str] = (), slots: Sequence[str] = (), limit: int
    ) -> tuple[NodeVersion, ...]:
        which = "(n.kind IN $kinds OR coalesce(v.slot, n.id) IN $slots)"
        late = self._rows("MATCH (x:WeftTx {g: $g}) WHERE x.long AND x.closed_pos > $pos RETURN x.id", pos=pos)
        closed, still_open = [tx for (tx,) in late], list(self.open_changes())
        starts = (
            "MATCH (v:WeftVersion {g: $g}) WHERE v.born > $pos AND NOT v.tx IN $open MATCH (v)-[:OF]->(n)",
            """MATCH (v:WeftVersion {g: $g}) WHERE v.retired_pos > $pos AND NOT v.retired_tx IN $open
               MATCH (v)-[:OF]->(n)""",
            """MATCH (n:WeftNode {g: $g}) WHERE n.changed_pos > $pos MATCH (n)<-[:OF]-(v)
               WHERE v.retired_pos IS NULL AND NOT v.tx IN $open""",
            *(
                (
                    """MATCH (x:WeftTx {g: $g}) WHERE x.id IN $closed MATCH (v:WeftVersion {g: $g})
                       WHERE (v.born >= x.opened_pos AND v.born <= x.closed_pos AND v.tx = x.id)
                          OR (v.retired_pos >= x.opened_pos AND v.retired_pos <= x.closed_pos AND v.retired_tx = x.id)
                       MATCH (v)-[:OF]->(n)""",
                )
                if closed
                else ()
            ),
        )
        params = {"pos": pos, "kinds": list(kinds), "slots": list(slots), "open": still_open, "closed": closed}
        found: dict[int, NodeVersion] = {}
        for start in starts:
            query = f"{start} WITH n, v WHERE {which} MATCH {JOINED} RETURN {NODE} ORDER BY v.row LIMIT $limit"
            found.update({row[0]: rows.node_of(row) for row in self._rows(query, limit=limit, **params)})
        return tuple(found[row] for row in sorted(found)[:limit])

    def node_rows(self, node_ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        match = "(n:WeftNode {g: $g})<-[:OF]-(v)"
        return tuple(self._nodes(match, "n.id IN $ids", "v.row", ids=list(node_ids)))

    def edge_rows(self, edges: Sequence[tuple[str, str, str]]) -> tuple[EdgeVersion, ...]:
        return self._edges("{g: $g}", "e.pair IN $pairs", "e.row", pairs=[pair_of(*edge) for edge in edges])

    def rows_since(self, node_row: int, edge_row: int) -> tuple[tuple[NodeVersion, ...], tuple[EdgeVersion, ...]]:
        nodes = self._nodes("(v:WeftVersion {g: $g})", "v.row >= $row", "v.row", row=node_row)
        return tuple(nodes), self._edges("{g: $g}", "e.row >= $row", "e.row", row=edge_row)

    def next_rows(self) -> tuple[int, int]:
        found = self._rows("MATCH (x:WeftGraph {g: $g}) RETURN x.nodes, x.edges")
        return (found[0][0] + 1, found[0][1] + 1) if found else (1, 1)

    def has_text(self, content_hash: bytes) -> bool:
        key = content_hash.hex()
        if key not in self.texts:
            self.texts[key] = bool(self._rows("MATCH (t:WeftText {g: $g, hash: $hash}) RETURN 1", hash=key))
        return self.texts[key]
