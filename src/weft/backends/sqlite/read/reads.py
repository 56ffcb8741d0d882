"""Guarded reads of events, nodes and edges. Each runs inside one read transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import apsw
import orjson
from msgspec.structs import replace

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import TRUE, PinnedTime, Sql, marks
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.read.encrypted import IS_ENCRYPTED_T
from weft.backends.sqlite.read.find import in_slots
from weft.backends.sqlite.read.steps import joined
from weft.backends.sqlite.search.vector_rows import model_key
from weft.core.kinds import RECORD_KINDS, UNCOUNTED_RELATIONS, views_of
from weft.core.types import (
    Census,
    EdgeVersion,
    Ends,
    Event,
    KindStat,
    NodeVersion,
    SessionHead,
    Viewer,
    Way,
)
from weft.text.lexical import text_to_embed


def _event_open(viewer: Viewer) -> Sql:
    """Every node of the event is visible; events without nodes, and of open changes, are for operators.

    Erased nodes were visible once and hold no words now: their existence may be known.
    """
    made = "SELECT 1 FROM node_version v JOIN node n ON n.key = v.node WHERE v.born = e.pos AND v.event = e.pos"
    seen, erased = guards.findable(viewer), guards.was_findable(viewer)
    some = int(viewer.operator) or f"EXISTS ({made} AND {guards.FINISHED.text})"
    hidden = f"NOT ({seen.text}) AND NOT (e.rewritten AND {erased.text})"
    return Sql(f"NOT EXISTS ({made} AND {hidden}) AND {some}", (*seen.params, *erased.params))


def events(
    db: apsw.Connection,
    viewer: Viewer,
    session: str | None,
    after_seq: int,
    limit: int,
    order: Literal["ASC", "DESC"],
) -> tuple[Event, ...]:
    """Events past `after_seq` that the viewer may read, by position."""
    seen = _event_open(viewer)
    which = Sql("e.seq > ?", (after_seq,))
    by = "e.pos"
    if session is not None:
        which &= Sql("s.name = ?", (session,))
        by = "e.seq"  # the same order within a session, by its index: the latest are found without the others
    query = f"{rows.SELECT_EVENT} WHERE {which.text} AND {seen.text} ORDER BY {by} {order} LIMIT ?"
    found = db.execute(query, (*which.params, *seen.params, limit))
    return tuple(rows.event_of(viewer.account, row) for row in found)


def citations(db: apsw.Connection, viewer: Viewer, positions: Sequence[int]) -> dict[int, str]:
    """Citations by position, of events that made a node the viewer may step on."""
    seen = guards.reachable(viewer) & guards.FINISHED
    query = f"""{rows.SELECT_EVENT} WHERE e.pos IN (SELECT value FROM json_each(?)) AND EXISTS (
        SELECT 1 FROM node_version v JOIN node n ON n.key = v.node
        WHERE v.born = e.pos AND v.event = e.pos AND {seen.text})"""
    found = db.execute(query, (orjson.dumps(list(positions)).decode(), *seen.params))
    return {row[0]: rows.event_of(viewer.account, row).citation for row in found}


def session_heads(db: apsw.Connection, viewer: Viewer, limit: int) -> tuple[SessionHead, ...]:
    """Heads of the sessions the viewer can see an event of, latest first."""
    if viewer.operator:  # every session, even without events: verification looks for those
        query = """SELECT s.name, s.seq, s.hash FROM session s ORDER BY
            (SELECT max(e.pos) FROM event e WHERE e.session = s.key) DESC LIMIT ?"""
        return tuple(SessionHead(session=name, seq=seq, hash=head) for name, seq, head in every(db, query, (limit,)))
    seen = _event_open(viewer)
    query = f"""SELECT s.name, s.seq, s.hash FROM event e JOIN session s ON s.key = e.session WHERE {seen.text}
        GROUP BY s.key ORDER BY max(e.pos) DESC LIMIT ?"""
    found = db.execute(query, (*seen.params, limit))
    return tuple(SessionHead(session=row[0], seq=row[1], hash=row[2]) for row in found)


def nodes(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
    """The visible versions of these nodes, in the order of `ids`; missing ones are omitted."""
    seen = guards.findable(viewer) & guards.known(moment) & guards.holds(moment)
    query = f"{rows.select_nodes()} WHERE n.id IN (SELECT value FROM json_each(?)) AND {seen.text} ORDER BY v.row"
    found = {row[1]: rows.node_of(row) for row in db.execute(query, (orjson.dumps(list(ids)).decode(), *seen.params))}
    return tuple(found[each] for each in dict.fromkeys(ids) if each in found)


def versions(
    db: apsw.Connection, viewer: Viewer, condition: str, params: tuple[Any, ...], limit: int
) -> tuple[NodeVersion, ...]:
    """Every version that fits, at all record times, by row. Open changes do not count yet."""
    seen = guards.findable(viewer) & guards.FINISHED
    query = f"{rows.select_nodes()} WHERE {condition} AND {seen.text} ORDER BY v.row LIMIT ?"
    found = [rows.node_of(row) for row in db.execute(query, (*params, *seen.params, limit))]
    still_open = {tx for (tx,) in every(db, "SELECT id FROM tx WHERE long AND closed_pos IS NULL")}
    return tuple(
        replace(row, retired_at=None, retired_pos=None, retired_tx=None) if row.retired_tx in still_open else row
        for row in found
    )


def current_in_slot(
    db: apsw.Connection, viewer: Viewer, moment: PinnedTime, slot: str, after: int, limit: int
) -> tuple[NodeVersion, ...]:
    """Versions of all times in a shared slot that hold later than `after`, by start."""
    later = Sql("(v.valid_to IS NULL OR v.valid_to > ?)", (after,))
    which = guards.findable(viewer) & guards.known(moment) & in_slots((slot,), moment) & later
    query = f"{rows.select_nodes()} WHERE {which.text} ORDER BY v.valid_from LIMIT ?"
    found = (rows.node_of(row) for row in db.execute(query, (*which.params, limit)))
    return tuple(replace(row, retired_at=None, retired_pos=None, retired_tx=None) for row in found)


def edges(
    db: apsw.Connection,
    viewer: Viewer,
    moment: PinnedTime,
    node_id: str,
    rel: str,
    direction: Way,
    before: int | None,
    limit: int,
) -> tuple[EdgeVersion, ...]:
    """A node's edges of one relation that hold, latest first, whether or not their ends hold."""
    end = "src" if direction == "out" else "dst"
    seen = Sql(f"e.{end} = (SELECT key FROM node WHERE id = ?) AND e.rel = ?", (node_id, rel))
    seen &= guards.findable(viewer, node="a") & guards.findable(viewer, node="b") & guards.edge_open(viewer)
    seen &= guards.known(moment) & guards.holds(moment)
    if before is not None:
        seen &= Sql("v.row < ?", (before,))
    # Of a node with thousands of edges only the latest are read whole. CROSS: from the node's edges to their versions.
    latest = f"""SELECT v.row FROM edge e CROSS JOIN edge_version v ON v.edge = e.key
        JOIN node a ON a.key = e.src JOIN node b ON b.key = e.dst WHERE {seen.text} ORDER BY +v.row DESC LIMIT ?"""
    query = f"{rows.select_edges()} WHERE v.row IN ({latest}) ORDER BY v.row DESC"
    return tuple(rows.edge_of(row) for row in db.execute(query, (*seen.params, limit)))


