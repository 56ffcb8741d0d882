"""A point in time as people and models write it: "yesterday", "last Friday", "in two weeks", relative to now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from weft.core.clock import from_datetime
from weft.text.extract.time.time_words import NUMBERS, WEEKDAYS
from weft.text.extract.time.windows import time_windows

_AHEAD: Final = re.compile(r"(?:in (?P<amount>\w+) (?P<unit>day|week|month|year)s?|next (?P<named>\w+)|tomorrow)")
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}


def read_relative(text: str, now_us: int) -> int | None:
    """The beginning of the time that a text names, in microseconds; None where it names none or more than that."""
    low = " ".join(text.lower().split())
    today = datetime.fromtimestamp(now_us / 1e6, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if low == "now":
        return now_us
    if low == "today":
        return from_datetime(today)
    if ahead := _AHEAD.fullmatch(low):
        days = _days_ahead(ahead, today)
        return None if days is None else from_datetime(today + timedelta(days=days))
    windows = time_windows(low, now_us)
    if len(windows) != 1 or low[: windows[0].start].strip(" ,") or low[windows[0].stop :].strip(" ,"):
        return None
    return windows[0].begin_us if windows[0].kind != "recent" else None


def _days_ahead(ahead: re.Match[str], today: datetime) -> int | None:
    if ahead["amount"]:
        written = ahead["amount"]
        count = int(written) if written.isdecimal() else NUMBERS.get(written, 1 if written in ("a", "an") else None)
        return None if count is None or count > 10_000 else round(count * _DAYS[ahead["unit"]])
    named = ahead["named"]
    if named is None:
        return 1
    if named in WEEKDAYS:
        return (WEEKDAYS[named] - today.weekday() - 1) % 7 + 1
    if named == "week":
        return 7 - today.weekday()
    return _DAYS.get(named)
