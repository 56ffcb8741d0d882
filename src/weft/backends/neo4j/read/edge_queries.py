"""Guarded reads of edges: steps from nodes, edges of a node, of relations, and counts of who points where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import EDGE
from weft.backends.neo4j.cypher_guards import BothClocks, clocks, stored
from weft.backends.neo4j.read.node_queries import by_rows
from weft.backends.neo4j.read.reading import Reading
from weft.core.kinds import RECORD_KINDS, UNCOUNTED_RELATIONS
from weft.core.types import Direction, EdgeVersion, Ends, LeanStep, Neighbour, Way

_ARROWS: Final = {"out": "(s)-[e:EDGE]->(n)", "in": "(s)<-[e:EDGE]-(n)"}
_LEAN: Final = "e.rel, n.id, n.kind, n.project, n.scope, n.agents, n.sensitive, e.was_project"


class EdgesFollowed(Struct, frozen=True, kw_only=True):
    """Which relations to follow, when, and at most how many edges from each node."""

    moment: BothClocks
    rels: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    direction: Direction = "both"
    limit: int = 20

    @property
    def sides(self) -> tuple[Way, ...]:
        return ("out", "in") if self.direction == "both" else (self.direction,)


def neighbours(reading: Reading, following: EdgesFollowed, ids: Sequence[str]) -> tuple[Neighbour, ...]:
    """One step from each node. Both ends and the edge pass the guards."""
    steps = _steps(reading, following, ids, EDGE)
    reached = by_rows(reading, [step[3] for step in steps])
    return tuple(Neighbour(start=step[0], edge=rows.edge_of(step[4:]), node=reached[step[3]]) for step in steps)


def links(reading: Reading, following: EdgesFollowed, ids: Sequence[str]) -> tuple[LeanStep, ...]:
    """The same steps to one side, without reading what is at their ends."""
    steps = _steps(reading, following, ids, _LEAN)
    query = "UNWIND $rows AS r MATCH (v:WeftVersion {g: $g, row: r}) RETURN r, v.valid_from, v.valid_to"
    found = reading.rows(query, rows=list({step[3] for step in steps})) if steps else ()
    held = {row: (begins, ends) for row, begins, ends in found}
    return tuple(
        LeanStep(
            start=start,
            rel=rel,
            inward=following.direction == "in",
            id=node_id,
            kind=kind,
            guard=rows.guard_of(project, scope, tuple(agents), sensitive),
            edge_project=None if edge_project == guards.NONE else edge_project,
            valid_from=held[row][0],
            valid_to=held[row][1],
        )
        for start, _, _, row, rel, node_id, kind, project, scope, agents, sensitive, edge_project in steps
    )


def _steps(reading: Reading, following: EdgesFollowed, ids: Sequence[str], columns: str) -> list[list[Any]]:
    """(start, weight, edge row, node row, *columns) of the steps from each node, in order."""
    wanted = list(dict.fromkeys(ids))
    if not wanted or following.rels == ():
        return []
    which = [guards.edge_open(), guards.current("e"), guards.reachable()]
    here = [guards.reachable("s"), held("s")]
    if following.rels is not None:
        which.append("e.rel IN $rels")
    else:
        which.append("NOT n.kind IN $records")
        here.append("NOT s.kind IN $records")
    if following.without:
        which.append("NOT e.rel IN $without")
    params = {
        "ids": wanted,
        "rels": list(following.rels or ()),
        "records": sorted(RECORD_KINDS),
        "without": list(following.without),
        "limit": following.limit,
        **clocks(following.moment),
    }
    found: dict[str, dict[tuple[int, int], list[Any]]] = {start: {} for start in wanted}
    for side in following.sides:
        # A node that holds in several slots at once is one neighbour: its latest row counts.
        query = f"""UNWIND $ids AS id MATCH (s:WeftNode {{g: $g, id: id}}) WHERE {" AND ".join(here)}
            CALL {{ WITH s MATCH {_ARROWS[side]} WHERE {" AND ".join(which)}
              MATCH (n)<-[:OF]-(v) WHERE {guards.current()}
              WITH e, n, max(v.row) AS row ORDER BY e.weight DESC, e.row LIMIT $limit RETURN e, n, row }}
            WITH s, e, n, row, startNode(e) AS a, endNode(e) AS b
            RETURN s.id AS start, e.weight AS heavy, e.row AS edge, row, {columns}"""
        for step in reading.rows(query, **params):
            found[step[0]][step[2], step[3]] = step
    return [
        step
        for steps in found.values()
        for step in sorted(steps.values(), key=lambda step: (-step[1], step[2]))[: following.limit]
    ]


def held(n: str) -> str:
    """Some version of the node is known and holds."""
    return f"EXISTS {{ ({n})<-[:OF]-(w_{n}) WHERE {guards.current(f'w_{n}')} }}"


def edges(
    reading: Reading, moment: BothClocks, node_id: str, rel: str, direction: Way, before: int | None, limit: int
) -> tuple[EdgeVersion, ...]:
    """A node's edges of one relation that hold, latest first, whether or not their ends hold."""
    here = "a" if direction == "out" else "b"
    below = "" if before is None else " AND e.row < $before"
    query = f"""MATCH ({here}:WeftNode {{g: $g, id: $id}}) MATCH (a)-[e:EDGE]->(b)
        WHERE e.rel = $rel AND {guards.edge_open()} AND {guards.current("e")}
        AND {guards.findable("a")} AND {guards.findable("b")}{below}
        RETURN {EDGE} ORDER BY e.row DESC LIMIT $limit"""
    found = reading.rows(query, id=node_id, rel=rel, before=before, limit=limit, **clocks(moment))
    return tuple(map(rows.edge_of, found))


