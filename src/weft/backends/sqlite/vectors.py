"""Search by meaning. Blobs in the database are the truth; an HNSW file over most of them makes large stores quick.

What a generation does not hold (the tail) is kept in memory and searched exactly, so an answer never misses a vector
that was written before it. Guards and clocks are a join on what was found; where that leaves too few, more is fetched,
and where the viewer sees only a small part, exactly that part is gathered and compared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import orjson

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.generations import Generation, Generations, is_sound
from weft.backends.sqlite.guards import Moment, Sql, marks
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.vector_rows import model_key
from weft.types import VectorHit, VectorMatches, VectorQuery, Viewer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from usearch.index import Index

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]

PUBLISH_AT = 20_000  # vectors in the tail: below, exact search in numpy is as quick
GATHER_AT_MOST = 20_000  # visible vectors: up to here they are compared one and all
GATHER_SHARE = 0.1  # of all vectors, likewise
FETCH_FIRST = 128
FETCH_GROWTH = 8
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 128
ADD_AT_ONCE = 5_000
INDEX_FILE = "vectors.usearch"


class VectorCache:
    """What one process holds of one model's vectors: a mapped generation and the tail past it."""

    def __init__(self, directory: Path, model: int) -> None:
        self._generations = Generations(directory, f"vectors-m{model}")
        self._model = model
        self._lock = threading.Lock()
        self._index: Index | None = None
        self._generation: Generation | None = None
        self._keys: Keys = np.zeros(0, np.int64)
        self._tail: Floats = np.zeros((0, 0), np.float32)
        self._looked = False

    def refresh(self, db: apsw.Connection) -> tuple[str, ...]:
        """Takes in what was written since; returns notes on damaged files."""
        with self._lock:
            notes = self._open_generation()
            last = int(self._keys[-1]) if self._keys.size else self._watermark
            # The plus keeps the planner off the index by model, which would read every vector to find the last few.
            query = "SELECT key, data FROM vector WHERE key > ? AND +model = ? ORDER BY key"
            found = every(db, query, (last, self._model))
            if found:
                fresh = _matrix([data for _, data in found])
                self._keys = np.concatenate([self._keys, np.array([key for key, _ in found], np.int64)])
                self._tail = np.concatenate([self._tail, fresh]) if self._tail.size else fresh
            return notes

    @property
    def _watermark(self) -> int:
        return self._generation.watermark if self._generation else 0

    @property
    def tail_size(self) -> int:
        return int(self._keys.size)

    @property
    def size(self) -> int:
        return self.tail_size + (len(self._index) if self._index is not None else 0)

    def _open_generation(self) -> tuple[str, ...]:
        """Maps the newest generation, if it is not the one in use, and drops from the tail what it holds."""
        newest, notes = self._generations.latest()
        if newest is None or newest.watermark <= self._watermark:
            return notes
        index = _map(newest)
        if index is None:
            self._generations.discard(newest.path)
            return (*notes, f"the index {newest.path.name} was damaged and will be made again")
        self._index, self._generation = index, newest
        past = self._keys > newest.watermark
        self._keys, self._tail = self._keys[past], self._tail[past] if self._tail.size else self._tail
        return notes

    def nearest(self, query: Floats, count: int) -> Keys:
        """The best keys, best first: exact in the tail, approximate in the generation."""
        keys: list[Keys] = []
        scores: list[Floats] = []
        if self._index is not None:
            found = self._index.search(query, min(count, len(self._index)))
            keys.append(np.asarray(found.keys, np.int64))
            scores.append(1.0 - np.asarray(found.distances, np.float32))
        if self._keys.size:
            cosines = self._tail @ query
            best = _top(cosines, count)
            keys.append(self._keys[best])
            scores.append(cosines[best])
        if not keys:
            return np.zeros(0, np.int64)
        return np.concatenate(keys)[_top(np.concatenate(scores), count)]

    def publish(self, db: apsw.Connection, progress: Callable[[int, int], None]) -> str | None:
        """Makes a new generation of everything, if the tail is long. The caller holds the indexer lock."""
        self.refresh(db)
        if self.tail_size < PUBLISH_AT:
            return None
        dimensions = self._tail.shape[1]
        index = _new_index(dimensions)
        if self._generation is not None:
            index.load(str(self._generation.path / INDEX_FILE))
        keys, tail = self._keys, self._tail
        for start in range(0, len(keys), ADD_AT_ONCE):
            end = start + ADD_AT_ONCE
            # Threads that add to an almost empty graph do not see each other's nodes, and some stay out of reach.
            index.add(keys[start:end], tail[start:end], threads=1 if len(index) < ADD_AT_ONCE else 0)
            progress(min(end, len(keys)), len(keys))

        def write(path: Path) -> dict[str, Any]:
            index.save(str(path / INDEX_FILE))
            return {"count": len(index), "dimensions": dimensions}

        made = self._generations.publish(int(keys[-1]), write)
        self.refresh(db)
        return f"{made.path.name}: {made.meta['count']} vectors"


