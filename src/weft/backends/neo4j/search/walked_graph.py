"""The current graph in the process's memory, for walks: a base, and the changes since.

A base holds the graph as known at a position of the log. Later changes are read when a walk asks, by the positions that
rows carry, and laid over it: a walk sees every edge written before it. Guards are masks over visibility groups, applied
at each step: a walk cannot cross what its viewer may not see.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from weft.backends.half_edges import HalfEdges
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import guard_of
from weft.backends.neo4j.cypher_guards import BothClocks, clocks
from weft.backends.neo4j.read.reading import Reading
from weft.backends.pagerank import forward_push
from weft.core.kinds import RECORD_KINDS, STRUCTURAL_KINDS
from weft.core.types import DEFAULT_RELATION_WEIGHT, RELATION_WEIGHTS, Guard, Viewer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

HIDDEN: Final = -1  # visibility group of a node that no walk may pass: deleted, not holding, or a record
NEVER: Final = np.iinfo(np.int64).max
MAX_CHANGED: Final = 20_000  # nodes and edges laid over a base: for more, a new base is read
READ_S: Final = 300.0  # of the queries that read a whole graph

_NODE: Final = "n.id, n.kind, n.scope, n.agents, n.sensitive, v.valid_from, v.valid_to"
_EDGE: Final = "e.pair, a.id, b.id, e.rel, e.weight, e.scope, e.agents, e.sensitive, e.valid_from, e.valid_to"


class Standing(Struct, frozen=True, gc=False):
    """A stay of a node or an edge in the graph: its group and the interval in which it holds."""

    group: int
    begins: int
    ends: int
    step: tuple[int, int, float] = (0, 0, 0.0)  # of an edge: from, to, weight


class WalkedGraph:
    """The graph of one account, as known at `pos` without `unfinished` changes. Used under a lock of its owner."""

    def __init__(self, g: str, pos: int, made_at: int) -> None:
        self.g, self.base_pos, self.made_at = g, pos, made_at
        self.pos = self.resume = pos
        self.unfinished: tuple[str, ...] = ()
        self.numbers: dict[str, int] = {}
        self.ids: list[str] = []
        self.structural: list[bool] = []
        self.guards: list[Guard] = []
        self._groups: dict[Guard, int] = {}
        self.node_group = np.zeros(0, np.int32)
        self.edges = HalfEdges.of(0, np.zeros((0, 6)))
        self.pairs: dict[str, int] = {}
        # Nodes and edges that changed since the base, or that begin or end by themselves.
        self.nodes: dict[int, list[Standing]] = {}
        self.changed: dict[int, list[Standing]] = {}

    def number(self, node_id: str) -> int:
        """The number of a node; a new one if it has none."""
        found = self.numbers.get(node_id)
        if found is None:
            found = self.numbers[node_id] = len(self.ids)
            self.ids.append(node_id)
            self.structural.append(False)
        return found

    def group(self, scope: Any, agents: Sequence[str], sensitive: bool) -> int:  # noqa: FBT001 - a column
        """The number of a visibility group. Projects do not decide who may step where."""
        guard = guard_of(guards.NONE, scope, tuple(agents), sensitive)
        found = self._groups.get(guard)
        if found is None:
            found = self._groups[guard] = len(self.guards)
            self.guards.append(guard)
        return found


class WalkedGraphs:
    """The graphs of one store's accounts in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graphs: dict[str, WalkedGraph] = {}

    def walk(
        self, reading: Reading, moment: BothClocks, seeds: Mapping[str, float], limit: int
    ) -> list[tuple[str, float]] | None:
        """(node, score) of the nodes reached, best first; None for a time that no graph covers."""
        if moment.pos < reading.head.pos:
            return None
        with self._lock:
            graph = self._graphs.get(reading.a)
            if graph is None or graph.g != reading.g or graph.pos > moment.pos:
                graph = self._graphs[reading.a] = _read(reading, moment)
            if moment.valid_at < graph.made_at:
                return None
            if (graph.pos, graph.unfinished) != (moment.pos, moment.unfinished):
                _follow(graph, reading, moment)
            if len(graph.nodes) + len(graph.changed) > MAX_CHANGED:
                graph = self._graphs[reading.a] = _read(reading, moment)
            visible = _Visible(graph, reading.viewer, moment.valid_at)
            numbers = {
                graph.numbers[each]: share for each, share in seeds.items() if each in graph.numbers and share > 0
            }
            keys = np.array(list(numbers), np.int64)
            admitted = keys[visible.steps_on(keys)] if keys.size else keys
            if not admitted.size:
                return []
            nodes, scores = forward_push(visible, {int(key): numbers[int(key)] for key in admitted})
            order = np.argsort(-scores, kind="stable")[:limit]
            return [(graph.ids[int(nodes[at])], float(scores[at])) for at in order]


