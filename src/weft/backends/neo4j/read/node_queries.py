"""Guarded reads of nodes: by id, by filter, of all times, deleted ones, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import EDGE, JOINED, NODE, SEPARATOR, TX, bounded
from weft.backends.neo4j.cypher_guards import BothClocks, clocks, stored
from weft.backends.neo4j.read.reading import Reading
from weft.backends.neo4j.write.property_facts import fact
from weft.core.kinds import ERASED, views_of
from weft.core.queries import Deletion, NodeFilter, NodeWords
from weft.core.types import (
    Census,
    Diff,
    EdgeVersion,
    Find,
    FindResult,
    KindStat,
    NodeVersion,
    Tx,
)
from weft.text.lexical import name_key

ROWS_AT_ONCE: Final = 5_000
FEW_NODES: Final = 10_000  # of the kinds asked for: more are looked for from the newest row on
MIN_SHA_CHARACTERS: Final = 7


def _found(reading: Reading, query: str, **params: Any) -> tuple[NodeVersion, ...]:
    return tuple(map(rows.node_of, reading.rows(query, **params)))


def nodes(reading: Reading, moment: BothClocks, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
    """The visible versions of these nodes, in the order of `ids`; missing ones are omitted."""
    wanted = list(dict.fromkeys(ids))
    query = f"""UNWIND $ids AS id MATCH (n:WeftNode {{g: $g, id: id}}) WHERE {guards.findable()}
        MATCH {JOINED} WHERE {guards.current()} RETURN {NODE} ORDER BY v.row"""
    found = {row.id: row for row in _found(reading, query, ids=wanted, **clocks(moment))}
    return tuple(found[each] for each in wanted if each in found)


def by_rows(reading: Reading, numbers: Sequence[int]) -> dict[int, NodeVersion]:
    """Versions by row number, of rows that passed the guards."""
    query = f"UNWIND $rows AS r MATCH (v:WeftVersion {{g: $g, row: r}}) MATCH {JOINED} RETURN {NODE}"
    return {row.row: row for row in _found(reading, query, rows=list(dict.fromkeys(numbers)))}


def _without_open_changes(reading: Reading, found: Sequence[NodeVersion]) -> tuple[NodeVersion, ...]:
    return tuple(
        replace(row, retired_at=None, retired_pos=None, retired_tx=None) if row.retired_tx in reading.open else row
        for row in found
    )


def history(reading: Reading, node_id: str, limit: int) -> tuple[NodeVersion, ...]:
    """Every version of a node, at all record times, by row. Open changes do not count yet."""
    query = f"""MATCH (n:WeftNode {{g: $g, id: $id}}) WHERE {guards.findable()}
        MATCH {JOINED} WHERE NOT v.tx IN $open RETURN {NODE} ORDER BY v.row LIMIT $limit"""
    return _without_open_changes(reading, _found(reading, query, id=node_id, limit=limit))


def asserted_by(reading: Reading, pos: int, limit: int) -> tuple[NodeVersion, ...]:
    """The first versions made by an event."""
    query = f"""MATCH (v:WeftVersion {{g: $g, born: $pos}}) WHERE v.event = $pos AND NOT v.tx IN $open
        MATCH {JOINED} WHERE {guards.findable()} RETURN {NODE} ORDER BY v.row LIMIT $limit"""
    return _without_open_changes(reading, _found(reading, query, pos=pos, limit=limit))


def current_in_slot(reading: Reading, moment: BothClocks, slot: str, after: int, limit: int) -> tuple[NodeVersion, ...]:
    """Versions in a slot that hold later than `after`, by start."""
    later = f"{guards.known()} AND (v.valid_to IS NULL OR v.valid_to > $after)"
    found = _in_slots(reading, [slot], f"{guards.findable()} AND {later}", after=after, **clocks(moment))
    found.sort(key=lambda row: row.interval.valid_from)
    return tuple(replace(row, retired_at=None, retired_pos=None, retired_tx=None) for row in found[:limit])


def _in_slots(reading: Reading, slots: Sequence[str], where: str, **params: Any) -> list[NodeVersion]:
    """Versions in these slots. A node alone in its slot stores none there, and is found by its id."""
    shared = f"""UNWIND $slot_keys AS k MATCH (v:WeftVersion {{g: $g, slot_key: k}}) WHERE v.slot IN $slots
        MATCH {JOINED} WHERE {where} RETURN {NODE}"""
    own = f"""UNWIND $slots AS id MATCH (n:WeftNode {{g: $g, id: id}}) MATCH {JOINED}
        WHERE v.slot IS NULL AND {where} RETURN {NODE}"""
    wanted = list(dict.fromkeys(slots))
    keys = list(dict.fromkeys(map(bounded, wanted)))
    found = [*_found(reading, shared, slots=wanted, slot_keys=keys, **params)]
    alone = [slot for slot in wanted if not slot.startswith(SEPARATOR)]
    return [*found, *_found(reading, own, slots=alone, **params)] if alone else found


# By filter


def find(reading: Reading, moment: BothClocks, find: Find, limit: int) -> FindResult:
    """Visible nodes that fit, latest first, and the filter's properties that no visible node has."""
    where, params = _fits(reading, moment, find)
    if find.slots is not None:
        fits = _in_slots(reading, find.slots, where, **params)
        found = tuple(sorted(fits, key=lambda row: -row.row)[:limit])
    else:
        start, more = _start(reading, find)
        query = f"{start} MATCH {JOINED} WHERE {where} RETURN {NODE} ORDER BY v.row DESC LIMIT $limit"
        found = _found(reading, query, limit=limit, **params, **more)
    return FindResult(nodes=found, unknown_props=() if found else _unknown_props(reading, moment, find))


