"""How far files of other programs were read: a small file beside the store for each, so that none is read twice.

Losing it loses nothing: turns have ids, and one that stands is not written again. It holds no words.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from weft.config import Settings

PLACE: Final = "transcripts"
TAIL_BYTES: Final = 4_096
MAX_STATE_BYTES: Final = 1 << 20
MAX_FILES: Final = 200_000  # of a folder


class Reached(Struct, frozen=True, kw_only=True):
    """How far a file was read. `tail` is a digest of the bytes before `offset`: a file that was rewritten differs.

    `turns` are the last numbers taken in its conversations then: a store that has fewer is not the one that was
    written to. `known` turns of so many `conversations` were taken. `modified_ns` and `size` tell a file that stands as
    it was.
    """

    offset: int = 0
    tail: str = ""
    size: int = 0
    modified_ns: int = 0
    known: int = 0
    conversations: int = 0
    turns: dict[str, int] = field(default_factory=dict)


class Progress:
    """What was reached in one file, for one account and project. Without a store of files nothing is kept."""

    def __init__(self, settings: Settings, path: Path, *names: str | None) -> None:
        scheme, _, rest = settings.store.partition("://")
        key = "\x00".join((settings.account, str(path), *(each or "" for each in names)))
        place = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = path
        self._file = Path(rest).expanduser() / PLACE / f"{place}.json" if scheme == "sqlite" else None

    def load(self) -> Reached:
        """What was reached; nothing if that is not known, or if the file was rewritten since."""
        try:
            if self._file is None or self._file.stat().st_size > MAX_STATE_BYTES:
                return Reached()
            reached = msgspec.json.decode(self._file.read_bytes(), type=Reached)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return Reached()
        return reached if reached.tail == tail_of(self._path, reached.offset) else Reached()

    def save(self, reached: Reached) -> None:
        """Keeps it, if the store has a directory; of two that save at once the last one counts."""
        if self._file is None or not self._file.parent.parent.is_dir():
            return
        scratch = self._file.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(reached))
            scratch.replace(self._file)
        except OSError:  # then the file is read again, and what stands is found
            with contextlib.suppress(OSError):
                scratch.unlink()


def stand_of(path: Path) -> tuple[int, int]:
    """Size and time of a file, by which it is told whether it changed; of a folder, those of what is in it."""
    if not path.is_dir():
        seen = path.stat()
        return seen.st_size, seen.st_mtime_ns
    files = islice((each for depth in ("*", "*/*") for each in path.glob(depth)), MAX_FILES)
    seen_all = [each.stat() for each in files if each.is_file()]
    return sum(each.st_size for each in seen_all) + len(seen_all), max(
        (each.st_mtime_ns for each in seen_all), default=0
    )


def tail_of(path: Path, offset: int) -> str:
    """A digest of the last bytes before an offset; empty at the beginning, and where the file is shorter."""
    if offset <= 0:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(max(0, offset - TAIL_BYTES))
            raw = file.read(min(offset, TAIL_BYTES))
    except OSError:
        return ""
    return hashlib.sha256(raw).hexdigest()[:32] if len(raw) == min(offset, TAIL_BYTES) else "shorter"
