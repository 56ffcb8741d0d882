"""The right to change a file that several processes share: a lock beside it, which dies with who holds it."""

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
