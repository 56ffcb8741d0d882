"""What a process does beside its calls: workspaces that callers chose, jobs that go on after their answer, watchers.

Made by `weft.memory` and shared by all callers of a process. A command has one too: there nothing goes on by itself.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

Kind = Literal["command", "stdio", "http"]
MAX_CHOSEN: Final = 4_096  # callers that chose a workspace; one that is put out works on the server's own again
MAX_WATCHED: Final = 16  # workspaces of one process
MAX_WAITING: Final = 64  # jobs that wait for their turn
LOOK_S: Final = 0.1  # between two looks whether it is quiet
QUIET_S: Final = 2.0  # after the last stir a process is quiet
_log = logging.getLogger("weft.workshop")


class Workspace(Struct, frozen=True, kw_only=True):
    """A directory that code tools work on: its project, the folder of its sources, patterns that are passed over."""

    root: Path
    project: str
    source_dir: str = ""
    ignore: tuple[str, ...] = ()


class Ending(Protocol):
    """Something that goes on until it is told to end."""

    def stop(self) -> None:
        """Asks it to end, and does not wait."""
        ...

    def join(self, seconds: float) -> bool:
        """Waits until it has ended, so long at most; whether it has."""
        ...


class Workshop:
    """One of a process. Any thread may ask. `own` is the process's own loom, for what nobody asked for."""

    def __init__(self, kind: Kind = "command") -> None:
        self.kind: Kind = kind
        self.own: Any = None
        self.closing = threading.Event()
        self.held: dict[str, bytes] = {}  # records of jobs, where the store has no directory for them
        self.kept: dict[Hashable, Any] = {}  # what is known and takes long to find out again
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

    @property
    def serves(self) -> bool:
        """Whether it outlives its calls, so that work may go on after an answer."""
        return self.kind != "command"

    # ---- which workspace a caller chose

    def choose(self, caller: Hashable, workspace: Workspace | None) -> None:
        """Keeps what a caller chose; None for the process's own."""
        with self._lock:
            self._chosen.pop(caller, None)
            if workspace is not None:
                self._chosen[caller] = workspace
                if len(self._chosen) > MAX_CHOSEN:
                    self._chosen.popitem(last=False)

    def chosen(self, caller: Hashable) -> Workspace | None:
        """What a caller chose; None for the process's own."""
        with self._lock:
            return self._chosen.get(caller)

    # ---- work that goes on

    def submit(self, work: Callable[[], None]) -> bool:
        """Does work on the one thread that this process has for jobs, after what was submitted before. It is called in
        any case: what the process has no time for any more finds `closing` set.

        False if too much waits, or if the process is ending.
        """
        with self._lock:
            if self.closing.is_set():
                return False
            try:
                self._jobs.put_nowait(work)
            except queue.Full:
                return False
            if self._worker is None:
                # It lives as long as the process: the store keeps a connection per thread.
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
                except Exception:  # noqa: BLE001 - work tells of its own errors; what is left is a fault of weft's
                    _log.exception("a job failed")
                self._working = False
                self.stir()

    # ---- work for quiet moments

    def stir(self) -> None:
        """Something is being done that somebody waits for: what is done in quiet moments makes way, and waits."""
        self._stirred_s = time.monotonic()

    @property
    def is_quiet(self) -> bool:
        """Whether this process has nothing else to do, and had not for a while."""
        busy = self._working or not self._jobs.empty() or self.closing.is_set()
        return not busy and time.monotonic() - self._stirred_s > QUIET_S

    def when_quiet(self, key: Hashable, work: Callable[[], bool]) -> None:
        """Does work on a thread for quiet moments: one after the other, again if it says that more is left.

        The work itself ends soon after it is quiet no more. What waits under the same key is done once.
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
        """What reads source code in this process, made if there is none. Its `end` is called when the process ends."""
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
        """The watcher of a place, made if there is none. None if there are too many, or if the process is ending."""
        with self._lock:
            if place not in self._watchers:
                if self.closing.is_set() or len(self._watchers) >= MAX_WATCHED:
                    return None
                self._watchers[place] = make()
            return self._watchers[place]

    def close(self, seconds: float) -> bool:
        """Ends all of it: what waits is not begun, what runs is asked to end and waited for, so long at most.

        Whether all of it has ended.
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
            with contextlib.suppress(queue.Full):  # then it has work, and sees for itself
                self._jobs.put_nowait(None)  # wakes it, if it waits
        threads = [each for each in (worker, idler) if each is not None]
        for thread in threads:
            thread.join(max(0.0, until_s - time.monotonic()))
        ended = [each.join(max(0.0, until_s - time.monotonic())) for each in watchers]
        return all(ended) and not any(thread.is_alive() for thread in threads)
