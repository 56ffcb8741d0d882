"""Ways to break a real store for good: what a disk, a bug or a stray hand does to its files. None is open meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.search.index_files import META

Break = Callable[[Path], None]


def database(store: Path) -> Path:
    """The file of a store's only account."""
    (file,) = (store / ACCOUNTS).glob("*.db")
    return file


@contextmanager
def _opened(store: Path) -> Iterator[apsw.Connection]:
    db = apsw.Connection(str(database(store)), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        yield db
    finally:
        db.close()


def drop(*tables: str) -> Break:
    """The tables are gone."""

    def broken(store: Path) -> None:
        with _opened(store) as db:
            db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)  # what an index of words keeps its words in may go too
            for table in tables:
                db.execute(f"DROP TABLE {table}")

    return broken


def rename(table: str) -> Break:
    """The table is there under another name."""

    def broken(store: Path) -> None:
        with _opened(store) as db:
            db.execute(f"ALTER TABLE {table} RENAME TO {table}_old")

    return broken


def empty(table: str) -> Break:
    """The table has no rows any more."""

    def broken(store: Path) -> None:
        with _opened(store) as db:
            db.execute(f"DELETE FROM {table}")

    return broken


def overwrite_tables(*tables: str) -> Break:
    """The first page of each table, and of each of its indexes, is overwritten."""

    def broken(store: Path) -> None:
        with _opened(store) as db:
            found = db.execute("SELECT tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0").fetchall()
        pages = [page for table, page in found if table in tables]
        assert pages
        overwrite(store, pages)

    return broken


def page_count(store: Path) -> int:
    """How many pages the file has."""
    with _opened(store) as db:
        count: int = db.pragma("page_count")
    return count


def overwrite(store: Path, pages: Iterable[int]) -> None:
    """Pages of the file, from 1, are overwritten with what was never in a database."""
    with _opened(store) as db:
        size: int = db.pragma("page_size")
    with database(store).open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


def scatter(store: Path, chance: random.Random) -> None:
    """A few bytes here and there are others, past the first page, which says what the file is."""
    size = database(store).stat().st_size
    with database(store).open("r+b") as file:
        for _ in range(chance.choice((1, 3, 20))):
            file.seek(chance.randrange(4096, size - 64))
            file.write(chance.randbytes(chance.choice((1, 8, 64))))


def spoil_indexes(store: Path) -> list[str]:
    """Every published index is turned over in its midst, its size unchanged. Returns the names of the spoiled ones."""
    spoiled = []
    for generation in sorted(path for path in (store / ACCOUNTS).glob("*.index/*") if path.is_dir()):
        for file in generation.iterdir():
            raw = bytearray(file.read_bytes())
            if file.name != META and raw:
                third = max(1, len(raw) // 3)
                raw[third : 2 * third] = bytes(255 - byte for byte in raw[third : 2 * third])
                file.write_bytes(bytes(raw))
        spoiled.append(generation.name)
    return spoiled
