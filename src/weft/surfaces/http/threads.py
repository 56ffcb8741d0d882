"""Threads for calls, beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from weft.surfaces.fair_threads import FairThreads

THREADS: Final = 8
MAX_WAITING: Final = 256
MAX_WAITING_EACH: Final = 64  # of one caller

Done = TypeVar("Done")


class TooManyCalls(Exception):
    """The queue for a thread is full."""


class CallThreads:
    """Threads that live as long as the server, because the store keeps a connection per thread.

    One caller has at most half of them, and callers take turns. At most `most` calls wait, `each` of one caller.
    """

    def __init__(self, threads: int = THREADS, most: int = MAX_WAITING, each: int = MAX_WAITING_EACH) -> None:
        self._threads = FairThreads(threads, share=max(1, threads // 2), name="weft-http")
        self._most, self._each = most, each
        self.taken = 0  # calls that run or wait; changed only on the event loop

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a thread."""
        return self._threads.waiting

    @property
    def full(self) -> bool:
        """Whether new calls are refused."""
        return self.waiting >= self._most

    async def run(self, whose: str, work: Callable[[], Done]) -> Done:
        """Runs work for a caller on a thread. Raises TooManyCalls at once when the queue is full."""
        if self._threads.waiting_of(whose) >= self._each or self.full:
            raise TooManyCalls
        self.taken += 1
        try:
            future = self._threads.submit(whose, work)
            future.add_done_callback(self._over(asyncio.get_running_loop()))
        except RuntimeError:  # closed
            self.taken -= 1
            raise TooManyCalls from None
        return await asyncio.wrap_future(future)

    def _over(self, loop: asyncio.AbstractEventLoop) -> Callable[[object], None]:
        """Counts when the work ends, which may be after the client has disconnected."""

        def over() -> None:
            self.taken -= 1

        def told(_: object) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(over)

        return told

    def close(self) -> None:
        """Refuses new work, cancels queued work, and waits for running work."""
        self._threads.close()
