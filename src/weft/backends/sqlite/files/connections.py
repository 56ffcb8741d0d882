"""Connections of a store: one per thread and account, one read transaction per read, queued writers."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from weft.backends.sqlite.files.connection import check_schema, open_file, roll_back, translated
from weft.backends.sqlite.files.directory import ACCOUNTS, check_directory, make_directory, make_file
from weft.backends.sqlite.files.wal import WalPolicy
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.backends.sqlite.guards import PinnedTime
from weft.backends.sqlite.upgrade import add_missing_index
from weft.backends.sqlite.write.plan_view import position_at, read_head
from weft.core.clock import Clock, SystemClock
from weft.core.errors import Away, Corrupt, ReadOnly, StoreError
from weft.core.types import Viewer, When

if TYPE_CHECKING:
    from weft.backends.sqlite.search.indexes import Indexes


# Errors of a network disk whose server is unreachable: it may come back with all its content.
DISK_IS_AWAY = frozenset({errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH})


class AccountFiles:
    """The connections of a store; every read and write goes through them."""

    def __init__(
        self, path: Path, genesis: Callable[[str], bytes], *, clock: Clock | None = None, vfs: str | None = None
    ) -> None:
        self._path, self._genesis, self._vfs = path, genesis, vfs
        self._clock = clock or SystemClock()
        self._local = threading.local()
        self._paths: dict[str, Path] = {}
        self._opened: list[apsw.Connection] = []
        self._identities: dict[str, tuple[int, int]] = {}
        self._opened_lock = threading.Lock()
        self._turnstiles: dict[str, WriteQueue] = {}
        self._derived: dict[str, Indexes] = {}
        check_directory(path)

    # Connections: one per thread and account

    def _file(self, account: str) -> Path:
        found = self._paths.get(account)  # on every read, often several times
        if found is None:
            found = self._paths[account] = self._path / ACCOUNTS / f"{account}.db"
        return found

    def _connection(self, account: str, *, create: bool = False) -> apsw.Connection | None:
        cache: dict[str, apsw.Connection] = self._local.__dict__.setdefault("connections", {})
        self._check_there(account)
        if account in cache:
            return cache[account]
        file = self._file(account)
        if _identity(file) is None:
            if not create:
                return None
            make_directory(self._path)
            if self._vfs is None:
                with suppress(OSError):  # SQLite runs into the same error and reports it
                    make_file(file)
        connection = open_file(file, create=create, vfs=self._vfs)
        if connection is None:
            return None
        cache[account] = connection
        if self._vfs is None:
            self._wals()[account] = WalPolicy(connection)
            if (made := _identity(file)) is not None:
                self._identities.setdefault(account, made)
        with self._opened_lock:
            self._opened.append(connection)
        return connection

    def _check_there(self, account: str) -> None:
        """Raises StoreError if the opened file is no longer at its path.

        It could still be read and written through the open handle, and no other process would see the writes.
        """
        known = self._identities.get(account)
        if known is not None and _identity(self._file(account)) != known:
            raise StoreError(
                f"{self._file(account)} was deleted, moved or replaced while it was open",
                hint="put the store back, or restore a backup, and open it again",
            )

    @contextmanager
    def one_state(self, viewer: Viewer) -> Iterator[None]:
        db = None
        with suppress(StoreError), translated(self._file(viewer.account)):  # each read says what is wrong
            db = self._connection(viewer.account)
            if db is not None and not db.in_transaction:
                db.execute("BEGIN")
                self._moments()[db] = {}
        try:
            yield
        finally:
            if db is not None and self._moments().pop(db, None) is not None:
                roll_back(db)

    @contextmanager
    def _reading(self, viewer: Viewer) -> Iterator[apsw.Connection | None]:
        """One consistent state for every read inside; None while the account has no file."""
        with translated(self._file(viewer.account)):
            db = self._connection(viewer.account)
            begins = db is not None and not db.in_transaction
            if db is not None and begins:
                db.execute("BEGIN")
            try:
                yield db
            except KeyError as problem:
                raise Corrupt("a row refers to one that does not exist", hint="run `weft doctor`") from problem
            except (
                TypeError,
                OverflowError,
                IndexError,
            ) as problem:  # column types are only reliable in an intact file
                raise Corrupt(f"a row holds an invalid value: {problem}", hint="run `weft doctor`") from problem
            finally:
                if db is not None and begins:
                    roll_back(db)  # nothing was written; COMMIT would fail after a damaged page

    @contextmanager
    def _writing(self, account: str) -> Iterator[apsw.Connection]:
        with translated(self._file(account)):
            self._check_there(account)  # first: waiting for the lock creates a missing directory
            with self._turn(account):
                db = self._connection(account, create=True)
                if db is None or db.readonly("main"):
                    raise ReadOnly(f"{self._file(account)} cannot be written", hint="check the directory's permissions")
                wal = self._wals().get(account)
                if wal is not None:
                    wal.shorten()
                if self._moments().pop(db, None) is not None:
                    roll_back(db)  # a write ends the one state that this thread reads
                db.execute("BEGIN IMMEDIATE")
                try:
                    check_schema(db, self._file(account))
                    self._complete(account, db)
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    roll_back(db)
                    raise
            if wal is not None:
                wal.copy()

    def _complete(self, account: str, db: apsw.Connection) -> None:
        """On the first write of a connection: adds the index that files of an earlier weft lack."""
        complete: set[str] = self._local.__dict__.setdefault("complete", set())
        if account not in complete:
            add_missing_index(db)
            complete.add(account)

    def _turn(self, account: str) -> AbstractContextManager[None]:
        """The write lock. A custom VFS may lock in other ways, and goes without."""
        if self._vfs is not None:
            return nullcontext()
        if not (self._path / ACCOUNTS).is_dir():
            make_directory(self._path)
        return self._turnstiles.setdefault(account, WriteQueue(self._path / ACCOUNTS, account)).turn()

    def _wals(self) -> dict[str, WalPolicy]:
        wals: dict[str, WalPolicy] = self._local.__dict__.setdefault("wals", {})
        return wals

    def _moments(self) -> dict[apsw.Connection, dict[When, PinnedTime]]:
        """The connections of this thread that read one state, with the times that were looked up in it."""
        found: dict[apsw.Connection, dict[When, PinnedTime]] = self._local.__dict__.setdefault("moments", {})
        return found

    def _moment(self, db: apsw.Connection, when: When) -> PinnedTime:
        known = self._moments().get(db)
        if known is None or when.valid_at is None:
            return self._pinned(db, when)
        if when not in known:
            known[when] = self._pinned(db, when)
        return known[when]

    def _pinned(self, db: apsw.Connection, when: When) -> PinnedTime:
        head = read_head(db, b"")
        pos = head.pos if when.known_at is None or when.known_at >= head.at else position_at(db, when.known_at)
        unfinished = db.execute("SELECT key FROM tx WHERE long AND (closed_pos IS NULL OR closed_pos > ?)", (pos,))
        valid_at = max(self._clock.now_us(), head.at) if when.valid_at is None else when.valid_at
        return PinnedTime(valid_at, pos, tuple(key for (key,) in unfinished))

    def _indexes(self, account: str) -> Indexes:
        from weft.backends.sqlite.search.indexes import (
            Indexes,  # imports numpy: only for vector search and walks
        )

        with self._opened_lock:
            if account not in self._derived:
                self._derived[account] = Indexes(self._path / ACCOUNTS / f"{account}.index")
            return self._derived[account]

    def close(self) -> None:
        with self._opened_lock:
            opened, self._opened = self._opened, []
            self._identities.clear()
        for connection in opened:
            connection.close()
        self._local = threading.local()


def _identity(file: Path) -> tuple[int, int] | None:
    """Device and inode of a file, which tell it from a replacement; None if there is none."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        away = problem.errno in DISK_IS_AWAY
        raise (Away if away else StoreError)(
            f"{file} cannot be reached: {problem}", hint="check the disk and the permissions"
        ) from problem
    return found.st_dev, found.st_ino
