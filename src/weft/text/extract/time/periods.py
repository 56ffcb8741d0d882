"""Periods named by a few words: dates, months, seasons, years, holidays, "last week", "early March".

Each rule reads from one word on, looks a fixed number of words ahead and never recurses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from weft.text.extract.time import calendar as almanac
from weft.text.extract.time.calendar import DAY_US, HOUR_US, Period
from weft.text.extract.time.time_words import (
    CONNECTORS,
    DAY_LEADS,
    DAY_PARTS,
    FUNCTION_WORDS,
    HOLIDAYS,
    MONTHS,
    PREPOSITIONS,
    REPEATED,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    UNSURE_MONTHS,
    UP_TO,
    VERBS,
    WEEKDAYS,
    YEARS,
    Kind,
    TimeMatch,
    TimeReader,
    read_amount,
)

_YEARLY = Callable[[int], Period | None]
_RELATIVE = {"this", "last", "past", "previous", "current"}
_YEAR_LEADS = PREPOSITIONS | {"to", "year"}
_HABITS = {f"{part}s" for part in DAY_PARTS}


def read_period(reader: TimeReader, at: int) -> TimeMatch | None:
    """The period named from this word on, if any."""
    rule = PERIOD_RULES.get(reader.word(at))
    if rule:
        return rule(reader, at)
    return _digits(reader, at) if reader.word(at)[:1].isdigit() else None


def _year_after(reader: TimeReader, at: int) -> tuple[int | None, int]:
    """The year after a month, season or holiday, and the word after it."""
    after = at + 1 if reader.word(at) in {",", "of", "in"} else at
    if (year := reader.year(after)) is not None:
        return year, after + 1
    if reader.word(after) in {"this", "last"} and reader.word(after + 1) == "year":
        year = almanac.year_month(reader.today)[0] - (reader.word(after) == "last")
        return year, after + 2
    return None, at


def _yearly(reader: TimeReader, at: int, of_year: _YEARLY, *, lead: str) -> tuple[Period | None, int]:
    """A yearly period: of the year at `at`, or the one meant by "this", "last" or nothing before it."""
    year, stop = _year_after(reader, at)
    if year is not None:
        return of_year(year), stop
    if lead == "this":
        return almanac.nearest(of_year, reader.asked_us), stop
    return almanac.latest(of_year, reader.asked_us, ended=lead in {"last", "previous"}), stop


def _found(period: Period | None, kind: Kind, stop: int) -> TimeMatch | None:
    return TimeMatch(period, kind, stop) if period else None


# ---- dates


def read_date(reader: TimeReader, month_at: int, number: int) -> TimeMatch | None:
    """The day with this number of the month that is named here."""
    period, stop = _yearly(reader, month_at + 1, partial(_date, number, MONTHS[reader.word(month_at)]), lead="")
    return _found(period, "day", stop)


def _date(number: int, month: int, year: int) -> Period | None:
    day = almanac.day_in(year, month, number) if 1 <= month <= 12 else None
    return None if day is None else almanac.days(day)


def _digits(reader: TimeReader, at: int) -> TimeMatch | None:
    word = reader.word(at)
    if "-" in word:
        return _iso(word, at + 1)
    if reader.joined(at + 1, "/"):
        return _slashed(reader, at)
    if word[4:] == "s" and word[:4].isdecimal() and word[3] == "0" and int(word[:4]) in YEARS:
        return TimeMatch(almanac.months(int(word[:4]), 1, 120), "year", at + 1)
    after = at + 2 if reader.word(at + 1) == "of" else at + 1
    month, number = MONTHS.get(reader.word(after)), reader.whole(at)
    if month and number and number < 32 and _is_day_of(reader, at, after, month_at=after):
        period, stop = _yearly(reader, after + 1, partial(_date, number, month), lead="")
        return _found(period, "day", stop)
    year = reader.year(at)
    if year is None or reader.lead(at) not in _YEAR_LEADS or _counts(reader, at):
        return None
    return TimeMatch(almanac.months(year, 1, 12), "year", at + 1)


def _iso(word: str, stop: int) -> TimeMatch | None:
    """As in "2023-05-08", "2023-05"."""
    year, month, *number = map(int, word.split("-"))
    if number:
        return _found(_date(number[0], month, year), "day", stop)
    return TimeMatch(almanac.months(year, month), "month", stop) if 1 <= month <= 12 and year else None


def _is_day_of(reader: TimeReader, at: int, last: int, *, month_at: int) -> bool:
    """Whether a number beside "may" or "march" makes it a month: "8th may", "on 8 may", but not "may 8 people"."""
    if reader.word(month_at) not in VERBS or reader.is_capital(month_at):
        return True
    if reader.raw[month_at][0].isupper() and reader.ends_clause(last + 1):
        return True
    ordinal = any(reader.word(beside)[-2:] in {"st", "nd", "rd", "th"} for beside in (at, last))
    return ordinal or reader.lead(at) in DAY_LEADS or _year_after(reader, last + 1)[0] is not None


def _counts(reader: TimeReader, at: int) -> bool:
    """Whether a year is an amount: "in 2000 words", "the Act of 1869"."""
    following = reader.word(at + 1)
    if following[-1:] == "s" and len(following) > 3 and reader.raw[at + 1].islower():
        return True
    return reader.word(at - 1) == "of" and at > 1 and reader.raw[at - 2][0].isupper()


def _slashed(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "7/22" and "7/22/2023" (or "22/7"), "2023/07/22"; without a year only if the words before require a day."""
    first, second = reader.whole(at), reader.whole(at + 2)
    third = reader.whole(at + 4) if reader.joined(at + 3, "/") else None
    if first is None or second is None:
        return None
    if third is not None:
        if first in YEARS:
            return _found(_date(third, second, first), "day", at + 5)
        month, number = (second, first) if first > 12 else (first, second)
        year = third if third > 99 else 2000 + third
        return _found(_date(number, month, year), "day", at + 5)
    if reader.lead(at) not in DAY_LEADS or reader.joined(at + 3, "/"):
        return None
    month, number = (second, first) if first > 12 else (first, second)
    return _found(almanac.latest(partial(_date, number, month), reader.asked_us), "day", at + 3)


