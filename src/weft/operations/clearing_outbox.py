"""Taking words out of writes that wait on this disk: what is erased must not come in again, nor lie about there."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.errors import StoreError
from weft.log.canonical import canonical
from weft.operations.mentioned import spelled_out
from weft.outbox import Outbox
from weft.screen import Screen
from weft.waiting import Waiting, WaitingDraft

Mentions = Callable[[str], bool]


class Cleared(Struct, frozen=True, kw_only=True):
    """How many entries were removed, how many lost some of their events, and how many stay that cannot be opened."""

    removed: int = 0
    redacted: int = 0
    unread: int = 0


def clear_outbox(
    outbox: Outbox | None,
    mentions: Mentions,
    *,
    sessions: frozenset[str] = frozenset(),
    screen: Screen,
    write: bool,
) -> Cleared:
    """Removes entries that wait, were refused or were dropped, if what they would write mentions what is erased.

    Of an entry with other events too, these stay. `screen` opens sealed words. Unless `write`, nothing changes and it
    is only counted.
    """
    removed = redacted = unread = 0
    for file in _files(outbox):
        raw = _read(file)
        if raw is None:
            continue  # another process delivered it meanwhile: it is in the log now
        look = _Look(mentions, screen.fresh())
        left = _left(raw, look, sessions)
        if left == raw:
            unread += look.unread
            continue
        if left is None:
            removed += 1
        else:
            redacted += 1
        if write:
            _rewrite(file, left)
    return Cleared(removed=removed, redacted=redacted, unread=unread)


class _Look:
    """Looks into drafts, sealed ones as well."""

    def __init__(self, mentions: Mentions, screen: Screen) -> None:
        self.mentions, self._screen = mentions, screen

    @property
    def unread(self) -> bool:
        """Whether something could not be opened."""
        return bool(self._screen.unopened)

    def concerns(self, draft: WaitingDraft) -> bool:
        if self.mentions(_plain(msgspec.json.encode(draft))):
            return True
        if not isinstance(draft.payload, dict):
            return False
        shown = self._screen.payload(draft.payload)
        return shown != draft.payload and self.mentions(_plain(msgspec.json.encode(shown)))


def _files(outbox: Outbox | None) -> Iterator[Path]:
    """Every file of the outbox, reasons and half written ones too."""
    if outbox is None or not outbox.directory.is_dir():
        return
    for directory, _, names in os.walk(outbox.directory):
        yield from (Path(directory) / name for name in sorted(names))


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as trouble:
        raise StoreError(f"{file} cannot be read: {trouble}", hint="check the outbox's permissions") from trouble


def _left(raw: bytes, look: _Look, sessions: frozenset[str]) -> bytes | None:
    """What stays of a file: all of it, less, or nothing."""
    try:
        waiting = msgspec.json.decode(raw, type=Waiting)
    except msgspec.MsgspecError:  # a reason why the store refused one, or a damaged file
        return None if look.mentions(_plain(raw)) else raw
    if waiting.session in sessions:
        return None
    kept = tuple(each for each in waiting.drafts if not look.concerns(each))
    if len(kept) == len(waiting.drafts) and not look.mentions(waiting.problem):
        return raw
    return canonical(msgspec.to_builtins(replace(waiting, drafts=kept, problem=""))) if kept else None


def _plain(raw: bytes) -> str:
    """What is said in JSON, or in a file that is none."""
    return spelled_out(raw.decode(errors="replace"))


def _rewrite(file: Path, left: bytes | None) -> None:
    """Puts what stays in place of a file, or nothing; what was there is overwritten first."""
    try:
        if left is not None:
            draft = file.with_name(f".{file.name.lstrip('.')}.{uuid.uuid4().hex}")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as made:
                made.write(left)
                made.flush()
                os.fsync(made.fileno())
        with file.open("r+b") as old:  # opened before it goes: the name may be another's a moment later
            size = os.fstat(old.fileno()).st_size
            if left is None:
                file.unlink()
            else:
                draft.rename(file)
            old.write(b"\0" * size)
            old.flush()
            os.fsync(old.fileno())
    except FileNotFoundError:
        if left is not None:
            draft.unlink(missing_ok=True)  # delivered meanwhile: it must not wait again
    except OSError as trouble:
        raise StoreError(f"{file} cannot be rewritten: {trouble}", hint="check the outbox's permissions") from trouble
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
