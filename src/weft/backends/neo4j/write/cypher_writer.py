"""Writes the graph changes of a batch, with the words they add and remove. Inside a write transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from msgspec import Struct

from weft.backends.neo4j.columns import bounded, guard_of, guard_row, pair_of
from weft.backends.neo4j.cypher_guards import NONE
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.backends.neo4j.write.property_facts import facts_of, keywords_of, leads_of
from weft.core.commits import Changes, LexedText, NewNodeRow, Retirement, Scrub
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.types import EdgeVersion, Guard, Identity, NodeVersion, Tx
from weft.text import lexical
from weft.text.encryption import holds_sealed
from weft.text.names import spelling_words

BACKWARDS: Final = "<"  # in no word: words of names are letters and digits

_GRAPH: Final = """MERGE (x:WeftGraph {g: $g})
    ON CREATE SET x.nodes = 0, x.edges = 0, x.texts = 0, x.stored = 0, x.sealed = 0 RETURN x.texts"""
_TEXTS: Final = """UNWIND $rows AS r CREATE (t:WeftText {g: $g}) SET t += r.text
    FOREACH (k IN r.names | MERGE (m:WeftName {g: $g, key: k.key}) CREATE (t)-[:NAMED {weight: k.weight}]->(m))
    FOREACH (w IN r.words | MERGE (m:WeftWord {g: $g, word: w}) CREATE (t)-[:SPELT]->(m))"""
_VERSIONS: Final = """UNWIND $rows AS r MATCH (n:WeftNode {g: $g, id: r.id}) MATCH (t:WeftText {g: $g, hash: r.hash})
    CREATE (n)<-[:OF]-(v:WeftVersion {g: $g})-[:SAYS]->(t) SET v += r.row"""
_EDGES: Final = """UNWIND $rows AS r MATCH (a:WeftNode {g: $g, id: r.src}) MATCH (b:WeftNode {g: $g, id: r.dst})
    CREATE (a)-[e:EDGE {g: $g}]->(b) SET e += r.row"""
_RETIRED: Final = "SET x.retired_at = r.at, x.retired_pos = r.pos, x.retired_tx = r.tx"
_TERMS: Final = """UNWIND $rows AS r MERGE (x:WeftTerm {g: $g, term: r[0], group: r[1]})
    ON CREATE SET x.n = r[2] ON MATCH SET x.n = x.n + r[2]"""
_GROUPS: Final = """UNWIND $rows AS r MERGE (x:WeftGroup {g: $g, key: r.key})
    ON CREATE SET x += r.guard, x.texts = 0, x.words = 0 SET x.texts = x.texts + r.texts, x.words = x.words + r.count"""


class Counted(Struct, frozen=True):
    """A live version of a text in a visibility group: entering it (+1) or leaving it (-1)."""

    guard: Guard
    text: str
    by: int


class CypherWriter:
    """Applies changes to one graph of an account."""

    def __init__(self, place: LockedAccount, g: str, new_edges: Iterable[tuple[str, str, str]] = ()) -> None:
        """`new_edges` are edges known to have no version before this commit."""
        self._place, self._g = place, g
        self._new_edges = frozenset(new_edges)
        self._counted: list[Counted] = []
        self._lexed: dict[str, tuple[bytes, int]] = {}
        self._states: dict[str, Identity] = {}
        self._pos = 0

    def apply(self, changes: Changes, pos: int, scrub: Scrub | None = None) -> None:
        """Applies all changes. `pos` is the commit's last position. A scrub comes first: changes use its names."""
        self._pos = pos
        ((texts,),) = self._rows(_GRAPH)
        if scrub is not None:
            texts = self._write_texts(scrub.texts, texts)
            self._scrub(scrub)
            self._states = {}  # under their former ids
        self._write_txs(changes.transactions)
        self._write_identities(changes.identities)
        texts = self._write_texts(changes.texts, texts)
        self._write_versions(changes.nodes)
        self._retire_nodes(changes.nodes_retired)
        self._write_edges(changes.edges)
        match = "UNWIND $rows AS r MATCH ()-[x:EDGE {g: $g, row: r.row}]->() WHERE x.retired_pos IS NULL"
        self._each(f"{match} {_RETIRED}", _retired(changes.edges_retired))
        self._count_words()
        self._run(
            """MATCH (x:WeftGraph {g: $g}) SET x.texts = $texts, x.nodes = CASE WHEN $node > x.nodes THEN $node
                ELSE x.nodes END, x.edges = CASE WHEN $edge > x.edges THEN $edge ELSE x.edges END""",
            texts=texts,
            node=max((row.row for row in changes.nodes), default=0),
            edge=max((row.row for row in changes.edges), default=0),
        )

    def _rows(self, query: str, **params: Any) -> list[list[Any]]:
        return self._place.rows(query, g=self._g, **params)

    def _run(self, query: str, **params: Any) -> None:
        self._place.run(query, g=self._g, **params)

    def _each(self, query: str, rows: Sequence[Any]) -> None:
        self._place.each(query, rows, g=self._g)

    # Transactions

    def _write_txs(self, txs: Sequence[Tx]) -> None:
        values = [
            {
                "id": tx.id,
                "kind": tx.kind,
                "agent": tx.agent,
                "session": tx.session,
                "at": tx.at,
                "opened_pos": tx.opened_pos,
                "closed_pos": tx.closed_pos,
                "git_commit": tx.git_commit,
                "files": list(tx.files),
                "counts": orjson.dumps(tx.counts).decode(),
                "duration_ms": tx.duration_ms,
                "open": True if tx.closed_pos is None else None,
            }
            for tx in txs
        ]
        self._each(
            """UNWIND $rows AS r MERGE (x:WeftTx {g: $g, id: r.id})
                ON CREATE SET x += r, x.long = r.open
                ON MATCH SET x.at = r.at, x.closed_pos = r.closed_pos, x.files = r.files, x.counts = r.counts,
                  x.duration_ms = r.duration_ms, x.open = r.open""",
            values,
        )

    # Nodes

    def _write_identities(self, identities: Sequence[Identity]) -> None:
        """New nodes and changed ones; the words of changed ones move to their new visibility group."""
        before = self._identities([each.id for each in identities])
        moved = [each for each in identities if each.id in before and _group(before[each.id]) != _group(each)]
        query = """UNWIND $ids AS id MATCH (n:WeftNode {g: $g, id: id})<-[:OF]-(v) WHERE v.retired_pos IS NULL
            MATCH (v)-[:SAYS]->(t) RETURN id, t.hash"""
        now = {each.id: each for each in moved}
        for node_id, text in self._rows(query, ids=list(now)) if moved else ():
            self._count(before[node_id], text, -1)
            self._count(now[node_id], text, +1)
        values = [
            {"id": each.id, "row": {**guard_row(each.guard), "kind": each.kind, "changed_pos": self._pos}}
            | {"deleted_at": each.deleted_at}
            for each in identities
        ]
        self._each(
            """UNWIND $rows AS r MERGE (n:WeftNode {g: $g, id: r.id})
                SET n += r.row, n.deleted_at = r.deleted_at""",
            values,
        )
        self._states.update({each.id: each for each in identities})

    def _identities(self, ids: Sequence[str]) -> dict[str, Identity]:
        wanted = [each for each in dict.fromkeys(ids) if each not in self._states]
        query = """UNWIND $ids AS id MATCH (n:WeftNode {g: $g, id: id})
            RETURN n.id, n.kind, n.project, n.scope, n.agents, n.sensitive, n.deleted_at"""
        for row in self._rows(query, ids=wanted) if wanted else ():
            guard = guard_of(row[2], row[3], tuple(row[4]), row[5])
            self._states[row[0]] = Identity(id=row[0], kind=row[1], guard=guard, deleted_at=row[6])
        return {each: self._states[each] for each in ids if each in self._states}

    def _write_versions(self, nodes: Sequence[NodeVersion]) -> None:
        states = self._identities([node.id for node in nodes])
        values = []
        for node in nodes:
            text, interval = node.content_hash.hex(), node.interval
            self._count(states[node.id], text, +1)
            row = {
                "row": node.row,
                "focus": NONE if node.focus is None else node.focus,
                **_slot_row(None if node.slot == node.id else node.slot),
                **_props_row(node.props),
                **guard_row(node.recorded_guard),
                "valid_from": interval.valid_from,
                "valid_to": interval.valid_to,
                "asserted_from": interval.asserted_from,
                "asserted_to": interval.asserted_to,
                "recorded_at": node.recorded_at,
                "born": node.born,
                "tx": node.tx,
                "event": node.event,
            }
            values.append({"id": node.id, "hash": text, "row": row})
        self._each(_VERSIONS, values)

    def _retire_nodes(self, retired: Sequence[Retirement]) -> None:
        if not retired:
            return
        query = """UNWIND $rows AS row MATCH (v:WeftVersion {g: $g, row: row}) MATCH (n)<-[:OF]-(v)-[:SAYS]->(t)
            RETURN n.id, t.hash"""
        found = self._rows(query, rows=[gone.row for gone in retired])
        states = self._identities([node_id for node_id, _ in found])
        for node_id, text in found:
            self._count(states[node_id], text, -1)
        match = "UNWIND $rows AS r MATCH (x:WeftVersion {g: $g, row: r.row}) WHERE x.retired_pos IS NULL"
        self._each(f"{match} {_RETIRED}", _retired(retired))

    # Texts and words

    def _write_texts(self, texts: Sequence[LexedText], last: int) -> int:
        """Adds texts; returns the number of the last."""
        values: list[dict[str, Any]] = []
        for text in texts:
            last += 1
            key = text.content_hash.hex()
            self._lexed[key] = (text.vector, text.length)
            sealed = holds_sealed(text.name, text.summary, text.body)
            words = sorted({word for name, _ in text.aliases for word in spelling_words(name) if bounded(word) == word})
            stems = [stems or None for stems in text.stems]
            values.append(
                {
                    "text": {
                        "hash": key,
                        "number": last,
                        "name": text.name,
                        "name_key": bounded(text.name_key) if text.name_key else None,
                        "summary": text.summary,
                        "body": text.body,
                        "vector": text.vector,
                        "length": text.length,
                        "sealed": sealed or None,
                        "in_graph": self._g,
                        "stems_name": stems[0],
                        "stems_summary": stems[1],
                        "stems_body": stems[2],
                    },
                    "names": [{"key": bounded(name), "weight": weight} for name, weight in dict(text.aliases).items()],
                    "words": [form for word in words for form in (word, BACKWARDS + word[::-1])],
                }
            )
        self._each(_TEXTS, values)
        if values:
            self._run(
                "MATCH (x:WeftGraph {g: $g}) SET x.stored = x.stored + $some, x.sealed = x.sealed + $sealed",
                some=len(values),
                sealed=sum(value["text"]["sealed"] is True for value in values),
            )
        return last

    def _count(self, node: Identity, text: str, by: int) -> None:
        """A live version of this text enters or leaves the visibility group of its node, if that one is counted."""
        guard = _group(node)
        if guard is not None:
            self._counted.append(Counted(guard, text, by))

    def _count_words(self) -> None:
        missing = list({each.text for each in self._counted} - self._lexed.keys())
        query = "UNWIND $texts AS h MATCH (t:WeftText {g: $g, hash: h}) RETURN h, t.vector, t.length"
        for text, vector, length in self._rows(query, texts=missing) if missing else ():
            self._lexed[text] = (vector, length)
        terms: dict[str, Counter[int]] = {}
        texts: Counter[str] = Counter()
        words: Counter[str] = Counter()
        guards: dict[str, Guard] = {}
        for each in self._counted:
            vector, length = self._lexed[each.text]
            key = group_key(each.guard)
            guards[key] = each.guard
            held, counted = lexical.term_hashes(vector), terms.setdefault(key, Counter())
            counted.update(held) if each.by > 0 else counted.subtract(held)
            texts[key] += each.by
            words[key] += each.by * length
        self._counted = []
        # In one order everywhere, so that two accounts' writers never wait for each other in a circle.
        self._each(
            _TERMS, [[term, key, n] for key in sorted(terms) for term, n in sorted(terms[key].items()) if n != 0]
        )
        self._each(
            _GROUPS,
            [
                {"key": key, "guard": guard_row(guards[key]), "texts": texts[key], "count": words[key]}
                for key in sorted(guards)
            ],
        )

    # Edges

    def _write_edges(self, edges: Sequence[EdgeVersion]) -> None:
        """New versions. The rights of an edge are those of its last assertion, for all its versions."""
        old = {pair_of(e.src, e.rel, e.dst) for e in edges if (e.src, e.rel, e.dst) not in self._new_edges}
        query = """UNWIND $pairs AS p MATCH ()-[e:EDGE {g: $g, pair: p}]->()
            RETURN DISTINCT p, e.project, e.scope, e.agents, e.sensitive"""
        found = self._rows(query, pairs=list(old)) if old else ()
        today = {row[0]: guard_of(row[1], row[2], tuple(row[3]), row[4]) for row in found}
        changed: dict[str, Guard] = {}
        for edge in edges:
            if edge.born == edge.event:  # a copy of an older version must not restore its rights
                pair = pair_of(edge.src, edge.rel, edge.dst)
                if today.get(pair, edge.guard) != edge.guard:
                    changed[pair] = edge.guard
                today[pair] = edge.guard
        values = []
        for edge in edges:
            pair, interval = pair_of(edge.src, edge.rel, edge.dst), edge.interval
            own = edge.slot == f"{edge.src}\x1f{edge.rel}\x1f{edge.dst}"
            row = {
                "row": edge.row,
                "pair": pair,
                "rel": edge.rel,
                "props": orjson.dumps(edge.props).decode() if edge.props else None,
                "weight": edge.weight,
                **_slot_row(None if own else edge.slot),
                **guard_row(today.get(pair, edge.guard)),
                **{f"was_{key}": value for key, value in guard_row(edge.guard).items()},
                "valid_from": interval.valid_from,
                "valid_to": interval.valid_to,
                "asserted_from": interval.asserted_from,
                "asserted_to": interval.asserted_to,
                "recorded_at": edge.recorded_at,
                "born": edge.born,
                "tx": edge.tx,
                "event": edge.event,
            }
            values.append({"src": edge.src, "dst": edge.dst, "row": row})
        self._each(_EDGES, values)
        self._each(
            """UNWIND $rows AS r MATCH ()-[e:EDGE {g: $g, pair: r.pair}]->()
                SET e += r.guard, e.changed_pos = r.pos""",
            [{"pair": pair, "guard": guard_row(guard), "pos": self._pos} for pair, guard in changed.items()],
        )

    # Replacing what was written

    def _scrub(self, scrub: Scrub) -> None:
        self._scrub_nodes(scrub.node_rows)
        self._each(
            """UNWIND $rows AS r MATCH ()-[e:EDGE {g: $g, row: r.row}]->()
                SET e.props = r.props, e.slot = CASE WHEN e.slot IS NULL THEN null ELSE r.slot END,
                  e.slot_key = CASE WHEN e.slot_key IS NULL THEN null ELSE r.slot_key END""",
            [
                {"row": new.row, "props": orjson.dumps(new.props).decode() if new.props else None} | _slot_row(new.slot)
                for new in scrub.edge_rows
            ],
        )
        self._each(
            "UNWIND $rows AS r MATCH ()-[e:EDGE {g: $g, pair: r.pair}]->() SET e.rel = r.rel",
            [{"pair": pair_of(*edge), "rel": rel} for edge, rel in scrub.edges],
        )
        self._each(
            "UNWIND $rows AS r MATCH (n:WeftNode {g: $g, id: r[0]}) SET n.id = r[1]",
            [list(pair) for pair in scrub.nodes],
        )
        touched = [new for _, new in scrub.nodes] + [end for edge, _ in scrub.edges for end in (edge[0], edge[2])]
        renamed = self._rows(
            "UNWIND $ids AS id MATCH (n:WeftNode {g: $g, id: id})-[e:EDGE]-() WITH DISTINCT e"
            " RETURN e.row, startNode(e).id, e.rel, endNode(e).id",
            ids=list(dict.fromkeys(touched)),
        )
        self._each(
            "UNWIND $rows AS r MATCH ()-[e:EDGE {g: $g, row: r.row}]->() SET e.pair = r.pair",
            [{"row": row, "pair": pair_of(src, rel, dst)} for row, src, rel, dst in renamed],
        )
        self._each(
            "UNWIND $rows AS r MATCH (x:WeftTx {g: $g, id: r.id}) SET x.files = r.files",
            [{"id": tx, "files": list(files)} for tx, files in scrub.files],
        )

    def _scrub_nodes(self, new_rows: Sequence[NewNodeRow]) -> None:
        if not new_rows:
            return
        query = """UNWIND $rows AS row MATCH (v:WeftVersion {g: $g, row: row}) MATCH (n)<-[:OF]-(v)-[:SAYS]->(t)
            RETURN row, n.id, t.hash, v.retired_pos IS NULL"""
        standing = {row: rest for row, *rest in self._rows(query, rows=[new.row for new in new_rows])}
        states = self._identities([node_id for node_id, _, _ in standing.values()])
        values = []
        for new in new_rows:
            node_id, text, live = standing[new.row]
            if live and text != new.content_hash.hex():
                self._count(states[node_id], text, -1)
                self._count(states[node_id], new.content_hash.hex(), +1)
            props = {"leads": None, "facts": None, "keys": None, "keywords": None, "props": None}
            values.append(
                {
                    "row": new.row,
                    "hash": new.content_hash.hex(),
                    "props": {**props, **_props_row(new.props)},
                    **_slot_row(new.slot),
                }
            )
        self._each(
            """UNWIND $rows AS r MATCH (v:WeftVersion {g: $g, row: r.row})-[s:SAYS]->()
                MATCH (t:WeftText {g: $g, hash: r.hash})
                DELETE s CREATE (v)-[:SAYS]->(t) SET v += r.props,
                  v.slot = CASE WHEN v.slot IS NULL THEN null ELSE r.slot END,
                  v.slot_key = CASE WHEN v.slot_key IS NULL THEN null ELSE r.slot_key END""",
            values,
        )


def group_key(guard: Guard) -> str:
    """The key of a visibility group: nodes with equal guards share one."""
    return orjson.dumps([guard.project, guard.scope, guard.sensitive, list(guard.agents)]).decode()


def _group(node: Identity) -> Guard | None:
    """The visibility group whose statistics count a node's words; None for deleted nodes and unsearched kinds."""
    return None if node.deleted_at is not None or node.kind in UNSEARCHED_KINDS else node.guard


def _slot_row(slot: str | None) -> dict[str, Any]:
    return {"slot": slot, "slot_key": None if slot is None else bounded(slot)}


def _props_row(props: Mapping[str, Any]) -> dict[str, Any]:
    if not props:
        return {}
    return {
        "props": orjson.dumps(props, option=orjson.OPT_SORT_KEYS).decode(),
        "keys": sorted(props),
        "facts": facts_of(props),
        "keywords": keywords_of(props),
        "leads": leads_of(props),
    }


def _retired(retired: Sequence[Retirement]) -> list[dict[str, Any]]:
    return [{"row": gone.row, "at": gone.at, "pos": gone.pos, "tx": gone.tx} for gone in retired]
