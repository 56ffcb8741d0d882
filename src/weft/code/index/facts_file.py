"""Facts of a workspace's files, cached between two indexings in a derived SQLite file beside the store.

It holds the facts of each source file, the queries made while the file was resolved, and the links written for it. All
of it can be derived again from the files on disk and the graph: a file that is missing, damaged or of another version
is created anew without an error.

After a crash it may be behind the graph. That is safe: before links are written, their file is durably marked as
unsettled, and the mark is removed only afterwards. The next indexing resolves unsettled files again, against the links
in the graph. A file counts as known only while its stored hash matches the disk. If the store was restored to an
earlier state, the commit recorded here is missing from its log, and the cache is cleared.

It contains names that files define: erasing anything of a workspace deletes it (`weft.code.index.facts_lock`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from weft.code.parse.facts import READER_VERSION, FileFacts
from weft.core.errors import DiskFull
from weft.core.slices import in_slices

if TYPE_CHECKING:
    import apsw

FORMAT: Final = 1
BUSY_MS: Final = 5_000
NAMES_AT_ONCE: Final = 500
_TABLES: Final = (
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT",
    # `walked` is 1 for what was found by going through the workspace: it ends when patterns pass it over.
    # `settled` is 0 while `links` may not be what stands in the graph; `keys` are those that nodes have other ones for.
    """CREATE TABLE source(
         path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, reader INTEGER NOT NULL, mark TEXT NOT NULL,
         interface TEXT NOT NULL, facts BLOB NOT NULL, keys BLOB NOT NULL, broken INTEGER NOT NULL,
         links BLOB NOT NULL, settled INTEGER NOT NULL, unresolved INTEGER NOT NULL, outside INTEGER NOT NULL,
         walked INTEGER NOT NULL) STRICT""",
    "CREATE INDEX source_unsettled ON source(path) WHERE NOT settled",
    # Files that are in no known language, or cannot be read: `problem` says why.
    """CREATE TABLE other(
         path TEXT PRIMARY KEY, sha256 TEXT NOT NULL, reader INTEGER NOT NULL, mark TEXT NOT NULL,
         problem TEXT NOT NULL, walked INTEGER NOT NULL) WITHOUT ROWID, STRICT""",
    "CREATE TABLE asked(what TEXT NOT NULL, asker TEXT NOT NULL, PRIMARY KEY(what, asker)) WITHOUT ROWID, STRICT",
    "CREATE INDEX asked_by ON asked(asker)",
)
_facts = msgspec.msgpack.Decoder(FileFacts)


class LinkKept(Struct, frozen=True, array_like=True, gc=False):
    """A stored relation: from a symbol (by its key; empty for the file) to a node, with its line."""

    key: str
    relation: str
    target: str
    line: int = 0


_links = msgspec.msgpack.Decoder(tuple[LinkKept, ...])
_keys = msgspec.msgpack.Decoder(dict[str, str])


class SourceKnown(Struct, frozen=True):
    """A source file as last read. `mark` shows without reading the file whether it was touched since."""

    sha256: str
    reader: int
    mark: str
    walked: bool
    interface: str
    broken: int
    settled: bool = False


class OtherKnown(Struct, frozen=True):
    """A file without facts as last seen, with the reason if its language is supported."""

    sha256: str
    reader: int
    mark: str
    walked: bool
    problem: str


class Totals(Struct, frozen=True, kw_only=True):
    """Counts over a workspace: files with facts, their links, and references that were not linked."""

    sources: int = 0
    others: int = 0
    unsettled: int = 0
    broken: int = 0
    unresolved: int = 0
    outside: int = 0


class FactsFile:
    """The facts of one workspace. Not thread-safe; writers hold the workspace's lock."""

    def __init__(self, path: Path | None) -> None:
        """Opens or creates the file; None keeps it in memory. Raises OSError if it cannot be created."""
        self.path = path
        try:
            with _full_told():
                self._db, self.fresh = self._open()
        except broken_errors():
            remove_facts(path)
            self._db, self.fresh = self._open()

    def _open(self) -> tuple[apsw.Connection, bool]:
        import apsw

        name = ":memory:"
        if self.path is not None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            name = str(self.path)
        db = apsw.Connection(name)
        try:
            db.set_busy_timeout(BUSY_MS)
            for pragma, value in (("journal_mode", "wal"), ("synchronous", "full"), ("cache_size", -32_000)):
                db.pragma(pragma, value)
            found = db.pragma("user_version")
            if found not in (0, FORMAT):
                raise apsw.NotADBError(f"format {found}")
            if not found:
                with _transaction(db):
                    for statement in _TABLES:
                        db.execute(statement)
                    db.pragma("user_version", FORMAT)
            db.execute("SELECT count(*) FROM meta").fetchall()  # raises for a file that is none
        except BaseException:
            db.close()
            raise
        return db, not found

    def begin_anew(self) -> None:
        """Replaces the file by an empty one."""
        self._db.close()
        remove_facts(self.path)
        self._db, self.fresh = self._open()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A durable transaction."""
        with _transaction(self._db):
            yield

    def clear(self) -> None:
        with self.writing():
            for table in ("meta", "source", "other", "asked"):
                self._db.execute(f"DELETE FROM {table}")
        self.fresh = True

    # What was noted of the whole

    def note(self, name: str) -> str:
        """The note under a name; empty if unset."""
        found = self._first("SELECT value FROM meta WHERE name = ?", name)
        return "" if found is None else str(found)

    def set_note(self, name: str, value: str) -> None:
        """Sets a note. Inside `writing`."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def totals(self) -> Totals:
        query = """SELECT count(*), ifnull(sum(NOT settled), 0), ifnull(sum(broken > 0), 0),
                   ifnull(sum(unresolved), 0), ifnull(sum(outside), 0) FROM source"""
        rows: list[Any] = self._db.execute(query).fetchall()
        sources, unsettled, broken, unresolved, outside = rows[0]
        return Totals(
            sources=sources,
            others=self._first("SELECT count(*) FROM other"),
            unsettled=unsettled,
            broken=broken,
            unresolved=unresolved,
            outside=outside,
        )

    def _first(self, query: str, *values: str) -> Any:
        """The first column of the first row, or None."""
        for row in self._db.execute(query, values):
            return row[0]
        return None

    def broken(self, *, limit: int) -> tuple[str, ...]:
        """The first files with syntax errors."""
        query = "SELECT path FROM source WHERE broken > 0 ORDER BY path LIMIT ?"
        return tuple(path for (path,) in self._db.execute(query, (limit,)))

    # Files

    def sources(self) -> dict[str, SourceKnown]:
        """All source files, sorted by path."""
        query = "SELECT path, sha256, reader, mark, walked, interface, broken, settled FROM source ORDER BY path"
        return {path: SourceKnown(*rest) for path, *rest in self._db.execute(query)}

    def others(self) -> dict[str, OtherKnown]:
        """All other files, sorted by path."""
        query = "SELECT path, sha256, reader, mark, walked, problem FROM other ORDER BY path"
        return {path: OtherKnown(*rest) for path, *rest in self._db.execute(query)}

    def sources_among(self, paths: Sequence[str]) -> dict[str, SourceKnown]:
        query = "SELECT path, sha256, reader, mark, walked, interface, broken, settled FROM source WHERE path IN"
        return {path: SourceKnown(*rest) for path, *rest in self._among(query, paths)}

    def others_among(self, paths: Sequence[str]) -> dict[str, OtherKnown]:
        query = "SELECT path, sha256, reader, mark, walked, problem FROM other WHERE path IN"
        return {path: OtherKnown(*rest) for path, *rest in self._among(query, paths)}

    def _among(self, query: str, names: Sequence[str]) -> Iterator[Any]:
        for some in in_slices(names, NAMES_AT_ONCE):
            yield from self._db.execute(f"{query} ({','.join('?' * len(some))})", some)

    def knows(self, path: str) -> bool:
        query = "SELECT 1 FROM source WHERE path = ? UNION ALL SELECT 1 FROM other WHERE path = ?"
        return self._first(query, path, path) is not None

    def holds(self, folder: str) -> bool:
        """Whether there is a source file in a folder, at any depth."""
        query = "SELECT 1 FROM source WHERE path > ? AND path < ? LIMIT 1"
        return bool(self._db.execute(query, (f"{folder}/", f"{folder}0")).fetchall())  # "0" comes after "/"

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a source file, or None."""
        raw = self._first("SELECT facts FROM source WHERE path = ?", path)
        return None if raw is None else _facts.decode(raw)

    def renamed(self, path: str) -> Mapping[str, str]:
        """Maps keys of a file's definitions to the different keys of their nodes."""
        raw = self._first("SELECT keys FROM source WHERE path = ?", path)
        return {} if raw is None else _keys.decode(raw)

    def all_renamed(self) -> dict[str, Mapping[str, str]]:
        """The same for all files that have any, by path."""
        query = "SELECT path, keys FROM source WHERE length(keys) > 1"
        return {path: _keys.decode(raw) for path, raw in self._rows(query)}

    def _rows(self, query: str) -> Iterator[Any]:
        yield from self._db.execute(query)

    def put_source(self, path: str, known: SourceKnown, facts: bytes, keys: Mapping[str, str]) -> None:
        """Stores a version of a file as unsettled; its stored links are kept. Inside `writing`."""
        self._db.execute("DELETE FROM other WHERE path = ?", (path,))
        self._db.execute(
            """INSERT INTO source VALUES (?,?,?,?,?,?,?,?,?,0,0,0,?) ON CONFLICT(path) DO UPDATE SET
                 sha256 = excluded.sha256, reader = excluded.reader, mark = excluded.mark,
                 interface = excluded.interface, facts = excluded.facts, keys = excluded.keys,
                 broken = excluded.broken, walked = excluded.walked, settled = 0""",
            (
                path,
                known.sha256,
                known.reader,
                known.mark,
                known.interface,
                facts,
                msgspec.msgpack.encode(keys),
                known.broken,
                msgspec.msgpack.encode(()),
                known.walked,
            ),
        )

    def put_other(self, path: str, known: OtherKnown) -> None:
        """The same for a file without facts. Inside `writing`."""
        self.drop([path])
        self._db.execute(
            "INSERT INTO other VALUES (?,?,?,?,?,?)",
            (path, known.sha256, known.reader, known.mark, known.problem, known.walked),
        )

    def set_marks(self, marks: Collection[tuple[str, str, bool]]) -> None:
        """Updates marks of files that were touched without changing: path, mark, whether it was walked. Inside
        `writing`.
        """
        values = [(mark, walked, path) for path, mark, walked in marks]
        for table in ("source", "other"):
            self._db.executemany(f"UPDATE {table} SET mark = ?, walked = ? WHERE path = ?", values)

    def drop(self, paths: Iterable[str]) -> None:
        """Removes files. Inside `writing`."""
        gone = [(path,) for path in paths]
        for query in (
            "DELETE FROM source WHERE path = ?",
            "DELETE FROM other WHERE path = ?",
            "DELETE FROM asked WHERE asker = ?",
        ):
            self._db.executemany(query, gone)

    # Links

    def unsettle(self, paths: Iterable[str]) -> None:
        """Marks that stored links may differ from the graph. Inside `writing`."""
        self._db.executemany("UPDATE source SET settled = 0 WHERE path = ?", [(path,) for path in paths])

    def unsettled(self) -> list[str]:
        """Files whose links must be resolved again, in order."""
        return [path for (path,) in self._db.execute("SELECT path FROM source WHERE NOT settled ORDER BY path")]

    def links(self, path: str) -> tuple[LinkKept, ...] | None:
        """The links written for a file, or None."""
        raw = self._first("SELECT links FROM source WHERE path = ?", path)
        return None if raw is None else _links.decode(raw)

    def settle(
        self, path: str, links: Sequence[LinkKept], *, unresolved: int, outside: int, asked: Collection[str]
    ) -> None:
        """Marks that these links are in the graph, with the queries they depend on. Inside `writing`."""
        self._db.execute(
            "UPDATE source SET links = ?, settled = 1, unresolved = ?, outside = ? WHERE path = ?",
            (msgspec.msgpack.encode(links), unresolved, outside, path),
        )
        before = {what for (what,) in self._db.execute("SELECT what FROM asked WHERE asker = ?", (path,))}
        over = [(each, path) for each in before.difference(asked)]
        self._db.executemany("DELETE FROM asked WHERE what = ? AND asker = ?", over)
        self._db.executemany("INSERT INTO asked VALUES (?, ?)", sorted((each, path) for each in set(asked) - before))

    def askers(self, asked: Collection[str]) -> set[str]:
        """Files that made one of these queries while they were resolved."""
        return {path for (path,) in self._among("SELECT asker FROM asked WHERE what IN", sorted(asked))}


def remove_facts(path: Path | None) -> None:
    """Deletes the file and SQLite's files beside it."""
    for end in ("", "-wal", "-shm") if path is not None else ():
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{end}").unlink()


def is_current(known: SourceKnown | OtherKnown | None, sha256: str) -> bool:
    """Whether the stored facts are of this version of the file and of the present reader."""
    return known is not None and known.sha256 == sha256 and known.reader == READER_VERSION


def broken_errors() -> tuple[type[Exception], ...]:
    """The exceptions that a damaged file may raise."""
    import apsw

    return apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.FormatError, apsw.IOError


@contextmanager
def _transaction(db: Any) -> Iterator[None]:
    with _full_told():
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def _full_told() -> Iterator[None]:
    """Turns a full disk into a weft error, chained."""
    import apsw

    try:
        yield
    except apsw.FullError as problem:
        raise DiskFull(
            "no space left for what is known of the workspace's files", hint="free some space and index again"
        ) from problem
