"""Background state of a process: chosen workspaces, jobs that outlive their call, watchers.

Shared by all callers of a process.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

Kind = Literal["command", "stdio", "http"]
MAX_CHOSEN: Final = 4_096  # callers that chose a workspace; the oldest falls back to the server's own
MAX_WATCHED: Final = 16  # watched workspaces per process
MAX_WAITING: Final = 64  # queued jobs
LOOK_S: Final = 0.1  # interval of checks whether the process is idle
QUIET_S: Final = 2.0  # without activity, after which a process counts as idle
YIELD_S: Final = 1.0  # that idle work waits for calls to be answered: where they never cease, it goes on bit by bit
_log = logging.getLogger("weft.background")


class Workspace(Struct, frozen=True, kw_only=True):
    """A directory that code tools work on: its project, its source folder, patterns of ignored files."""

    root: Path
    project: str
    source_dir: str = ""
    ignore: tuple[str, ...] = ()


class Ending(Protocol):
    """Something that runs until it is stopped."""

    def stop(self) -> None:
        """Asks it to stop, without waiting."""
        ...

    def join(self, seconds: float) -> bool:
        """Waits at most `seconds` for its end; returns whether it has ended."""
        ...


class Background:
    """One per process, thread-safe. `own` is the process's own context, for work without a caller."""

    def __init__(self, kind: Kind = "command") -> None:
        self.kind: Kind = kind
        self.own: Any = None
        self.closing = threading.Event()
        self.held: dict[str, bytes] = {}  # records of jobs, for a store without a directory
        self.kept: dict[Hashable, Any] = {}  # cache of values that are expensive to compute
        self._lock = threading.Lock()
        self._chosen: OrderedDict[Hashable, Workspace] = OrderedDict()
        self._watchers: dict[Hashable, Ending] = {}
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(MAX_WAITING)
        self._worker: threading.Thread | None = None
        self._working = False
        self._stirred_s = time.monotonic()
        self._later: OrderedDict[Hashable, Callable[[], bool]] = OrderedDict()
        self._has_later = threading.Event()
        self._idler: threading.Thread | None = None
        self._reader: Any = None
        self._answering = 0
        self._answered = threading.Event()
        self._answered.set()

    @property
    def serves(self) -> bool:
        """Whether the process outlives its calls, so that work may continue after an answer."""
        return self.kind != "command"

    # ---- which workspace a caller chose

    def choose(self, caller: Hashable, workspace: Workspace | None) -> None:
        """Sets a caller's workspace; None for the process's own."""
        with self._lock:
            self._chosen.pop(caller, None)
            if workspace is not None:
                self._chosen[caller] = workspace
                if len(self._chosen) > MAX_CHOSEN:
                    self._chosen.popitem(last=False)

    def chosen(self, caller: Hashable) -> Workspace | None:
        """A caller's workspace; None for the process's own."""
        with self._lock:
            return self._chosen.get(caller)

    # ---- work that goes on

    def submit(self, work: Callable[[], None]) -> bool:
        """Queues work for the process's one job thread. Queued work is always called; it checks `closing` itself.

        False if the queue is full or the process is ending.
        """
        with self._lock:
            if self.closing.is_set():
                return False
            try:
                self._jobs.put_nowait(work)
            except queue.Full:
                return False
            if self._worker is None:
                # Lives as long as the process: the store keeps a connection per thread.
                self._worker = threading.Thread(target=self._work, name="weft-jobs", daemon=True)
                self._worker.start()
            return True

    def _work(self) -> None:
        while not (self.closing.is_set() and self._jobs.empty()):
            work = self._jobs.get()
            if work is not None:
                self._working = True
                try:
                    work()
                except Exception:  # noqa: BLE001 - jobs report their own errors; others are bugs
                    _log.exception("a job failed")
                self._working = False
                self.stir()

    # ---- work for idle times

    def stir(self) -> None:
        """Marks activity: idle work pauses while a caller waits."""
        self._stirred_s = time.monotonic()

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """A caller waits while the block runs."""
        with self._lock:
            self._answering += 1
            self._answered.clear()
        try:
            yield
        finally:
            with self._lock:
                self._answering -= 1
                if not self._answering:
                    self._answered.set()

    def let_answers_by(self) -> None:
        """Waits until no caller waits, at most YIELD_S. For idle work, between two parts of it."""
        self._answered.wait(YIELD_S)

    @property
    def is_quiet(self) -> bool:
        """Whether the process has been idle for QUIET_S seconds."""
        busy = self._working or not self._jobs.empty() or self.closing.is_set()
        return not busy and time.monotonic() - self._stirred_s > QUIET_S

    def when_quiet(self, key: Hashable, work: Callable[[], bool]) -> None:
        """Runs work on the idle thread, one at a time, and again while it returns True for more.

        The work itself returns soon after the process is no longer idle. Work queued under the same key runs once.
        """
        with self._lock:
            if self.closing.is_set():
                return
            self._later[key] = work
            self._has_later.set()
            if self._idler is None:
                self._idler = threading.Thread(target=self._idle, name="weft-quiet", daemon=True)
                self._idler.start()

    def _idle(self) -> None:
        while not self.closing.is_set():
            self._has_later.wait()
            if not self.is_quiet:
                self.closing.wait(LOOK_S)
                continue
            with self._lock:
                if not self._later:
                    self._has_later.clear()
                    continue
                key, work = self._later.popitem(last=False)
            try:
                more = work()
            except Exception:  # noqa: BLE001 - as of a job
                _log.exception("work in a quiet moment failed")
                continue
            if more:
                self.when_quiet(key, work)

    def reader(self, make: Callable[[], Any]) -> Any:
        """The process's reader of source code, made on first use. Its `end` is called when the process ends."""
        with self._lock:
            if self._reader is None:
                self._reader = make()
                if self.closing.is_set():
                    self._reader.end()
            return self._reader

    def watcher(self, place: Hashable) -> Any:
        """The watcher of a place, if there is one."""
        with self._lock:
            return self._watchers.get(place)

    def watch(self, place: Hashable, make: Callable[[], Ending]) -> Any:
        """The watcher of a place, made on first use. None if there are too many or the process is ending."""
        with self._lock:
            if place not in self._watchers:
                if self.closing.is_set() or len(self._watchers) >= MAX_WATCHED:
                    return None
                self._watchers[place] = make()
            return self._watchers[place]

    def close(self, seconds: float) -> bool:
        """Stops everything: queued work finds `closing` set, running work is awaited for at most `seconds`.

        Returns whether all of it has ended.
        """
        until_s = time.monotonic() + seconds
        with self._lock:
            self.closing.set()
            watchers, worker, idler = tuple(self._watchers.values()), self._worker, self._idler
            self._has_later.set()  # wakes it, if it waits
            reader = self._reader
        for each in watchers:
            each.stop()
        if reader is not None:
            reader.end()
        if worker is not None:
            with contextlib.suppress(queue.Full):  # then the worker is busy and sees `closing`
                self._jobs.put_nowait(None)  # wakes it, if it waits
        threads = [each for each in (worker, idler) if each is not None]
        for thread in threads:
            thread.join(max(0.0, until_s - time.monotonic()))
        ended = [each.join(max(0.0, until_s - time.monotonic())) for each in watchers]
        return all(ended) and not any(thread.is_alive() for thread in threads)


class Stopped(Exception):
    """Raised inside of work whose process ends."""
