"""Rate limits: a sliding window per key, and a window of failed tokens per address."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from weft.access.tokens import id_in

FAILURES: Final = 60  # of one address within FAILURE_SECONDS
FAILURE_SECONDS: Final = 60.0
MAX_KEPT: Final = 10_000  # keys counted at once: as many as there can be tokens


class RateWindow:
    """A sliding window: each key is admitted `limit` times in any `seconds`; refused requests do not count.

    Keeps the last `limit` times of each key, of at most `most` keys. Times are monotonic seconds. One thread only.
    """

    def __init__(self, limit: int, seconds: float, *, most: int = MAX_KEPT) -> None:
        self._limit, self._seconds, self._most = limit, seconds, most
        self._rings: OrderedDict[str, _Ring] = OrderedDict()  # least recent first

    def __len__(self) -> int:
        return len(self._rings)

    def take(self, key: str, now_s: float) -> float:
        """Admits the key and returns 0, or returns the seconds until it would be admitted."""
        wait_s = self.wait(key, now_s)
        if wait_s <= 0:
            ring = self._rings.get(key)
            if ring is None:
                ring = self._rings[key] = _Ring()
            ring.add(now_s, self._limit)
            self._rings.move_to_end(key)
            if len(self._rings) > self._most:
                self._rings.popitem(last=False)
        return wait_s

    def wait(self, key: str, now_s: float) -> float:
        """Seconds until this key would be admitted; 0 for now."""
        self._forget(now_s)
        ring = self._rings.get(key)
        return 0.0 if ring is None else max(0.0, ring.first(self._limit) + self._seconds - now_s)

    def _forget(self, now_s: float) -> None:
        """Drops the keys whose times all lie outside the window."""
        while self._rings:
            key, ring = next(iter(self._rings.items()))
            if ring.last + self._seconds > now_s:
                return
            del self._rings[key]


class _Ring:
    """A ring buffer of the last times of one key."""

    __slots__ = ("_next", "_times", "last")

    def __init__(self) -> None:
        self._times = array("d")
        self._next = 0
        self.last = 0.0

    def add(self, now_s: float, limit: int) -> None:
        if len(self._times) < limit:
            self._times.append(now_s)
        else:
            self._times[self._next] = now_s
            self._next = (self._next + 1) % limit
        self.last = now_s

    def first(self, limit: int) -> float:
        """The `limit`-th time back, which has to be outside the window; minus infinity if there is none."""
        return self._times[self._next] if len(self._times) >= limit else float("-inf")


class Failures:
    """Failed tokens by address: after FAILURES in FAILURE_SECONDS, requests from there are refused unchecked.

    Tokens that succeeded from there before are still checked: one agent with an old token must not lock out others.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._window = RateWindow(FAILURES, FAILURE_SECONDS)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def wait(self, client: str, bearer: str) -> float:
        """Seconds until this token may be tried; 0 for now."""
        wait_s = self._window.wait(client, self._monotonic())
        return wait_s if wait_s > 0 and (client, id_in(bearer)) not in self._known else 0.0

    def failed(self, client: str) -> None:
        """Counts a failure."""
        self._window.take(client, self._monotonic())

    def succeeded(self, client: str, bearer: str) -> None:
        """Remembers the address of a token, for at most MAX_KEPT."""
        key = (client, id_in(bearer))
        self._known[key] = None
        self._known.move_to_end(key)
        if len(self._known) > MAX_KEPT:
            self._known.popitem(last=False)
