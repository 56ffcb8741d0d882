"""The files of a store: a connection per thread and account, one read transaction per read, turns for writers."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from weft.backends.sqlite.connection import check_schema, open_file, roll_back, translated
from weft.backends.sqlite.directory import ACCOUNTS, check_directory, make_directory, make_file
from weft.backends.sqlite.guards import Moment
from weft.backends.sqlite.turnstile import Turnstile
from weft.backends.sqlite.upgrade import add_missing_index
from weft.backends.sqlite.view import position_at, read_head
from weft.backends.sqlite.wal import Wal
from weft.errors import Away, Corrupt, ReadOnly, StoreError
from weft.instants import Clock, SystemClock
from weft.types import Viewer, When

if TYPE_CHECKING:
    from weft.backends.sqlite.indexes import Indexes


# What a disk on the network says while its server is away: it may come back, with all that was on it.
DISK_IS_AWAY = frozenset({errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT, errno.EHOSTDOWN, errno.EHOSTUNREACH})


class AccountFiles:
    """What every read and write of a store goes through."""

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
        self._turnstiles: dict[str, Turnstile] = {}
        self._derived: dict[str, Indexes] = {}
        check_directory(path)

    # Connections: one per thread and account

    def _file(self, account: str) -> Path:
        found = self._paths.get(account)  # every read asks, some of them several times
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
                with suppress(OSError):  # SQLite meets the same, and says what it is
                    make_file(file)
        connection = open_file(file, create=create, vfs=self._vfs)
        if connection is None:
            return None
        cache[account] = connection
        if self._vfs is None:
            self._wals()[account] = Wal(connection)
            if (made := _identity(file)) is not None:
                self._identities.setdefault(account, made)
        with self._opened_lock:
            self._opened.append(connection)
        return connection

    def _check_there(self, account: str) -> None:
        """Raises StoreError if the file that was opened is not at its place any more.

        It could still be read and written through what is open, and nobody else would ever see what was written.
        """
        known = self._identities.get(account)
        if known is not None and _identity(self._file(account)) != known:
            raise StoreError(
                f"{self._file(account)} was deleted, moved or replaced while it was open",
                hint="put the store back, or restore a backup, and open it again",
            )

    @contextmanager
    def _reading(self, viewer: Viewer) -> Iterator[apsw.Connection | None]:
        """One consistent state for everything read inside; None while the account has no file."""
        with translated(self._file(viewer.account)):
            db = self._connection(viewer.account)
            if db is None or db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            except KeyError as problem:
                raise Corrupt("a row refers to one that is not there", hint="run `weft doctor`") from problem
            except (TypeError, OverflowError, IndexError) as problem:  # the types of columns hold for whole files only
                raise Corrupt(f"a row holds what none can hold: {problem}", hint="run `weft doctor`") from problem
            finally:
                roll_back(db)  # nothing was written; a COMMIT fails once a damaged page was met, passed over or not

    @contextmanager
    def _writing(self, account: str) -> Iterator[apsw.Connection]:
        with translated(self._file(account)):
            self._check_there(account)  # first: a turn makes the directory where it is missing
            with self._turn(account):
                db = self._connection(account, create=True)
                if db is None or db.readonly("main"):
                    raise ReadOnly(f"{self._file(account)} cannot be written", hint="check the directory's permissions")
                wal = self._wals().get(account)
                if wal is not None:
                    wal.shorten()
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
        """With the first write of a connection: a file that an earlier weft made gets the index that it had not."""
        complete: set[str] = self._local.__dict__.setdefault("complete", set())
        if account not in complete:
            add_missing_index(db)
            complete.add(account)

    def _turn(self, account: str) -> AbstractContextManager[None]:
        """A turn to write. A disk of the caller's own may lock in other ways, and goes without."""
        if self._vfs is not None:
            return nullcontext()
        if not (self._path / ACCOUNTS).is_dir():
            make_directory(self._path)
        return self._turnstiles.setdefault(account, Turnstile(self._path / ACCOUNTS, account)).turn()

    def _wals(self) -> dict[str, Wal]:
        wals: dict[str, Wal] = self._local.__dict__.setdefault("wals", {})
        return wals

    def _moment(self, db: apsw.Connection, when: When) -> Moment:
        head = read_head(db, b"")
        pos = head.pos if when.known_at is None or when.known_at >= head.at else position_at(db, when.known_at)
        unfinished = db.execute("SELECT key FROM tx WHERE long AND (closed_pos IS NULL OR closed_pos > ?)", (pos,))
        valid_at = max(self._clock.now_us(), head.at) if when.valid_at is None else when.valid_at
        return Moment(valid_at, pos, tuple(key for (key,) in unfinished))

    def _indexes(self, account: str) -> Indexes:
        from weft.backends.sqlite.indexes import Indexes  # brings numpy: only for those who search by meaning or walk

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
    """What tells a file from another that is put in its place; None where there is none."""
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
