"""Files of derived indexes: immutable, memory-mapped, published by rename, rebuilt when lost or damaged.

Each is a directory `<name>-<watermark>` beside the account's database, with a `meta.json` that lists its files and
identifies the state of the database it was built from. It is written under another name, synced, then renamed: a reader
sees a complete generation or none. One process at a time publishes, under a lock that the kernel releases if it dies.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import apsw
import numpy as np
from msgspec import Struct

from weft.backends.sqlite.files.directory import OWNERS_DIRECTORY, OWNERS_FILE, make_file
from weft.backends.sqlite.query import one
from weft.core.errors import DiskFull, ReadOnly, StoreError
from weft.files.file_lock import sync_path

META = "meta.json"
LOCK = "indexer.lock"
FORMAT = 1


class Generation(Struct, frozen=True, kw_only=True):
    """One published index."""

    path: Path
    watermark: int
    meta: dict[str, Any]


Mark = Callable[[apsw.Connection, int], str | None]


class Generations:
    """The generations of one name in one directory.

    `mark` reads the identity of the state at a watermark from the database, None if there is none: a generation is
    trusted only if its mark is the current one.
    """

    def __init__(self, directory: Path, name: str, mark: Mark) -> None:
        self._directory, self._name, self._mark = directory, name, mark

    def newer(self, db: apsw.Connection, than: int) -> tuple[Generation | None, tuple[str, ...]]:
        """The newest complete generation of this database past a watermark, and a note for each skipped one."""
        notes: list[str] = []
        for path in self._published():
            if (_number(path) or 0) <= than:
                break
            meta = _read_meta(path)
            if meta is None:
                notes.append(self.put_away(path))
                continue
            generation = Generation(path=path, watermark=meta["watermark"], meta=meta)
            match self._origin(db, generation):
                case "here":
                    return generation, tuple(notes)
                case "elsewhere":
                    self.discard(path)
                    notes.append(f"the index {path.name} belongs to another store and will be rebuilt")
                case "ahead":
                    notes.append(f"the index {path.name} is ahead of this store and was skipped")
        return None, tuple(notes)

    def _origin(self, db: apsw.Connection, generation: Generation) -> Literal["here", "elsewhere", "ahead"]:
        """A generation is ahead if it was built from more than this transaction sees: others may see it."""
        if generation.meta.get("store") != store_id(db):
            return "elsewhere"
        standing = self._mark(db, generation.watermark)
        if standing is None:
            return "ahead"
        return "here" if standing == generation.meta.get("mark") else "elsewhere"

    def discard_ahead(self, db: apsw.Connection) -> None:
        """Removes generations ahead of the database. The caller took the indexer lock before it read."""
        for path in self._published():
            meta = _read_meta(path)
            if meta is not None and self._mark(db, meta["watermark"]) is None:
                self.discard(path)

    def discard_stale(self, db: apsw.Connection) -> None:
        """Removes generations of another state of this database. The caller holds the indexer lock."""
        for path in self._published():
            meta = _read_meta(path)
            if (
                meta is None
                or self._origin(db, Generation(path=path, watermark=meta["watermark"], meta=meta)) != "here"
            ):
                self.discard(path)

    def put_away(self, path: Path) -> str:
        """Removes a damaged generation; returns the note that says so."""
        self.discard(path)
        return f"the index {path.name} was damaged and will be rebuilt"

    def _published(self) -> list[Path]:
        found = [path for path in self._directory.glob(f"{self._name}-*") if _number(path) is not None]
        return sorted(found, key=lambda path: _number(path) or 0, reverse=True)

    def discard(self, path: Path) -> None:
        """Removes a generation. On a read-only disk it stays and is skipped again."""
        with suppress(OSError):
            shutil.rmtree(path)

    def discard_all(self) -> None:
        """Removes every generation of this name."""
        for path in self._published():
            self.discard(path)

    def newest(self) -> int:
        """The newest published watermark; 0 if there is none."""
        return max((_number(path) or 0 for path in self._published()), default=0)

    def publish(self, db: apsw.Connection, watermark: int, write: Callable[[Path], dict[str, Any]]) -> Generation:
        """Writes a generation aside, syncs it, renames it into place, and removes older ones.

        Raises ReadOnly, DiskFull or StoreError on disk errors; the published generations then stay.
        """
        origin = {"store": store_id(db), "mark": self._mark(db, watermark)}
        with _translated(self._directory):
            made = self._write(watermark, origin, write)
        for older in self._published():
            if (_number(older) or 0) < watermark:
                self.discard(older)  # processes that have it mapped keep their pages
        return made

    def _write(
        self, watermark: int, origin: dict[str, str | None], write: Callable[[Path], dict[str, Any]]
    ) -> Generation:
        self._directory.mkdir(mode=OWNERS_DIRECTORY, exist_ok=True)
        beside = self._directory / f".{self._name}-{watermark}.{os.getpid()}.part"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=OWNERS_DIRECTORY)
        try:
            details = write(beside)
            files = {file.name: file.stat().st_size for file in beside.iterdir()}
            sums = {file.name: checksum(file) for file in beside.iterdir()}
            meta = {"format": FORMAT, "watermark": watermark, "files": files, "sums": sums, **origin, **details}
            (beside / META).write_text(json.dumps(meta), encoding="utf-8")
            for file in beside.iterdir():
                file.chmod(OWNERS_FILE)
                sync_path(file)
            sync_path(beside)
            target = self._directory / f"{self._name}-{watermark}"
            shutil.rmtree(target, ignore_errors=True)
            beside.rename(target)
            sync_path(self._directory)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        return Generation(path=target, watermark=watermark, meta=meta)


def remove_unfinished(directory: Path) -> None:
    """Removes partial generations of processes that died. The caller holds the indexer lock."""
    for path in directory.glob(".*.part"):
        shutil.rmtree(path, ignore_errors=True)


def sync_removals(directory: Path) -> None:
    """Syncs the directory after removals."""
    with suppress(OSError):  # some file systems cannot sync a directory
        sync_path(directory)


@contextmanager
def indexer_lock(directory: Path, name: str = LOCK) -> Iterator[bool]:
    """True for the one process that holds the lock (by default the right to publish), False for others."""
    with _translated(directory):
        directory.mkdir(mode=OWNERS_DIRECTORY, exist_ok=True)
        make_file(directory / name)
        opened = (directory / name).open("a")
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def _translated(directory: Path) -> Iterator[None]:
    """Errors of the disk leave the block as weft errors, chained."""
    try:
        yield
    except OSError as problem:
        kept = "the store works without index files: answers come from the tables"
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space left for indexes in {directory}", hint=f"free some space; {kept}") from problem
        if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnly(f"{directory} cannot be written", hint=f"check its permissions; {kept}") from problem
        raise StoreError(f"no index could be written to {directory}: {problem}", hint=kept) from problem


def store_id(db: apsw.Connection) -> str:
    """Identifies this database among others at the same path, except older copies of it."""
    found: str = one(db, "SELECT id FROM store_identity")[0]
    return found


def is_sound(generation: Generation) -> bool:
    """Whether every file matches its checksum. Checked once, before a file is mapped: a damaged index can crash."""
    try:
        return all(checksum(generation.path / name) == total for name, total in generation.meta["sums"].items())
    except (OSError, KeyError, AttributeError):
        return False


def checksum(file: Path) -> int:
    """The sum of a file's 64-bit words: at memory speed, and sensitive to any flipped bit."""
    if file.stat().st_size == 0:
        return 0
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        whole = len(mapped) // 8 * 8
        words = np.frombuffer(mapped, np.uint64, count=whole // 8)
        total = int(words.sum(dtype=np.uint64))
        del words  # otherwise the map cannot be closed
        return (total + int.from_bytes(mapped[whole:], "little")) % (1 << 64)


def _number(path: Path) -> int | None:
    written = path.name.rpartition("-")[2]
    return int(written) if written.isdigit() and not path.name.startswith(".") else None


def _read_meta(path: Path) -> dict[str, Any] | None:
    """The generation's meta, or None if a file is missing or has another size."""
    try:
        meta = json.loads((path / META).read_text(encoding="utf-8"))
        whole = all((path / name).stat().st_size == size for name, size in meta["files"].items())
        sound = whole and meta["format"] == FORMAT and isinstance(meta["watermark"], int)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return meta if sound else None