def relations(
    db: apsw.Connection,
    viewer: Viewer,
    moment: PinnedTime,
    rels: Sequence[str],
    projects: tuple[str | None, ...] | None,
    ends: Ends,
    after: int,
    limit: int,
) -> tuple[EdgeVersion, ...]:
    """Edges of some relations that hold, between nodes that hold or any, by row."""
    seen = Sql(f"v.row > ? AND e.rel IN ({marks(rels)})", (after, *rels))
    seen &= guards.findable(viewer, projects, node="a") & guards.findable(viewer, node="b") & guards.edge_open(viewer)
    seen &= guards.known(moment) & guards.holds(moment)
    if ends == "held":
        seen &= _has_current("node_version", "node", "a", moment) & _has_current("node_version", "node", "b", moment)
    query = f"{rows.select_edges()} WHERE {seen.text} ORDER BY v.row LIMIT ?"
    return tuple(rows.edge_of(row) for row in db.execute(query, (*seen.params, limit)))


def backlinks(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, ids: Sequence[str], most: int) -> dict[str, int]:
    """The number of visible nodes that point at each, itself excluded."""
    linked = joined(db, ids, TRUE, "in")
    if not linked:
        return {}
    rels, records = tuple(sorted(UNCOUNTED_RELATIONS)), tuple(sorted(RECORD_KINDS))
    seen = (
        Sql(f"e.rel NOT IN ({marks(rels)}) AND n.kind NOT IN ({marks(records)})", rels + records)
        & guards.findable(viewer)
        & guards.edge_open(viewer)
        & _has_current("edge_version", "edge", "e", moment)
        & _has_current("node_version", "node", "n", moment)
    )
    there = guards.findable(viewer, node="a") & _has_current("node_version", "node", "a", moment)
    query = f"""SELECT a.id, (SELECT count(*) FROM (SELECT DISTINCT e.src FROM edge e JOIN node n ON n.key = e.src
            WHERE e.dst = a.key AND e.src <> e.dst AND {seen.text} LIMIT ?))
        FROM json_each(?) j CROSS JOIN node a ON a.id = j.value WHERE {there.text}"""
    found = dict(every(db, query, (*seen.params, most, orjson.dumps(list(linked)).decode(), *there.params)))
    return {each: found[each] for each in linked if found.get(each)}


def _has_current(table: str, column: str, of: str, moment: PinnedTime) -> Sql:
    """Some version of it is known and holds."""
    there = guards.known(moment, version="sv") & guards.holds(moment, version="sv")
    return Sql(f"EXISTS (SELECT 1 FROM {table} sv WHERE sv.{column} = {of}.key AND {there.text})", there.params)


