"""Progress of long work, from its thread to the client that asked for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession

from weft.runtime.call_context import Progress, no_progress

PAUSE_SECONDS: Final = 0.2  # between two notifications: nobody reads faster
MESSAGE_CHARACTERS: Final = 200


@asynccontextmanager
async def progress_to(context: ServerRequestContext) -> AsyncIterator[Progress]:
    """A call's progress function, for use from any thread; it reaches clients that sent a progress token.

    Notifications only increase, as the protocol demands, and none is sent after the block ends. A newer one replaces
    those that a slow client has not taken, so it delays nothing.
    """
    if context.meta is None or context.meta.get("progress_token") is None:
        yield no_progress
        return
    meter = _Meter(asyncio.get_running_loop())
    async with anyio.create_task_group() as group:
        group.start_soon(meter.send, context.session)
        yield meter.report
        group.cancel_scope.cancel()


class _Meter:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._news = loop, asyncio.Event()
        self._latest: tuple[float, float | None, str] | None = None
        self._what, self._done, self._before = "", 0, 0
        self._last_s = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        """Called on the thread of the work. A new part counts on from the end of the one before it."""
        if what != self._what or done < self._done:
            self._before += self._done
            self._what, self._done = what, 0
        self._done = max(self._done, done)
        now = time.monotonic()
        if now - self._last_s < PAUSE_SECONDS and not 0 < total <= done:
            return
        self._last_s = now
        most = float(self._before + total) if total >= self._done and total > 0 else None
        of = f" of {total:,}" if total > 0 else ""
        news = (float(self._before + self._done), most, f"{what} {done:,}{of}"[:MESSAGE_CHARACTERS])
        try:
            self._loop.call_soon_threadsafe(self._take, news)
        except RuntimeError:  # the loop is over: nobody is left to tell
            return

    def _take(self, news: tuple[float, float | None, str]) -> None:
        self._latest = news
        self._news.set()

    async def send(self, session: ServerSession) -> None:
        """Sends new progress until it is cancelled."""
        sent = 0.0
        while True:
            await self._news.wait()
            self._news.clear()
            if self._latest is not None and self._latest[0] > sent:
                sent, total, message = self._latest
                await session.report_progress(sent, total, message)
                await asyncio.sleep(PAUSE_SECONDS)
