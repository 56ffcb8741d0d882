"""Reading a configuration file as it is, and writing it so that it is never half written."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.errors import Conflict, Invalid, ReadOnly
from weft.instants import Clock, to_iso

MAX_BYTES: Final = 64 * 1024 * 1024
MARK: Final = ".weft-backup-"


class Held(Struct, frozen=True, kw_only=True):
    """A file as it was read: its bytes, or None if there was none."""

    path: Path
    data: bytes | None

    @property
    def text(self) -> str:
        """Its words without a byte order mark; nothing if there is no file."""
        return (self.data or b"").removeprefix(codecs.BOM_UTF8).decode()

    def encoded(self, text: str) -> bytes:
        """Another text in the form of this file."""
        begin = codecs.BOM_UTF8 if (self.data or b"").startswith(codecs.BOM_UTF8) else b""
        return begin + text.encode()


def read(path: Path) -> Held:
    """Reads a file. Raises Invalid if it is no file, no UTF-8 text or too large, ReadOnly if it may not be read."""
    try:
        data = _bytes(path)
    except OSError as problem:
        raise ReadOnly(f"{path} cannot be read: {problem.strerror}", hint="mend its permissions") from problem
    if data is not None and len(data) > MAX_BYTES:
        raise Invalid(f"{path} is larger than {MAX_BYTES:,} bytes")
    try:
        (data or b"").decode()
    except UnicodeDecodeError as problem:
        line = (data or b"")[: problem.start].count(b"\n") + 1
        raise Invalid(
            f"{path}: line {line} is not UTF-8", hint="save the file as UTF-8, then run this again"
        ) from problem
    return Held(path=path, data=data)


def _bytes(path: Path) -> bytes | None:
    """What a regular file holds; None if there is none. Nothing else is opened: a pipe or a device would not end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise Invalid(f"{path} is {what}", hint="move it away, then run this again")
    with open(path, "rb", opener=_without_waiting) as file:  # it may have become a pipe meanwhile
        return file.read(MAX_BYTES + 1)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def may_write(held: Held) -> None:
    """Raises ReadOnly, with the reason, if this file could not be replaced or made."""
    target = _target(held.path)
    if held.data is not None and not target.stat().st_mode & stat.S_IWUSR:
        raise ReadOnly(f"{held.path} is read-only", hint=f"`chmod u+w {target}` if it is yours to change")
    there = next(each for each in target.parents if each.exists())
    if not there.is_dir():
        raise ReadOnly(f"{there} is not a directory: {held.path} cannot be made", hint="move it away")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ReadOnly(f"{there} cannot be written", hint="mend its permissions, or choose another --scope")


def replace(held: Held, data: bytes, *, private: bool) -> None:
    """Puts new bytes in place of what was read, all or nothing. A link stays a link: its target is replaced.

    Raises Conflict if the file is not as it was read any more. `private` is for a file that is new: only its owner
    may read it.
    """
    _unchanged(held)
    target = _target(held.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    _swap(target, data, before=target.stat() if held.data is not None else None, private=private)


def remove(held: Held) -> None:
    """Deletes a file; a link to it stays, it was not ours. Raises Conflict if it is not as it was read any more."""
    _unchanged(held)
    _target(held.path).unlink()


def back_up(held: Held, clock: Clock) -> Path:
    """A copy beside the file, with its permissions, under a name that sorts by time and is nobody's yet."""
    assert held.data is not None
    moment = to_iso(clock.now_us()).replace("-", "").replace(":", "")[:15]
    for number in range(1, 1000):
        name = f"{held.path.name}{MARK}{moment}" + (f"-{number}" if number > 1 else "")
        copy = held.path.with_name(name)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(held.data)
            copy.chmod(stat.S_IMODE(held.path.stat().st_mode))
            return copy
    raise Conflict(f"{held.path} has 999 backups of this second", hint="remove some of them")


def other_names(held: Held) -> int:
    """How many other names (hard links) a file has: they keep what it held when it is replaced."""
    return 0 if held.data is None else _target(held.path).stat().st_nlink - 1


def backups(path: Path) -> list[Path]:
    """The backups beside a file, newest first."""
    if not path.parent.is_dir():
        return []
    begin = path.name + MARK
    return sorted((each for each in path.parent.iterdir() if each.name.startswith(begin)), reverse=True)[:100]


def prune(path: Path, *, up_to: Path) -> None:
    """Removes the directories that a deleted file leaves empty, below `up_to`."""
    for each in path.parents:
        if each == up_to or up_to not in each.parents or each.is_symlink():
            return
        try:
            each.rmdir()
        except OSError:  # not empty, or not ours to remove
            return


def _target(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as problem:
        raise ReadOnly(f"{path} is a link that leads nowhere", hint="remove the link") from problem


def _unchanged(held: Held) -> None:
    if read(held.path).data != held.data:
        raise Conflict(f"{held.path} was changed meanwhile; it is as it was then", hint="run this again")


def _swap(target: Path, data: bytes, *, before: os.stat_result | None, private: bool) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".weft", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(stat.S_IMODE(before.st_mode) if before else 0o600 if private else 0o644)
        if before is not None and hasattr(os, "chown"):
            with contextlib.suppress(OSError):  # only the superuser may give files away
                os.chown(fresh, before.st_uid, before.st_gid)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