def counts(db: apsw.Connection, viewer: Viewer, moment: PinnedTime) -> tuple[int, int, int, int, int, int]:
    """Nodes, edges, node versions, events, sessions, texts that the viewer may see."""
    mine = guards.findable(viewer)
    now = mine & guards.known(moment) & guards.holds(moment)
    joined = "FROM node_version v JOIN node n ON n.key = v.node"
    (node_count,) = one(db, f"SELECT count(*) {joined} WHERE {now.text}", now.params)
    ever = mine & guards.FINISHED
    versions, texts = one(db, f"SELECT count(*), count(DISTINCT v.text) {joined} WHERE {ever.text}", ever.params)
    ends = Sql(
        " AND ".join(f"e.{side} IN (SELECT n.key {joined} WHERE {now.text})" for side in ("src", "dst")),
        now.params * 2,
    )
    seen = guards.edge_open(viewer) & guards.known(moment) & guards.holds(moment) & ends
    (edge_count,) = one(
        db, f"SELECT count(*) FROM edge_version v JOIN edge e ON e.key = v.edge WHERE {seen.text}", seen.params
    )
    opened = _event_open(viewer)
    event_count, sessions = one(
        db, f"SELECT count(*), count(DISTINCT e.session) FROM event e WHERE {opened.text}", opened.params
    )
    return node_count, edge_count, versions, event_count, sessions, texts


def indexes(db: apsw.Connection, viewer: Viewer, moment: PinnedTime) -> tuple[KindStat, ...]:
    """The kinds of visible nodes, with how many there are and which properties they have."""
    seen = guards.findable(viewer) & guards.known(moment) & guards.holds(moment)
    joined = "FROM node_version v JOIN node n ON n.key = v.node"
    totals = every(db, f"SELECT n.kind, count(*) {joined} WHERE {seen.text} GROUP BY n.kind ORDER BY 1", seen.params)
    props: dict[str, list[str]] = {}
    pairs = db.execute(
        f"SELECT DISTINCT n.kind, j.key {joined} JOIN json_each(v.props) j WHERE {seen.text} ORDER BY 1, 2", seen.params
    )
    for kind, key in pairs:
        props.setdefault(kind, []).append(key)
    return tuple(
        KindStat(kind=kind, views=views_of(kind), nodes=count, props=tuple(props.get(kind, ())))
        for kind, count in totals
    )


def census(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, projects: tuple[str | None, ...]) -> Census:
    """Nodes of some projects by kind, and edges that begin at them by relation."""
    now = guards.known(moment) & guards.holds(moment)
    joined = "FROM node_version v JOIN node n ON n.key = v.node"
    mine, any_node = guards.findable(viewer, projects) & now, guards.findable(viewer) & now
    kinds = every(db, f"SELECT n.kind, count(*) {joined} WHERE {mine.text} GROUP BY 1", mine.params)
    seen = guards.edge_open(viewer) & now
    for side, among in (("src", mine), ("dst", any_node)):
        seen &= Sql(f"e.{side} IN (SELECT n.key {joined} WHERE {among.text})", among.params)
    query = f"SELECT e.rel, count(*) FROM edge_version v JOIN edge e ON e.key = v.edge WHERE {seen.text} GROUP BY 1"
    return Census(kinds=dict(kinds), relations=dict(every(db, query, seen.params)))


def without_vectors(db: apsw.Connection, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
    """The texts without a vector of this model, as far as the viewer may know."""
    seen = guards.of_a_node(viewer)
    query = f"SELECT 1 FROM vector x JOIN model m ON m.key = x.model WHERE m.name = ? AND x.hash = ? AND {seen.text}"
    return tuple(each for each in hashes if first(db, query, (model, each, *seen.params)) is None)


def vectors(db: apsw.Connection, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
    """Vectors of those texts that the viewer may find a node of."""
    key = model_key(db, model)
    if key is None or not hashes:
        return {}
    seen = guards.of_a_node(viewer)
    query = f"""SELECT x.hash, x.data FROM json_each(?) j CROSS JOIN vector x ON x.model = ? AND x.hash = unhex(j.value)
        WHERE {seen.text}"""
    wanted = orjson.dumps([each.hex() for each in hashes]).decode()
    return dict(every(db, query, (wanted, key, *seen.params)))


def unembedded(db: apsw.Connection, model: str, after: int, limit: int) -> tuple[tuple[int, bytes, str, str], ...]:
    """(id, hash, words, body) of texts without a vector of this model, in order."""
    query = f"""SELECT t.id, t.hash, t.name, t.summary, t.body FROM text t WHERE t.id > ? AND NOT EXISTS (
        SELECT 1 FROM vector x JOIN model m ON m.key = x.model WHERE m.name = ? AND x.hash = t.hash)
        AND NOT {IS_ENCRYPTED_T} ORDER BY t.id LIMIT ?"""
    found = every(db, query, (after, model, limit))
    return tuple((row[0], row[1], text_to_embed(row[2], row[3], row[4]), row[4]) for row in found)
