"""Vector search. Rows in the database are authoritative; an HNSW file over most of them speeds up large stores.

Vectors past the published generation (the tail) are kept in memory and searched exactly, so an answer never misses an
earlier write. Guards and clocks are a join on the result; if it leaves too few, more is fetched; if the viewer sees
only a small part, exactly that part is compared.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
import orjson
from msgspec import Struct
from msgspec.structs import replace

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime, Sql
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.read import encrypted
from weft.backends.sqlite.search.index_files import Generation, Generations, is_sound
from weft.backends.sqlite.search.vector_rows import dimensions_of, model_key
from weft.core.errors import Corrupt
from weft.core.queries import Near, VectorHit, VectorMatches, VectorQuery, other_dimensions
from weft.core.types import Viewer
from weft.text.sentence_vectors import part_cosines

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from usearch.index import Index

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]

PUBLISH_AT = 20_000  # vectors in the tail: below, exact search in numpy is as fast
GATHER_AT_MOST = 20_000  # visible vectors: up to here all are compared
GATHER_SHARE = 0.1  # of all vectors, likewise
FETCH_FIRST = 128
FETCH_GROWTH = 8
FETCH_MARGIN = 1.25
NEAREST_DATED = 4_000  # visible versions: a search restricted in time considers this many of the nearest
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 128
ADD_AT_ONCE = 5_000
INDEX_FILE = "vectors.usearch"


class VectorSnapshot(Struct, frozen=True):
    """One model's vectors at one time: a mapped generation, and the tail past it, by key."""

    generation: Generation | None
    index: Any
    keys: Any
    tail: Any
    removed: int = 0  # vectors removed from the model by then

    @property
    def last(self) -> int:
        """The highest key included."""
        if self.keys.size:
            return int(self.keys[-1])
        return self.generation.watermark if self.generation else 0

    @property
    def size(self) -> int:
        return int(self.keys.size) + (len(self.index) if self.index is not None else 0)

    def nearest(self, query: Floats, count: int) -> Keys:
        """The best keys, best first: exact in the tail, approximate in the generation."""
        keys: list[Keys] = []
        scores: list[Floats] = []
        if self.index is not None:
            found = self.index.search(query, min(count, len(self.index)))
            keys.append(np.asarray(found.keys, np.int64))
            scores.append(1.0 - np.asarray(found.distances, np.float32))
        if self.keys.size:
            cosines = dots(self.tail, query)
            best = _top(cosines, count)
            keys.append(self.keys[best])
            scores.append(cosines[best])
        if not keys:
            return np.zeros(0, np.int64)
        return np.concatenate(keys)[_top(np.concatenate(scores), count)]


