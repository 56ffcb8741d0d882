"""Reads one date as people and exports write it. A missing part is never taken from today.

Order in all-number dates: a leading year is followed by month and day; dots mean day first (08.05.2023); slashes and
dashes mean month first (05/08/2023 is the 8th of May), unless only the other order is valid. If both are valid, the
note says which was taken. A time without a zone is UTC; only the zone names of e-mail are known. A year has four
digits; without a year there is no date.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Final

from msgspec import Struct

from weft.core.clock import EPOCH, MAX_INSTANT_US, MIN_INSTANT_US, from_datetime, parse_instant
from weft.core.errors import Invalid

MAX_DATE_CHARACTERS: Final = 100
MAX_NUMBER: Final = 10**16
# Unit of a bare number by its digits: seconds, milliseconds or microseconds since 1970 (from 1973 or 2001 on).
_UNIX_US: Final = {9: 1_000_000, 10: 1_000_000, 12: 1_000, 13: 1_000, 15: 1, 16: 1}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_ZONE_HOURS: Final = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_WEEKDAY = re.compile(
    r"\b(?:mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)\b\.?"
)
_TIME = re.compile(
    r"(?<!\d)(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?)?"
    r"\s*(?P<half>[ap])\.?m\b\.?"
    r"|(?<!\d)(?P<hour24>\d{1,2}):(?P<minute24>\d\d)(?::(?P<second24>\d\d)(?:[.,](?P<part24>\d{1,9}))?)?(?![\d:])"
)
_OFFSET = re.compile(r"(?:(?<=[\s\d])|\b(?:utc|gmt))\s*(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)\b(?!-)")
_ZONE = re.compile(r"(?:\b|(?<=\d))(?:z|utc|gmt|" + "|".join(_ZONE_HOURS) + r")\b")
_COMMENT = re.compile(r"\([a-z .]*\)\s*$")
_FILLER = re.compile(r"\b(?:on|at|of|the)\b|(?<=\d)(?:st|nd|rd|th)\b|[()\[\],]")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_ORDINAL_DAY = re.compile(r"(\d{4})-(\d{3})")
_SPLIT = re.compile(r"[\s./:-]+")


class DateRead(Struct, frozen=True, kw_only=True):
    """A time in microseconds, or None. `note` gives the reason, or how an ambiguous date was read."""

    at: int | None
    note: str = ""


class _Unreadable(Exception):
    """The reason why a date cannot be read."""


def read_date(written: Any) -> DateRead:
    """The time of a date given as a string or a number. Never raises."""
    try:
        if isinstance(written, str):
            return _read_text(written)
        if isinstance(written, bool) or not isinstance(written, int | float) or abs(written) >= MAX_NUMBER:
            return DateRead(at=None, note=f"a date is a string or a number up to {MAX_NUMBER:,}")
        return _read_number(written)
    except (_Unreadable, ValueError, OverflowError) as problem:
        return DateRead(at=None, note=f"{written!r:.60} is not read as a date: {problem!s:.80}")


def _read_text(written: str) -> DateRead:
    if len(written) > MAX_DATE_CHARACTERS:
        raise _Unreadable(f"longer than {MAX_DATE_CHARACTERS} characters")
    text = " ".join(written.split()).strip("[] ").lower()
    if not text:
        raise _Unreadable("it is empty")
    if re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII):
        return _read_number(float(text) if "." in text else int(text), digits=len(text.partition(".")[0]))
    try:
        return DateRead(at=parse_instant(text.upper()))
    except Invalid:  # not ISO 8601
        return _read_loose(text)


def _read_number(number: float, digits: int | None = None) -> DateRead:
    whole = int(number)
    digits = len(str(abs(whole))) if digits is None else digits
    if whole < 0:
        raise _Unreadable("a number below zero")
    if digits in _UNIX_US:
        return DateRead(at=_bounded(round(number * _UNIX_US[digits])))
    if number != whole or digits not in (4, 8, 14):
        raise _Unreadable("a number is a year, a day as 20230508, or seconds or milliseconds since 1970")
    layout = {4: "%Y", 8: "%Y%m%d", 14: "%Y%m%d%H%M%S"}[digits]
    return DateRead(at=from_datetime(datetime.strptime(f"{whole:0{digits}d}", layout).replace(tzinfo=UTC)))


def _read_loose(text: str) -> DateRead:
    """A date among a time, a zone, a weekday and filler words, in any order."""
    text = _COMMENT.sub(" ", text) if _OFFSET.search(text) else text
    seconds, part_us, text = _take_time(text)
    ahead, text = _take_zone(text) if seconds is not None else (timedelta(), text)
    rest = " ".join(_FILLER.sub(" ", _WEEKDAY.sub(" ", text)).split()).strip(" .:-tT")
    day, note = _read_day(rest)
    midnight = datetime(day.year, day.month, day.day, tzinfo=timezone(ahead))
    at = (midnight - EPOCH) // timedelta(microseconds=1) + (seconds or 0) * 1_000_000 + part_us
    return DateRead(at=_bounded(at), note=note)


def _take_time(text: str) -> tuple[int | None, int, str]:
    """(second of the day or None, microseconds beyond it, the text without the time)."""
    match = _TIME.search(text)
    if match is None:
        return None, 0, text
    suffix = "" if match["half"] else "24"
    hour, minute, second = (int(match[f"{name}{suffix}"] or 0) for name in ("hour", "minute", "second"))
    if match["half"] and not 1 <= hour <= 12:
        raise _Unreadable(f"there is no {hour} {match['half']}m")
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    midnight_after = (hour, minute, second) == (24, 0, 0)
    if not midnight_after and (hour > 23 or minute > 59 or second > 59):
        raise _Unreadable(f"there is no time {hour}:{minute:02d}:{second:02d}")
    part_us = int((match[f"part{suffix}"] or "0").ljust(6, "0")[:6])
    return hour * 3600 + minute * 60 + second, part_us, f"{text[: match.start()]} {text[match.end() :]}"


def _take_zone(text: str) -> tuple[timedelta, str]:
    """The offset of the zone from UTC, and the text without the zone."""
    if match := _OFFSET.search(text):
        ahead = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        ahead = -ahead if match["sign"] == "-" else ahead
    elif match := _ZONE.search(text):
        ahead = timedelta(hours=_ZONE_HOURS.get(match[0], 0))
    else:
        return timedelta(), text
    return ahead, f"{text[: match.start()]} {text[match.end() :]}"


def _read_day(text: str) -> tuple[date, str]:
    """The date in the remaining text, and a note if it was ambiguous."""
    if not _YEAR.search(text):
        raise _Unreadable("it has no year of four digits")
    if match := _YEAR_FIRST.fullmatch(text):
        return date(int(match[1]), int(match[3]), int(match[4])), ""
    if match := _ORDINAL_DAY.fullmatch(text):
        return datetime.strptime(f"{match[1]} {match[2]}", "%Y %j").date(), ""  # noqa: DTZ007 - a day has no zone
    if match := _YEAR_LAST.fullmatch(text):
        return _read_numbers(int(match[1]), int(match[3]), int(match[4]), day_first=match[2] == ".")
    day = year = month = None
    for word in filter(None, _SPLIT.split(text)):
        if not word.isdecimal():
            if month is not None:
                raise _Unreadable(f"{word!r:.30} is not part of a date")
            month = _month(word)
        elif len(word) == 4 and year is None:
            year = int(word)
        elif len(word) <= 2 and day is None:
            day = int(word)
        else:
            raise _Unreadable(f"{word!r:.30} is one number too many")
    if year is None:
        raise _Unreadable("it has no year of four digits")
    if month is None and day is not None:
        raise _Unreadable("it has no month")
    return date(year, month or 1, 1 if day is None else day), ""


def _read_numbers(first: int, second: int, year: int, *, day_first: bool) -> tuple[date, str]:
    if day_first or first > 12:
        return date(year, second, first), ""
    if second > 12 or first == second:
        return date(year, first, second), ""
    return date(year, first, second), f"{first:02d}/{second:02d}/{year} is read month first"


def _month(word: str) -> int:
    short = word[:3]
    if short not in _MONTHS or not (_FULL_MONTHS[_MONTHS.index(short)].startswith(word) or word == "sept"):
        raise _Unreadable(f"{word!r:.30} is not part of a date")
    return _MONTHS.index(short) + 1


def _bounded(at: int) -> int:
    if not MIN_INSTANT_US <= at <= MAX_INSTANT_US:
        raise _Unreadable("outside the years 1 to 9999")
    return at
