"""Writers take turns: a turnstile of two locks across processes and threads.

SQLite's own lock is a scramble: who waits sleeps and tries again, so one process can win for seconds on end. Here a
writer takes the queue, then the lock, then drops the queue. At most one writer stands at the lock; whoever has just
left it finds the queue taken and goes behind the others.

Both are `flock`s on small empty files beside the database. The kernel drops them when a process dies, however it
dies. They only settle whose turn it is: what is written is still guarded by SQLite's lock. So where there is no
`flock` (Windows, some network disks) or the files cannot be made (a read-only directory), writers go without, and
wait as SQLite does: `BEGIN IMMEDIATE` with its busy timeout.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import Busy, StoreError

try:
    import fcntl

    HAS_FLOCK = True
except ImportError:
    HAS_FLOCK = False

WAIT_S = 5.0


class Turnstile:
    """One account's turnstile. Threads may share it; so may several of them on the same files."""

    def __init__(self, directory: Path, account: str) -> None:
        self._files = (directory / f"{account}.queue", directory / f"{account}.lock")
        self._name = account
        self._own = threading.local()
        self._left_behind: list[_Waiter] = []

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The block runs while no other writer's does. Raises Busy after WAIT_S, StoreError inside another turn."""
        if getattr(self._own, "inside", False):
            raise StoreError("a write was begun inside a write", hint="end the first one before the next")
        descriptor = self._take(time.monotonic() + WAIT_S)
        self._own.inside = True
        try:
            yield
        finally:
            self._own.inside = False
            if descriptor is not None:
                _drop(descriptor)

    def _take(self, deadline_s: float) -> int | None:
        """The lock's file descriptor, or None where turns cannot be had."""
        if not HAS_FLOCK:
            return None
        try:
            return _pass_through(*self._files, how=fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._wait(deadline_s)
        except OSError:
            return None

    def _wait(self, deadline_s: float) -> int | None:
        waiter = self._waiter()
        taken = False
        try:
            taken = waiter.wait(deadline_s - time.monotonic())
        finally:
            if not taken and waiter.leave():
                self._left_behind.append(waiter)
        if not taken:
            raise Busy(
                f"the turn to write to {self._name} did not come in {WAIT_S:g} s",
                hint="another process is writing, or stopped in the middle of it; try again",
            )
        return waiter.descriptor

    def _waiter(self) -> _Waiter:
        """One that was given up and still stands in the queue, or a new one: no more than ever waited at once."""
        while self._left_behind:
            try:
                waiter = self._left_behind.pop()
            except IndexError:  # another thread was first
                break
            if waiter.come_back():
                return waiter
        return _Waiter(self._files)


class _Waiter:
    """Stands in the queue in a thread of its own: nothing else can stop waiting for a `flock` after a while.

    Given up, it goes on waiting; once it has the lock and nobody came back for it, it drops it.
    """

    def __init__(self, files: tuple[Path, Path]) -> None:
        self.descriptor: int | None = None
        self._files = files
        self._mutex = threading.Lock()
        self._wanted = True
        self._over = threading.Event()
        threading.Thread(target=self._stand, name="weft-turnstile", daemon=True).start()

    def _stand(self) -> None:
        try:
            descriptor = _pass_through(*self._files, how=fcntl.LOCK_EX)
        except OSError:  # it worked at first: the turn is over, SQLite's own lock has to do
            descriptor = None
        with self._mutex:
            if self._wanted:
                self.descriptor = descriptor
            elif descriptor is not None:
                _drop(descriptor)
            self._over.set()

    def wait(self, seconds: float) -> bool:
        """True once its turn has come."""
        return self._over.wait(max(0.0, seconds))

    def leave(self) -> bool:
        """Nobody waits for it any more. True if it may be come back to, False if its turn came just now."""
        with self._mutex:
            self._wanted = False
            if not self._over.is_set():
                return True
        if self.descriptor is not None:
            _drop(self.descriptor)
        return False

    def come_back(self) -> bool:
        """Waits again, in its old place. False if its turn has come and gone."""
        with self._mutex:
            self._wanted = not self._over.is_set()
            return self._wanted


def _pass_through(queue: Path, lock: Path, *, how: int) -> int:
    first = _flock(queue, how)
    try:
        return _flock(lock, how)
    finally:
        _drop(first)


def _flock(path: Path, how: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _drop(descriptor: int) -> None:
    """Unlocks, even where a child process was forked with a copy of the descriptor."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
