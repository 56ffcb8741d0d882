"""Times: integers of microseconds since 1970 (UTC) inside, ISO 8601 at the edges.

Integers compare, index and subtract exactly; the written form is fixed-width, so it sorts as text too.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Protocol

from weft.core.errors import Invalid

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MIN_INSTANT_US = -62_135_596_800_000_000  # 0001-01-01
MAX_INSTANT_US = 253_402_300_799_999_999  # 9999-12-31, the last microsecond
_PARTIAL = re.compile(r"^(\d{4})(?:-(\d{2}))?$")


class Clock(Protocol):
    """The current time. The only source of 'now' in weft."""

    def now_us(self) -> int:
        """Microseconds since 1970, UTC. May step back; the log never does."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_us(self) -> int:
        return time.time_ns() // 1000


@lru_cache(maxsize=4096)
def to_iso(instant_us: int) -> str:
    """`2026-05-08T09:30:00.000000Z`: always UTC, always six decimals."""
    moment = EPOCH + timedelta(microseconds=instant_us)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}Z".rjust(27, "0")


def from_datetime(moment: datetime) -> int:
    """A datetime as microseconds; one without a zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND


def parse_instant(text: str, *, field: str = "time") -> int:
    """Reads ISO 8601: a year, a month, a date, or a date and time with or without a zone (then UTC).

    Raises Invalid for a date that does not exist and for anything else that is not a time.
    """
    written = text.strip()
    try:
        if partial := _PARTIAL.match(written):
            return from_datetime(datetime(int(partial[1]), int(partial[2] or 1), 1, tzinfo=UTC))
        if len(written) == 10:
            day = date.fromisoformat(written)
            return from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))
        instant_us = from_datetime(datetime.fromisoformat(written))
        if not MIN_INSTANT_US <= instant_us <= MAX_INSTANT_US:
            raise OverflowError("its zone takes it out of the years 1 to 9999")
        return instant_us
    except (ValueError, OverflowError) as problem:
        # Python names the part of a date that does not exist; its words for text that is no date at all help nobody.
        told = "" if "isoformat" in str(problem) else f" ({problem!s:.80})"
        raise Invalid(
            f"{field} is not a moment in time: {text[:60]!r}{told}",
            hint="write 2026-05-08, 2026-05-08T09:30:00Z, yesterday or last Friday",
        ) from problem