def relations(
    reading: Reading,
    moment: BothClocks,
    rels: Sequence[str],
    projects: tuple[str | None, ...] | None,
    ends: Ends,
    after: int,
    limit: int,
) -> tuple[EdgeVersion, ...]:
    """Edges of some relations that hold, between nodes that hold or any, by row."""
    which = [
        "e.row > $after",
        guards.edge_open(),
        guards.current("e"),
        guards.findable("a"),
        guards.findable("b"),
    ]
    if projects is not None:
        which.append("a.project IN $projects")
    if ends == "held":
        which += [held("a"), held("b")]
    query = f"""UNWIND $rels AS rel MATCH (a)-[e:EDGE {{g: $g, rel: rel}}]->(b) WHERE {" AND ".join(which)}
        RETURN {EDGE} ORDER BY e.row LIMIT $limit"""
    params: dict[str, Any] = {
        "rels": list(dict.fromkeys(rels)),
        "projects": stored(projects or ()),
        "after": after,
        "limit": limit,
    }
    return tuple(map(rows.edge_of, reading.rows(query, **params, **clocks(moment))))


def backlinks(reading: Reading, moment: BothClocks, ids: Sequence[str], most: int) -> dict[str, int]:
    """The number of visible nodes that point at each, itself excluded."""
    query = f"""UNWIND $ids AS id MATCH (a:WeftNode {{g: $g, id: id}}) WHERE {guards.findable("a")}
        AND {held("a")}
        CALL {{ WITH a MATCH (n)-[e:EDGE]->(a) WHERE n <> a AND NOT e.rel IN $uncounted
          AND {guards.edge_open()} AND {guards.current("e")} AND {guards.findable()}
          AND NOT n.kind IN $records AND {held("n")} WITH DISTINCT n LIMIT $most RETURN count(n) AS some }}
        RETURN id, some"""
    wanted = list(dict.fromkeys(ids))
    params: dict[str, Any] = {"uncounted": sorted(UNCOUNTED_RELATIONS), "records": sorted(RECORD_KINDS), "most": most}
    rows_found = reading.rows(query, ids=wanted, **params, **clocks(moment))
    found = {each: int(some) for each, some in rows_found}
    return {each: found[each] for each in wanted if found.get(each)}