def _start(reading: Reading, find: Find) -> tuple[str, dict[str, Any]]:
    """The rows to begin with: those of the most selective index."""
    if find.names is not None:
        keys = [bounded(key) for name in find.names if (key := name_key(name))]
        return "UNWIND $keys AS k MATCH (t:WeftText {g: $g, name_key: k})", {"keys": list(dict.fromkeys(keys))}
    if find.id_prefix is not None:
        return "MATCH (n:WeftNode {g: $g}) WHERE n.id STARTS WITH $prefix", {}
    if find.kinds is not None:
        few = f"UNWIND $kinds AS k MATCH (n:WeftNode {{g: $g, kind: k}}) WITH n LIMIT {FEW_NODES} RETURN count(n)"
        counted = reading.first(few, kinds=list(find.kinds))
        if counted is None or counted[0] < FEW_NODES:
            return "UNWIND $kinds AS k MATCH (n:WeftNode {g: $g, kind: k})", {}
    below = "v.row < $before" if find.before is not None else "v.row > 0"
    return f"MATCH (v:WeftVersion {{g: $g}}) WHERE {below} WITH v ORDER BY v.g DESC, v.row DESC", {}


def _fits(reading: Reading, moment: BothClocks, find: Find) -> tuple[str, dict[str, Any]]:
    parts = [guards.findable(), guards.current()]
    params: dict[str, Any] = clocks(moment)
    if find.names is not None:
        parts.append("t.name_key IS NOT NULL")
    if find.kinds is not None:
        parts.append("n.kind IN $kinds")
        params["kinds"] = list(find.kinds)
    if find.without_kinds:
        parts.append("NOT n.kind IN $without")
        params["without"] = list(find.without_kinds)
    if find.projects is not None:
        parts.append("n.project IN $projects")
        params["projects"] = stored(find.projects)
    if find.focuses is not None:
        parts.append("v.focus IN $focuses")
        params["focuses"] = stored(find.focuses)
    if find.begins is not None:
        parts.append("v.valid_from >= $begins AND v.valid_from < $ends")
        params["begins"], params["ends"] = find.begins
    if find.before is not None:
        parts.append("v.row < $before")
        params["before"] = find.before
    if find.id_prefix is not None:
        parts.append("n.id STARTS WITH $prefix")
        params["prefix"] = find.id_prefix
    if find.keywords is not None:
        parts.append("any(w IN v.keywords WHERE w IN $keywords)")
        params["keywords"] = [word.lower() for word in find.keywords]
    if find.props:
        parts.append("all(f IN $facts WHERE f IN v.facts)")
        params["facts"] = [fact(key, value) for key, value in find.props.items()]
    return " AND ".join(parts), params


def _unknown_props(reading: Reading, moment: BothClocks, find: Find) -> tuple[str, ...]:
    if not find.props:
        return ()
    query = f"""UNWIND $wanted AS key WITH key WHERE EXISTS {{
        MATCH (n)<-[:OF]-(v:WeftVersion {{g: $g}}) WHERE key IN v.keys AND {guards.findable()}
        AND {guards.current()} }} RETURN key"""
    known = {key for (key,) in reading.rows(query, wanted=sorted(find.props), **clocks(moment))}
    return tuple(key for key in sorted(find.props) if key not in known)


# Deleted ones