# ---- months, seasons, holidays


def _month(reader: TimeReader, at: int) -> TimeMatch | None:
    month = MONTHS[reader.word(at)]
    lead = reader.lead(at)
    if lead in REPEATED:
        return None
    if reader.word(at + 1) == "the" and reader.is_ordinal(at + 2) and reader.ends_phrase(at + 3):  # May the 3rd
        number = reader.day_number(at + 2)
        period, _ = _yearly(reader, at + 3, partial(_date, number, month), lead=lead) if number else (None, at)
        return _found(period, "day", at + 3)
    number = reader.whole(at + 1)
    dated = number and number < 32 and reader.word(at + 2) not in {":", "%"} and reader.word(at + 2) not in UNITS
    if number and dated and _is_day_of(reader, at, at + 1, month_at=at):
        period, stop = _yearly(reader, at + 2, partial(_date, number, month), lead=lead)
        last = reader.day_number(stop + 1) if reader.word(stop) in UP_TO else None
        if period and last and last > number and reader.word(stop + 2) not in MONTHS:  # November 3-5
            ends = almanac.day_in(*almanac.year_month(almanac.day_of(period.begin_us)), last)
            both = Period(period.begin_us, almanac.days(ends).end_us) if ends else None
            return _found(both, "between", stop + 2)
        return _found(period, "day", stop)
    if not _is_month(reader, at, lead):
        return None
    period, stop = _yearly(reader, at + 1, lambda year: almanac.months(year, month), lead=lead)
    return _found(period, "month", stop)


def _is_month(reader: TimeReader, at: int, lead: str) -> bool:
    word = reader.word(at)
    if word not in UNSURE_MONTHS or _year_after(reader, at + 1)[0] is not None:
        return True
    if lead in PREPOSITIONS or lead in {"last", "past", "previous"}:
        return True
    if lead == "to" and reader.word(at - 2) == "up":
        return True
    if reader.is_capital(at) and (lead in _COMPARED or _is_beside_month(reader, at)):
        return True
    if lead == "this":
        return reader.ends_clause(at + 1) or reader.is_capital(at)
    return reader.word(at - 1) == "the" and reader.is_capital(at)


def _is_beside_month(reader: TimeReader, at: int) -> bool:
    """As in "May with September": another month, which is no name or verb, stands right before or after."""
    after = reader.word(at + 2) if reader.word(at + 1) in _JOINTS else ""
    before = reader.word(at - 2) if reader.word(at - 1) in _JOINTS else ""
    return any(word in MONTHS and word not in UNSURE_MONTHS for word in (after, before))


_COMPARED = {"compare", "comparing", "versus", "vs"}
_JOINTS = CONNECTORS | {"with", "against"}


def _season(reader: TimeReader, at: int) -> TimeMatch | None:
    lead, year = reader.lead(at), _year_after(reader, at + 1)[0]
    governed = lead in PREPOSITIONS | _RELATIVE | {"over"} and reader.word(at + 1) != "of"  # "the fall of Rome"
    if year is None and not governed:
        return None
    period, stop = _yearly(reader, at + 1, partial(almanac.season, reader.word(at)), lead=lead)
    return _found(period, "season", stop)


