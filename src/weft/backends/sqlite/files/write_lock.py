"""Write lock queue: first come, first served, across processes and threads.

SQLite's own lock is polled: waiters sleep and retry, so one process can win for seconds on end. Here a writer takes the
queue, then the lock, then releases the queue. At most one writer waits for the lock; the writer that just released it
finds the queue taken and goes behind the others.

Both are `flock`s on small empty files beside the database, which the kernel releases when a process dies. They only
order writers; SQLite's lock still guards the data. So without `flock` (Windows, some network disks) or without the
files (a read-only directory), writers wait as SQLite does: `BEGIN IMMEDIATE` with its busy timeout.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.backends.sqlite.files.directory import OWNERS_FILE
from weft.core.errors import Busy, Conflict, StoreError

try:
    import fcntl

    HAS_FLOCK = True
except ImportError:
    HAS_FLOCK = False

WAIT_S = 5.0
IDLE_S = 2.0  # an idle waiting thread ends after this time


class WriteQueue:
    """One account's write lock queue. Threads may share one, and several may use the same files."""

    def __init__(self, directory: Path, account: str) -> None:
        self._files = (directory / f"{account}.queue", directory / f"{account}.lock")
        self._account = account
        self._own = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Runs the block while no other writer's runs. Raises Busy after WAIT_S, StoreError inside another turn."""
        if getattr(self._own, "inside", False):
            raise StoreError("a write was begun inside a write", hint="end the first one before the next")
        descriptor = self._take()
        self._own.inside = True
        try:
            yield
        finally:
            self._own.inside = False
            if descriptor is not None:
                _drop(descriptor)

    def _take(self) -> int | None:
        """The lock's file descriptor, or None where there is no queue."""
        if not HAS_FLOCK:
            return None
        try:
            return _pass_through(self._files, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        except OSError:
            return None
        waiter: _Waiter = self._own.__dict__.setdefault("waiter", _Waiter(self._files))
        if not waiter.wait():
            raise Busy(
                f"the write lock of {self._account} was not free within {WAIT_S:g} s",
                hint="another process is writing, or was stopped while writing; try again",
            )
        return waiter.descriptor


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """Runs the block while no other block on this file does. Raises Conflict at once, naming `what`, if one does.

    Without `flock`, or if the file cannot be created, nobody is held off.
    """
    descriptor = None
    if HAS_FLOCK:
        try:
            descriptor = _flock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise Conflict(f"another process is {what}", hint="let it finish, then try again") from problem
        except OSError:
            descriptor = None
    try:
        yield
    finally:
        if descriptor is not None:
            _drop(descriptor)


class _Waiter:
    """Waits in the queue for one thread, in another thread: a blocking `flock` has no timeout.

    After a timeout it keeps its place, and the next wait continues there. A lock that arrives without a waiter is
    released.
    """

    def __init__(self, files: tuple[Path, Path]) -> None:
        self.descriptor: int | None = None
        self._files = files
        self._mutex = threading.Lock()
        self._asked, self._came = threading.Semaphore(0), threading.Semaphore(0)
        self._running = self._standing = self._wanted = False

    def wait(self) -> bool:
        """True once the lock is held (`descriptor` is its file), False if it was not free within WAIT_S."""
        self._ask()
        came = False
        try:
            came = self._came.acquire(timeout=WAIT_S)
        finally:
            if not came:
                self._give_up()
        return came

    def _ask(self) -> None:
        with self._mutex:
            self._wanted = True
            if self._standing:
                return
            self._standing = True
            if self._running:
                self._asked.release()
                return
            self._running = True
        threading.Thread(target=self._serve, name="weft-write-lock", daemon=True).start()

    def _give_up(self) -> None:
        with self._mutex:
            self._wanted = False
            if self._came.acquire(blocking=False) and self.descriptor is not None:  # it arrived just now
                _drop(self.descriptor)

    def _serve(self) -> None:
        while self._running:
            try:
                descriptor = _pass_through(self._files, fcntl.LOCK_EX)
            except OSError:  # flock stopped working: SQLite's own lock remains
                descriptor = None
            with self._mutex:
                self._standing = False
                if self._wanted:
                    self.descriptor = descriptor
                    self._came.release()
                elif descriptor is not None:
                    _drop(descriptor)
            if not self._asked.acquire(timeout=IDLE_S):
                with self._mutex:
                    self._running = self._asked.acquire(blocking=False)


def _pass_through(files: tuple[Path, Path], how: int) -> int:
    queue, lock = files
    first = _flock(queue, how)
    try:
        return _flock(lock, how)
    finally:
        _drop(first)


def _flock(path: Path, how: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, OWNERS_FILE)
    try:
        fcntl.flock(descriptor, how)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _drop(descriptor: int) -> None:
    """Unlocks, even if a forked child holds a copy of the descriptor."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
