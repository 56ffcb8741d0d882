"""The current graph as compressed sparse rows in numpy, for walks.

A base (built in memory, or mapped from a published generation) holds the graph as known at a position of the log; later
changes are read from the database and overlaid, so that a walk sees every edge written before it. Guards are masks over
visibility groups, applied at each step: a walk cannot cross what its viewer may not see.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import orjson
from msgspec import Struct

from weft.backends.half_edges import HalfEdges
from weft.backends.pagerank import forward_push
from weft.backends.sqlite import guards
from weft.backends.sqlite.guards import PinnedTime, Sql, marks
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.search.index_files import Generation, Generations, is_sound
from weft.core.kinds import RECORD_KINDS, STRUCTURAL_KINDS
from weft.core.types import DEFAULT_RELATION_WEIGHT, RELATION_WEIGHTS, Viewer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

PUBLISH_AT = 50_000  # edges: below, the base is built in memory
OVERLAID = 50  # the share of the published edges that may come in addition before they are worth publishing anew
HIDDEN = -1  # visibility group of a node that no walk may pass: deleted, not holding, or a record
NEVER = np.iinfo(np.int64).max
NAME = "relations"  # of published generations
FORMER_NAME = "adjacency"  # of an earlier weft, whose arrays name no relations
MAX_NAMED = 200  # relations that are told apart in the arrays, the most frequent; all others are one


class Base(Struct, frozen=True):
    """The graph as known at `pos`. `later` are edges whose valid time begins or ends after it was built.

    `rels` are the names of relations by their number; the number after the last is that of all others.
    """

    pos: int
    made_at: int
    epoch: int
    node_ward: Any
    structural: Any
    edges: HalfEdges
    later: Any
    later_nodes: Any
    rels: tuple[str, ...]


class Snapshot(Struct, frozen=True):
    """The graph at one time: a base, its overlay, and notes on damaged files."""

    base: Base
    overlay: Overlay
    notes: tuple[str, ...]


class Overlay(Struct, frozen=True):
    """The differences at `pos`: groups by node, edges removed, edges added. `rows` are the latter as they were read.

    Groups are those of the log's `head`: rights are checked as of today, also at an earlier position. `timed` if some
    of it begins or ends by itself, so that it must be recomputed for each time.
    """

    pos: int
    head: int
    unfinished: tuple[int, ...]
    timed: bool
    node_ward: Any
    structural: Any
    gone: Any
    rows: Any
    came: HalfEdges


def build(db: apsw.Connection) -> Base:
    """Reads the whole graph as of the log's last time. Inside a read transaction."""
    query = "SELECT ifnull(max(first_pos + count - 1), 0), ifnull(max(at), 0) FROM commits"
    pos, now_us = one(db, query)
    # A change that is still open there is overlaid once it is closed: no base holds half of one.
    straddling = "SELECT min(opened_pos) FROM tx WHERE long AND opened_pos <= ? AND ifnull(closed_pos, ?) > ?"
    while (opened := one(db, straddling, (pos, NEVER, pos))[0]) is not None:
        pos = opened - 1
    moment = PinnedTime(now_us, pos, ())
    size, count = one(db, "SELECT ifnull(max(key), 0) + 1, count(*) FROM node")
    if size > 2 * count + 1_000:  # keys are consecutive: a gap this large means a damaged key
        raise OverflowError(f"the key {size - 1} of a node among {count} is damaged")
    node_ward = np.full(size, HIDDEN, np.int32)
    structural = np.zeros(size, bool)
    known, holds = guards.known(moment), guards.holds(moment)
    query = f"SELECT DISTINCT {_NODE_COLUMNS} {_NODES} AND {known.text} AND {holds.text}"
    nodes = _collect(db, query, (*known.params, *holds.params), 3)
    keys = nodes[:, 0].astype(np.int64)
    node_ward[keys], structural[keys] = nodes[:, 1], nodes[:, 2]
    settled = Sql("v.valid_from <= ? AND v.valid_to IS NULL", (now_us,)) & known
    rels = _relations(db)
    columns = _collect(db, f"{_edges(rels)} {settled.text}", settled.params, 6)
    unsettled = Sql("(v.valid_from > ? OR v.valid_to > ?)", (now_us, now_us)) & known
    later = _collect(db, f"{_edges(rels, _TIMES)} {unsettled.text}", unsettled.params, 8)
    later_nodes = _collect(db, f"SELECT DISTINCT n.key {_NODES} AND {unsettled.text}", unsettled.params, 1)
    edges = HalfEdges.of(size, columns)
    return Base(pos, now_us, epoch_of(db), node_ward, structural, edges, later, later_nodes[:, 0], rels)