def _holiday(reader: TimeReader, at: int) -> TimeMatch | None:
    name, lead, stop = HOLIDAYS.get(reader.word(at), "new year"), reader.lead(at), at + 1
    if name == "new year":
        if reader.word(at + 1) not in {"year", "years"}:
            return None
        if not (
            reader.is_possessive(at + 1) or reader.word(at + 1) == "years" or lead in PREPOSITIONS | {"over", "at"}
        ):
            return None
        stop = at + 2
    if lead in REPEATED or lead == "about":  # what did we decide about Christmas?
        return None
    following, first, last = reader.word(stop), 0, None
    if following == "eve":
        last, stop = 1, stop + 1
    elif following == "day":
        first, stop = int(name in {"christmas", "new year"}), stop + 1
        last = first + 1
    governed = lead in PREPOSITIONS | _RELATIVE | {"for", "over", "at", "on"}
    of_thing = not reader.ends_clause(stop) and reader.raw[stop].isalpha() and stop == at + 1
    if not governed and of_thing and reader.word(stop) not in FUNCTION_WORDS and not reader.is_possessive(at):
        return None  # Christmas tree, Easter egg

    def kept(year: int) -> Period:
        whole = almanac.holiday(name, year + (name == "new year" and last == 1))
        end_us = whole.end_us if last is None else min(whole.end_us, whole.begin_us + last * DAY_US)
        return Period(whole.begin_us + first * DAY_US, end_us)

    period, stop = _yearly(reader, stop, kept, lead=lead)
    return _found(period, "holiday", stop)


# ---- weekdays


def _weekday(reader: TimeReader, at: int) -> TimeMatch | None:
    word, lead = reader.word(at), reader.lead(at)
    number = WEEKDAYS.get(word)
    if number is None:
        if not reader.is_capital(at):
            return None
        number = SHORT_WEEKDAYS[word]
    stop = at + 2 if reader.word(at + 1) in DAY_PARTS else at + 1
    if reader.word(at + 1) in {"of", "before", "after", "last", "this", ","} and (near := _beside(reader, at, number)):
        return near
    listed = lead == "in" and reader.word(at - 1) in CONNECTORS  # on Monday and Tuesday
    meant = lead in DAY_LEADS | _RELATIVE or listed or reader.is_possessive(at)
    if not meant or reader.word(stop) in _HABITS:
        return None
    day = reader.today - (almanac.weekday_of(reader.today) - number) % 7
    if lead in {"last", "previous"} and day == reader.today:
        day -= 7
    elif lead == "this":
        day = reader.today - almanac.weekday_of(reader.today) + number
    return TimeMatch(almanac.days(day), "day", stop)


def _beside(reader: TimeReader, at: int, number: int) -> TimeMatch | None:
    """As in "Monday before 24 July", "Monday (of) last week", "Monday, 8 May"."""
    word = reader.word(at + 1)
    if word == "before" and reader.word(at + 2) == "last" and reader.ends_phrase(at + 3):
        return TimeMatch(
            almanac.days(reader.today - (almanac.weekday_of(reader.today) - number) % 7 - 7), "day", at + 3
        )
    near = read_simple(reader, reader.skip_the(at + 1 if word in {"last", "this"} else at + 2))
    if near is None or (word == "," and near.kind != "day"):
        return None
    if word == ",":
        return near
    first = almanac.day_of(near.period.begin_us)
    if word == "before":
        day = first - 1 - (almanac.weekday_of(first - 1) - number) % 7
    elif word == "after":
        after = almanac.day_of(near.period.end_us)
        day = after + (number - almanac.weekday_of(after)) % 7
    elif near.kind == "week":
        day = first + number
    else:
        return None
    return TimeMatch(almanac.days(day), "day", near.stop)


# ---- this, last, past


def _relative(reader: TimeReader, at: int) -> TimeMatch | None:
    how, after = reader.word(at), at + 1
    if how == "this" and reader.word(after) in {"past", "last"}:
        how, after = "past", after + 1
    word = reader.word(after)
    rule = PERIOD_RULES.get(word)
    if rule in (_month, _season, _holiday, _weekday):
        if how == "past" and reader.word(after - 1) == "last":
            return None
        return PERIOD_RULES[word](reader, after)
    if how in {"last", "past", "previous"}:
        amount = read_amount(reader, after)
        unit = UNITS.get(reader.word(amount[2])) if amount and word not in {"a", "an"} else None
        if amount and unit:
            return _back(reader, amount[1], unit, amount[2] + 1)
        rolling = how == "past" or (reader.word(at - 1) == "the" and reader.word(at - 2) in _WITHIN)
        if rolling and word in UNITS and word not in {"weekend", "night"}:
            return _back(reader, 1.0, UNITS[word], after + 1)
    if word in DAY_PARTS:
        return _part_of_day(reader, how, word, after + 1)
    if how == "this" and word in {"time", "day"} and reader.word(after + 1) == "last":
        return _same_time(reader, word, reader.word(after + 2), after + 3)
    kind = _CALENDAR.get(word)
    if kind is None:
        return None
    ago = 0 if how in {"this", "current"} else 1
    if word == "weekend" and how in {"this", "past"}:
        ago = int(almanac.weekday_of(reader.today) < (2 if how == "this" else 5))  # on Monday the last one
    period = almanac.calendar_unit(reader.today, word, ago)
    day_at = after + 2 if reader.word(after + 1) == "on" else after + 1
    if word == "week" and (number := WEEKDAYS.get(reader.word(day_at))) is not None:  # last week Tuesday
        return TimeMatch(almanac.days(almanac.day_of(period.begin_us) + number), "day", day_at + 1)
    return TimeMatch(period, kind, after + 1)


