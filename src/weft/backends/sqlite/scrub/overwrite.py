"""Overwrites deleted content in a database file.

With `secure_delete = fast` SQLite zeroes a row where it is deleted, but words remain in three places:

- pages on the free list keep their content;
- rows that move between pages leave copies in the freed space (`secure_delete = on` does too);
- the last overflow page of a long row keeps, behind the row's end, the page's former content.

No SQLite command clears the second beside running agents: VACUUM blocks them while it copies the whole file. So these
bytes, which SQLite never reads, are overwritten in the file itself. This is safe because:

- it runs inside a write transaction while the write-ahead log is empty: the file is then the newest state of every
  page, and neither a commit nor a checkpoint can write to it;
- the free bytes are determined from the pages inside that same transaction;
- the transaction commits an unchanged page, so connections with cached pages drop them before their next write;
- it uses SQLite's own file handle: opening and closing another one would drop SQLite's locks.

If interrupted, some of those bytes are zero and some are not.
"""

from __future__ import annotations

import itertools
import os
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

import apsw

from weft.backends.sqlite.files.connection import roll_back

PATIENCE_MS: Final = 40  # wait for readers of the WAL, while writers wait
READ_PAGES: Final = 256
MAX_PAGES: Final = 1 << 25  # above, the first byte of an overflow page could be mistaken for a b-tree page's
TABLE_LEAF: Final = 13
INDEX_INNER: Final = 2
_HEADER_BYTES: Final = {2: 12, 5: 12, 10: 8, 13: 8}  # of b-tree pages, by their first byte
_FIRST_BYTE_OF_LONG: Final = {13: 0x9F, 10: 0x87, 2: 0x87}  # smallest first byte of a row with overflow pages
_names = itertools.count()


class StaleBytes(NamedTuple):
    """Non-zero bytes of the file that nothing refers to."""

    at: int
    size: int


class _Handles(apsw.VFS):
    """The underlying VFS; keeps the handle through which SQLite reads and writes the database."""

    def __init__(self, below: str) -> None:
        self.name = f"weft-overwrite-{next(_names)}"
        self.database: apsw.VFSFile | None = None
        self._below = below
        super().__init__(self.name, below)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        opened = apsw.VFSFile(self._below, name, flags)
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            self.database = opened
        return opened


