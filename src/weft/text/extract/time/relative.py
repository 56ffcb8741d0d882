"""A point in time as people and models write it: "yesterday", "last Friday", "in two weeks", relative to now."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, to_iso
from weft.text.extract.findings import FoundDate
from weft.text.extract.time import calendar as almanac
from weft.text.extract.time.calendar import HOUR_US
from weft.text.extract.time.mentioned_dates import mentioned_dates
from weft.text.extract.time.time_words import NUMBERS

_COUNTED: Final = re.compile(
    r"(?P<ahead>in )?(?P<amount>\w{1,6}) (?P<unit>minute|hour|day|week|month|year)s?(?P<how> ago| from now)?"
)
_BEFORE_DATE: Final = frozenset(["", "in", "on", "the"])
_PLAN: Final = "will "


def read_relative(text: str, now_us: int) -> str | None:
    """ISO 8601, as precise as the words: a day for "yesterday", a month for "last month".

    None where they name no time, more than one, an open one ("since May"), or one that may be the last or the next
    ("8 May"), or be read in two ways ("05/08/2026").
    """
    words = " ".join(text.lower().split())
    if words == "now":
        return to_iso(now_us)
    counted = _COUNTED.fullmatch(words)
    if counted and (counted["ahead"] or counted["how"]):
        return _counted(counted, now_us)
    if "/" in words:
        return None
    found = _whole(words, now_us)
    planned = _whole(_PLAN + words, now_us, skipped=len(_PLAN))
    if found is None or planned is None or (found.from_us, found.to_us) != (planned.from_us, planned.to_us):
        return None
    return _as_precise(found.from_us, found.to_us)


def _whole(sentence: str, now_us: int, *, skipped: int = 0) -> FoundDate | None:
    """The one date that the sentence consists of."""
    found = mentioned_dates(sentence, now_us)
    if len(found) != 1:
        return None
    start, stop = found[0].span
    whole = stop == len(sentence) and sentence[skipped:start].strip() in _BEFORE_DATE
    return found[0] if whole else None


def _counted(match: re.Match[str], now_us: int) -> str | None:
    """As in "three days ago", "in an hour", "two months from now"."""
    written, unit, ago = match["amount"], match["unit"], match["how"] == " ago"
    if match["ahead"] and match["how"]:
        return None
    count = int(written) if written.isdecimal() else 1 if written in ("a", "an") else int(NUMBERS.get(written, 0))
    if not count:
        return None
    count = count if ago else -count
    if unit in ("minute", "hour"):
        at_us = now_us - count * (HOUR_US if unit == "hour" else HOUR_US // 60)
        return to_iso(at_us) if MIN_INSTANT_US <= at_us <= MAX_INSTANT_US else None
    day = almanac.step_back(almanac.day_of(now_us), count, unit)
    return date.fromordinal(day).isoformat() if 1 < day <= date.max.toordinal() else None


def _as_precise(from_us: int, to_us: int) -> str:
    """The beginning of a period; only its month or year, if that is all of it."""
    year, month = almanac.year_month(almanac.day_of(from_us))
    written = to_iso(from_us)
    if (from_us, to_us) == almanac.months(year, 1, 12):
        return written[:4]
    return written[:7] if (from_us, to_us) == almanac.months(year, month) else written[:10]
