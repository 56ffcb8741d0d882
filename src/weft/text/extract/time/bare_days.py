"""Days of a question that are named by little: the 16th, the third of May, 3 and 5 November, and Monday without "on".

A number or a weekday by itself is a day only where the words around it leave no other reading. Statements are read
without these rules.
"""

from __future__ import annotations

from typing import Final

from weft.text.extract.time import calendar as almanac
from weft.text.extract.time.calendar import Period
from weft.text.extract.time.periods import read_date, read_period, read_simple
from weft.text.extract.time.time_words import (
    CONNECTORS,
    DAY_LEADS,
    DAY_PARTS,
    MONTHS,
    REPEATED,
    SHORT_WEEKDAYS,
    UP_TO,
    WEEKDAYS,
    TimeMatch,
    TimeReader,
)

_BEFORE_OF: Final = {"week", "weekend", "day", "night", "morning", "afternoon", "evening", "events"}
_NO_DAY_BEFORE: Final = {"is", "are", "was", "were", "be", "in", "than", "and", "or"}  # what is the 16th?
_NAMED_DAYS: Final = {
    "good",
    "black",
    "cyber",
    "easter",
    "ash",
    "holy",
    "palm",
    "super",
    "the",
    "a",
    "for",
    "of",
    "from",
    "to",
}
_MAX_LISTED: Final = 6


def numbered_day(reader: TimeReader, at: int) -> TimeMatch | None:
    """A day by its number: of a month that is named before or after it, or the latest with this number."""
    number = reader.day_number(at)
    if number is None or not reader.asks:
        return None
    return (
        _of_month(reader, at, number)
        or _listed(reader, at, number)
        or _after_another(reader, at, number)
        or _alone(reader, at, number)
    )


def _of_month(reader: TimeReader, at: int, number: int) -> TimeMatch | None:
    """As in "The third of May", "the 16th of last month", "the 1st of the month"."""
    if not reader.is_ordinal(at) or reader.word(at + 1) != "of":
        return None
    after = reader.skip_the(at + 2)
    if reader.word(after) in MONTHS:
        return read_date(reader, after, number)
    if reader.word(after) == "month" and reader.word(after - 1) == "the":
        return _latest(reader, number, after + 1)
    month = read_simple(reader, after)
    if month is None or month.kind != "month":
        return None
    day = almanac.day_in(*almanac.year_month(almanac.day_of(month.period.begin_us)), number)
    return None if day is None else TimeMatch(almanac.days(day), "day", month.stop)


def _listed(reader: TimeReader, at: int, number: int) -> TimeMatch | None:
    """As in "3 and 5 November", "the 3rd to the 5th of November": the month stands after the last."""
    joint, second = reader.word(at + 1), reader.skip_the(at + 2)
    if joint not in CONNECTORS or reader.day_number(second) is None:
        return None
    month_at = second + 2 if reader.word(second + 1) == "of" else second + 1
    last = read_period(reader, second) if reader.word(month_at) in MONTHS else None
    if last is None or last.kind != "day":
        return None
    day = almanac.day_in(*almanac.year_month(almanac.day_of(last.period.begin_us)), number)
    if day is None:
        return None
    begin_us, end_us = almanac.days(day)
    if joint not in UP_TO:
        return TimeMatch(Period(begin_us, end_us), "day", at + 1)
    return TimeMatch(Period(begin_us, last.period.end_us), "between", last.stop)


def _after_another(reader: TimeReader, at: int, number: int) -> TimeMatch | None:
    """As in "November 3 and 5": a day of the same month."""
    listed = reader.listed_at == at - 1 and reader.word(at - 1) in CONNECTORS and reader.ends_phrase(at + 1)
    if not listed or reader.previous is None or reader.previous.kind != "day" or not reader.word(at)[0].isdigit():
        return None
    day = almanac.day_in(*almanac.year_month(almanac.day_of(reader.previous.period.begin_us)), number)
    return None if day is None else TimeMatch(almanac.days(day), "day", at + 1)