class Overwriter:
    """One pass over one database file, through its own connection.

    First `empty_log` and `find`; then `begin` and `clean` while holding the write lock, until `left` is 0.
    """

    def __init__(self, file: Path, vfs: str | None) -> None:
        self._wal = Path(f"{file}-wal")
        self._handles = _Handles(vfs or "")
        self._db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE, vfs=self._handles.name)
        self._db.wal_autocheckpoint(0)
        self._db.pragma("synchronous", "full")
        self._db.set_busy_timeout(PATIENCE_MS)
        self._db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the file
        assert self._handles.database is not None
        self._file = self._handles.database
        self._page_bytes: int = self._db.pragma("page_size")
        self._usable = self._page_bytes - self._file.xRead(1, 20)[0]
        self._pages = 0
        self._free: dict[int, int] = {}  # page: number of its bytes that the free list uses
        self._free_found = False
        self._found: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._db.close()
        self._handles.unregister()

    @property
    def unfit(self) -> str:
        """The reason why this file cannot be cleaned; empty if it can. weft creates no such files."""
        if self._db.pragma("auto_vacuum") or self._page_count() >= MAX_PAGES:
            return "the database is too large or uses auto_vacuum: deleted content was not overwritten in it"
        return ""

    @property
    def left(self) -> int:
        """Pages found and not yet cleaned."""
        return len(self._found)

    # Holding the write lock

    def empty_log(self) -> bool:
        """Checkpoints and truncates the WAL; False while a reader uses it."""
        try:
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.LockedError):
            return False
        return not self._wal_bytes()

    def begin(self) -> bool:
        """Begins the transaction in which bytes may be overwritten; False if the WAL cannot be emptied now."""
        if not self.empty_log():
            return False
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        if self._wal_bytes():  # a writer outside the queue was quicker
            roll_back(self._db)
            return False
        self._pages = self._page_count()
        self._free = dict(self._free_list())
        if not self._free_found:
            self._found.extend(self._free)
            self._free_found = True
        return True

    def clean(self, seconds: float) -> bool:
        """Overwrites found pages for about this long, and commits. Always true."""
        until = time.perf_counter() + seconds
        while self._found and time.perf_counter() < until:
            for stale in self._stale_of(self._found.pop()):
                self._file.xWrite(bytes(stale.size), stale.at)
        # Unchanged, but committed: connections with cached pages drop them.
        self._db.pragma("user_version", self._db.pragma("user_version"))
        self._db.execute("COMMIT")
        return True

    def _wal_bytes(self) -> int:
        return self._wal.stat().st_size if self._wal.exists() else 0

    # Without the write lock

    def sync(self) -> None:
        """Syncs the overwritten bytes and checkpoints, so that the next hold of the write lock is short."""
        with suppress(apsw.BusyError, apsw.LockedError):  # another process is at it
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._file.xSync(apsw.SQLITE_SYNC_NORMAL)

    def sync_log(self) -> None:
        """Syncs the empty WAL: otherwise its old content could return after a power loss."""
        with suppress(FileNotFoundError):
            descriptor = os.open(self._wal, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def find(self) -> None:
        """Scans b-tree pages for stale bytes; free pages follow with the first `begin`.

        Others may write meanwhile: a torn page is examined again in `clean`, as all are. Later writes contain no
        deleted content, except for copies of pages found here.
        """
        found = []
        self._pages = self._page_count()
        for first in range(1, self._pages + 1, READ_PAGES):
            pages = min(READ_PAGES, self._pages + 1 - first)
            block = self._file.xRead(pages * self._page_bytes, (first - 1) * self._page_bytes)
            for at in range(0, len(block) - self._page_bytes + 1, self._page_bytes):
                number = first + at // self._page_bytes
                if block[at] in _HEADER_BYTES and self._seems_stale(number, block[at : at + self._page_bytes]):
                    found.append(number)
        self._found = found

    def _seems_stale(self, number: int, page: bytes) -> bool:
        try:
            return next(self._in_tree(number, page), None) is not None
        except (struct.error, IndexError, ValueError):  # a torn read
            return True

    # What is stale

    def _page_count(self) -> int:
        return int(self._file.xFileSize()) // self._page_bytes

    def _read(self, number: int) -> bytes:
        if not 1 <= number <= self._pages:
            raise ValueError(f"there is no page {number}")
        return self._file.xRead(self._page_bytes, (number - 1) * self._page_bytes)

    def _free_list(self) -> Iterator[tuple[int, int]]:
        (trunk,) = struct.unpack(">I", self._file.xRead(4, 32))
        for _ in range(self._pages):
            if not trunk:
                return
            page = self._read(trunk)
            following, count = struct.unpack_from(">2I", page)
            yield trunk, 8 + 4 * count
            yield from ((leaf, 0) for leaf in struct.unpack_from(f">{count}I", page, 8))
            trunk = following

    def _stale_of(self, number: int) -> tuple[StaleBytes, ...]:
        """Inside the transaction. Nothing for a malformed page: `weft doctor` reports it."""
        try:
            page = self._read(number)
            if (needed := self._free.get(number)) is not None:
                return tuple(self._unless_zero(number, page, needed, self._page_bytes))
            return tuple(self._in_tree(number, page)) if page[0] in _HEADER_BYTES else ()
        except (struct.error, IndexError, ValueError):
            return ()

    def _unless_zero(self, number: int, page: bytes, start: int, stop: int) -> Iterator[StaleBytes]:
        if start < stop and page.count(0, start, stop) != stop - start:
            yield StaleBytes((number - 1) * self._page_bytes + start, stop - start)

    def _in_tree(self, number: int, page: bytes) -> Iterator[StaleBytes]:
        """The gap between cell pointers and cells, the free blocks, and the ends of overflow chains.

        The first page holds the schema behind another header: no user content.
        """
        if number == 1:
            return
        kind = page[0]
        hole, rows, content = struct.unpack_from(">3H", page, 1)
        header = _HEADER_BYTES[kind]
        places = struct.unpack_from(f">{rows}H", page, header)
        content = content or 65_536
        if not header + 2 * rows <= content <= self._page_bytes:
            raise ValueError("rows begin behind their directory")
        yield from self._unless_zero(number, page, header + 2 * rows, content)
        while hole:
            following, size = struct.unpack_from(">2H", page, hole)
            if hole < content or hole + size > self._page_bytes or 0 < following < hole + size:
                raise ValueError("holes lie between rows, in order")
            yield from self._unless_zero(number, page, hole + 4, hole + size)
            hole = following
        shortest = _FIRST_BYTE_OF_LONG.get(kind)
        if shortest is None:
            return
        skip = 4 if kind == INDEX_INNER else 0
        for place in places:
            if page[place + skip] >= shortest:
                yield from self._behind_long_row(page, place + skip, kind)

    def _behind_long_row(self, page: bytes, place: int, kind: int) -> Iterator[StaleBytes]:
        """The unused end of a row's last overflow page, by SQLite's file format."""
        usable = self._usable
        size, start = _varint(page, place)
        if kind == TABLE_LEAF:
            _, start = _varint(page, start)
            most = usable - 35
        else:
            most = (usable - 12) * 64 // 255 - 23
        if size <= most:
            return
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        (number,) = struct.unpack_from(">I", page, start + local)
        rest = size - local
        while rest > usable - 4:
            (number,) = struct.unpack_from(">I", self._read(number))
            rest -= usable - 4
        yield from self._unless_zero(number, self._read(number), 4 + rest, self._page_bytes)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A SQLite varint, and the offset behind it."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | page[place] & 0x7F
        if page[place] < 0x80:
            return value, place + 1
    return value << 8 | page[at + 8], at + 9
