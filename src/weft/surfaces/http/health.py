"""Whether the server is alive, and whether it can serve: without a token, so without a path, a name or a count."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from weft.config import Settings
from weft.errors import WeftError
from weft.surfaces.callers import Callers
from weft.surfaces.http.crew import Crew
from weft.tokens import TokenBook

FRESH_SECONDS: Final = 1.0  # anybody may ask, and as often as they like: the store is asked once in a while
READY_SECONDS: Final = 5.0  # a store that has not answered by then does not serve
LEAST_BYTES: Final = 1_048_576  # on the disk: with less, a write may fail at any moment

Checks = tuple[tuple[str, str], ...]  # a part, and what is wrong with it, if anything is


class Drain:
    """Whether the server is shutting down. Begun once, by the first signal, on the loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def begun(self) -> bool:
        return self._event.is_set()

    def begin(self) -> None:
        """From now on nothing new is begun."""
        self._event.set()

    async def wait(self) -> None:
        """Until it begins."""
        await self._event.wait()


class Health:
    """Answers `/health` and `/ready`. It has a thread of its own, so that no caller's work is waited for."""

    def __init__(self, callers: Callers, book: TokenBook, crew: Crew, drain: Drain) -> None:
        self._callers, self._book, self._crew, self._drain = callers, book, crew, drain
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weft-ready")
        self._asked: Future[Checks] | None = None
        self._checked_s = float("-inf")
        self._checks: Checks = (("store", "not asked yet"),)

    async def health(self, request: Request) -> Response:
        """The process answers: that is all it says."""
        return _lines(200, (("weft", ""),))

    async def ready(self, request: Request) -> Response:
        """Whether calls can be served, with a line for each part that it takes."""
        if self._drain.begun:
            return _lines(503, (("server", "shutting down"),), connection="close")
        if time.monotonic() - self._checked_s > FRESH_SECONDS:
            self._checked_s = time.monotonic()  # before the answer is there: who asks meanwhile gets the last one
            self._checks = await self._look()
        return _lines(503 if any(problem for _, problem in self._checks) else 200, self._checks)

    def close(self) -> None:
        """Asks nothing more, and waits for what is asked."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _look(self) -> Checks:
        """Asks, or goes on waiting for what was asked before; not for ever."""
        if self._asked is None or self._asked.done():
            self._asked = self._thread.submit(self._check)
        asked = asyncio.wrap_future(self._asked)
        done, _ = await asyncio.wait((asked,), timeout=READY_SECONDS)
        return asked.result() if done else (("store", f"no answer within {READY_SECONDS:g} seconds"),)

    def _check(self) -> Checks:
        return (("store", self._store()), ("tokens", self._tokens()), ("threads", self._threads()), ("server", ""))

    def _store(self) -> str:
        """Errors are told by their code: messages name paths."""
        try:
            memory = self._callers.operator()
            memory.loom.store.head(memory.loom.viewer)
            return "disk_full" if _is_full(memory.loom.settings) else ""
        except WeftError as problem:
            return problem.code

    def _tokens(self) -> str:
        try:
            self._book.tokens()
        except WeftError as problem:
            return problem.code
        return ""

    def _threads(self) -> str:
        return "more calls wait than can be served" if self._crew.full else ""


def _is_full(settings: Settings) -> bool:
    """Whether next to nothing can be written beside the store; a store elsewhere tells by itself."""
    scheme, _, rest = settings.store.partition("://")
    if scheme != "sqlite" or not rest:
        return False
    try:
        found = os.statvfs(Path(rest).expanduser())
    except (OSError, AttributeError):  # not there yet; Windows
        return False
    return found.f_bavail * found.f_frsize < LEAST_BYTES


def _lines(status: int, checks: Checks, **headers: str) -> Response:
    text = "".join(f"{name}: {problem or 'ok'}\n" for name, problem in checks)
    return PlainTextResponse(text, status_code=status, headers={"cache-control": "no-store", **headers})
