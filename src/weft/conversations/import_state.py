"""Progress of imports: a small file per transcript next to the store, so that nothing is read twice.

It is only a cache: turns have ids, and stored ones are not written again. It contains no words. Erased conversations
are listed beside it by a digest of their names, so that imports do not bring them back.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from weft.conversations.formats.files import members, unwrapped
from weft.core.errors import NotFound
from weft.files.file_lock import replace_whole
from weft.files.paths import beside_store
from weft.runtime.settings.load import Settings

PLACE: Final = "transcripts"
TAIL_BYTES: Final = 4_096
MAX_STATE_BYTES: Final = 1 << 20
ERASED: Final = "erased"
_MESSAGE: Final = re.compile(r"(.+)#\d{5}", re.DOTALL)


class ImportState(Struct, frozen=True, kw_only=True):
    """How far a file was read. `tail` is a digest of the bytes before `offset`, to detect a rewritten file.

    `turns` are the last turn numbers of its conversations, to detect another store. `known` turns of `conversations`
    were imported. `modified_ns` and `size` detect an unchanged file. `alone` one-message conversations were left out.
    `mark` is the suffix of its own conversation if another file has the same name.
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
    """Stored progress for one file, account and project. Without a file store nothing is kept."""

    def __init__(self, settings: Settings, path: Path, *names: str | None) -> None:
        key = "\x00".join((settings.account, str(path), *(each or "" for each in names)))
        place = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = path
        directory = _directory(settings)
        self._file = directory / f"{place}.json" if directory is not None else None

    def load(self) -> ImportState:
        """The progress; empty if unknown or if the file was rewritten."""
        try:
            if self._file is None or self._file.stat().st_size > MAX_STATE_BYTES:
                return ImportState()
            reached = msgspec.json.decode(self._file.read_bytes(), type=ImportState)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return ImportState()
        return reached if reached.tail == tail_of(self._path, reached.offset) else ImportState()

    def save(self, reached: ImportState) -> None:
        """Keeps it, if the store has a directory; of two that save at once the last one counts."""
        if self._file is None or not self._file.parent.parent.is_dir():
            return
        with contextlib.suppress(OSError):  # then the file is read again, and its turns are found to be there
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            replace_whole(self._file, msgspec.json.encode(reached), sync="no")


def stand_of(path: Path) -> tuple[int, int]:
    """Size and time of a file, to detect changes; of a folder, those of its content.

    Raises NotFound if it is gone.
    """
    try:
        if not path.is_dir():
            seen = path.stat()
            return seen.st_size, seen.st_mtime_ns
        folder = unwrapped(path)
        inside = [(folder / each).stat() for each in members(folder).files]
    except OSError as problem:
        raise NotFound(f"{path} does not exist or cannot be read", hint="check the path") from problem
    return sum(each.st_size for each in inside) + len(inside), max((each.st_mtime_ns for each in inside), default=0)


def conversations_in(ids: Collection[str]) -> tuple[str, ...]:
    """The ids of whole conversations among these nodes: those that come with one of their turns."""
    named = {found[1] for each in ids if (found := _MESSAGE.fullmatch(each))}
    return tuple(sorted(named.intersection(ids)))


def leave_erased(settings: Settings, conversations: Collection[str]) -> bool:
    """Marks conversations as erased, by digest. False if the store is not in a directory."""
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
    """Removes the progress of files with one of these conversations, as it names them."""
    directory, names = _directory(settings), set(conversations)
    for file in directory.glob("*.json") if directory is not None and names else ():
        with contextlib.suppress(OSError):
            try:
                stays = names.isdisjoint(msgspec.json.decode(file.read_bytes(), type=ImportState).turns)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                stays = False  # unreadable
            if not stays:
                file.unlink()


def _directory(settings: Settings) -> Path | None:
    return beside_store(settings.store, PLACE)


def _digest(settings: Settings, conversation: str) -> str:
    return hashlib.sha256(f"{settings.account}\x00{conversation}".encode("utf-8", "replace")).hexdigest()[:32]


def tail_of(path: Path, offset: int) -> str:
    """A digest of the last bytes before an offset; empty at the beginning, "shorter" if the file is shorter."""
    if offset <= 0:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(max(0, offset - TAIL_BYTES))
            raw = file.read(min(offset, TAIL_BYTES))
    except OSError:
        return ""
    return hashlib.sha256(raw).hexdigest()[:32] if len(raw) == min(offset, TAIL_BYTES) else "shorter"