def last_versions(reading: Reading, which: NodeFilter, limit: int) -> tuple[NodeVersion, ...]:
    """The newest row of each node that fits and that the viewer's rights admit, by id."""
    start = "MATCH (n:WeftNode {g: $g})"
    parts = [f"NOT n.id STARTS WITH '{ERASED}' AND {guards.admits()}"]
    if which.ids is not None:
        start = "UNWIND $ids AS id MATCH (n:WeftNode {g: $g, id: id})"
    if which.after:
        parts.append("n.id > $after")
    if which.id_prefix is not None:
        parts.append("n.id STARTS WITH $prefix")
    if which.kinds is not None:
        parts.append("n.kind IN $kinds")
    if which.projects is not None:
        parts.append("n.project IN $projects")
    if which.deleted is not None:
        parts.append(f"n.deleted_at IS {'NOT ' if which.deleted else ''}NULL")
    if which.deleted_at is not None:
        parts.append("n.deleted_at = $deleted_at")
    query = f"""{start} WHERE {" AND ".join(parts)} AND EXISTS {{ (n)<-[:OF]-(w) WHERE NOT w.tx IN $open }}
        WITH n ORDER BY n.id LIMIT $limit
        CALL {{ WITH n MATCH (n)<-[:OF]-(v) WHERE NOT v.tx IN $open RETURN v ORDER BY v.row DESC LIMIT 1 }}
        MATCH (v)-[:SAYS]->(t) RETURN {NODE} ORDER BY n.id"""
    return _found(
        reading,
        query,
        limit=limit,
        ids=list(dict.fromkeys(which.ids or ())),
        after=which.after,
        prefix=which.id_prefix,
        kinds=list(which.kinds or ()),
        projects=stored(which.projects or ()),
        deleted_at=which.deleted_at,
    )


def deletions(reading: Reading, before: int | None, limit: int) -> tuple[Deletion, ...]:
    """Deletions by commit, latest first."""
    earlier = "n.deleted_at < $before" if before is not None else "n.deleted_at IS NOT NULL"
    query = f"""MATCH (n:WeftNode {{g: $g}}) WHERE {earlier} AND NOT n.id STARTS WITH '{ERASED}'
        AND {guards.admits()}
        WITH n.deleted_at AS at, count(*) AS some RETURN at, some ORDER BY at DESC LIMIT $limit"""
    return tuple(Deletion(at=at, nodes=some) for at, some in reading.rows(query, before=before, limit=limit))


# Counts


def counts(reading: Reading, moment: BothClocks) -> tuple[int, int, int, int]:
    """Nodes, edges, node versions and texts that the viewer may see."""
    joined = "MATCH (n:WeftNode {g: $g}) WHERE n.id >= '' MATCH (n)<-[:OF]-(v)"
    now = f"{guards.findable()} AND {guards.current()}"
    query = f"{joined} WHERE {now} RETURN count(*)"
    held = reading.first(query, **clocks(moment))
    ever = f"""{joined} WHERE {guards.findable()} AND NOT v.tx IN $open MATCH (v)-[:SAYS]->(t)
        RETURN count(v), count(DISTINCT t)"""
    versions = reading.first(ever)
    query = f"""MATCH (n)-[e:EDGE {{g: $g}}]->(m) WHERE e.row > 0 AND {guards.edge_open()} AND {guards.current("e")}
        AND {guards.findable()} AND {guards.findable("m")}
        AND {_held("n")} AND {_held("m")} RETURN count(*)"""
    edges = reading.first(query, **clocks(moment))
    assert held is not None
    assert versions is not None
    assert edges is not None
    return held[0], edges[0], versions[0], versions[1]


def _held(n: str) -> str:
    """Some version of the node is known and holds."""
    return f"EXISTS {{ ({n})<-[:OF]-(w_{n}) WHERE {guards.current(f'w_{n}')} }}"


def indexes(reading: Reading, moment: BothClocks) -> tuple[KindStat, ...]:
    """The kinds of visible nodes, with how many there are and which properties they have."""
    query = f"""MATCH (n:WeftNode {{g: $g}})<-[:OF]-(v) WHERE n.id >= '' AND {guards.findable()}
        AND {guards.current()} UNWIND coalesce(v.keys, [null]) AS key
        RETURN n.kind, count(DISTINCT v), collect(DISTINCT key)"""
    found = sorted(reading.rows(query, **clocks(moment)))
    return tuple(
        KindStat(kind=kind, views=views_of(kind), nodes=some, props=tuple(sorted(keys))) for kind, some, keys in found
    )


