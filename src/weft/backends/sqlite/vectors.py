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
from msgspec import Struct
from msgspec.structs import replace

from weft.backends.sqlite import guards, rows, sealed
from weft.backends.sqlite.generations import Generation, Generations, is_sound
from weft.backends.sqlite.guards import Moment, Sql
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.vector_rows import dimensions_of, model_key
from weft.errors import Corrupt
from weft.parts import part_cosines
from weft.queries import Near, VectorHit, VectorMatches, VectorQuery, other_dimensions
from weft.types import Viewer

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
NEAREST_DATED = 4_000  # visible versions: what began in some time is looked for among so many of the nearest
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 128
ADD_AT_ONCE = 5_000
INDEX_FILE = "vectors.usearch"


class Held(Struct, frozen=True):
    """One model's vectors at one moment: a mapped generation, and the tail past it, by key."""

    generation: Generation | None
    index: Any
    keys: Any
    tail: Any
    removed: int = 0  # vectors that the model had lost by then

    @property
    def last(self) -> int:
        """The highest key taken in."""
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
            cosines = self.tail @ query
            best = _top(cosines, count)
            keys.append(self.keys[best])
            scores.append(cosines[best])
        if not keys:
            return np.zeros(0, np.int64)
        return np.concatenate(keys)[_top(np.concatenate(scores), count)]


class VectorCache:
    """What one process holds of one model's vectors. Threads share it: each works with the value it was given."""

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

    def refresh(self, db: apsw.Connection) -> tuple[Held, tuple[str, ...]]:
        """Takes in what was written since; returns what is held now, and notes on files passed over."""
        with self._lock:
            removed = one(db, "SELECT removed FROM model WHERE key = ?", (self._model,))[0]
            # What was removed is let go, and its keys may come again for others: everything is taken in anew.
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

    def _with_generation(self, db: apsw.Connection, held: Held) -> tuple[Held, tuple[str, ...]]:
        """Maps the newest generation, if it is not the one in use, and drops from the tail what it holds."""
        newest, notes = self._generations.newer(db, held.generation.watermark if held.generation else -1)
        if newest is None:
            return held, notes
        index = _map(newest)
        if index is None:
            return held, (*notes, self._generations.put_away(newest.path))
        past = held.keys > newest.watermark
        tail = held.tail[past] if held.tail.size else held.tail
        return Held(newest, index, held.keys[past], tail, held.removed), notes

    def remove_stale(self, db: apsw.Connection) -> None:
        """Removes generations that hold what was removed since. The caller holds the indexer lock."""
        self._generations.discard_stale(db)

    def publish_due(self, db: apsw.Connection) -> bool:
        """Whether so many vectors are in no published file that `publish` would make one."""
        last = self._generations.newest()
        if not last:
            return bool(one(db, "SELECT count FROM model WHERE key = ?", (self._model,))[0] >= PUBLISH_AT)
        tail = f"SELECT 1 FROM vector WHERE key > ? AND +model = ? LIMIT {PUBLISH_AT}"
        return bool(one(db, f"SELECT count(*) FROM ({tail})", (last, self._model))[0] >= PUBLISH_AT)

    def publish(self, db: apsw.Connection, progress: Callable[[int, int], None]) -> str | None:
        """Makes a new generation of everything, if the tail is long. The caller holds the indexer lock."""
        self._generations.discard_ahead(db)
        held, _ = self.refresh(db)
        # Another thread may have taken in more than this transaction sees, and the watermark's mark is read in it.
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
            # Threads that add to an almost empty graph do not see each other's nodes, and some stay out of reach.
            index.add(keys[start:end], tail[start:end], threads=1 if len(index) < ADD_AT_ONCE else 0)
            progress(min(end, len(keys)), len(keys))

        def write(path: Path) -> dict[str, Any]:
            try:
                index.save(str(path / INDEX_FILE))
            except RuntimeError as problem:  # what the library makes of a disk that refuses
                raise OSError(str(problem)) from problem
            return {"count": len(index), "dimensions": dimensions}

        made = self._generations.publish(db, int(keys[-1]), write)
        self.refresh(db)
        return f"{made.path.name}: {made.meta['count']} vectors"


