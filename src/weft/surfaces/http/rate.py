"""How often somebody may come: so many times within any stretch of so many seconds, and not once more."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import Final

MAX_KEPT: Final = 10_000  # of whom counts are kept at once: as many as there can be tokens


class Window:
    """Counts who came when. In any `seconds`, each key is let in `limit` times; who is refused is not counted.

    The last `limit` times are kept for each key that came within `seconds`, of MAX_KEPT keys at most. Times are
    monotonic seconds. One thread only.
    """

    def __init__(self, limit: int, seconds: float, *, most: int = MAX_KEPT) -> None:
        self._limit, self._seconds, self._most = limit, seconds, most
        self._rings: OrderedDict[str, _Ring] = OrderedDict()  # who came last is last

    def __len__(self) -> int:
        return len(self._rings)

    def take(self, key: str, now_s: float) -> float:
        """Lets somebody in and returns 0; or lets nobody in, and returns after how many seconds it would."""
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
        """After how many seconds this key would be let in; 0 for at once."""
        self._forget(now_s)
        ring = self._rings.get(key)
        return 0.0 if ring is None else max(0.0, ring.first(self._limit) + self._seconds - now_s)

    def _forget(self, now_s: float) -> None:
        """Lets go of those who have not come for so long that nothing of them counts."""
        while self._rings:
            key, ring = next(iter(self._rings.items()))
            if ring.last + self._seconds > now_s:
                return
            del self._rings[key]


class _Ring:
    """The last times of one key, in a list that begins again when it is full."""

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
        """The time that has to be long enough ago: that of the `limit`-th visit back; long ago if there is none."""
        return self._times[self._next] if len(self._times) >= limit else float("-inf")