_RECORDS = ", ".join(f"'{kind}'" for kind in sorted(RECORD_KINDS))
_STRUCTURE = ", ".join(f"'{kind}'" for kind in sorted(STRUCTURAL_KINDS))
_NODE_COLUMNS = f"n.key, n.ward, n.kind IN ({_STRUCTURE})"
_NODES = f"""FROM node n JOIN node_version v ON v.node = n.key
    WHERE n.deleted_at IS NULL AND n.kind NOT IN ({_RECORDS})"""
_TIMES = f", v.valid_from, ifnull(v.valid_to, {NEVER})"


def _edges(rels: Sequence[str], more: str = "") -> str:
    """Selects edges, in the order of their rows. Names come from the database, so they are quoted."""
    numbers = " ".join(f"WHEN '{rel.replace(chr(39), chr(39) * 2)}' THEN {at}" for at, rel in enumerate(rels))
    number = f"CASE e.rel {numbers} ELSE {len(rels)} END" if rels else "0"
    return f"""SELECT e.src, e.dst, v.weight, e.ward, e.key, {number}{more}
        FROM edge_version v CROSS JOIN edge e ON e.key = v.edge WHERE"""


def _relations(db: apsw.Connection) -> tuple[str, ...]:
    """The names of the relations with a weight of their own, and of the most frequent others."""
    query = "SELECT rel FROM edge GROUP BY rel ORDER BY count(*) DESC, rel LIMIT ?"
    found = (rel for (rel,) in every(db, query, (MAX_NAMED,)) if "\x00" not in rel)
    return tuple(dict.fromkeys((*RELATION_WEIGHTS, *found)))


def epoch_of(db: apsw.Connection) -> int:
    """Changes with every rebuild: node numbers of different epochs are not comparable."""
    epoch: int = one(db, "SELECT epoch FROM text_state")[0]
    return epoch


def _collect(db: apsw.Connection, query: str, params: tuple[Any, ...], width: int) -> Any:
    """The rows of a query as numbers. Tuples of a million would take 100 MB besides."""
    return np.fromiter(chain.from_iterable(db.execute(query, params)), np.float64).reshape(-1, width)


