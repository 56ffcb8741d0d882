"""Derived indexes of an open store: this process's caches, and publication of new generations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import apsw
import orjson

from weft.backends.sqlite.guards import PinnedTime
from weft.backends.sqlite.query import every
from weft.backends.sqlite.read.steps import Following
from weft.backends.sqlite.search import adjacency, vectors
from weft.backends.sqlite.search.adjacency import Adjacency
from weft.backends.sqlite.search.hubs import HubEdges
from weft.backends.sqlite.search.index_files import indexer_lock, remove_unfinished, sync_removals
from weft.backends.sqlite.search.vector_rows import dimensions_of, model_key
from weft.backends.sqlite.search.vectors import VectorCache
from weft.core.errors import Corrupt
from weft.core.queries import Near, VectorMatches, VectorQuery, other_dimensions
from weft.core.types import Viewer, WalkResult, Way


class Indexes:
    """Vectors and adjacency of one account."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._vectors: dict[int, VectorCache] = {}
        self._adjacency = Adjacency(directory)

    def search_vector(
        self, db: apsw.Connection, viewer: Viewer, moment: PinnedTime, query: VectorQuery, *, limit: int
    ) -> VectorMatches:
        """Best nodes by cosine."""
        model = model_key(db, query.model)
        if model is None:
            return VectorMatches(hits=(), pending=vectors.pending(db, viewer, 0))
        if (problem := other_dimensions(len(query.data), dimensions_of(db, query.model))) is not None:
            return VectorMatches(hits=(), pending=vectors.pending(db, viewer, model), notes=(problem,))
        return vectors.search(db, self._cache(model), viewer, moment, query, limit=limit)

    def near(
        self, db: apsw.Connection, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool
    ) -> dict[bytes, Near]:
        """The similarity of texts with a node that the viewer may find."""
        return vectors.near(db, viewer, query, hashes, parts=parts)

    def _cache(self, model: int) -> VectorCache:
        with self._lock:
            if model not in self._vectors:
                self._vectors[model] = VectorCache(self._directory, model)
            return self._vectors[model]

    def walk(
        self, db: apsw.Connection, viewer: Viewer, moment: PinnedTime, seeds: Mapping[str, float], *, limit: int
    ) -> WalkResult | None:
        """Personalised PageRank over the current graph; None for a time that its snapshot does not cover."""
        wanted = orjson.dumps([node_id for node_id, weight in seeds.items() if weight > 0]).decode()
        found_keys = every(db, "SELECT n.id, n.key FROM json_each(?) j JOIN node n ON n.id = j.value", (wanted,))
        keys = {key: seeds[node_id] for node_id, key in found_keys}
        try:
            snapshot = self._adjacency.refresh(db, moment)
            if snapshot is None:
                return None
            found = adjacency.walk(db, snapshot, viewer, keys, limit=limit)
        except (ValueError, IndexError, OverflowError, MemoryError) as problem:  # invalid node keys
            raise Corrupt(f"the relations of the graph are damaged: {problem}", hint="run `weft rebuild`") from problem
        reached = orjson.dumps([key for key, _ in found]).decode()
        ids = dict(every(db, "SELECT n.key, n.id FROM json_each(?) j JOIN node n ON n.key = j.value", (reached,)))
        scores = tuple((ids[key], score) for key, score in found if key in ids)
        return WalkResult(scores=scores, notes=snapshot.notes)

    def hubs(self, db: apsw.Connection, following: Following, side: Way) -> HubEdges | None:
        """The edges of nodes that have many; None for a time that the arrays of the graph do not cover."""
        try:
            snapshot = self._adjacency.refresh(db, following.moment)
        except (ValueError, IndexError, OverflowError, MemoryError):  # the tables are read instead
            return None
        return None if snapshot is None else HubEdges(snapshot, following.rels, following.without, side)

    def publish(self, db: apsw.Connection, progress: Callable[[int, int], None]) -> tuple[str, ...]:
        """Builds due generations, unless another process is doing so."""
        with indexer_lock(self._directory) as mine:
            if not mine:
                return ("another process is making the indexes now",)
            models = [key for (key,) in every(db, "SELECT key FROM model")]
            made = [self._cache(model).publish(db, progress) for model in models]
            made.append(self._adjacency.publish(db))
        return tuple(line for line in made if line is not None)

    def publish_relations(self, db: apsw.Connection) -> str | None:
        """Publishes the relations alone if many are in no file, unless another process publishes."""
        if not self._adjacency.publish_due(db):
            return None
        with indexer_lock(self._directory) as mine:
            return self._adjacency.publish(db) if mine else None

    def publish_due(self, db: apsw.Connection) -> bool:
        """Whether so many vectors are in no file that searching them is slow."""
        return any(self._cache(model).publish_due(db) for (model,) in every(db, "SELECT key FROM model"))

    def remove_stale(self, db: apsw.Connection) -> None:
        """Removes files with content that the database no longer has. The caller holds the indexer lock."""
        remove_unfinished(self._directory)
        for (model,) in every(db, "SELECT key FROM model"):
            self._cache(model).remove_stale(db)
        sync_removals(self._directory)
