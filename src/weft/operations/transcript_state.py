"""How far files of other programs were read: a small file beside the store for each, so that none is read twice.

Losing it loses nothing: turns have ids, and one that stands is not written again. It holds no words. Beside them stands
which conversations were erased, by a digest of their names: their files do not bring them back.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from weft.config import Settings
from weft.errors import NotFound
from weft.transcripts.bundles import members, unwrapped

PLACE: Final = "transcripts"
TAIL_BYTES: Final = 4_096
MAX_STATE_BYTES: Final = 1 << 20
ERASED: Final = "erased"
_MESSAGE: Final = re.compile(r"(.+)#\d{5}", re.DOTALL)


class Reached(Struct, frozen=True, kw_only=True):
    """How far a file was read. `tail` is a digest of the bytes before `offset`: a file that was rewritten differs.

    `turns` are the last numbers taken in its conversations then: a store that has fewer is not the one that was
    written to. `known` turns of so many `conversations` were taken. `modified_ns` and `size` tell a file that stands as
    it was. `alone` conversations of one message were left out of it. `mark` is what its own conversation has behind the
    file's name, where another file had that first.
    """

    offset: int = 0
    tail: str = ""
    size: int = 0
    modified_ns: int = 0
    known: int = 0
    conversations: int = 0
    alone: int = 0
    mark: str = ""
    turns: dict[str, int] = field(default_factory=dict)


class Progress:
    """What was reached in one file, for one account and project. Without a store of files nothing is kept."""

    def __init__(self, settings: Settings, path: Path, *names: str | None) -> None:
        key = "\x00".join((settings.account, str(path), *(each or "" for each in names)))
        place = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = path
        directory = _directory(settings)
        self._file = directory / f"{place}.json" if directory is not None else None

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
    """Size and time of a file, by which it is told whether it changed; of a folder, those of what is in it.

    Raises NotFound where it is gone.
    """
    try:
        if not path.is_dir():
            seen = path.stat()
            return seen.st_size, seen.st_mtime_ns
        folder = unwrapped(path)
        inside = [(folder / each).stat() for each in members(folder).files]
    except OSError as problem:
        raise NotFound(f"there is no {path} that can be read", hint="check the path") from problem
    return sum(each.st_size for each in inside) + len(inside), max((each.st_mtime_ns for each in inside), default=0)


def conversations_in(ids: Collection[str]) -> tuple[str, ...]:
    """Which of these nodes are whole conversations: those that stand there together with one of their turns."""
    named = {found[1] for each in ids if (found := _MESSAGE.fullmatch(each))}
    return tuple(sorted(named.intersection(ids)))


def leave_erased(settings: Settings, conversations: Collection[str]) -> bool:
    """Notes by digests that conversations were erased. False where the store is in no directory of files."""
    directory = _directory(settings)
    if directory is None or not directory.parent.is_dir():
        return False
    (directory / ERASED).mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in conversations:
        (directory / ERASED / _digest(settings, each)).touch(mode=0o600)
    return True


def is_erased(settings: Settings, conversation: str) -> bool:
    """Whether a conversation of this name was erased."""
    directory = _directory(settings)
    return directory is not None and (directory / ERASED / _digest(settings, conversation)).is_file()


def forget_reached(settings: Settings, conversations: Collection[str]) -> None:
    """Removes what is known of files that held one of these: it names them."""
    directory, names = _directory(settings), set(conversations)
    for file in directory.glob("*.json") if directory is not None and names else ():
        with contextlib.suppress(OSError):
            try:
                stays = names.isdisjoint(msgspec.json.decode(file.read_bytes(), type=Reached).turns)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                stays = False  # whatever it holds
            if not stays:
                file.unlink()


def _directory(settings: Settings) -> Path | None:
    scheme, _, rest = settings.store.partition("://")
    return Path(rest).expanduser() / PLACE if scheme == "sqlite" else None


def _digest(settings: Settings, conversation: str) -> str:
    return hashlib.sha256(f"{settings.account}\x00{conversation}".encode("utf-8", "replace")).hexdigest()[:32]


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