def census(reading: Reading, moment: BothClocks, projects: tuple[str | None, ...]) -> Census:
    """Nodes of some projects by kind, and edges that begin at them by relation."""
    params = {"projects": stored(projects), **clocks(moment)}
    mine = f"{guards.findable()} AND n.project IN $projects"
    query = f"""MATCH (n:WeftNode {{g: $g}})<-[:OF]-(v) WHERE n.id >= '' AND {mine} AND {guards.current()}
        RETURN n.kind, count(*)"""
    kinds = reading.rows(query, **params)
    query = f"""MATCH (n)-[e:EDGE {{g: $g}}]->(m) WHERE e.row > 0 AND {guards.edge_open()} AND {guards.current("e")}
        AND {mine} AND {guards.findable("m")} AND {_held("n")} AND {_held("m")}
        RETURN e.rel, count(*)"""
    return Census(kinds=_counted(kinds), relations=_counted(reading.rows(query, **params)))


def _counted(found: Sequence[Sequence[Any]]) -> dict[str, int]:
    return {name: some for name, some in found}  # noqa: C416 - rows are lists, of two


# Every row


def graph_rows(reading: Reading) -> Iterator[NodeVersion | EdgeVersion]:
    """Every version row, in row order."""
    query = f"""MATCH (v:WeftVersion {{g: $g}}) WHERE v.row > $after WITH v ORDER BY v.row LIMIT {ROWS_AT_ONCE}
        MATCH {JOINED} RETURN {NODE} ORDER BY v.row"""
    yield from map(rows.node_of, _pages(reading, query))
    query = f"""MATCH (a)-[e:EDGE {{g: $g}}]->(b) WHERE e.row > $after RETURN {EDGE} ORDER BY e.row
        LIMIT {ROWS_AT_ONCE}"""
    yield from map(rows.edge_of, _pages(reading, query))


def _pages(reading: Reading, query: str, **params: Any) -> Iterator[list[Any]]:
    after = 0
    while page := reading.rows(query, after=after, **params):
        yield from page
        after = page[-1][0]
        if len(page) < ROWS_AT_ONCE:
            return


def node_words(
    reading: Reading, ids: Sequence[str] | None, of_kind: Callable[[str], bool] | None
) -> Iterator[NodeWords]:
    """The content of every version row, in row order; optionally only of some nodes or kinds."""
    which, params = ["v.row > $after"], {}
    if ids is not None:
        which.append("n.id IN $ids")
        params["ids"] = list(ids)
    if of_kind is not None:
        there = reading.rows("MATCH (n:WeftNode {g: $g}) RETURN DISTINCT n.kind")
        which.append("n.kind IN $kinds")
        params["kinds"] = [kind for (kind,) in there if of_kind(kind)]
        if not params["kinds"]:
            return
    start = "(v:WeftVersion {g: $g})" if ids is None else "(n:WeftNode {g: $g})<-[:OF]-(v)"
    query = f"""MATCH {start} MATCH {JOINED} WHERE {" AND ".join(which)}
        RETURN v.row, n.id, n.kind, t.name, t.summary, t.body, coalesce(v.props, ''), v.event, t.hash, v.sensitive,
          v.retired_at IS NULL AND n.deleted_at IS NULL ORDER BY v.row LIMIT {ROWS_AT_ONCE}"""
    for _, *row in _pages(reading, query, **params):
        row[7] = bytes.fromhex(row[7])
        yield NodeWords(*row)


