"""Reading, backing up and atomically replacing configuration files."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct

from weft.core.clock import Clock, to_iso
from weft.core.errors import Conflict, Invalid, ReadOnly
from weft.files.file_lock import replace_whole

MAX_BYTES: Final = 64 * 1024 * 1024
MARK: Final = ".weft-backup-"


class ConfigFile(Struct, frozen=True, kw_only=True):
    """A file as it was read; `data` is None if there was none."""

    path: Path
    data: bytes | None

    @property
    def text(self) -> str:
        """Its text without a byte order mark; empty if there is no file."""
        return (self.data or b"").removeprefix(codecs.BOM_UTF8).decode()

    def encoded(self, text: str) -> bytes:
        """A text as bytes, with a byte order mark if the file has one."""
        begin = codecs.BOM_UTF8 if (self.data or b"").startswith(codecs.BOM_UTF8) else b""
        return begin + text.encode()


def read(path: Path) -> ConfigFile:
    """Reads a file. Raises Invalid unless it is regular, UTF-8 and small enough, ReadOnly if it is unreadable."""
    try:
        data = _bytes(path)
    except OSError as problem:
        raise ReadOnly(f"{path} cannot be read: {problem.strerror}", hint="correct its permissions") from problem
    if data is not None and len(data) > MAX_BYTES:
        raise Invalid(f"{path} is larger than {MAX_BYTES:,} bytes")
    try:
        (data or b"").decode()
    except UnicodeDecodeError as problem:
        line = (data or b"")[: problem.start].count(b"\n") + 1
        raise Invalid(
            f"{path}: line {line} is not UTF-8", hint="save the file as UTF-8, then run this again"
        ) from problem
    return ConfigFile(path=path, data=data)


def _bytes(path: Path) -> bytes | None:
    """The content of a regular file; None if there is none. Pipes and devices, which may never end, are refused."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise Invalid(f"{path} is {what}", hint="move it away, then run this again")
    with open(path, "rb", opener=_without_waiting) as file:  # it may have become a pipe since
        return file.read(MAX_BYTES + 1)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def may_write(held: ConfigFile) -> None:
    """Raises ReadOnly, with the reason, if this file cannot be replaced or created."""
    target = _target(held.path)
    if held.data is not None and not target.stat().st_mode & stat.S_IWUSR:
        raise ReadOnly(f"{held.path} is read-only", hint=f"`chmod u+w {target}` if it is yours to change")
    there = next(each for each in target.parents if each.exists())
    if not there.is_dir():
        raise ReadOnly(f"{there} is not a directory, so {held.path} cannot be created", hint="move it away")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ReadOnly(f"{there} cannot be written", hint="correct its permissions, or choose another --scope")


def replace(held: ConfigFile, data: bytes, *, private: bool) -> None:
    """Replaces a file atomically; of a link, its target. Only the owner may read a new file that is `private`.

    Raises Conflict if the file has changed since it was read.
    """
    _unchanged(held)
    target = _target(held.path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if held.data is None:
        replace_whole(target, data, mode=0o600 if private else 0o644)
    else:
        before = target.stat()
        replace_whole(target, data, mode=stat.S_IMODE(before.st_mode), owner=(before.st_uid, before.st_gid))


def remove(held: ConfigFile) -> None:
    """Deletes a file; a link to it stays. Raises Conflict if the file has changed since it was read."""
    _unchanged(held)
    _target(held.path).unlink()


def back_up(held: ConfigFile, clock: Clock) -> Path:
    """Copies the file beside itself, with its permissions, under a new name that sorts by time."""
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


def other_names(held: ConfigFile) -> int:
    """Number of other hard links of a file, which keep the old content when it is replaced."""
    return 0 if held.data is None else _target(held.path).stat().st_nlink - 1


def backups(path: Path) -> list[Path]:
    """The backups beside a file, newest first."""
    if not path.parent.is_dir():
        return []
    begin = path.name + MARK
    return sorted((each for each in path.parent.iterdir() if each.name.startswith(begin)), reverse=True)[:100]


def prune(path: Path, *, up_to: Path) -> None:
    """Removes directories below `up_to` that a deleted file leaves empty."""
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
        raise ReadOnly(f"{path} is a broken link", hint="remove the link") from problem


def _unchanged(held: ConfigFile) -> None:
    if read(held.path).data != held.data:
        raise Conflict(
            f"{held.path} was changed by another program in the meantime, and was left as it is", hint="run this again"
        )
