"""Vector spaces of an account: the one in use, their sizes, and missing vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final
from zlib import crc32

import apsw

from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.read import encrypted
from weft.backends.sqlite.read import reads as reading
from weft.backends.sqlite.read.encrypted import IS_ENCRYPTED_T
from weft.backends.sqlite.read.survey import Surveys
from weft.backends.sqlite.schema import SPACE_TABLE
from weft.backends.sqlite.search.vector_rows import model_key, write_vectors
from weft.core.errors import Conflict
from weft.core.queries import Space, SpaceCounts, TextVector
from weft.core.types import Viewer

SLICE_S: Final = 0.015  # of work in one transaction, without the commit
ROWS_AT_ONCE: Final = 200
_LACKING: Final = f"""SELECT t.hash FROM text t WHERE t.id > ? AND NOT EXISTS (
    SELECT 1 FROM vector x WHERE x.model = ? AND x.hash = t.hash) AND NOT {IS_ENCRYPTED_T} ORDER BY t.id LIMIT ?"""


class SqliteVectorSpaces(Surveys):
    """The part of `weft.core.vector_store.VectorStore` besides searches."""

    def put_vectors(self, account: str, vectors: Sequence[TextVector]) -> None:
        with self._writing(account) as db:
            write_vectors(db, vectors)

    def without_vectors(self, viewer: Viewer, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
        with self._reading(viewer) as db:
            return tuple(hashes) if db is None else reading.without_vectors(db, viewer, model, hashes)

    def unembedded(
        self, viewer: Viewer, model: str, *, after: int, limit: int
    ) -> tuple[tuple[int, bytes, str, str], ...]:
        viewer.must_be_operator("read every text")
        with self._reading(viewer) as db:
            return () if db is None else reading.unembedded(db, model, after, limit)

    def space(self, viewer: Viewer) -> Space | None:
        with self._reading(viewer) as db:
            return None if db is None else _in_use(db)

    def space_counts(self, viewer: Viewer) -> SpaceCounts:
        viewer.must_be_operator("count every text")
        with self._reading(viewer) as db:
            if db is None:
                return SpaceCounts(texts=0, vectors={})
            texts = one(db, "SELECT count(*) FROM text")[0] - encrypted.count(db)
            return SpaceCounts(texts=texts, vectors=dict(every(db, "SELECT name, count FROM model WHERE count > 0")))

    def use_space(self, account: str, space: Space, *, instead_of: Space | None, but: Sequence[bytes] = ()) -> bool:
        if not self._file(account).exists():
            return False
        whole = instead_of is not None and instead_of.model == space.model
        seen: tuple[int, int, bytes] | None = None
        if not whole:
            # All texts are checked beside other writers; inside the lock only newer ones.
            with self._reading(Viewer(account=account, scopes=frozenset())) as db:
                if db is None or _lacks(db, space.model, 0, but):
                    return False
                seen = _last_text(db)
        with self._writing(account) as db:
            if _in_use(db) != instead_of:
                return False
            after = seen[1] if seen is not None and _stands(db, seen) else 0
            if not whole and _lacks(db, space.model, after, but):
                return False
            db.execute(SPACE_TABLE)
            db.execute(
                """INSERT INTO space_in_use VALUES (1, ?1, ?2, ?3)
                   ON CONFLICT(only) DO UPDATE SET model = ?1, embedder = ?2, url = ?3""",
                (space.model, space.embedder, space.url),
            )
        return True

    def drop_vectors(self, viewer: Viewer, model: str, *, progress: Callable[[int, int], None]) -> int:
        viewer.must_be_operator("drop vectors")
        with self._reading(viewer) as db:
            key = None if db is None else model_key(db, model)
            if db is None or key is None:
                return 0
            (total,) = one(db, "SELECT count FROM model WHERE key = ?", (key,))
        dropped, left = 0, True
        while left:
            with self._writing(viewer.account) as db:
                used = _in_use(db)
                if used is not None and used.model == model:
                    raise Conflict(
                        f"{model} is in use",
                        hint="queries are compared with its vectors: switch to another model first",
                    )
                until = time.perf_counter() + SLICE_S
                while left and time.perf_counter() < until:
                    gone = _drop_some(db, key)
                    dropped, left = dropped + gone, gone > 0
            progress(dropped, max(total, dropped))
        from weft.backends.sqlite.scrub import sweep as sweeping

        sweeping.sweep_indexes(self._access(viewer), partial(self._indexes, viewer.account))
        return dropped

    @contextmanager
    def embedding_turn(self, viewer: Viewer, model: str) -> Iterator[bool]:
        viewer.must_be_operator("embed every text")
        if self._vfs is not None or not self._file(viewer.account).exists():
            yield True  # nothing to embed; or a custom VFS, which may lock in other ways
            return
        from weft.backends.sqlite.search.index_files import indexer_lock

        name = f"embedding-{crc32(model.encode()):08x}.lock"
        with indexer_lock(self._file(viewer.account).with_suffix(".index"), name) as mine:
            yield mine


def _in_use(db: apsw.Connection) -> Space | None:
    if first(db, "SELECT 1 FROM sqlite_schema WHERE name = 'space_in_use'") is not None:
        row = first(db, "SELECT model, embedder, url FROM space_in_use")
        if row is not None:
            return Space(model=row[0], embedder=row[1], url=row[2])
    most = first(db, "SELECT name FROM model WHERE count > 0 ORDER BY count DESC, key LIMIT 1")
    return None if most is None else Space(model=most[0])


def _lacks(db: apsw.Connection, model: str, after: int, but: Sequence[bytes]) -> bool:
    """Whether a text past an id lacks a vector of the model, though it can have one and is not exempt."""
    excused = frozenset(but)
    found = every(db, _LACKING, (after, model_key(db, model) or 0, len(excused) + 1))
    return any(key not in excused for (key,) in found)


def _last_text(db: apsw.Connection) -> tuple[int, int, bytes] | None:
    """The epoch of the tables, and the text with the highest id: while it exists, new texts come after it."""
    row = first(db, "SELECT s.epoch, t.id, t.hash FROM text_state s JOIN text t ORDER BY t.id DESC LIMIT 1")
    return None if row is None else (row[0], row[1], row[2])


def _stands(db: apsw.Connection, seen: tuple[int, int, bytes]) -> bool:
    query = "SELECT 1 FROM text_state s JOIN text t ON s.epoch = ? AND t.id = ? AND t.hash = ?"
    return first(db, query, seen) is not None


def _drop_some(db: apsw.Connection, model: int) -> int:
    some = f"SELECT key FROM vector WHERE model = ? LIMIT {ROWS_AT_ONCE}"
    db.execute(f"DELETE FROM vector WHERE key IN ({some})", (model,))
    gone = db.changes()
    db.execute("UPDATE model SET count = count - ?, removed = removed + ? WHERE key = ?", (gone, gone, model))
    return gone
