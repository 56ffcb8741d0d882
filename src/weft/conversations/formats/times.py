"""Times as clients and chats write them. A time without a zone is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, from_datetime, parse_instant
from weft.core.errors import Invalid

UTC_ASSUMED: Final = "the times name no time zone: read as UTC"
CLOCK: Final = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,]\d{1,6})?)?"
    r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\.?)?"
)
_LEAST_MS: Final = 100_000_000_000  # a larger number is milliseconds, a smaller one seconds
_ZONE: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")


def as_time(value: Any) -> int | None:
    """Microseconds of an ISO 8601 string or a number of seconds or milliseconds; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not 0 < value < 1e17:
            return None
        found = int(value * (1_000 if value >= _LEAST_MS else 1_000_000))
        return found if MIN_INSTANT_US <= found < MAX_INSTANT_US else None
    try:
        return parse_instant(value.encode("utf-8", "replace").decode() if isinstance(value, str) else "")
    except Invalid:
        return None


def clock_of(found: re.Match[str]) -> tuple[int, int, int] | None:
    """Hour, minute and second of a match of CLOCK; None if there is no such time."""
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if half := (found["half"] or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def instant_of(day: tuple[int, int, int], clock: tuple[int, int, int], zone: str = "") -> int | None:
    """Microseconds of a day (year, month, day) and a time; None if there is no such day."""
    offset = _ZONE.fullmatch(zone)
    try:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3])) if offset else timedelta()
        taken = timezone(-ahead if offset and offset[1] == "-" else ahead) if offset else UTC
        return from_datetime(datetime(*day, *clock, tzinfo=taken))
    except (ValueError, OverflowError):
        return None
