"""A reranker in use: given up at its deadline, and left alone for a while after it failed.

So a dead server costs one question its deadline, and the questions after it nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

from weft.errors import ModelError, WeftError
from weft.instants import Clock
from weft.ports import Reranker

REST_US = 30_000_000  # how long a failed reranker is left alone
MAX_AT_ONCE = 8  # questions, those that were given up and have not ended included


class RestingReranker:
    """Another reranker, with a deadline and its recent failure. Safe to share between threads."""

    def __init__(self, reranker: Reranker, clock: Clock, *, deadline_s: float) -> None:
        self.name, self.strategy = reranker.name, reranker.strategy
        self.weight, self.most = reranker.weight, reranker.most
        self._reranker, self._clock, self._deadline_s = reranker, clock, deadline_s
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._rest_until = 0
        self._problem = ""

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """As the reranker answers. Raises ModelError where it fails, is late, or is left alone."""
        with self._lock:
            if self._clock.now_us() < self._rest_until:
                raise ModelError(f"it failed a moment ago and is left alone: {self._problem}", hint="ask again later")
        try:
            return self._in_time(query, texts)
        except WeftError as problem:
            with self._lock:
                self._rest_until, self._problem = self._clock.now_us() + REST_US, problem.message
            raise

    def _in_time(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """On a thread of its own: timeouts of sockets bound each wait, never the sum of them."""
        ends = time.monotonic() + self._deadline_s
        late = f"{self.name} did not answer within {self._deadline_s} s"
        if not self._room.acquire(timeout=self._deadline_s):
            raise ModelError(late, hint="see that the server keeps up")
        done: Future[Sequence[float | None]] = Future()

        def work() -> None:
            try:
                done.set_result(self._reranker.rank(query, texts))
            except BaseException as problem:  # noqa: BLE001 - not lost: raised where it is waited for
                done.set_exception(problem)
            finally:
                self._room.release()

        threading.Thread(target=work, name="weft-rerank", daemon=True).start()
        try:
            return done.result(max(0.0, ends - time.monotonic()))
        except TimeoutError as problem:
            raise ModelError(late, hint="see that the server keeps up") from problem
