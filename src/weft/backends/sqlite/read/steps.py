"""One step along the edges of nodes, heaviest first, through all guards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import apsw
import orjson
from msgspec import Struct

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import TRUE, PinnedTime, Sql, marks
from weft.backends.sqlite.query import every, one
from weft.core.kinds import RECORD_KINDS
from weft.core.types import Direction, LeanStep, Neighbour, Viewer, Way

if TYPE_CHECKING:
    from weft.backends.sqlite.search.hubs import HubEdges

MANY: Final = 300  # edges of all starts: for more, the heaviest are looked up in the graph's arrays first
SPARE: Final = 6  # edges of a node that are read beyond its limit: some may not be seen
MORE: Final = 4  # times as many in every further round


class Row(NamedTuple):
    """A step, by the rows of its edge and of the node there, and the columns of a LeanStep."""

    start: str
    edge: int
    node: int
    weight: float
    rel: str
    id: str
    kind: str
    ward: int
    edge_ward: int
    valid_from: int
    valid_to: int | None


class Following(Struct, frozen=True, kw_only=True):
    """Who follows which relations, when, and at most how many from each node.

    `hubs` gives the heaviest edges of nodes for one side; it returns None where it cannot.
    """

    viewer: Viewer
    moment: PinnedTime
    rels: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    direction: Direction = "both"
    limit: int = 20
    hubs: Callable[[Following, Way], HubEdges | None] | None = None

    @property
    def sides(self) -> tuple[Way, ...]:
        return ("out", "in") if self.direction == "both" else (self.direction,)

    @property
    def which(self) -> Sql:
        """The relations to follow. Without names, no record kinds."""
        which = Sql(f"e.rel NOT IN ({marks(self.without)})", self.without) if self.without else TRUE
        if self.rels is not None:
            return which & Sql(f"e.rel IN ({marks(self.rels)})", self.rels)
        records = tuple(sorted(RECORD_KINDS))
        of_record = f"SELECT 1 FROM node r WHERE r.key IN (e.src, e.dst) AND r.kind IN ({marks(records)})"
        return which & Sql(f"NOT EXISTS ({of_record})", records)


def neighbours(db: apsw.Connection, following: Following, ids: Sequence[str]) -> tuple[Neighbour, ...]:
    """One step from each node. Both ends and the edge pass the guards."""
    steps = _chosen(db, following, ids)
    edge_rows = orjson.dumps([step.edge for step in steps]).decode()
    query = f"{rows.select_edges()} WHERE v.row IN (SELECT value FROM json_each(?))"
    edges = {row[0]: rows.edge_of(row) for row in db.execute(query, (edge_rows,))}
    reached = rows.load_nodes(db, [step.node for step in steps])
    return tuple(Neighbour(start=step.start, edge=edges[step.edge], node=reached[step.node]) for step in steps)


def links(db: apsw.Connection, following: Following, ids: Sequence[str]) -> tuple[LeanStep, ...]:
    """The same steps to one side, without reading what is at their ends."""
    steps = _chosen(db, following, ids)
    wards = orjson.dumps([*{ward for step in steps for ward in (step.ward, step.edge_ward)}]).decode()
    query = "SELECT id, project, scope, agents, sensitive FROM ward WHERE id IN (SELECT value FROM json_each(?))"
    guard = {ward: rows.guard_of(*columns) for ward, *columns in every(db, query, (wards,))}
    inward = following.direction == "in"
    return tuple(
        LeanStep(
            start=step.start,
            rel=step.rel,
            inward=inward,
            id=step.id,
            kind=step.kind,
            guard=guard[step.ward],
            edge_project=guard[step.edge_ward].project,
            valid_from=step.valid_from,
            valid_to=step.valid_to,
        )
        for step in steps
    )


def _chosen(db: apsw.Connection, following: Following, ids: Sequence[str]) -> list[Row]:
    """The steps from each node, in order."""
    starts = joined(db, ids, following.which, following.direction)
    found: dict[str, dict[tuple[int, int], Row]] = {start: {} for start in starts}
    for side in following.sides if starts else ():
        for step in _steps(db, following, starts, side):
            found[step.start][step.edge, step.node] = step
    return [
        step
        for steps in found.values()
        for step in sorted(steps.values(), key=lambda step: (-step.weight, step.edge))[: following.limit]
    ]


def joined(db: apsw.Connection, ids: Sequence[str], which: Sql, direction: Direction) -> dict[str, int]:
    """The nodes with such an edge, visible or not, with their keys: most have none, and one query finds out for all."""
    sides = {"out": ("src",), "in": ("dst",), "both": ("src", "dst")}[direction]
    some = " OR ".join(f"EXISTS (SELECT 1 FROM edge e WHERE e.{side} = a.key AND {which.text})" for side in sides)
    query = f"SELECT a.id, a.key FROM json_each(?) j CROSS JOIN node a ON a.id = j.value WHERE {some}"
    found = dict(every(db, query, (orjson.dumps(list(ids)).decode(), *which.params * len(sides))))
    return {each: found[each] for each in ids if each in found}


def _steps(db: apsw.Connection, following: Following, starts: dict[str, int], side: Way) -> Iterable[Row]:
    """One step to one side of nodes that may themselves be stepped on."""
    here = "src" if side == "out" else "dst"
    keys = orjson.dumps(list(starts.values())).decode()
    hubs = None
    if following.hubs is not None:
        named = following.rels or ()
        some = f"AND e.rel IN ({marks(named)})" if named else ""
        query = f"""SELECT count(*) FROM (SELECT 1 FROM json_each(?) j CROSS JOIN edge e ON e.{here} = j.value {some}
            LIMIT {MANY + 1})"""
        if one(db, query, (keys, *named))[0] > MANY:
            hubs = following.hubs(following, side)
    if hubs is None:
        return _heaviest(db, following, side, Sql(f"e.{here} IN (SELECT value FROM json_each(?))", (keys,)))
    return _of_hubs(db, following, starts, side, hubs)


def _of_hubs(
    db: apsw.Connection, following: Following, starts: dict[str, int], side: Way, hubs: HubEdges
) -> Iterable[Row]:
    """The same, reading only as many edges as it takes until each node has its heaviest."""
    waiting = {start: hubs.of(key) for start, key in starts.items()}
    found: dict[str, list[Row]] = {start: [] for start in starts}
    count = following.limit + SPARE
    while waiting:
        chosen = [int(edge) for edges in waiting.values() for edge in edges[:count]]
        which = Sql("e.key IN (SELECT value FROM json_each(?))", (orjson.dumps(chosen).decode(),))
        for row in _heaviest(db, following, side, which):
            found[row.start].append(row)
        left = {start: edges[count:] for start, edges in waiting.items() if len(found[start]) < following.limit}
        waiting = {start: edges for start, edges in left.items() if edges.size}
        count *= MORE
    return [row for of_one in found.values() for row in of_one]


def _heaviest(db: apsw.Connection, following: Following, side: Way, edges: Sql) -> Iterable[Row]:
    """The heaviest of these edges, by start. The edges are selected on their table, as e."""
    viewer, moment = following.viewer, following.moment
    here, other = ("src", "dst") if side == "out" else ("dst", "src")
    seen = (
        edges
        & guards.reachable(viewer, node="a")
        & guards.reachable(viewer, node="n")
        & guards.edge_open(viewer)
        & guards.known(moment, version="ev")
        & guards.holds(moment, version="ev")
        & guards.known(moment)
        & guards.holds(moment)
        & following.which
    )
    # The start must hold at that time too.
    there = guards.known(moment, version="sv") & guards.holds(moment, version="sv")
    seen &= Sql(f"EXISTS (SELECT 1 FROM node_version sv WHERE sv.node = a.key AND {there.text})", there.params)
    # A node that holds in several slots at once is one neighbour: its latest row counts.
    query = f"""SELECT start, edge, node, weight, rel, id, kind, ward, edge_ward, valid_from, valid_to FROM (
        SELECT a.id AS start, ev.row AS edge, max(v.row) AS node, ev.weight AS weight, e.rel AS rel, n.id AS id,
            n.kind AS kind, n.ward AS ward, e.ward AS edge_ward, v.valid_from AS valid_from, v.valid_to AS valid_to,
            row_number() OVER (PARTITION BY a.key ORDER BY ev.weight DESC, ev.row) AS place
        FROM edge e CROSS JOIN node a ON a.key = e.{here}
            JOIN node n ON n.key = e.{other} JOIN edge_version ev ON ev.edge = e.key
            JOIN node_version v ON v.node = n.key
        WHERE {seen.text} GROUP BY a.key, ev.row) WHERE place <= ?"""
    return map(Row._make, every(db, query, (*seen.params, following.limit)))
