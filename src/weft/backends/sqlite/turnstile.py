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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.backends.sqlite.directory import OWNERS_FILE
from weft.errors import Busy, Conflict, StoreError

try:
    import fcntl

    HAS_FLOCK = True
except ImportError:
    HAS_FLOCK = False

WAIT_S = 5.0
IDLE_S = 2.0  # a thread that waited for turns ends when it has not been needed for so long


class Turnstile:
    """One account's turnstile. Threads may share one, and several may stand on the same files."""

    def __init__(self, directory: Path, account: str) -> None:
        self._files = (directory / f"{account}.queue", directory / f"{account}.lock")
        self._account = account
        self._own = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The block runs while no other writer's does. Raises Busy after WAIT_S, StoreError inside another turn."""
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
        """The lock's file descriptor, or None where turns cannot be had."""
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
                f"the turn to write to {self._account} did not come in {WAIT_S:g} s",
                hint="another process is writing, or stopped in the middle of it; try again",
            )
        return waiter.descriptor


@contextmanager
def alone(path: Path, what: str) -> Iterator[None]:
    """The block runs while no other one on this file does. Raises Conflict at once, naming `what`, if one does.

    Where there is no `flock`, or the file cannot be made, nobody is held off.
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
    """Stands in the queue for one thread, in another: nothing else can stop waiting for a `flock` after a while.

    Given up, it stays where it stands: the next wait goes on there. If its turn comes and nobody waits, it is dropped.
    """

    def __init__(self, files: tuple[Path, Path]) -> None:
        self.descriptor: int | None = None
        self._files = files
        self._mutex = threading.Lock()
        self._asked, self._came = threading.Semaphore(0), threading.Semaphore(0)
        self._running = self._standing = self._wanted = False

    def wait(self) -> bool:
        """True once the turn has come (`descriptor` is its lock), False if it did not in WAIT_S."""
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
        threading.Thread(target=self._serve, name="weft-turnstile", daemon=True).start()

    def _give_up(self) -> None:
        with self._mutex:
            self._wanted = False
            if self._came.acquire(blocking=False) and self.descriptor is not None:  # it came just now
                _drop(self.descriptor)

    def _serve(self) -> None:
        while self._running:
            try:
                descriptor = _pass_through(self._files, fcntl.LOCK_EX)
            except OSError:  # what worked a moment ago does no more: SQLite's own lock has to do
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
    """Unlocks, even where a child process was forked with a copy of the descriptor."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