class Adjacency:
    """One account's graph in one process: a base and the overlay of the latest position."""

    def __init__(self, directory: Path) -> None:
        self._generations = Generations(directory, NAME, _commit_at)
        self._former = Generations(directory, FORMER_NAME, _commit_at)
        self._lock = threading.Lock()
        self._base: Base | None = None
        self._overlay: Overlay | None = None

    def refresh(self, db: apsw.Connection, moment: PinnedTime) -> Snapshot | None:
        """The graph at this time; None for a time before the base."""
        with self._lock:
            base, notes = self._choose_base(db)
            if moment.pos < base.pos or moment.valid_at < base.made_at:
                return None
            overlay, head = self._overlay, _head(db)
            timed = bool(len(base.later) or len(base.later_nodes)) or (overlay is not None and overlay.timed)
            asked = (moment.pos, head, moment.unfinished)
            if overlay is None or (overlay.pos, overlay.head, overlay.unfinished) != asked or timed:
                follows = overlay is not None and overlay.pos <= moment.pos and not (timed or moment.unfinished)
                earlier = overlay if follows and overlay is not None and not overlay.unfinished else None
                self._overlay = overlay = _overlay(db, base, moment, head, earlier)
            if len(overlay.came.target) > 2 * PUBLISH_AT:
                self._base = None  # the overlay is too large: the next walk rebuilds the base
            return Snapshot(base, overlay, notes)

    def _choose_base(self, db: apsw.Connection) -> tuple[Base, tuple[str, ...]]:
        epoch = epoch_of(db)
        if self._base is not None and self._base.epoch != epoch:
            self._base = None
        newest, notes = self._generations.newer(db, -1 if self._base is None else self._base.pos)
        if newest is not None:
            mapped = _map(newest)
            if mapped is None:
                notes = (*notes, self._generations.put_away(newest.path))
            elif mapped.epoch == epoch:
                self._base, self._overlay = mapped, None
        if self._base is None:
            self._base, self._overlay = build(db), None
        return self._base, notes

    def publish_due(self, db: apsw.Connection) -> bool:
        """Whether so many edges are in no published file that a process that reads them at first waits for it."""
        newest, _ = self._generations.newer(db, -1)
        total = one(db, "SELECT ifnull(max(row), 0) FROM edge_version")[0]
        if newest is None or newest.meta.get("epoch") != epoch_of(db):
            return bool(total >= PUBLISH_AT)
        done = newest.meta.get("rows", 0)
        return bool(total - done >= max(PUBLISH_AT // 5, done // OVERLAID))

    def publish(self, db: apsw.Connection) -> str | None:
        """Writes a new generation if the graph is large and has grown. The caller holds the indexer lock."""
        self._generations.discard_ahead(db)
        newest, _ = self._generations.newer(db, -1)
        total = one(db, "SELECT ifnull(max(row), 0) FROM edge_version")[0]
        same = newest is not None and newest.meta.get("epoch") == epoch_of(db)
        if total < PUBLISH_AT or (same and newest is not None and total - newest.meta.get("rows", 0) < PUBLISH_AT // 5):
            return None
        base = build(db)
        if base.pos == 0:
            return None  # the first change is still open

        def write(path: Path) -> dict[str, Any]:
            for name, array in _arrays(base).items():
                np.save(path / f"{name}.npy", array)
            counted = {"rows": total, "nodes": len(base.node_ward)}
            return {"epoch": base.epoch, "made_at": base.made_at, "rels": base.rels, **counted}

        made = self._generations.publish(db, base.pos, write)
        self._former.discard_all()
        return f"{made.path.name}: {len(base.node_ward) - 1} nodes, {len(base.edges.target) // 2} edges"


def _commit_at(db: apsw.Connection, pos: int) -> str | None:
    """The digest of the commit at a position, which covers the whole log before it."""
    query = "SELECT hex(digest), first_pos + count FROM commits WHERE first_pos <= ? ORDER BY first_pos DESC LIMIT 1"
    row = first(db, query, (pos,))
    return row[0] if row is not None and pos < row[1] else None


def _arrays(base: Base) -> dict[str, Any]:
    edges = base.edges
    return {
        "node_ward": base.node_ward,
        "structural": base.structural,
        "start": edges.start,
        "target": edges.target,
        "weight": edges.weight,
        "ward": edges.ward,
        "edge": edges.edge,
        "rel": edges.rel,
        "later": base.later,
        "later_nodes": base.later_nodes,
    }


def _map(generation: Generation) -> Base | None:
    """The generation's arrays, memory-mapped; None if they are unreadable or inconsistent."""
    if not is_sound(generation):
        return None
    try:
        names = ("node_ward", "structural", "start", "target", "weight", "ward", "edge", "rel", "later", "later_nodes")
        # Plain views: indexing an np.memmap costs several times as much.
        found = {name: np.load(generation.path / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in names}
        sound = (
            len(found["start"]) == len(found["node_ward"]) + 1
            and int(found["start"][-1]) == len(found["target"]) == len(found["edge"]) == len(found["rel"])
            and len(found["node_ward"]) == generation.meta["nodes"]
        )
        epoch, made_at = int(generation.meta["epoch"]), int(generation.meta["made_at"])
        rels = tuple(map(str, generation.meta["rels"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not sound:
        return None
    edges = HalfEdges(found["start"], found["target"], found["weight"], found["ward"], found["edge"], found["rel"])
    return Base(
        generation.watermark,
        made_at,
        epoch,
        found["node_ward"],
        found["structural"],
        edges,
        found["later"],
        found["later_nodes"],
        rels,
    )


def _head(db: apsw.Connection) -> int:
    pos: int = one(db, "SELECT ifnull(max(first_pos + count - 1), 0) FROM commits")[0]
    return pos


def _overlay(db: apsw.Connection, base: Base, moment: PinnedTime, head: int, earlier: Overlay | None) -> Overlay:
    """Changes since the base, and what began or ended by itself. Continues an earlier overlay if possible."""
    size = max(len(base.node_ward), one(db, "SELECT ifnull(max(key), 0) + 1 FROM node")[0])
    since = base.pos if earlier is None else earlier.pos
    touched = {
        key
        for query in (
            "SELECT node FROM node_version WHERE born > ?",
            "SELECT node FROM node_version WHERE retired_pos > ?",
            "SELECT key FROM node WHERE changed_pos > ?",
        )
        for (key,) in every(db, query, (since,))
    } | {int(key) for key in base.later_nodes}
    node_ward, structural = (
        (base.node_ward, base.structural) if earlier is None else (earlier.node_ward, earlier.structural)
    )
    if touched or size > len(node_ward):
        node_ward = np.concatenate([node_ward, np.full(size - len(node_ward), HIDDEN, np.int32)])
        structural = np.concatenate([structural, np.zeros(size - len(structural), bool)])
        _set_wards(db, node_ward, structural, touched, moment)
    timed = any(_begins_or_ends(db, table, since, moment) for table in ("node_version", "edge_version"))
    changed = np.unique(np.array([key for (key,) in every(db, _TOUCHED_EDGES, (since,) * 3)], np.int64))
    if earlier is not None and not changed.size:
        gone, rows, came = earlier.gone, earlier.rows, earlier.came
        return Overlay(moment.pos, head, moment.unfinished, timed, node_ward, structural, gone, rows, came)
    standing = Sql("e.key IN (SELECT value FROM json_each(?))", (orjson.dumps(changed.tolist()).decode(),))
    standing &= guards.known(moment) & guards.holds(moment)
    rows = _collect(db, f"{_edges(base.rels)} {standing.text}", standing.params, 6)
    gone = changed
    if earlier is not None:
        rows = np.concatenate([earlier.rows[~np.isin(earlier.rows[:, 4], changed)], rows])
        gone = np.union1d(earlier.gone, changed)
    if len(base.later):
        begun = (base.later[:, 6] <= moment.valid_at) & (base.later[:, 7] > moment.valid_at)
        still = begun & ~np.isin(base.later[:, 4], gone)
        rows = np.concatenate([base.later[still][:, :6], rows])
    came = HalfEdges.of(size, rows)
    return Overlay(moment.pos, head, moment.unfinished, timed, node_ward, structural, gone, rows, came)


# Removed from what was before, and added as they hold at the time. UNION would scan all edges to make them distinct.
_TOUCHED_EDGES = """SELECT edge FROM edge_version WHERE born > ? UNION ALL
    SELECT edge FROM edge_version WHERE retired_pos > ? UNION ALL SELECT key FROM edge WHERE changed_pos > ?"""


def _begins_or_ends(db: apsw.Connection, table: str, since: int, moment: PinnedTime) -> bool:
    """Whether a row made since then, and known at that time, begins or ends after it."""
    which = Sql("v.born > ?", (since,)) & guards.known(moment)
    which &= Sql("(v.valid_from > ? OR v.valid_to > ?)", (moment.valid_at,) * 2)
    return bool(one(db, f"SELECT EXISTS (SELECT 1 FROM {table} v WHERE {which.text})", which.params)[0])


def _set_wards(db: apsw.Connection, node_ward: Any, structural: Any, touched: set[int], moment: PinnedTime) -> None:
    keys = np.fromiter(touched, np.int64)
    node_ward[keys] = HIDDEN
    seen = guards.known(moment) & guards.holds(moment)
    for start in range(0, len(keys), 500):
        some = tuple(int(key) for key in keys[start : start + 500])
        query = f"SELECT DISTINCT {_NODE_COLUMNS} {_NODES} AND n.key IN ({marks(some)}) AND {seen.text}"
        for key, ward, is_structure in every(db, query, (*some, *seen.params)):
            node_ward[key], structural[key] = ward, is_structure


class _Visible:
    """The graph as one viewer may walk it (see `weft.backends.pagerank.WalkableGraph`)."""

    def __init__(self, db: apsw.Connection, snapshot: Snapshot, viewer: Viewer) -> None:
        self._base, self._overlay = snapshot.base, snapshot.overlay
        wards = one(db, "SELECT ifnull(max(id), 0) + 1 FROM ward")[0]
        nodes, edges, untagged = (_mask(db, wards, sql) for sql in guards.visibility_group_sets(viewer))
        self._node_seen, self._edge_seen, self._untagged = nodes, edges, untagged
        self.size = len(self._overlay.node_ward)
        walked = [RELATION_WEIGHTS.get(rel, DEFAULT_RELATION_WEIGHT) for rel in self._base.rels]
        self._walked = np.repeat(np.array([*walked, DEFAULT_RELATION_WEIGHT]), 2)  # by `HalfEdges.rel`

    def steps_on(self, nodes: Ints) -> NDArray[np.bool_]:
        """The nodes of these that may be stepped on."""
        ward = self._overlay.node_ward[nodes]
        seen: NDArray[np.bool_] = self._node_seen[ward] | (self._untagged[ward] & self._overlay.structural[nodes])
        return seen  # HIDDEN indexes the mask's last entry, which is False

    def neighbours(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        base, came, gone = self._base.edges, self._overlay.came, self._overlay.gone
        index, at = base.of_nodes(nodes)
        if gone.size:
            kept = ~np.isin(base.edge[at], gone)
            index, at = index[kept], at[kept]
        target, weight, ward = base.target[at], base.weight[at] * self._walked[base.rel[at]], base.ward[at]
        if came.target.size:
            more, at = came.of_nodes(nodes)
            index = np.concatenate([index, more])
            target = np.concatenate([target, came.target[at]])
            weight = np.concatenate([weight, came.weight[at] * self._walked[came.rel[at]]])
            ward = np.concatenate([ward, came.ward[at]])
        target = target.astype(np.int64)
        seen = self._edge_seen[ward] & self.steps_on(target) & (weight > 0)
        return index[seen], target[seen], weight[seen].astype(np.float32).astype(np.float64)


def _mask(db: apsw.Connection, size: int, wards: Sql) -> NDArray[np.bool_]:
    mask = np.zeros(size + 1, bool)  # one more, always False, at index HIDDEN
    for (ward,) in db.execute(wards.text, wards.params):
        mask[ward] = True
    return mask


def walk(
    db: apsw.Connection, snapshot: Snapshot, viewer: Viewer, seeds: dict[int, float], *, limit: int
) -> list[tuple[int, float]]:
    """(node key, score) of the nodes reached from the seeds, highest score first."""
    visible = _Visible(db, snapshot, viewer)
    keys = np.array([key for key in seeds if key < visible.size], np.int64)
    admitted = keys[visible.steps_on(keys)] if keys.size else keys
    if not admitted.size:
        return []
    nodes, scores = forward_push(visible, {int(key): seeds[int(key)] for key in admitted})
    order = np.argsort(-scores, kind="stable")[:limit]
    return [(int(nodes[at]), float(scores[at])) for at in order]
