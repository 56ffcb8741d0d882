"""A clock that stands still until it is moved, in either direction."""

from __future__ import annotations

from typing import Final

START_US: Final = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US


def day(number: int) -> int:
    """Midnight of that day, counted from START_US; negative ones are earlier."""
    return START_US + number * DAY_US


class ManualClock:
    """Implements `weft.instants.Clock`. Standing still and stepping back are the cases a log must survive."""

    def __init__(self, now_us: int = START_US) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        return self._now_us

    def set(self, now_us: int) -> None:
        """The present becomes this moment."""
        self._now_us = now_us

    def step(self, by_us: int = HOUR_US) -> int:
        """Moves on, or with a negative number back; returns the new present."""
        self._now_us += by_us
        return self._now_us
