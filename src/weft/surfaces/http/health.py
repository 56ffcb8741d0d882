"""Whether the server is alive, and whether it can serve: without a token, so without a path, a name or a count."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from weft.errors import WeftError
from weft.surfaces.callers import Callers
from weft.surfaces.http.crew import Crew, Crowded
from weft.tokens import TokenBook

FRESH_SECONDS: Final = 1.0  # anybody may ask, and as often as they like: the store is asked once in a while

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
    """Answers `/health` and `/ready`."""

    def __init__(self, callers: Callers, book: TokenBook, crew: Crew, drain: Drain) -> None:
        self._callers, self._book, self._crew, self._drain = callers, book, crew, drain
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
            try:
                self._checks = await self._crew.run(self._check)
            except Crowded:
                self._checks, self._checked_s = (("threads", "more calls wait than can be served"),), float("-inf")
        return _lines(503 if any(problem for _, problem in self._checks) else 200, self._checks)

    def _check(self) -> Checks:
        return (("store", self._store()), ("tokens", self._tokens()), ("threads", ""), ("server", ""))

    def _store(self) -> str:
        """Errors are told by their code: messages name paths."""
        try:
            memory = self._callers.operator()
            memory.loom.store.head(memory.loom.viewer)
        except WeftError as problem:
            return problem.code
        return ""

    def _tokens(self) -> str:
        try:
            self._book.tokens()
        except WeftError as problem:
            return problem.code
        return ""


def _lines(status: int, checks: Checks, **headers: str) -> Response:
    text = "".join(f"{name}: {problem or 'ok'}\n" for name, problem in checks)
    return PlainTextResponse(text, status_code=status, headers={"cache-control": "no-store", **headers})
