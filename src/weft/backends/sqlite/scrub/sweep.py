"""Removes every copy of unreferenced texts, from the tables down to the bytes of the file.

An erasure points versions at other texts; what the tables derived from the old ones stays until a sweep: the text, its
names, its words in the index and among the counts (a hash of a rare word reveals the word), its vectors, and the index
files that hold those. Then the remains in unused bytes (`overwrite`) and in the write-ahead log.

Rows to remove are found beside running agents, and removed in many short transactions, so that other writers get their
turns. Each leaves the tables sound and checks again what it removes: a text may be written again meanwhile. If
interrupted, the next sweep continues. Published adjacency files stay: they hold row numbers only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import apsw
import orjson

from weft.backends.sqlite.files.connection import translated
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.read.survey import TOMBSTONES
from weft.backends.sqlite.schema import SIDE_PREFIX
from weft.backends.sqlite.scrub.overwrite import Overwriter
from weft.backends.sqlite.search.words import WordIndex
from weft.backends.sqlite.write.rebuild import OWNER, drop_side

if TYPE_CHECKING:
    from weft.backends.sqlite.search.indexes import Indexes

SLICE_S: Final = 0.015  # of work in one transaction, without the commit
AT_ONCE: Final = 10  # texts between two checks of the clock
ROWS_AT_ONCE: Final = 200
MERGE_PAGES: Final = 16
PATIENCE_S: Final = 5.0  # total wait for readers of the WAL, or for a running indexer
RETRY_S: Final = 0.02
STEPS: Final = 7
_LARGE: Final = ("text", "node", "node_version", "edge", "edge_version", "tx")


class SweepAccess(NamedTuple):
    """A sweep's access to one account: reads, locked writes, the bare write lock, and its files."""

    reading: Callable[[], AbstractContextManager[apsw.Connection | None]]
    writing: Callable[[], AbstractContextManager[apsw.Connection]]
    turn: Callable[[], AbstractContextManager[None]]
    file: Path
    vfs: str | None


def sweep(access: SweepAccess, indexes: Callable[[], Indexes], progress: Callable[[int, int], None]) -> tuple[str, ...]:
    """Runs all steps. Returns notes on what could not be done now."""
    notes: list[str] = []
    steps: tuple[Callable[[], tuple[str, ...]], ...] = (
        lambda: _drop_side_tables(access),
        lambda: _remove_texts(access),
        lambda: _remove_vectors(access),
        lambda: sweep_indexes(access, indexes),
        lambda: _remove_counts(access),
        lambda: _merge_index(access),
        lambda: _overwrite(access),
    )
    for number, step in enumerate(steps):
        progress(number, STEPS)
        notes.extend(step())
    progress(STEPS, STEPS)
    return tuple(notes)


T = TypeVar("T")


def _sliced(access: SweepAccess, todo: list[T], at_once: int, work: Callable[[apsw.Connection, list[T]], None]) -> None:
    """Works through a list from its end, in transactions of about SLICE_S."""
    while todo:
        with access.writing() as db:
            until = time.perf_counter() + SLICE_S
            while todo and time.perf_counter() < until:
                work(db, todo[-at_once:])
                del todo[-at_once:]


# Tables of a rebuild


def _drop_side_tables(access: SweepAccess) -> tuple[str, ...]:
    """A rebuild that read the log before an erasure must not be swapped in, nor its remains stay."""
    with access.reading() as db:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?"
        found = {name for (name,) in every(db, query, (len(SIDE_PREFIX), SIDE_PREFIX))} if db is not None else set()
    if not found:
        return ()
    with access.writing() as db:
        db.execute(f"DROP TABLE IF EXISTS {OWNER}")  # a running rebuild stops here
    for table in (f"{SIDE_PREFIX}{name}" for name in _LARGE):
        while table in found and _fewer(access, table):
            pass
    with access.writing() as db:
        drop_side(db)
    return ()


def _fewer(access: SweepAccess, table: str) -> bool:
    """Deletes some rows; False once there are none."""
    with access.writing() as db:
        until = time.perf_counter() + SLICE_S
        while time.perf_counter() < until and first(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)):
            db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT {ROWS_AT_ONCE})")
            if not db.changes():
                return False
        return bool(first(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)))


# Texts and their derived rows


_UNUSED = "NOT EXISTS (SELECT 1 FROM node_version v WHERE v.text = t.id)"


def _remove_texts(access: SweepAccess) -> tuple[str, ...]:
    with access.reading() as db:
        if db is None:
            return ()
        unused = [text for (text,) in db.execute(f"SELECT t.id FROM text t WHERE {_UNUSED} ORDER BY t.id")]
        names = {table: _of_texts(db, table, key, unused) for table, key in (("alias", "key"), ("name_word", "word"))}
    with access.writing() as db:
        WordIndex(db).settle_all()

    def remove(db: apsw.Connection, texts: list[int]) -> None:
        chosen = orjson.dumps(texts).decode()
        query = f"SELECT t.id FROM text t WHERE t.id IN (SELECT value FROM json_each(?)) AND {_UNUSED}"
        still = [text for (text,) in db.execute(query, (chosen,))]
        if not still:
            return
        WordIndex(db).settle_all()  # the counts are reduced by the text's own words
        (last,) = one(db, "SELECT max(id) FROM text")
        for table, key in (("alias", "key"), ("name_word", "word")):
            rows = [(name, text) for text in still for name in names[table].get(text, ())]
            db.executemany(f"DELETE FROM {table} WHERE {key} = ? AND text = ?", rows)
        db.executemany("DELETE FROM text_index WHERE rowid = ?", [(text,) for text in still])
        db.executemany("DELETE FROM text WHERE id = ?", [(text,) for text in still])
        # Ids at the end are reused: the index must then take in their new texts.
        (now_last,) = one(db, "SELECT ifnull(max(id), 0) FROM text")
        db.execute(
            "UPDATE text_state SET removed = removed + ?, indexed_text = min(indexed_text, ?)",
            (len(still) - (last - now_last), now_last),
        )

    _sliced(access, unused, AT_ONCE, remove)
    return ()


