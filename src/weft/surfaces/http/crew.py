"""Threads on which calls run, beside the one loop that speaks HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from weft.surfaces.fair import FairThreads

THREADS: Final = 8
MAX_WAITING: Final = 256
MAX_WAITING_EACH: Final = 64  # of one caller

Done = TypeVar("Done")


class Crowded(Exception):
    """More calls wait for a thread than may."""


class Crew:
    """Runs work on threads. They live as long as the server, because the store keeps a connection per thread.

    One caller has at most half of them, and callers take turns. At most `most` calls wait, and `each` of one caller;
    one more is refused, because a queue without an end only makes everybody late.
    """

    def __init__(self, threads: int = THREADS, most: int = MAX_WAITING, each: int = MAX_WAITING_EACH) -> None:
        self._threads = FairThreads(threads, share=max(1, threads // 2), name="weft-http")
        self._most, self._each = most, each
        self.taken = 0  # calls that run or wait; changed by the loop alone

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread."""
        return self._threads.waiting

    @property
    def full(self) -> bool:
        """Whether nobody's calls are taken."""
        return self.waiting >= self._most

    async def run(self, whose: str, work: Callable[[], Done]) -> Done:
        """Does the work of a caller on a thread. Raises Crowded, at once, when too many wait."""
        if self._threads.waiting_of(whose) >= self._each or self.full:
            raise Crowded
        self.taken += 1
        try:
            future = self._threads.submit(whose, work)
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
        self._threads.close()