def _nothing(removed: int) -> Held:
    return Held(None, None, np.zeros(0, np.int64), np.zeros((0, 0), np.float32), removed)


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
    """About how many texts have no vector of this model; 0 to those who may not know how many texts there are."""
    if viewer.audience != "internal" or "admin" not in viewer.scopes:
        return 0
    query = "SELECT (SELECT ifnull(max(id), 0) FROM text), ifnull((SELECT count FROM model WHERE key = ?), 0)"
    texts, vectors = one(db, query, (model,))
    return max(0, int(texts) - int(vectors) - _texts_removed(db) - sealed.count(db))


def _texts_removed(db: apsw.Connection) -> int:
    """How many texts are gone from below the highest; 0 if that cannot be read.

    It stands with the state of the words, and a search by meaning does not fail for want of that: theirs says so.
    """
    try:
        row = first(db, "SELECT removed FROM text_state")
    except (apsw.SQLError, apsw.CorruptError):
        return 0
    return 0 if row is None else int(row[0])


def _sees_little(db: apsw.Connection, viewer: Viewer, query: VectorQuery, total: int) -> bool:
    inside = guards.wards(viewer, query.projects)
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
    db: apsw.Connection, held: Held, wanted: Floats, visible: Sql, begins: tuple[int, int] | None, limit: int
) -> list[tuple[int, float]]:
    """Takes the nearest, drops what the viewer may not see, and takes more until there are enough.

    What is left is compared again with the vectors themselves: the index ranks in half precision.
    """
    fetch = max(FETCH_FIRST, limit + limit // 3)
    inside = guards.began(begins)
    query = f"""SELECT v.row, iif({inside.text}, x.data, NULL) FROM json_each(?) j
        JOIN vector x ON x.key = j.value {_JOINED} WHERE {visible.text} ORDER BY j.key, v.row DESC"""
    # A time may hold next to nothing: what is near but not among so many is as good as not near. Only what the viewer
    # may see counts among them, else what is hidden would push out what is not.
    most = None if begins is None else NEAREST_DATED
    while True:
        keys = held.nearest(wanted, fetch)
        seen = every(db, query, (*inside.params, orjson.dumps(keys.tolist()).decode(), *visible.params))
        found = [(row, data) for row, data in seen[:most] if data is not None]
        if len(found) >= limit or fetch >= held.size or (most is not None and len(seen) >= most):
            return _compared(found, wanted, limit)
        fetch *= FETCH_GROWTH


def _compared(found: list[tuple[int, bytes]], wanted: Floats, limit: int) -> list[tuple[int, float]]:
    """(row, cosine) of the best of these (row, vector) pairs; ties go to the newer row."""
    if not found:
        return []
    cosines = (_matrix([data for _, data in found]) @ wanted).tolist()
    order = sorted(range(len(found)), key=lambda n: (-cosines[n], -found[n][0]))[:limit]
    return [(found[n][0], cosines[n]) for n in order]


def _matrix(blobs: list[bytes]) -> Floats:
    """A row for each. Raises Corrupt for one that is no vector, or of another length than the others."""
    if len({len(blob) for blob in blobs}) > 1 or len(blobs[0]) % 2:
        raise Corrupt("a vector has another length than the others", hint="run `weft doctor`")
    rows = np.frombuffer(b"".join(blobs), "<f2").astype(np.float32).reshape(len(blobs), -1)
    with np.errstate(invalid="ignore"):  # infinities of both signs add up to no number, which is what is asked
        sound = np.isfinite(rows.sum())
    if not sound:  # flipped bits: such a row is near to nothing, and spoils no other's place
        rows[~np.isfinite(rows).all(axis=1)] = 0.0
    return rows


def near(
    db: apsw.Connection, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool
) -> dict[bytes, Near]:
    """How near those texts are that the viewer may find a node of; with `parts`, sentence by sentence too."""
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
    cosines = (_matrix([data for _, data, _ in found]) @ wanted).tolist()
    sentences = part_cosines([packed for *_, packed in found], wanted)
    return {
        each: Near(cosine=cosine, parts=placed)
        for (each, *_), cosine, placed in zip(found, cosines, sentences, strict=True)
    }
