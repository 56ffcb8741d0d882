"""Files of derived indexes: immutable, memory-mapped, published by rename, made again when lost or damaged.

Each is a directory `<name>-<watermark>` beside the account's database, with a `meta.json` that says what belongs in
it. It is written under another name, synced, then renamed: a reader sees a whole generation or none. One process at a
time publishes, under a lock that the kernel drops if it dies.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

META = "meta.json"
LOCK = "indexer.lock"
FORMAT = 1


class Generation(Struct, frozen=True, kw_only=True):
    """One published index."""

    path: Path
    watermark: int
    meta: dict[str, Any]


class Generations:
    """The generations of one name in one directory."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory, self._name = directory, name

    def latest(self) -> tuple[Generation | None, tuple[str, ...]]:
        """The newest whole generation, and a note for each that was found damaged and put away."""
        notes: list[str] = []
        for path in self._published():
            meta = _read_meta(path)
            if meta is not None:
                return Generation(path=path, watermark=meta["watermark"], meta=meta), tuple(notes)
            notes.append(f"the index {path.name} was damaged and will be made again")
            self.discard(path)
        return None, tuple(notes)

    def _published(self) -> list[Path]:
        found = [path for path in self._directory.glob(f"{self._name}-*") if _number(path) is not None]
        return sorted(found, key=lambda path: _number(path) or 0, reverse=True)

    def discard(self, path: Path) -> None:
        """Puts a damaged generation out of the way. On a read-only disk it stays and is passed over again."""
        with suppress(OSError):
            shutil.rmtree(path)

    def publish(self, watermark: int, write: Callable[[Path], dict[str, Any]]) -> Generation:
        """Writes a generation beside, syncs it, renames it into place, and removes the older ones."""
        self._directory.mkdir(exist_ok=True)
        beside = self._directory / f".{self._name}-{watermark}.{os.getpid()}.part"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        try:
            details = write(beside)
            files = {file.name: file.stat().st_size for file in beside.iterdir()}
            sums = {file.name: checksum(file) for file in beside.iterdir()}
            meta = {"format": FORMAT, "watermark": watermark, "files": files, "sums": sums, **details}
            (beside / META).write_text(json.dumps(meta), encoding="utf-8")
            for file in beside.iterdir():
                _sync(file)
            _sync(beside)
            target = self._directory / f"{self._name}-{watermark}"
            shutil.rmtree(target, ignore_errors=True)
            beside.rename(target)
            _sync(self._directory)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        for older in self._published():
            if (_number(older) or 0) < watermark:
                self.discard(older)  # readers that have it mapped keep their pages
        return Generation(path=target, watermark=watermark, meta=meta)


@contextmanager
def indexer_lock(directory: Path) -> Iterator[bool]:
    """True for the one process that may publish now; False if another is at it."""
    directory.mkdir(exist_ok=True)
    with (directory / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)


def is_sound(generation: Generation) -> bool:
    """Whether every file holds what was written. Asked once, before a file is mapped: a damaged index can crash."""
    try:
        return all(checksum(generation.path / name) == total for name, total in generation.meta["sums"].items())
    except (OSError, KeyError, AttributeError):
        return False


def checksum(file: Path) -> int:
    """The sum of a file's words: as quick as memory, and any flipped bit changes it."""
    if file.stat().st_size == 0:
        return 0
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        whole = len(mapped) // 8 * 8
        words = np.frombuffer(mapped, np.uint64, count=whole // 8)
        total = int(words.sum(dtype=np.uint64))
        del words  # or the map could not be closed
        return (total + int.from_bytes(mapped[whole:], "little")) % (1 << 64)


def _number(path: Path) -> int | None:
    written = path.name.rpartition("-")[2]
    return int(written) if written.isdigit() and not path.name.startswith(".") else None


def _read_meta(path: Path) -> dict[str, Any] | None:
    """What belongs in the generation, or None if something is missing or has another size."""
    try:
        meta = json.loads((path / META).read_text(encoding="utf-8"))
        whole = all((path / name).stat().st_size == size for name, size in meta["files"].items())
        sound = whole and meta["format"] == FORMAT and isinstance(meta["watermark"], int)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return meta if sound else None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
