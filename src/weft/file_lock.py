"""Changing a file that several processes share: a lock that dies with who holds it, and a whole new file."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from weft.errors import Busy

LOOK_S: Final = 0.01


@contextmanager
def locked(path: Path, *, wait_s: float) -> Iterator[None]:
    """Holds the lock of a file. Raises Busy if another process holds it all the while, ImportError where the system has
    no such locks.
    """
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
    """The same; where the system has no such locks (Windows), of two who change it at once the last counts."""
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError:
        yield
        return
    with locked(path, wait_s=wait_s):
        yield


def replace_whole(path: Path, raw: bytes) -> None:
    """Puts these bytes in a file's place, for its owner alone. Who dies over it leaves the old file or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(raw)
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
