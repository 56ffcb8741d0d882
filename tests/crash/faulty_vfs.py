# ruff: noqa: N802 (the methods are SQLite's, under its names)
"""Two disks that misbehave, as SQLite sees them.

`FaultyVfs` fails the Nth change of a file. `PowerLossVfs` keeps what was synced apart from what was only written, and
can say at any moment what a power cut would leave: `kill -9` cannot test that, since the kernel keeps what was written.

apsw hands the WAL's shared memory through to the real disk's code and offers no memory mapping to Python files, so
every change of a database, journal or WAL passes here, in the same WAL mode that weft always uses.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import apsw

SECTOR_BYTES = 512
WRITE, SYNC, TRUNCATE = "write", "sync", "truncate"
IO_FAULTS: Mapping[str, int] = {
    WRITE: apsw.SQLITE_IOERR_WRITE,
    SYNC: apsw.SQLITE_IOERR_FSYNC,
    TRUNCATE: apsw.SQLITE_IOERR_TRUNCATE,
}
FULL_FAULTS: Mapping[str, int] = {WRITE: apsw.SQLITE_FULL}
_names = itertools.count()


def _failure(code: int) -> apsw.Error:
    """What SQLite's own disk code would have made apsw raise."""
    made = apsw.exception_for(code)
    made.args = ("database or disk is full" if code == apsw.SQLITE_FULL else "disk I/O error",)
    return made


