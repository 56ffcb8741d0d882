"""A thread pool that callers share fairly."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Done = TypeVar("Done")
Job = tuple["Future[Any]", Callable[[], Any]]


class FairThreads:
    """A pool of threads that live until `close`, because the store keeps a connection per thread. Thread-safe.

    Callers take turns (round robin), and one has at most `share` of the threads at once.
    """

    def __init__(self, threads: int, *, share: int | None = None, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=name)
        self._share = threads if share is None else share
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[Job]] = OrderedDict()  # next caller first
        self._running: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """Number of queued jobs."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    def waiting_of(self, whose: str) -> int:
        """Number of queued jobs of one caller."""
        with self._lock:
            return len(self._waiting.get(whose, ()))

    def submit(self, whose: str, work: Callable[[], Done]) -> Future[Done]:
        """Queues work for a caller, unless its future is cancelled first. Raises RuntimeError when closed."""
        future: Future[Done] = Future()
        with self._lock:
            self._waiting.setdefault(whose, deque()).append((future, work))
        self._pool.submit(self._serve)  # one per job: a job skipped for a full share is taken by a finishing thread
        return future

    def close(self, *, wait: bool = True) -> None:
        """Refuses new work and cancels queued work; with `wait`, waits for running work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            dropped = [future for jobs in self._waiting.values() for future, _ in jobs]
            self._waiting.clear()
        for future in dropped:
            future.cancel()
        self._pool.shutdown(wait=wait)

    def _serve(self) -> None:
        while (taken := self._take()) is not None:
            whose, (future, work) = taken
            try:
                _do(future, work)
            finally:
                with self._lock:
                    self._running[whose] -= 1
                    if not self._running[whose]:
                        del self._running[whose]

    def _take(self) -> tuple[str, Job] | None:
        with self._lock:
            for whose, jobs in self._waiting.items():
                if self._running[whose] < self._share:
                    job = jobs.popleft()
                    self._waiting.move_to_end(whose)
                    if not jobs:
                        del self._waiting[whose]
                    self._running[whose] += 1
                    return whose, job
        return None


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as problem:  # noqa: BLE001 - passed on through the future
        future.set_exception(problem)
    else:
        future.set_result(result)
