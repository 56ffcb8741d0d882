"""Threads on which calls run, beside the one loop that speaks HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

THREADS: Final = 8
MAX_WAITING: Final = 256

Done = TypeVar("Done")


class Crowded(Exception):
    """More calls wait for a thread than may."""


class Crew:
    """Runs work on threads. They live as long as the server, because the store keeps a connection per thread.

    At most `most` calls wait; one more is refused, because a queue without an end only makes everybody late.
    """

    def __init__(self, threads: int = THREADS, most: int = MAX_WAITING) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="weft-http")
        self._threads, self._most = threads, most
        self.taken = 0  # calls that run or wait; changed by the loop alone

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread."""
        return max(0, self.taken - self._threads)

    async def run(self, work: Callable[[], Done]) -> Done:
        """Does the work on a thread. Raises Crowded, at once, when too many wait."""
        if self.waiting >= self._most:
            raise Crowded
        self.taken += 1
        try:
            future = self._pool.submit(work)
            future.add_done_callback(self._over(asyncio.get_running_loop()))
        except RuntimeError:  # it is closed
            self.taken -= 1
            raise Crowded from None
        return await asyncio.wrap_future(future)

    def _over(self, loop: asyncio.AbstractEventLoop) -> Callable[[object], None]:
        """Counted when the work ends, which may be after whoever asked for it has gone."""

        def over() -> None:
            self.taken -= 1

        def told(_: object) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(over)

        return told

    def close(self) -> None:
        """Takes no more work, drops what waits, and waits for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)