class VectorCache:
    """One model's vectors in one process. Threads share it: each works with its own snapshot."""

    def __init__(self, directory: Path, model: int) -> None:
        def hash_at(db: apsw.Connection, key: int) -> str | None:
            """The text of a vector, and how many were removed before: a generation that holds one is never taken."""
            query = """SELECT hex(x.hash) || iif(m.removed, '-' || m.removed, '') FROM vector x
                JOIN model m ON m.key = x.model WHERE x.key = ? AND x.model = ?"""
            row = first(db, query, (key, model))
            return None if row is None else row[0]

        self._generations = Generations(directory, f"vectors-m{model}", hash_at)
        self._model = model
        self._lock = threading.Lock()
        self._held = _nothing(0)

    def refresh(self, db: apsw.Connection) -> tuple[VectorSnapshot, tuple[str, ...]]:
        """Adds vectors written since; returns the snapshot, and notes on skipped files."""
        with self._lock:
            removed = one(db, "SELECT removed FROM model WHERE key = ?", (self._model,))[0]
            # After removals keys may be reused: the snapshot is reloaded.
            held = self._held if self._held.removed == removed else _nothing(removed)
            held, notes = self._with_generation(db, held)
            # The plus keeps the planner off the index by model, which would read every vector to find the last few.
            query = "SELECT key, data FROM vector WHERE key > ? AND +model = ? ORDER BY key"
            found = every(db, query, (held.last, self._model))
            if found:
                fresh = _matrix([data for _, data in found])
                keys = np.concatenate([held.keys, np.array([key for key, _ in found], np.int64)])
                held = replace(held, keys=keys, tail=np.concatenate([held.tail, fresh]) if held.tail.size else fresh)
            self._held = held
            return held, notes

    def _with_generation(self, db: apsw.Connection, held: VectorSnapshot) -> tuple[VectorSnapshot, tuple[str, ...]]:
        """Maps the newest generation, if it is another one, and drops its vectors from the tail."""
        newest, notes = self._generations.newer(db, held.generation.watermark if held.generation else -1)
        if newest is None:
            return held, notes
        index = _map(newest)
        if index is None:
            return held, (*notes, self._generations.put_away(newest.path))
        past = held.keys > newest.watermark
        tail = held.tail[past] if held.tail.size else held.tail
        return VectorSnapshot(newest, index, held.keys[past], tail, held.removed), notes

    def remove_stale(self, db: apsw.Connection) -> None:
        """Removes generations with removed vectors. The caller holds the indexer lock."""
        self._generations.discard_stale(db)

    def publish_due(self, db: apsw.Connection) -> bool:
        """Whether so many vectors are in no published file that `publish` would write one."""
        last = self._generations.newest()
        if not last:
            return bool(one(db, "SELECT count FROM model WHERE key = ?", (self._model,))[0] >= PUBLISH_AT)
        tail = f"SELECT 1 FROM vector WHERE key > ? AND +model = ? LIMIT {PUBLISH_AT}"
        return bool(one(db, f"SELECT count(*) FROM ({tail})", (last, self._model))[0] >= PUBLISH_AT)

    def publish(self, db: apsw.Connection, progress: Callable[[int, int], None]) -> str | None:
        """Writes a new generation of all vectors, if the tail is long. The caller holds the indexer lock."""
        self._generations.discard_ahead(db)
        held, _ = self.refresh(db)
        # Another thread may have loaded more than this transaction sees, in which the watermark's mark is read.
        seen = int(np.searchsorted(held.keys, one(db, "SELECT ifnull(max(key), 0) FROM vector")[0], side="right"))
        keys, tail = held.keys[:seen], held.tail[:seen]
        if len(keys) < PUBLISH_AT:
            return None
        dimensions = tail.shape[1]
        index = _new_index(dimensions)
        if held.generation is not None:
            index.load(str(held.generation.path / INDEX_FILE))
        for start in range(0, len(keys), ADD_AT_ONCE):
            end = start + ADD_AT_ONCE
            # Threads that fill an almost empty graph miss each other's nodes, and some stay unreachable.
            index.add(keys[start:end], tail[start:end], threads=1 if len(index) < ADD_AT_ONCE else 0)
            progress(min(end, len(keys)), len(keys))

        def write(path: Path) -> dict[str, Any]:
            try:
                index.save(str(path / INDEX_FILE))
            except RuntimeError as problem:  # the library's error for a disk error
                raise OSError(str(problem)) from problem
            return {"count": len(index), "dimensions": dimensions}

        made = self._generations.publish(db, int(keys[-1]), write)
        self.refresh(db)
        return f"{made.path.name}: {made.meta['count']} vectors"


def _nothing(removed: int) -> VectorSnapshot:
    return VectorSnapshot(None, None, np.zeros(0, np.int64), np.zeros((0, 0), np.float32), removed)


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
    """The file, memory-mapped; None if it is unreadable or does not match its meta."""
    if not is_sound(generation):
        return None
    try:
        index = _new_index(generation.meta["dimensions"])
        index.view(str(generation.path / INDEX_FILE))
        return index if len(index) == generation.meta["count"] else None
    except (RuntimeError, ValueError, KeyError, OSError):
        return None


