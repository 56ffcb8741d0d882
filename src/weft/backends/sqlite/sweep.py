"""Removes every copy of texts that nothing refers to any more, from the tables down to the bytes of the file.

An erasure points versions at other texts; what the tables derived from the old ones stays until it is swept: the text
itself, its names, its words in the index and among the counts (a hash of a rare word is as good as the word), its
vectors, the index files that hold those. Then what is left of them in bytes that SQLite no longer uses (`overwrite`),
and in the write-ahead log.

What to remove is looked up beside running agents; removing it takes many short transactions, between which others have
their turns. Each leaves the tables sound, and looks again at what it removes: a text may be said anew meanwhile.
Stopped at any moment, the next sweep goes on. Published adjacency stays: it holds row numbers and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import apsw
import orjson

from weft.backends.sqlite.connection import translated
from weft.backends.sqlite.overwrite import Overwriting
from weft.backends.sqlite.query import every, first, one
from weft.backends.sqlite.rebuild import OWNER, drop_side
from weft.backends.sqlite.schema import SIDE_PREFIX
from weft.backends.sqlite.survey import TOMBSTONES
from weft.backends.sqlite.words import Words

if TYPE_CHECKING:
    from weft.backends.sqlite.indexes import Indexes

SLICE_S: Final = 0.015  # of work in one transaction; committing comes on top
AT_ONCE: Final = 10  # texts between two looks at the clock
ROWS_AT_ONCE: Final = 200
MERGE_PAGES: Final = 16
PATIENCE_S: Final = 5.0  # with those who read from the log, or make indexes, all in all
RETRY_S: Final = 0.02
STEPS: Final = 7
_LARGE: Final = ("text", "node", "node_version", "edge", "edge_version", "tx")


class Access(NamedTuple):
    """How a sweep gets at one account: reads, writes in turn, turns alone, and its files."""

    reading: Callable[[], AbstractContextManager[apsw.Connection | None]]
    writing: Callable[[], AbstractContextManager[apsw.Connection]]
    turn: Callable[[], AbstractContextManager[None]]
    file: Path
    vfs: str | None


def sweep(access: Access, indexes: Callable[[], Indexes], progress: Callable[[int, int], None]) -> tuple[str, ...]:
    """All of it. Returns notes on what could not be done now."""
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


def _sliced(access: Access, todo: list[T], at_once: int, work: Callable[[apsw.Connection, list[T]], None]) -> None:
    """Works through a list from its end, in transactions of about SLICE_S."""
    while todo:
        with access.writing() as db:
            until = time.perf_counter() + SLICE_S
            while todo and time.perf_counter() < until:
                work(db, todo[-at_once:])
                del todo[-at_once:]


# Tables of a rebuild


def _drop_side_tables(access: Access) -> tuple[str, ...]:
    """What a rebuild made of the log before an erasure must not be swapped in, nor stay where one was stopped."""
    with access.reading() as db:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, ?) = ?"
        found = {name for (name,) in every(db, query, (len(SIDE_PREFIX), SIDE_PREFIX))} if db is not None else set()
    if not found:
        return ()
    with access.writing() as db:
        db.execute(f"DROP TABLE IF EXISTS {OWNER}")  # a rebuild that is going on stops here
    for table in (f"{SIDE_PREFIX}{name}" for name in _LARGE):
        while table in found and _fewer(access, table):
            pass
    with access.writing() as db:
        drop_side(db)
    return ()


def _fewer(access: Access, table: str) -> bool:
    """Removes some rows; False once there are none."""
    with access.writing() as db:
        until = time.perf_counter() + SLICE_S
        while time.perf_counter() < until and first(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)):
            db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT {ROWS_AT_ONCE})")
            if not db.changes():
                return False
        return bool(first(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)))


# Texts and what is written beside them


_UNUSED = "NOT EXISTS (SELECT 1 FROM node_version v WHERE v.text = t.id)"


def _remove_texts(access: Access) -> tuple[str, ...]:
    with access.reading() as db:
        if db is None:
            return ()
        unused = [text for (text,) in db.execute(f"SELECT t.id FROM text t WHERE {_UNUSED} ORDER BY t.id")]
        names = {table: _of_texts(db, table, key, unused) for table, key in (("alias", "key"), ("name_word", "word"))}
    with access.writing() as db:
        Words(db).settle_all()

    def remove(db: apsw.Connection, texts: list[int]) -> None:
        chosen = orjson.dumps(texts).decode()
        query = f"SELECT t.id FROM text t WHERE t.id IN (SELECT value FROM json_each(?)) AND {_UNUSED}"
        still = [text for (text,) in db.execute(query, (chosen,))]
        if not still:
            return
        Words(db).settle_all()  # counts are taken back by what the text holds
        (last,) = one(db, "SELECT max(id) FROM text")
        for table, key in (("alias", "key"), ("name_word", "word")):
            rows = [(name, text) for text in still for name in names[table].get(text, ())]
            db.executemany(f"DELETE FROM {table} WHERE {key} = ? AND text = ?", rows)
        db.executemany("DELETE FROM text_index WHERE rowid = ?", [(text,) for text in still])
        db.executemany("DELETE FROM text WHERE id = ?", [(text,) for text in still])
        # Ids at the end are given out again: the index then has to take in those who get them.
        (now_last,) = one(db, "SELECT ifnull(max(id), 0) FROM text")
        db.execute(
            "UPDATE text_state SET removed = removed + ?, indexed_text = min(indexed_text, ?)",
            (len(still) - (last - now_last), now_last),
        )

    _sliced(access, unused, AT_ONCE, remove)
    return ()


def _of_texts(db: apsw.Connection, table: str, key: str, texts: Sequence[int]) -> dict[int, list[str]]:
    """What these texts go by in a table that is not ordered by text."""
    found: dict[int, list[str]] = {}
    if texts:
        query = f"SELECT text, {key} FROM {table} WHERE text IN (SELECT value FROM json_each(?))"
        for text, name in db.execute(query, (orjson.dumps(texts).decode(),)):
            found.setdefault(text, []).append(name)
    return found


def _remove_counts(access: Access) -> tuple[str, ...]:
    """A word that no text holds any more is not counted, and its hash not kept."""
    with access.reading() as db:
        nothing = every(db, "SELECT term, ward FROM term_df WHERE n = 0") if db is not None else []

    def remove(db: apsw.Connection, rows: list[tuple[int, int]]) -> None:
        db.executemany("DELETE FROM term_df WHERE term = ? AND ward = ? AND n = 0", rows)

    _sliced(access, nothing, ROWS_AT_ONCE, remove)
    return ()


def _merge_index(access: Access) -> tuple[str, ...]:
    """Merges the text index until no segment holds words of a deleted row."""
    left = f"SELECT EXISTS (SELECT 1 FROM text_index_data WHERE id >= {TOMBSTONES})"
    with access.reading() as db:
        if db is None or not one(db, left)[0]:
            return ()
    pages = -MERGE_PAGES  # below zero it takes all segments together, above it goes on with those
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


def _remove_vectors(access: Access) -> tuple[str, ...]:
    """Vectors of texts that are not there, of every model. Those who hold them in memory see it by `model.removed`."""
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


def sweep_indexes(access: Access, indexes: Callable[[], Indexes]) -> tuple[str, ...]:
    """Removes index files that hold vectors which are gone. Who has one mapped keeps it, and looks for another."""
    directory = access.file.with_suffix(".index")
    if not directory.is_dir():
        return ()
    from weft.backends.sqlite.generations import indexer_lock

    until = time.monotonic() + PATIENCE_S
    while True:
        with indexer_lock(directory) as mine:
            if mine:
                with access.reading() as db:
                    if db is not None:
                        indexes().remove_stale(db)
                return ()
        if time.monotonic() > until:
            # It looks again at what it made once it has ended.
            return ("another process is making index files, and removes those that are out of date when it has ended",)
        time.sleep(RETRY_S)


# Bytes


def _overwrite(access: Access) -> tuple[str, ...]:
    """Overwrites what the file and its log still hold."""
    blocked = (
        "a reader kept the write-ahead log from being emptied: some of what was removed can still be read from the"
        " bytes of the files; repeat the same erasure when no backup or export is going on",
    )
    with access.reading() as db:
        if db is None:
            return ()
    with translated(access.file), Overwriting(access.file, access.vfs) as work:
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


def _in_turn(access: Access, work: Overwriting, attempt: Callable[[], bool]) -> bool:
    """Tries until it works, giving the turn on in between; False if it did not in PATIENCE_S."""
    until = time.monotonic() + PATIENCE_S
    while True:
        work.sync()
        with access.turn():
            if attempt():
                return True
        if time.monotonic() > until:
            return False
        time.sleep(RETRY_S)
