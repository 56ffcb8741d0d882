"""Deadline and pause of a served reranker: a dead server costs one query its deadline, later ones nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future

from weft.core.clock import Clock
from weft.core.errors import ModelError, WeftError
from weft.core.ports import Reranker

REST_US = 30_000_000  # pause after a failure
MAX_AT_ONCE = 8  # queries, including abandoned ones that have not ended


class RestingReranker:
    """Another reranker, with a deadline and a pause after a failure. Thread-safe."""

    def __init__(self, reranker: Reranker, clock: Clock, *, deadline_s: float) -> None:
        self.name, self.strategy = reranker.name, reranker.strategy
        self.weight, self.most = reranker.weight, reranker.most
        self._reranker, self._clock, self._deadline_s = reranker, clock, deadline_s
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_AT_ONCE)
        self._rest_until = 0
        self._problem = ""

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """The reranker's answer. Raises ModelError if it fails, is late, or is paused."""
        with self._lock:
            if self._clock.now_us() < self._rest_until:
                raise ModelError(
                    f"it failed recently and is not called for a while: {self._problem}", hint="ask again later"
                )
        try:
            return self._in_time(query, texts)
        except WeftError as problem:
            with self._lock:
                self._rest_until, self._problem = self._clock.now_us() + REST_US, problem.message
            raise

    def _in_time(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """On its own thread: socket timeouts bound each wait, never their sum."""
        ends = time.monotonic() + self._deadline_s
        late = f"{self.name} did not answer within {self._deadline_s} s"
        if not self._room.acquire(timeout=self._deadline_s):
            raise ModelError(late, hint="check that the server can keep up")
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
            raise ModelError(late, hint="check that the server can keep up") from problem