def _same_time(reader: TimeReader, how: str, unit: str, stop: int) -> TimeMatch | None:
    """As in "This time last year", "this day last month"."""
    if unit not in _AROUND_DAYS:
        return None
    day, around = almanac.step_back(reader.today, 1, unit), _AROUND_DAYS[unit] if how == "time" else 0
    return TimeMatch(Period.of_days(day - around, day + around + 1), "ago", stop)


_AROUND_DAYS = {"week": 1, "month": 3, "year": 15}
_WITHIN = {"in", "over", "during", "within", "for", "of", "throughout", "across"}
_CALENDAR: dict[str, Kind] = {
    "week": "week", "weekend": "weekend", "month": "month", "quarter": "quarter", "year": "year",
}  # fmt: skip


def _back(reader: TimeReader, count: float, unit: str, stop: int) -> TimeMatch:
    """From this many units ago to the end of the day of asking."""
    if unit in {"hour", "minute"}:
        back_us = int(count * HOUR_US) // (1 if unit == "hour" else 60)
        return TimeMatch(Period(reader.asked_us - back_us, reader.asked_us + 1), "past", stop)
    return TimeMatch(Period.of_days(almanac.step_back(reader.today, count, unit), reader.today + 1), "past", stop)


def _part_of_day(reader: TimeReader, how: str, part: str, stop: int) -> TimeMatch | None:
    if how == "this":
        return TimeMatch(almanac.days(reader.today), "day", stop)
    if how == "last" and part in {"night", "evening"}:
        evening_us = almanac.days(reader.today).begin_us - 6 * HOUR_US
        return TimeMatch(Period(evening_us, evening_us + 12 * HOUR_US), "day", stop)
    return None


# ---- days and units with a name of their own


def _named_day(reader: TimeReader, at: int) -> TimeMatch | None:
    word = reader.word(at)
    today = almanac.days(reader.today)
    if word == "tonight":
        return TimeMatch(Period(today.begin_us + 18 * HOUR_US, today.end_us + 6 * HOUR_US), "day", at + 1)
    stop = at + 2 if reader.word(at + 1) in DAY_PARTS else at + 1
    return TimeMatch(almanac.days(reader.today - (word == "yesterday")), "day", stop)


def _quarter(reader: TimeReader, at: int) -> TimeMatch | None:
    number = int(reader.word(at)[1])
    period, stop = _yearly(reader, at + 1, lambda year: almanac.months(year, 3 * number - 2, 3), lead=reader.lead(at))
    return _found(period, "quarter", stop)


def _the_weekend(reader: TimeReader, at: int) -> TimeMatch | None:
    if reader.word(at - 1) != "the" or reader.word(at + 1) in {"of", "before", "after"}:
        return None
    return TimeMatch(
        almanac.calendar_unit(reader.today, "weekend", int(almanac.weekday_of(reader.today) < 5)), "weekend", at + 1
    )


PERIOD_RULES: dict[str, Callable[[TimeReader, int], TimeMatch | None]] = {
    **dict.fromkeys(MONTHS, _month),
    **dict.fromkeys(SEASONS, _season),
    **dict.fromkeys([*HOLIDAYS, "new"], _holiday),
    **dict.fromkeys([*WEEKDAYS, *SHORT_WEEKDAYS], _weekday),
    **dict.fromkeys(_RELATIVE, _relative),
    **dict.fromkeys(["yesterday", "today", "tonight"], _named_day),
    **dict.fromkeys(["q1", "q2", "q3", "q4"], _quarter),
    "weekend": _the_weekend,
}


def read_simple(reader: TimeReader, at: int) -> TimeMatch | None:
    """A period by itself: any except a weekday, which may depend on another period."""
    leaning = at + 1 if reader.word(at) in _RELATIVE else at
    if PERIOD_RULES.get(reader.word(leaning)) is _weekday:
        return None
    return read_period(reader, at)