def _new_index(dimensions: int) -> Index:
    from usearch.index import Index

    return Index(
        ndim=dimensions,
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _map(generation: Generation) -> Index | None:
    """The file, memory-mapped; None if it cannot be read or is not what its meta says."""
    if not is_sound(generation):
        return None
    try:
        index = _new_index(generation.meta["dimensions"])
        index.view(str(generation.path / INDEX_FILE))
        return index if len(index) == generation.meta["count"] else None
    except (RuntimeError, ValueError, KeyError, OSError):
        return None


def _top(scores: Floats, count: int) -> Keys:
    """Places of the best scores, best first."""
    if scores.size > count:
        best = np.argpartition(-scores, count - 1)[:count]
        return best[np.argsort(-scores[best], kind="stable")]
    return np.argsort(-scores, kind="stable")


def search(
    db: apsw.Connection, cache: VectorCache, viewer: Viewer, moment: Moment, query: VectorQuery, *, limit: int
) -> VectorMatches:
    """Best visible nodes by cosine, inside one read transaction."""
    notes = cache.refresh(db)
    wanted = np.frombuffer(query.data, np.float32)
    visible = guards.findable(viewer, query.projects) & guards.known(moment) & guards.holds(moment)
    if query.kinds is not None:
        visible &= Sql(f"n.kind IN ({marks(query.kinds)})", query.kinds)
    model = model_key(db, query.model) or 0
    if _sees_little(db, viewer, query, cache.size):
        found = _gathered(db, model, wanted, visible, limit)
    else:
        found = _fetched(db, cache, wanted, visible, limit)
    nodes = rows.load_nodes(db, [row for row, _ in found])
    hits = tuple(VectorHit(node=nodes[row], cosine=cosine) for row, cosine in found)
    return VectorMatches(hits=hits, pending=pending(db, model), notes=notes)


def pending(db: apsw.Connection, model: int) -> int:
    """About how many texts have no vector of this model."""
    query = "SELECT (SELECT ifnull(max(id), 0) FROM text), ifnull((SELECT count FROM model WHERE key = ?), 0)"
    texts, vectors = one(db, query, (model,))
    return max(0, int(texts) - int(vectors))


def _sees_little(db: apsw.Connection, viewer: Viewer, query: VectorQuery, total: int) -> bool:
    inside = guards.wards(viewer, query.projects)
    seen = one(db, f"SELECT ifnull(sum(texts), 0) FROM ward_total WHERE ward IN ({inside.text})", inside.params)[0]
    return bool(seen <= min(GATHER_AT_MOST, GATHER_SHARE * total))


_JOINED = """JOIN text t ON t.hash = x.hash JOIN node_version v ON v.text = t.id JOIN node n ON n.key = v.node"""


def _gathered(db: apsw.Connection, model: int, wanted: Floats, visible: Sql, limit: int) -> list[tuple[int, float]]:
    """Compares everything the viewer may see."""
    query = f"""SELECT v.row, x.data FROM node n JOIN node_version v ON v.node = n.key JOIN text t ON t.id = v.text
        JOIN vector x ON x.model = ? AND x.hash = t.hash WHERE {visible.text}"""
    return _compared(every(db, query, (model, *visible.params)), wanted, limit)


def _fetched(
    db: apsw.Connection, cache: VectorCache, wanted: Floats, visible: Sql, limit: int
) -> list[tuple[int, float]]:
    """Takes the nearest, drops what the viewer may not see, and takes more until there are enough.

    What is left is compared again with the vectors themselves: the index ranks in half precision.
    """
    fetch = max(FETCH_FIRST, 4 * limit)
    query = f"""SELECT v.row, x.data FROM json_each(?) j JOIN vector x ON x.key = j.value {_JOINED}
        WHERE {visible.text}"""
    while True:
        keys = cache.nearest(wanted, fetch)
        found = every(db, query, (orjson.dumps(keys.tolist()).decode(), *visible.params))
        if len(found) >= limit or fetch >= cache.size:
            return _compared(found, wanted, limit)
        fetch *= FETCH_GROWTH


def _compared(found: list[tuple[int, bytes]], wanted: Floats, limit: int) -> list[tuple[int, float]]:
    """(row, cosine) of the best of these (row, vector) pairs; ties go to the newer row."""
    if not found:
        return []
    scored = zip((row for row, _ in found), _matrix([data for _, data in found]) @ wanted, strict=True)
    return sorted(((row, float(cosine)) for row, cosine in scored), key=lambda each: (-each[1], -each[0]))[:limit]


def _matrix(blobs: list[bytes]) -> Floats:
    return np.frombuffer(b"".join(blobs), "<f2").astype(np.float32).reshape(len(blobs), -1)


def cosines(db: apsw.Connection, query: VectorQuery, hashes: Sequence[bytes]) -> dict[bytes, float]:
    """Cosines of these texts."""
    model = model_key(db, query.model)
    if model is None or not hashes:
        return {}
    wanted = np.frombuffer(query.data, np.float32)
    found = []
    for each in hashes:
        row = first(db, "SELECT data FROM vector WHERE model = ? AND hash = ?", (model, each))
        if row is not None:
            found.append((each, row[0]))
    if not found:
        return {}
    scored = _matrix([data for _, data in found]) @ wanted
    return {each: float(cosine) for (each, _), cosine in zip(found, scored, strict=True)}