def dots(rows: Floats, vector: Floats) -> Floats:
    """The product of each row with the vector, on this thread alone.

    `rows @ vector` wakes threads of the linear algebra library, which wait for each other longer than it takes.
    """
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def _top(scores: Floats, count: int) -> Keys:
    """Indexes of the best scores, best first."""
    if scores.size > count:
        best = np.argpartition(-scores, count - 1)[:count]
        return best[np.argsort(-scores[best], kind="stable")]
    return np.argsort(-scores, kind="stable")


def search(
    db: apsw.Connection, cache: VectorCache, viewer: Viewer, moment: PinnedTime, query: VectorQuery, *, limit: int
) -> VectorMatches:
    """Best visible nodes by cosine, inside one read transaction."""
    held, notes = cache.refresh(db)
    wanted = np.frombuffer(query.data, np.float32)
    visible = guards.findable(viewer, query.projects) & guards.known(moment) & guards.holds(moment)
    visible &= guards.kinds_are(query.kinds) & guards.focuses_are(query.focuses)
    model = model_key(db, query.model) or 0
    if _sees_little(db, viewer, query, held.size):
        found = _gathered(db, model, wanted, visible, query.begins, limit)
    else:
        found = _fetched(db, held, wanted, visible, query.begins, limit)
    leads = rows.load_leads(db, [row for row, _ in found])
    hits = tuple(VectorHit(node=leads[row], cosine=cosine) for row, cosine in found)
    return VectorMatches(hits=hits, pending=pending(db, viewer, model), notes=notes)


def pending(db: apsw.Connection, viewer: Viewer, model: int) -> int:
    """The approximate number of texts without a vector of this model; 0 for viewers who may not know the total."""
    if viewer.audience != "internal" or "admin" not in viewer.scopes:
        return 0
    query = "SELECT (SELECT ifnull(max(id), 0) FROM text), ifnull((SELECT count FROM model WHERE key = ?), 0)"
    texts, vectors = one(db, query, (model,))
    return max(0, int(texts) - int(vectors) - _texts_removed(db) - encrypted.count(db))


def _texts_removed(db: apsw.Connection) -> int:
    """The number of missing ids below the highest; 0 if it cannot be read.

    It is stored with the word statistics, and a vector search must not fail for their damage: text search reports it.
    """
    try:
        row = first(db, "SELECT removed FROM text_state")
    except (apsw.SQLError, apsw.CorruptError):
        return 0
    return 0 if row is None else int(row[0])


def _sees_little(db: apsw.Connection, viewer: Viewer, query: VectorQuery, total: int) -> bool:
    inside = guards.visibility_groups(viewer, query.projects)
    seen = one(db, f"SELECT ifnull(sum(texts), 0) FROM ward_total WHERE ward IN ({inside.text})", inside.params)[0]
    return bool(seen <= min(GATHER_AT_MOST, GATHER_SHARE * total))


_JOINED = """JOIN text t ON t.hash = x.hash JOIN node_version v ON v.text = t.id JOIN node n ON n.key = v.node"""


def _gathered(
    db: apsw.Connection, model: int, wanted: Floats, visible: Sql, begins: tuple[int, int] | None, limit: int
) -> list[tuple[int, float]]:
    """Compares everything the viewer may see."""
    inside = guards.began(begins)
    query = f"""SELECT v.row, x.data, {inside.text} FROM node n JOIN node_version v ON v.node = n.key
        JOIN text t ON t.id = v.text JOIN vector x ON x.model = ? AND x.hash = t.hash WHERE {visible.text}"""
    found = every(db, query, (*inside.params, model, *visible.params))
    if begins is None:
        return _compared([(row, data) for row, data, _ in found], wanted, limit)
    dated = {row for row, _, begun in found if begun}
    nearest = _compared([(row, data) for row, data, _ in found], wanted, NEAREST_DATED)
    return [each for each in nearest if each[0] in dated][:limit]