def _known(x: str) -> str:
    """Known then, and not over yet."""
    return f"{guards.known(x)} AND ({x}.valid_to IS NULL OR {x}.valid_to > $at)"


def _read(reading: Reading, moment: BothClocks) -> WalkedGraph:
    """Reads the whole graph at a moment."""
    graph = WalkedGraph(reading.g, moment.pos, moment.valid_at)
    params = {"records": sorted(RECORD_KINDS), **clocks(moment)}
    query = f"""MATCH (n:WeftNode {{g: $g}}) WHERE n.id >= '' AND n.deleted_at IS NULL AND NOT n.kind IN $records
        MATCH (n)<-[:OF]-(v) WHERE {_known("v")} RETURN {_NODE}"""
    _take_nodes(graph, reading.rows(query, timeout_s=READ_S, **params))
    settled = {n: stays for n, stays in graph.nodes.items() if _always(stays, moment.valid_at)}
    graph.node_group = np.full(len(graph.ids), HIDDEN, np.int32)
    graph.node_group[list(settled)] = [stays[0].group for stays in settled.values()]
    graph.nodes = {n: stays for n, stays in graph.nodes.items() if n not in settled}
    query = f"MATCH (a)-[e:EDGE {{g: $g}}]->(b) WHERE e.row > 0 AND {_known('e')} RETURN {_EDGE}"
    _take_edges(graph, reading.rows(query, timeout_s=READ_S, **params))
    fixed = {pair: stays for pair, stays in graph.changed.items() if _always(stays, moment.valid_at)}
    columns = [(*stay.step, stay.group, pair, 0) for pair, stays in fixed.items() for stay in stays]
    graph.edges = HalfEdges.of(len(graph.ids), np.array(columns, np.float64).reshape(len(columns), 6))
    graph.changed = {pair: stays for pair, stays in graph.changed.items() if pair not in fixed}
    _mark(graph, reading, moment)
    return graph


def _always(stays: Sequence[Standing], at: int) -> bool:
    """Whether it holds from that time on, in one group, as far as is known."""
    return all(stay.begins <= at and stay.ends == NEVER for stay in stays) and len({s.group for s in stays}) == 1


def _take_nodes(graph: WalkedGraph, found: Iterable[Sequence[Any]]) -> None:
    for node_id, kind, scope, agents, sensitive, begins, ends in found:
        stay = Standing(graph.group(scope, agents, sensitive), begins, NEVER if ends is None else ends)
        number = graph.number(node_id)
        graph.structural[number] = kind in STRUCTURAL_KINDS
        graph.nodes.setdefault(number, []).append(stay)


def _take_edges(graph: WalkedGraph, found: Iterable[Sequence[Any]]) -> None:
    for pair, src, dst, rel, weight, scope, agents, sensitive, begins, ends in found:
        walked = weight * RELATION_WEIGHTS.get(rel, DEFAULT_RELATION_WEIGHT)
        if walked <= 0:
            continue
        # An end that does not hold now may do so later, without a change of the edge.
        here, there = graph.number(src), graph.number(dst)
        group = graph.group(scope, agents, sensitive)
        number = graph.pairs.setdefault(pair, len(graph.pairs))
        stay = Standing(group, begins, NEVER if ends is None else ends, (here, there, walked))
        graph.changed.setdefault(number, []).append(stay)


def _mark(graph: WalkedGraph, reading: Reading, moment: BothClocks) -> None:
    """Notes where the next reading of changes begins: before every change that is still open."""
    graph.pos, graph.unfinished = moment.pos, moment.unfinished
    query = "MATCH (x:WeftTx {g: $g}) WHERE x.id IN $unfinished RETURN min(x.opened_pos)"
    opened = reading.rows(query, **clocks(moment))[0][0] if moment.unfinished else None
    graph.resume = moment.pos if opened is None else min(moment.pos, opened - 1)


