"""Dates and times as chats write them before a line. A time without a zone is UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from weft.instants import from_datetime

UTC_TAKEN: Final = "its times name no zone: they are taken as UTC"
CLOCK: Final = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,]\d{1,6})?)?"
    r"(?:\s?(?P<half>[AaPp])\.?\s?[Mm]\.?)?"
)
_ZONE: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")


def clock_of(found: re.Match[str]) -> tuple[int, int, int] | None:
    """Hour, minute and second of a match of CLOCK; None where there is no such time."""
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if half := (found["half"] or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def instant_of(day: tuple[int, int, int], clock: tuple[int, int, int], zone: str = "") -> int | None:
    """Microseconds of a day (year, month, day) and a time; None where there is no such day."""
    year, month, number = day
    hours = _ZONE.fullmatch(zone)
    try:
        offset = timedelta(hours=int(hours[2]), minutes=int(hours[3])) if hours else timedelta()
        taken = timezone(-offset if hours and hours[1] == "-" else offset) if hours else UTC
        return from_datetime(datetime(year, month, number, *clock, tzinfo=taken))
    except (ValueError, OverflowError):
        return None