def _alone(reader: TimeReader, at: int, number: int) -> TimeMatch | None:
    """As in "On the 16th", "since the 10th", "what did we do the 16th?", "the week of the 9th"."""
    if not reader.is_ordinal(at) or reader.word(at + 1) == "of" or not reader.ends_phrase(at + 1):
        return None
    lead, digits = reader.lead(at), reader.word(at)[0].isdigit()
    after_the = reader.word(at - 1) == "the"
    governed = lead in DAY_LEADS or reader.listed_at >= max(at - 2, 0)
    if digits and after_the:
        unit = at - 3 if reader.word(at - 2) == "of" else -1
        governed = governed or reader.word(unit) in _BEFORE_OF or (reader.is_past and lead not in _NO_DAY_BEFORE)
    return _latest(reader, number, at + 1) if governed and (after_the or digits) else None


def _latest(reader: TimeReader, number: int, stop: int) -> TimeMatch | None:
    """The latest day with this number, today included."""
    year, month = almanac.year_month(reader.today)
    for back in range(4):  # of any three months in a row one has the 31st
        first = almanac.first_of(year, month - back)
        day = almanac.day_in(*almanac.year_month(first), number)
        if day is not None and day <= reader.today:
            return TimeMatch(almanac.days(day), "day", stop)
    return None


def numbered_weekday(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "Friday the 6th", if the latest 6th was a Friday."""
    day_at = reader.skip_the(at + 2 if reader.word(at + 1) == "," else at + 1)
    number = reader.day_number(day_at)
    if number is None or not (reader.asks and reader.is_ordinal(day_at)):
        return None
    found = _of_month(reader, day_at, number) or _latest(reader, number, day_at + 1)
    fits = found and almanac.weekday_of(almanac.day_of(found.period.begin_us)) == _weekday_number(reader, at)
    return found if fits else None


def bare_weekday(reader: TimeReader, at: int) -> TimeMatch | None:
    """A weekday without "on" in a question about the past, as in "What happened Monday or Tuesday?"."""
    number = _weekday_number(reader, at)
    lead = reader.lead(at)
    if number is None or not (reader.asks and reader.is_past) or lead in REPEATED | _NAMED_DAYS:
        return None
    if reader.word(at + 1) in UP_TO and (other := _weekday_number(reader, at + 2)) is not None:
        last = reader.today - (almanac.weekday_of(reader.today) - other) % 7
        first = last - (other - number) % 7
        return TimeMatch(Period.of_days(first, last + 1), "between", at + 3)
    after = at + 2 if reader.word(at + 1) in DAY_PARTS else at + 1
    joined = reader.word(after) in CONNECTORS and _weekday_number(reader, after + 1) is not None
    if not joined and not (reader.ends_phrase(after) if reader.word(at) in WEEKDAYS else reader.ends_clause(after)):
        return None
    week = _week_of_list(reader, at) if joined else None
    latest = reader.today - (almanac.weekday_of(reader.today) - number) % 7
    return TimeMatch(almanac.days(latest if week is None else week + number), "day", after)


def _week_of_list(reader: TimeReader, at: int) -> int | None:
    """The first day of the week that is named after a list of weekdays: Monday and Tuesday last week."""
    for _ in range(_MAX_LISTED):
        if reader.word(at + 1) not in CONNECTORS or _weekday_number(reader, at + 2) is None:
            break
        at += 2
    week = read_simple(reader, at + 2 if reader.word(at + 1) == "of" else at + 1)
    return almanac.day_of(week.period.begin_us) if week is not None and week.kind == "week" else None


def _weekday_number(reader: TimeReader, at: int) -> int | None:
    word = reader.word(at)
    if word in SHORT_WEEKDAYS and not reader.is_capital(at):
        return None
    return WEEKDAYS.get(word, SHORT_WEEKDAYS.get(word))
