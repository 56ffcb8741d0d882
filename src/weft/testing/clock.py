"""A manual clock."""

from __future__ import annotations

from typing import Final

START_US: Final = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US


def day(number: int) -> int:
    """Midnight of the day `number` days after START_US, or before it if negative."""
    return START_US + number * DAY_US


class ManualClock:
    """Implements `weft.core.clock.Clock`. It moves only when told to, also backwards."""

    def __init__(self, now_us: int = START_US) -> None:
        self._now_us = now_us

    def now_us(self) -> int:
        return self._now_us

    def set(self, now_us: int) -> None:
        """Sets the time."""
        self._now_us = now_us

    def step(self, by_us: int = HOUR_US) -> int:
        """Moves the time by microseconds, which may be negative; returns the new time."""
        self._now_us += by_us
        return self._now_us
