"""Opening an account's file, and translation of the driver's errors."""

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
from weft.core.errors import Busy, Corrupt, DiskFull, NotAStore, ReadOnly, SchemaMismatch, StoreError, WeftError

BUSY_TIMEOUT_MS = 5_000
RETRY_S = 0.005
PREPARED = 256  # statements kept: a recall runs about 100 different ones, and preparing one anew costs as much as it
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
    """Errors of the driver leave the block as weft errors, chained."""
    try:
        yield
    except apsw.Error as problem:
        raise _as_weft(problem, path) from problem
    except (UnicodeDecodeError, orjson.JSONDecodeError) as problem:  # flipped bits that SQLite does not detect
        raise Corrupt(f"{path} holds invalid text: {problem}", hint="run `weft doctor`") from problem


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
            # After a failed sync the outcome is unknown: the write may be there when the file is next opened.
            return StoreError(
                f"the disk failed under {path}: {problem}",
                hint="check the disk, then repeat the write with the same request id: it may or may not be there",
            )
        case apsw.SQLError() if missing := _MISSING.search(str(problem)):
            derived = missing[1] in (*GRAPH_TABLES, "vector", "model", "space_in_use")
            return Corrupt(
                f"{path.name} lacks its table {missing[1]}",
                hint="run `weft rebuild`: it is rebuilt from the log"
                if derived
                else "run `weft doctor`; restore a backup or an exported log",
            )
        case _:
            return StoreError(f"the database refused: {problem}", hint="run `weft doctor`")


def open_file(path: Path, *, create: bool, vfs: str | None = None) -> apsw.Connection | None:
    """A connection with weft's settings, read back. Raises NotAStore or SchemaMismatch for foreign files.

    Opens for reading only if the file cannot be written. None, unless `create`, for a file whose first write is not
    committed: it is being created, or its creation was interrupted.
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
        connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=PREPARED)
        with _closed_on_error(connection):
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            if connection.readonly("main"):
                raise apsw.ReadOnlyError("the file is read-only")
            # Before configuring, which would switch another program's file to WAL.
            _check_identity(connection, path, upgrades=True)
            _configure(connection)
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        if create:
            raise
        return _connect_to_read(path)
    return connection


def _connect_to_read(path: Path) -> apsw.Connection:
    """Opens for reading: a read-only disk cannot hold the WAL's shared memory, so the main file alone is read."""
    for query in ("mode=ro", "immutable=1"):
        connection = apsw.Connection(
            f"{path.absolute().as_uri()}?{query}",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            statementcachesize=PREPARED,
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
    """Raises ReadOnly if the WAL holds commits: the main file alone would give answers from before them."""
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        raise ReadOnly(
            f"{wal.name} holds commits that cannot be read from a read-only directory",
            hint="open the store once with write access, or copy its directory to a writable place",
        )


def _configure(connection: apsw.Connection) -> None:
    # One call each: apsw stops at the first statement of a script that returns a row.
    for name, value in _PRAGMAS:
        _set_pragma(connection, name, value)
    if connection.pragma("synchronous") != 2:
        raise StoreError("the database does not sync to disk", hint="this SQLite ignores PRAGMA synchronous")


def _set_pragma(connection: apsw.Connection, name: str, value: str) -> None:
    """Retries where SQLite does not wait: of two processes that switch a new file to WAL at once, one fails."""
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
    # In this order: another process may be creating the tables, and sets the id in the same transaction.
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
            older = "open the store once with write access: that upgrades it"
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
    """Ends the transaction, unless an error or closing the store has ended it."""
    with suppress(apsw.ConnectionClosedError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