def _follow(graph: WalkedGraph, reading: Reading, moment: BothClocks) -> None:
    """Reads again every node and edge that changed since."""
    params = {"records": sorted(RECORD_KINDS), "since": graph.resume, **clocks(moment)}
    ids = {
        node_id
        for query in (
            "MATCH (v:WeftVersion {g: $g}) WHERE v.born > $since MATCH (n)<-[:OF]-(v) RETURN DISTINCT n.id",
            "MATCH (v:WeftVersion {g: $g}) WHERE v.retired_pos > $since MATCH (n)<-[:OF]-(v) RETURN DISTINCT n.id",
            "MATCH (n:WeftNode {g: $g}) WHERE n.changed_pos > $since RETURN n.id",
        )
        for (node_id,) in reading.rows(query, timeout_s=READ_S, **params)
    }
    for node_id in ids & graph.numbers.keys():
        graph.nodes[graph.numbers[node_id]] = []
    query = f"""UNWIND $ids AS id MATCH (n:WeftNode {{g: $g, id: id}})
        WHERE n.deleted_at IS NULL AND NOT n.kind IN $records
        MATCH (n)<-[:OF]-(v) WHERE {_known("v")} RETURN {_NODE}"""
    _take_nodes(graph, reading.rows(query, timeout_s=READ_S, ids=list(ids), **params) if ids else ())
    pairs = {
        pair
        for key in ("born", "retired_pos", "changed_pos")
        for (pair,) in reading.rows(
            f"MATCH ()-[e:EDGE {{g: $g}}]->() WHERE e.{key} > $since RETURN DISTINCT e.pair", timeout_s=READ_S, **params
        )
    }
    for pair in pairs & graph.pairs.keys():
        graph.changed[graph.pairs[pair]] = []
    query = f"""UNWIND $pairs AS p MATCH (a)-[e:EDGE {{g: $g, pair: p}}]->(b) WHERE {_known("e")}
        RETURN {_EDGE}"""
    _take_edges(graph, reading.rows(query, timeout_s=READ_S, pairs=list(pairs), **params) if pairs else ())
    _mark(graph, reading, moment)


class _Visible:
    """The graph as one viewer may walk it at a time (see `weft.backends.pagerank.WalkableGraph`)."""

    def __init__(self, graph: WalkedGraph, viewer: Viewer, at: int) -> None:
        self._base, self.size = graph.edges, len(graph.ids)
        groups = np.full(self.size, HIDDEN, np.int32)
        groups[: len(graph.node_group)] = graph.node_group
        for node, stays in graph.nodes.items():
            groups[node] = next((stay.group for stay in stays if stay.begins <= at < stay.ends), HIDDEN)
        self._groups, self._structural = groups, np.array(graph.structural, bool)
        came = [
            (*stay.step, stay.group, pair, 0)
            for pair, stays in graph.changed.items()
            for stay in stays
            if stay.begins <= at < stay.ends
        ]
        self._came = HalfEdges.of(self.size, np.array(came, np.float64).reshape(len(came), 6))
        self._gone = np.array(sorted(graph.changed), np.int64)
        inside = Viewer(account=viewer.account, scopes=viewer.scopes, sensitive=viewer.sensitive)
        finds = [viewer.admits(guard) for guard in graph.guards]
        untagged = [not guard.agents and inside.admits(guard) for guard in graph.guards]
        self._node_seen = np.array([*finds, False])  # one more, always False, at index HIDDEN
        self._untagged = np.array([*untagged, False])
        self._edge_seen = np.array([a or b for a, b in zip(finds, untagged, strict=True)] + [False])

    def steps_on(self, nodes: Ints) -> NDArray[np.bool_]:
        """The nodes of these that may be stepped on."""
        group = self._groups[nodes]
        seen: NDArray[np.bool_] = self._node_seen[group] | (self._untagged[group] & self._structural[nodes])
        return seen

    def neighbours(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        index, at = self._base.of_nodes(nodes)
        if self._gone.size:
            kept = ~np.isin(self._base.edge[at], self._gone)
            index, at = index[kept], at[kept]
        target, weight, group = self._base.target[at], self._base.weight[at], self._base.ward[at]
        if self._came.target.size:
            more, at = self._came.of_nodes(nodes)
            index = np.concatenate([index, more])
            target = np.concatenate([target, self._came.target[at]])
            weight = np.concatenate([weight, self._came.weight[at]])
            group = np.concatenate([group, self._came.ward[at]])
        target = target.astype(np.int64)
        seen = self._edge_seen[group] & self.steps_on(target) & (weight > 0)
        return index[seen], target[seen], weight[seen].astype(np.float64)
