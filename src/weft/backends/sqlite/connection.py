"""Opens an account's file and turns the driver's errors into weft's."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import orjson

from weft.backends.sqlite.schema import (
    APPLICATION_ID,
    GRAPH_TABLES,
    KEPT_TABLES,
    LOG_TABLES,
    SCHEMA_VERSION,
    graph_tables,
)
from weft.backends.sqlite.upgrade import UPGRADABLE, upgrade
from weft.errors import Busy, Corrupt, DiskFull, NotAStore, ReadOnly, SchemaMismatch, StoreError, WeftError

BUSY_TIMEOUT_MS = 5_000
RETRY_S = 0.005
CACHE_KIB = 65_536
WAL_CHECKPOINT_PAGES = 2_000
MMAP_BYTES = 1 << 30
_PRAGMAS = (
    ("journal_mode", "wal"),
    ("synchronous", "full"),
    ("wal_autocheckpoint", str(WAL_CHECKPOINT_PAGES)),
    ("cache_size", f"-{CACHE_KIB}"),
    ("temp_store", "memory"),
    ("mmap_size", str(MMAP_BYTES)),
    ("secure_delete", "fast"),
)
_MISSING = re.compile(r"no such table: (?:\w+\.)?(\w+)")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Whatever the driver raises inside arrives as a weft error, chained."""
    try:
        yield
    except apsw.Error as problem:
        raise _as_weft(problem, path) from problem
    except (UnicodeDecodeError, orjson.JSONDecodeError) as problem:  # flipped bits that SQLite does not look at
        raise Corrupt(f"{path} holds text that is none: {problem}", hint="run `weft doctor`") from problem


def _as_weft(problem: apsw.Error, path: Path) -> WeftError:
    match problem:
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path.name} is busy: {problem}", hint="another process is writing; try again")
        case apsw.FullError():
            return DiskFull(f"no space left for {path}", hint="free some space and try again; nothing was written")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return ReadOnly(
                f"{path} cannot be written: {problem}", hint="check the permissions of the store's directory"
            )
        case apsw.NotADBError():
            return NotAStore(f"{path} is not a weft database", hint="point the store setting at another directory")
        case apsw.CorruptError():
            return Corrupt(
                f"{path} is damaged: {problem}",
                hint="run `weft doctor`; restore a backup or an exported log if it says so",
            )
        case apsw.CantOpenError():
            return StoreError(
                f"{path} cannot be opened: {problem}", hint="check that the directory exists and is yours"
            )
        case apsw.IOError():
            # After a failed sync nobody can tell: the write may turn up again when the file is next opened.
            return StoreError(
                f"the disk failed under {path}: {problem}",
                hint="check the disk, then repeat the write with the same request id: it may or may not be there",
            )
        case apsw.SQLError() if missing := _MISSING.search(str(problem)):
            derived = missing[1] in (*GRAPH_TABLES, "vector", "model", "space_in_use")
            return Corrupt(
                f"{path.name} lacks its table {missing[1]}",
                hint="run `weft rebuild`: it is made again from the log"
                if derived
                else "run `weft doctor`; restore a backup or an exported log",
            )
        case _:
            return StoreError(f"the database refused: {problem}", hint="run `weft doctor`")


def open_file(path: Path, *, create: bool, vfs: str | None = None) -> apsw.Connection | None:
    """A connection with weft's settings, read back. Raises NotAStore or SchemaMismatch for foreign files.

    Falls back to reading only where the file cannot be written. None, unless `create`, for a file whose first write
    has not landed yet: it is being made, or making it was cut short.
    """
    with translated(path):
        connection = _connect(path, create=create, vfs=vfs)
        with _closed_on_error(connection):
            if create:
                _make_tables(connection)
            elif not connection.pragma("user_version"):
                connection.close()
                return None
        return connection


@contextmanager
def _closed_on_error(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _connect(path: Path, *, create: bool, vfs: str | None) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    try:
        connection = apsw.Connection(str(path), flags=flags, vfs=vfs)
        with _closed_on_error(connection):
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            if connection.readonly("main"):
                raise apsw.ReadOnlyError("the file is read-only")
            # First: configuring would switch another program's file to WAL.
            _check_identity(connection, path, upgrades=True)
            _configure(connection)
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        if create:
            raise
        return _connect_to_read(path)
    return connection


def _connect_to_read(path: Path) -> apsw.Connection:
    """A read-only disk cannot hold the WAL's shared memory: the file is then taken as it stands."""
    for query in ("mode=ro", "immutable=1"):
        connection = apsw.Connection(
            f"{path.absolute().as_uri()}?{query}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        try:
            with _closed_on_error(connection):
                _check_identity(connection, path)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            _refuse_unread_commits(path)
            continue
        return connection
    raise apsw.CantOpenError("neither writable nor readable")


def _refuse_unread_commits(path: Path) -> None:
    """Raises ReadOnly if the WAL holds commits: taking the file as it stands would answer from before them."""
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        raise ReadOnly(
            f"{wal.name} holds commits that cannot be read where nothing can be written",
            hint="open the store once with the right to write, or copy its directory to where you have it",
        )


def _configure(connection: apsw.Connection) -> None:
    # One call each: apsw stops at the first statement of a script that returns a row.
    for name, value in _PRAGMAS:
        _set_pragma(connection, name, value)
    if connection.pragma("synchronous") != 2:
        raise StoreError("the database does not sync to disk", hint="this SQLite ignores PRAGMA synchronous")


def _set_pragma(connection: apsw.Connection, name: str, value: str) -> None:
    """Tries again where SQLite does not wait: of two processes that switch a new file to WAL at once, one fails."""
    deadline_s = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.pragma(name, value)
            return
        except apsw.BusyError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(RETRY_S)


def _check_identity(connection: apsw.Connection, path: Path, *, upgrades: bool = False) -> None:
    # In this order: another process may be making the tables, and sets the id with them.
    empty = not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    application_id = connection.pragma("application_id")
    if application_id == 0 and empty:
        return
    if application_id != APPLICATION_ID:
        raise NotAStore(f"{path} is a database of another program", hint="point the store setting at another directory")
    if upgrades and connection.pragma("user_version") in UPGRADABLE:
        upgrade(connection)
    check_schema(connection, path)


def check_schema(connection: apsw.Connection, path: Path) -> None:
    """Raises SchemaMismatch when a newer weft has upgraded the file. Runs in every write transaction."""
    found = connection.pragma("user_version")
    if found != SCHEMA_VERSION:
        older = "export the log with the older weft that wrote it, and import it into a new store"
        if found in UPGRADABLE:
            older = "open the store once with the right to write: that brings it up to date"
        raise SchemaMismatch(
            f"{path.name} has schema {found}, this weft knows {SCHEMA_VERSION}",
            hint="upgrade weft" if found > SCHEMA_VERSION else older,
        )


def _make_tables(connection: apsw.Connection) -> None:
    if connection.pragma("user_version"):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.pragma("user_version"):  # another process may have been first
            for statement in (*LOG_TABLES, *KEPT_TABLES, *graph_tables("", 1)):
                connection.execute(statement)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: apsw.Connection) -> None:
    """Ends the transaction, unless an error or closing the store ended it already."""
    with suppress(apsw.ConnectionClosedError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
