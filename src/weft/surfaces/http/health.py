"""`/health` and `/ready`: liveness and readiness. They need no token, so they reveal no path, name or count."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from weft.access.tokens import TokenBook
from weft.core.errors import WeftError
from weft.files.paths import store_directory
from weft.runtime.settings.load import Settings
from weft.surfaces.callers import Callers
from weft.surfaces.http.threads import CallThreads

FRESH_SECONDS: Final = 1.0  # a result is reused for so long: anyone may ask at any rate
READY_SECONDS: Final = 5.0  # after which a silent store counts as not ready
LEAST_BYTES: Final = 1_048_576  # of free disk: with less, writes may fail

Checks = tuple[tuple[str, str], ...]  # each part with its problem, empty if it is fine


class Drain:
    """Whether the server is shutting down: set once, by the first signal, on the event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def begun(self) -> bool:
        return self._event.is_set()

    def begin(self) -> None:
        """Starts the shutdown: new requests are refused."""
        self._event.set()

    async def wait(self) -> None:
        """Waits for the shutdown to start."""
        await self._event.wait()


class Health:
    """Answers `/health` and `/ready` on a thread of its own, which calls cannot block."""

    def __init__(self, callers: Callers, book: TokenBook, crew: CallThreads, drain: Drain) -> None:
        self._callers, self._book, self._crew, self._drain = callers, book, crew, drain
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weft-ready")
        self._asked: Future[Checks] | None = None
        self._checked_s = float("-inf")
        self._checks: Checks = (("store", "not checked yet"),)

    async def health(self, request: Request) -> Response:
        """Liveness: the process answers."""
        return _lines(200, (("weft", ""),))

    async def ready(self, request: Request) -> Response:
        """Readiness: one line for each part."""
        if self._drain.begun:
            return _lines(503, (("server", "shutting down"),), connection="close")
        if time.monotonic() - self._checked_s > FRESH_SECONDS:
            self._checked_s = time.monotonic()  # set first: concurrent requests get the previous result
            self._checks = await self._look()
        return _lines(503 if any(problem for _, problem in self._checks) else 200, self._checks)

    def close(self) -> None:
        """Waits for a running check and starts no other."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _look(self) -> Checks:
        """Starts a check, or waits for the running one, up to READY_SECONDS."""
        if self._asked is None or self._asked.done():
            self._asked = self._thread.submit(self._check)
        asked = asyncio.wrap_future(self._asked)
        done, _ = await asyncio.wait((asked,), timeout=READY_SECONDS)
        return asked.result() if done else (("store", f"no answer within {READY_SECONDS:g} seconds"),)

    def _check(self) -> Checks:
        return (("store", self._store()), ("tokens", self._tokens()), ("threads", self._threads()), ("server", ""))

    def _store(self) -> str:
        """The store's problem by its error code: messages name paths."""
        try:
            memory = self._callers.operator()
            memory.ctx.store.head(memory.ctx.viewer)
            return "disk_full" if _is_full(memory.ctx.settings) else ""
        except WeftError as problem:
            return problem.code

    def _tokens(self) -> str:
        try:
            self._book.tokens()
        except WeftError as problem:
            return problem.code
        return ""

    def _threads(self) -> str:
        return "too many calls are waiting" if self._crew.full else ""


def _is_full(settings: Settings) -> bool:
    """Whether the disk of a local store is full."""
    directory = store_directory(settings.store)
    if directory is None:
        return False
    try:
        found = os.statvfs(directory)
    except (OSError, AttributeError):  # no directory yet; Windows
        return False
    return found.f_bavail * found.f_frsize < LEAST_BYTES


def _lines(status: int, checks: Checks, **headers: str) -> Response:
    text = "".join(f"{name}: {problem or 'ok'}\n" for name, problem in checks)
    return PlainTextResponse(text, status_code=status, headers={"cache-control": "no-store", **headers})
