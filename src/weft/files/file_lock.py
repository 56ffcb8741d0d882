"""Changes to a file shared by several processes: a lock that ends with its holder, and atomic replacement."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

from weft.core.errors import Busy

LOOK_S: Final = 0.01
Sync = Literal["no", "bytes", "name"]


@contextmanager
def locked(path: Path, *, wait_s: float) -> Iterator[None]:
    """Holds the lock of a file. Raises Busy after `wait_s` seconds, ImportError where the system has no file locks."""
    import fcntl

    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until_s = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as problem:
                if time.monotonic() >= until_s:
                    raise Busy(f"another process is changing {path}", hint="try again in a moment") from problem
                time.sleep(LOOK_S)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def locked_if_possible(path: Path, *, wait_s: float) -> Iterator[None]:
    """The same; without file locks (Windows) the last of two concurrent changes wins."""
    try:
        import fcntl  # noqa: F401 - only whether it exists
    except ImportError:
        yield
        return
    with locked(path, wait_s=wait_s):
        yield


def replace_whole(
    path: Path, raw: bytes, *, sync: Sync = "bytes", mode: int = 0o600, owner: tuple[int, int] | None = None
) -> None:
    """Replaces a file atomically: a process that dies leaves the old file or the new one, and at most a dot file.

    `sync` says what is on the disk when it returns: nothing for sure, the bytes, or the bytes under this name. `owner`
    is a user and a group, kept where the system allows it.
    """
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(raw)
            if sync != "no":
                file.flush()
                os.fsync(file.fileno())
        if mode != 0o600:
            draft.chmod(mode)
        if owner is not None and hasattr(os, "chown"):
            with suppress(OSError):  # only the superuser may give files away
                os.chown(draft, *owner)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):  # a disk that takes no writes may take no removal
            draft.unlink(missing_ok=True)
        raise
    if sync == "name":
        sync_path(path.parent)


def sync_path(path: Path) -> None:
    """Waits until the bytes of a file, or the entries of a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Makes a directory that only its owner may enter, durably."""
    made = [each for each in (directory, *directory.parents) if not each.exists()]
    for each in reversed(made):
        each.mkdir(mode=0o700, exist_ok=True)
    for each in made:
        sync_path(each.parent)