def _of_texts(db: apsw.Connection, table: str, key: str, texts: Sequence[int]) -> dict[int, list[str]]:
    """The names of these texts in a table that is not ordered by text."""
    found: dict[int, list[str]] = {}
    if texts:
        query = f"SELECT text, {key} FROM {table} WHERE text IN (SELECT value FROM json_each(?))"
        for text, name in db.execute(query, (orjson.dumps(texts).decode(),)):
            found.setdefault(text, []).append(name)
    return found


def _remove_counts(access: SweepAccess) -> tuple[str, ...]:
    """Deletes counts of zero: their term hashes would reveal removed words."""
    with access.reading() as db:
        nothing = every(db, "SELECT term, ward FROM term_df WHERE n = 0") if db is not None else []

    def remove(db: apsw.Connection, rows: list[tuple[int, int]]) -> None:
        db.executemany("DELETE FROM term_df WHERE term = ? AND ward = ? AND n = 0", rows)

    _sliced(access, nothing, ROWS_AT_ONCE, remove)
    return ()


def _merge_index(access: SweepAccess) -> tuple[str, ...]:
    """Merges the text index until no segment holds words of a deleted row."""
    left = f"SELECT EXISTS (SELECT 1 FROM text_index_data WHERE id >= {TOMBSTONES})"
    with access.reading() as db:
        if db is None or not one(db, left)[0]:
            return ()
    pages = -MERGE_PAGES  # negative: merges all segments; positive: continues that merge
    while True:
        with access.writing() as db:
            until = time.perf_counter() + SLICE_S
            while time.perf_counter() < until:
                if not one(db, left)[0]:
                    return ()
                before = db.total_changes()
                db.execute("INSERT INTO text_index(text_index, rank) VALUES ('merge', ?)", (pages,))
                idle = db.total_changes() - before < 2
                if idle and pages < 0:
                    return ("the text index could not be merged to the end; run `weft rebuild`",)
                pages = -MERGE_PAGES if idle else MERGE_PAGES


# Vectors


def _remove_vectors(access: SweepAccess) -> tuple[str, ...]:
    """Vectors without a text, of every model. Other processes notice by `model.removed`."""
    orphan = "NOT EXISTS (SELECT 1 FROM text t WHERE t.hash = vector.hash)"
    with access.reading() as db:
        if db is None:
            return ()
        query = f"SELECT key, model FROM vector WHERE {orphan}"
        found: list[tuple[int, int]] = every(db, query)

    def remove(db: apsw.Connection, vectors: list[tuple[int, int]]) -> None:
        for key, model in vectors:
            db.execute(f"DELETE FROM vector WHERE key = ? AND model = ? AND {orphan}", (key, model))
            if db.changes():
                db.execute("UPDATE model SET count = count - 1, removed = removed + 1 WHERE key = ?", (model,))

    _sliced(access, found, ROWS_AT_ONCE, remove)
    return ()


def sweep_indexes(access: SweepAccess, indexes: Callable[[], Indexes]) -> tuple[str, ...]:
    """Removes index files with deleted vectors. A process that has one mapped keeps it, and then opens another."""
    directory = access.file.with_suffix(".index")
    if not directory.is_dir():
        return ()
    from weft.backends.sqlite.search.index_files import indexer_lock

    until = time.monotonic() + PATIENCE_S
    while True:
        with indexer_lock(directory) as mine:
            if mine:
                with access.reading() as db:
                    if db is not None:
                        indexes().remove_stale(db)
                return ()
        if time.monotonic() > until:
            # It checks its result again when it has finished.
            return ("another process is making index files; it removes outdated ones when it has finished",)
        time.sleep(RETRY_S)


# Bytes


def _overwrite(access: SweepAccess) -> tuple[str, ...]:
    """Overwrites deleted content in the file and its WAL."""
    blocked = (
        "a reader kept the write-ahead log from being emptied: some removed content can still be read from the"
        " bytes of the files; repeat the same erasure when no backup or export is running",
    )
    with access.reading() as db:
        if db is None:
            return ()
    with translated(access.file), Overwriter(access.file, access.vfs) as work:
        if work.unfit:
            return (work.unfit,)
        if not _in_turn(access, work, work.empty_log):
            return blocked
        work.find()
        while True:
            if not _in_turn(access, work, lambda: work.begin() and work.clean(SLICE_S)):
                return blocked
            if not work.left:
                break
        if not _in_turn(access, work, work.empty_log):
            return blocked
        work.sync_log()
        return ()


def _in_turn(access: SweepAccess, work: Overwriter, attempt: Callable[[], bool]) -> bool:
    """Retries until it succeeds, releasing the write lock in between; False after PATIENCE_S."""
    until = time.monotonic() + PATIENCE_S
    while True:
        work.sync()
        with access.turn():
            if attempt():
                return True
        if time.monotonic() > until:
            return False
        time.sleep(RETRY_S)