class _Registered(apsw.VFS):
    """A VFS over the default one, registered while its `with` lasts."""

    def __init__(self) -> None:
        self.name = f"weft-crash-{next(_names)}"
        super().__init__(self.name, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    def excepthook(self, *_: object) -> None:
        """Faults that SQLite has no way to hand on (while closing, say) are meant, not accidents."""


def _path_of(name: str | apsw.URIFilename | None) -> str:
    return name.filename() if isinstance(name, apsw.URIFilename) else name or ""


# Failing at the Nth change


class FaultyVfs(_Registered):
    """Fails the `fail_at`-th change (from 1) of those kinds that `faults` gives a result code for.

    The failing write still lands by half, as a short write would. With `stays`, every later one fails too: a disk
    that is full stays full.
    """

    def __init__(self, *, fail_at: int, faults: Mapping[str, int], stays: bool) -> None:
        super().__init__()
        self.fail_at, self.faults, self.stays = fail_at, faults, stays
        self.armed, self.fired, self.seen = True, 0, 0
        self.failed_checkpoint = False  # what failed first was moving the WAL's pages into the database

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _FaultyFile(self, name, flags)

    def due(self, kind: str, path: str) -> apsw.Error | None:
        """The failure for this change of a file, if it is its turn."""
        if not self.armed or kind not in self.faults:
            return None
        self.seen += 1
        if self.seen == self.fail_at or (self.stays and self.seen > self.fail_at):
            if not self.fired:
                self.failed_checkpoint = path.endswith(".db") and Path(f"{path}-wal").exists()
            self.fired += 1
            return _failure(self.faults[kind])
        return None


class _FaultyFile(apsw.VFSFile):
    def __init__(self, disk: FaultyVfs, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk, self._path = disk, _path_of(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if failure := self._disk.due(WRITE, self._path):
            super().xWrite(bytes(data[: len(data) // 2]), offset)
            raise failure
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        """Fails, or does nothing: no power is lost here, and thousands of real syncs take minutes."""
        if failure := self._disk.due(SYNC, self._path):
            raise failure

    def xTruncate(self, newsize: int) -> None:
        if failure := self._disk.due(TRUNCATE, self._path):
            raise failure
        super().xTruncate(newsize)


# Losing what was not synced


class _Inode:
    """A file's bytes as the platter has them, and the changes that are only in the cache."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.pending: list[tuple[int, bytes] | int] = []  # a write, or a new size

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.synced, change)
        self.pending = []

    def after_power_loss(self, chance: random.Random, kept: float) -> bytes:
        """The synced bytes with a random part of the pending ones, sector by sector, in order."""
        left = bytearray(self.synced)
        for change in self.pending:
            for piece in _sectors(change):
                if chance.random() < kept:
                    _apply(left, piece)
        return bytes(left)


def _apply(content: bytearray, change: tuple[int, bytes] | int) -> None:
    if isinstance(change, int):
        del content[change:]
        return
    offset, data = change
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def _sectors(change: tuple[int, bytes] | int) -> list[tuple[int, bytes] | int]:
    if isinstance(change, int):
        return [change]
    offset, data = change
    cuts = [0, *range(SECTOR_BYTES - offset % SECTOR_BYTES, len(data), SECTOR_BYTES), len(data)]
    return [(offset + a, data[a:b]) for a, b in itertools.pairwise(cuts) if a < b]


class PowerLossVfs(_Registered):
    """Runs as usual until the `lose_at`-th change, then the power is gone: every later call fails.

    `restore` writes what the platter holds into another directory. `kept` is the share of unsynced sectors that
    happened to reach it. With `lying`, syncs do nothing: a control that shows what these tests would notice.
    """

    def __init__(self, *, lose_at: int, lying: bool = False) -> None:
        super().__init__()
        self.lose_at, self.lying = lose_at, lying
        self.lost = False
        self.changes: Counter[str] = Counter()
        self._names: dict[str, _Inode] = {}
        self._synced_names: dict[str, _Inode] = {}

    def load(self, directory: Path) -> None:
        """Takes what lies in a directory as synced."""
        for file in directory.iterdir():
            inode = _Inode()
            inode.synced = bytearray(file.read_bytes())
            self._names[str(file)] = inode
        self.sync_names()

    def restore(self, directory: Path, *, chance: random.Random, kept: float) -> None:
        """What is left after the power came back."""
        names = self._names if chance.random() < kept else self._synced_names
        for name, inode in names.items():
            if not name.endswith("-shm"):  # shared memory, not a file on the platter
                (directory / Path(name).name).write_bytes(inode.after_power_loss(chance, kept))

    def tick(self, kind: str) -> None:
        """Counts a change; raises once the power is gone. The change that is under way then is pending, no more."""
        self.alive()
        self.changes[kind] += 1
        if self.changes.total() >= self.lose_at:
            self.lost = True

    def alive(self) -> None:
        if self.lost:
            raise _failure(apsw.SQLITE_IOERR)

    def inode(self, name: str, *, fresh: bool) -> tuple[_Inode, bool]:
        """The file of that name and whether it was made now."""
        known = self._names.get(name)
        if known is not None and not fresh:
            return known, False
        self._names[name] = made = _Inode()
        return made, True

    def sync_names(self) -> None:
        self._synced_names = dict(self._names)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        self.alive()
        return _CachedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.tick("delete")
        if self.lost:
            raise _failure(apsw.SQLITE_IOERR_DELETE)
        super().xDelete(filename, syncdir)
        self._names.pop(filename, None)
        if syncdir and not self.lying:
            self.sync_names()


class _CachedFile(apsw.VFSFile):
    def __init__(self, disk: PowerLossVfs, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = _path_of(name)
        there = Path(path).exists()
        super().__init__("", name, flags)
        self._disk = disk
        self._inode, made = disk.inode(path, fresh=not there)
        # SQLite's disk code syncs the directory at the first sync of a journal or WAL that it made.
        journal = flags[0] & (apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL)
        self._sync_directory = bool(made and journal)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.alive()
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.tick(WRITE)
        self._inode.pending.append((offset, bytes(data)))
        self._disk.alive()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.tick(TRUNCATE)
        self._inode.pending.append(newsize)
        self._disk.alive()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.tick(SYNC)
        self._disk.alive()
        if self._disk.lying:
            return
        self._inode.sync()
        if self._sync_directory:
            self._disk.sync_names()
            self._sync_directory = False