def edge_names(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """(source, relation, target) of every edge, once."""
    query = """MATCH (a)-[e:EDGE {g: $g}]->(b) WITH a, e.rel AS rel, b, min(e.row) AS first
        RETURN a.id, rel, b.id ORDER BY first"""
    yield from ((src, rel, dst) for src, rel, dst in reading.rows(query))


def encrypted(reading: Reading, moment: BothClocks, limit: int) -> tuple[NodeVersion, ...]:
    """The versions whose words are encrypted, newest first."""
    query = f"""MATCH (t:WeftText {{g: $g, sealed: true}}) MATCH {JOINED} WHERE {guards.findable()}
        AND {guards.current()} RETURN {NODE} ORDER BY v.row DESC LIMIT $limit"""
    return _found(reading, query, limit=limit, **clocks(moment))


# Changes


def transactions(reading: Reading, limit: int, git_commit: str | None) -> tuple[Tx, ...]:
    """Latest first; of one git commit, by its hash or a long enough prefix."""
    which = "WHERE x.opened_pos > 0"
    if git_commit is not None:
        if len(git_commit) < MIN_SHA_CHARACTERS:
            return ()
        which = "WHERE x.git_commit STARTS WITH $commit"
    query = f"MATCH (x:WeftTx {{g: $g}}) {which} RETURN {TX} ORDER BY x.opened_pos DESC LIMIT $limit"
    return tuple(map(rows.tx_of, reading.rows(query, commit=git_commit, limit=limit)))


def transaction(reading: Reading, tx_id: str) -> Tx | None:
    """One transaction."""
    found = reading.first(f"MATCH (x:WeftTx {{g: $g, id: $id}}) RETURN {TX}", id=tx_id)
    return None if found is None else rows.tx_of(found)


def diff(
    reading: Reading,
    now: BothClocks,
    since_pos: int,
    agent: str | None,
    projects: tuple[str | None, ...] | None,
    limit: int,
) -> Diff:
    """What holds now as known at `since_pos`, against as known now: only rows made or retired since are read."""
    whole = """MATCH (c:WeftCommit {a: $a}) WHERE c.first_pos <= $since AND c.first_pos + c.count - 1 <= $since
        RETURN c.first_pos + c.count - 1 ORDER BY c.first_pos DESC LIMIT 1"""
    found = reading.first(whole, since=since_pos)
    then = BothClocks(now.valid_at, found[0] if found else 0, ())
    then = then._replace(unfinished=reading.unfinished_at(then.pos))
    params = {
        **clocks(now),
        "then_pos": then.pos,
        "then_unfinished": list(then.unfinished),
        "closed": [tx for tx in then.unfinished if tx not in now.unfinished],
        "by": agent,
        "projects": stored(projects or ()),
    }
    mine = "" if projects is None else " AND n.project IN $projects"
    starts = [("born", "tx"), ("retired_pos", "retired_tx")]
    nodes: dict[tuple[str, str], tuple[bool, bool]] = {}
    edges: dict[tuple[str, str, str], tuple[bool, bool]] = {}
    for pos, tx in starts:
        landed = f"(x.{pos} > $then_pos OR (x.{pos} IS NOT NULL AND x.{tx} IN $closed)) AND NOT x.{tx} IN $unfinished"
        if agent is not None:
            landed += f" AND EXISTS {{ (y:WeftTx {{g: $g}}) WHERE y.id = x.{tx} AND y.agent = $by }}"
        sides = f"{_then('v')} AS before, {guards.current()} AS after"
        query = f"""MATCH (x:WeftVersion {{g: $g}}) WHERE {landed} MATCH (n)<-[:OF]-(x)
            WHERE {guards.findable()}{mine} WITH DISTINCT n MATCH (n)<-[:OF]-(v) WITH n, {sides}
            RETURN n.kind, n.id, collect(before), collect(after)"""
        for kind, node, before, after in reading.rows(query, **params):
            nodes[kind, node] = any(before), any(after)
        sides = f"{_then('v')} AS before, {guards.current()} AS after"
        query = f"""MATCH (n)-[x:EDGE {{g: $g}}]->(m) WHERE {landed} AND {guards.edge_open("x")}
            AND {guards.findable()} AND {guards.findable("m")}{mine} WITH DISTINCT x.pair AS pair
            MATCH (n)-[v:EDGE {{g: $g, pair: pair}}]->(m) WITH n, m, v.rel AS rel, {sides}
            RETURN n.id, rel, m.id, collect(before), collect(after)"""
        for src, rel, dst, before, after in reading.rows(query, **params):
            edges[src, rel, dst] = any(before), any(after)
    lists = (
        sorted(key for key, sides in nodes.items() if sides == (False, True)),
        sorted(key for key, sides in nodes.items() if sides == (True, False)),
        sorted(key for key, sides in nodes.items() if sides == (True, True)),
    )
    edge_lists = (
        sorted(key for key, sides in edges.items() if sides == (False, True)),
        sorted(key for key, sides in edges.items() if sides == (True, False)),
    )
    return Diff(
        added=tuple(lists[0][:limit]),
        removed=tuple(lists[1][:limit]),
        modified=tuple(lists[2][:limit]),
        edges_added=tuple(edge_lists[0][:limit]),
        edges_removed=tuple(edge_lists[1][:limit]),
        truncated=any(len(each) > limit for each in (*lists, *edge_lists)),
    )


def _then(v: str) -> str:
    """As `guards.current`, at the position `$then_pos`."""
    return (
        f"({v}.born <= $then_pos AND NOT {v}.tx IN $then_unfinished AND ({v}.retired_pos IS NULL"
        f" OR {v}.retired_pos > $then_pos OR {v}.retired_tx IN $then_unfinished) AND {guards.holds(v)})"
    )