def _fetched(
    db: apsw.Connection, held: VectorSnapshot, wanted: Floats, visible: Sql, begins: tuple[int, int] | None, limit: int
) -> list[tuple[int, float]]:
    """Takes the nearest, drops what the viewer may not see, and takes more until there are enough.

    The rest is compared again with the exact vectors: the index ranks in half precision.
    """
    fetch = max(FETCH_FIRST, limit + limit // 3)
    inside = guards.began(begins)
    query = f"""SELECT v.row, iif({inside.text}, x.data, NULL) FROM json_each(?) j
        JOIN vector x ON x.key = j.value {_JOINED} WHERE {visible.text} ORDER BY j.key, v.row DESC"""
    # An interval may hold next to nothing, so the search stops after this many. Only visible rows count, else
    # hidden ones would displace visible ones.
    most = sys.maxsize if begins is None else NEAREST_DATED
    looked_at = np.zeros(0, np.int64)
    found: list[tuple[int, bytes]] = []
    while True:
        keys = held.nearest(wanted, fetch)
        further = keys[~np.isin(keys, looked_at)]
        seen = every(db, query, (*inside.params, orjson.dumps(further.tolist()).decode(), *visible.params))
        found += [(row, data) for row, data in seen[:most] if data is not None]
        most -= len(seen)
        if len(found) >= limit or fetch >= held.size or most <= 0:
            return _compared(found, wanted, limit)
        looked_at = np.concatenate([looked_at, further])
        # As many as may hold enough, if what was found is a measure.
        likely = FETCH_MARGIN * fetch * limit / len(found) if found else math.inf
        fetch = math.ceil(min(likely, FETCH_GROWTH * fetch))


def _compared(found: list[tuple[int, bytes]], wanted: Floats, limit: int) -> list[tuple[int, float]]:
    """(row, cosine) of the best of these (row, vector) pairs; ties go to the newer row."""
    if not found:
        return []
    cosines = dots(_matrix([data for _, data in found]), wanted).tolist()
    order = sorted(range(len(found)), key=lambda n: (-cosines[n], -found[n][0]))[:limit]
    return [(found[n][0], cosines[n]) for n in order]


def _matrix(blobs: list[bytes]) -> Floats:
    """One row per vector. Raises Corrupt for a malformed one, or one of another length."""
    if len({len(blob) for blob in blobs}) > 1 or len(blobs[0]) % 2:
        raise Corrupt("a vector has another length than the others", hint="run `weft doctor`")
    rows = np.frombuffer(b"".join(blobs), "<f2").astype(np.float32).reshape(len(blobs), -1)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, which the check below detects
        sound = np.isfinite(rows.sum())
    if not sound:  # flipped bits: zero such rows, so that they match nothing
        rows[~np.isfinite(rows).all(axis=1)] = 0.0
    return rows


def near(
    db: apsw.Connection, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool
) -> dict[bytes, Near]:
    """The similarity of texts with a node that the viewer may find; with `parts`, by sentence too."""
    model = model_key(db, query.model)
    if model is None or not hashes or other_dimensions(len(query.data), dimensions_of(db, query.model)):
        return {}
    wanted = np.frombuffer(query.data, np.float32)
    seen = guards.of_a_node(viewer)
    column = "x.parts" if parts else "x''"
    query_text = f"""SELECT x.hash, x.data, {column} FROM json_each(?) j
        CROSS JOIN vector x ON x.model = ? AND x.hash = unhex(j.value) WHERE {seen.text}"""
    wanted_hashes = orjson.dumps([each.hex() for each in dict.fromkeys(hashes)]).decode()
    found = every(db, query_text, (wanted_hashes, model, *seen.params))
    if not found:
        return {}
    cosines = dots(_matrix([data for _, data, _ in found]), wanted).tolist()
    sentences = part_cosines([packed for *_, packed in found], wanted)
    return {
        each: Near(cosine=cosine, parts=placed)
        for (each, *_), cosine, placed in zip(found, cosines, sentences, strict=True)
    }
