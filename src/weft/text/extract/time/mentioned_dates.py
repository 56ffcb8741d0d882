"""Times named by a statement, past and future, as calendar periods.

`windows` reads questions, which ask about the past. Statements also name plans: "tomorrow", "next month", "two weeks
from now", and bare years, "a 2016 film". A month or date without a year is the latest one; in a sentence about plans,
the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from weft.core.clock import parse_instant
from weft.text.extract.findings import FoundDate, overlaps
from weft.text.extract.time import calendar as almanac
from weft.text.extract.time.calendar import DAY_US, Period
from weft.text.extract.time.time_words import (
    DAY_PARTS,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    VAGUE,
    WEEKDAYS,
    TimeMatch,
    TimeReader,
    read_amount,
)
from weft.text.extract.time.windows import read_expression

MAX_DATES: Final = 16  # of one sentence
# Both are matched in lower case.
_HINT = re.compile(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|ago|now|weekends?|weeks?|months?|years?|days?|nights?|mornings?|evenings?"
    r"|quarter|decades?|christmas|xmas|easter|halloween|thanksgiving|valentines?|century|centuries|afternoon"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|spring|summer|autumn|fall|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|tues|wed|thur?s?|fri|sat|sun)\b"
)
_AHEAD = re.compile(
    r"\b(?:will|won't|going to|gonna|plan(?:s|ning|ned)?|next|upcoming|coming up|looking forward|can't wait|scheduled"
    r"|hope to|hoping to|hopefully|booked|due|deadline|excited for|about to|soon|getting ready|prepar(?:e|ing))\b|'ll\b"
    r"|’ll\b|\b(?:i|we|he|she|they)(?:'|’| a)(?:m|re|s|is) (?:\w+ )?(?:having|going|heading|flying|starting|meeting"
    r"|leaving|moving|hosting|visiting|attending|taking|throwing)\b",
)
_EARLY_US: Final = parse_instant("1600-06-15")
_LATE_US: Final = parse_instant("2500-10-20")
_YEARLY: Final = frozenset([*MONTHS, *SEASONS, *HOLIDAYS])
_YEARS: Final = range(1500, 2100)
_NO_YEAR_BEFORE_TEXT = """
$ € £ # : / + x × - than over about nearly almost approximately under code room channel page least roughly around
highway route
"""
_NO_YEAR_BEFORE: Final = frozenset(_NO_YEAR_BEFORE_TEXT.split())
_GENERIC_AFTER: Final = frozenset(["months", "season", "seasons"])  # during winter months
_NO_YEAR_AFTER_TEXT = """
% . : / × + ° x
"""
_NO_YEAR_AFTER: Final = frozenset(_NO_YEAR_AFTER_TEXT.split())
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.]\d)")


def mentioned_dates(sentence: str, at: int | None) -> list[FoundDate]:
    """The times a sentence names, in order, relative to `at`; without it, only absolute ones. At most MAX_DATES.

    Unresolvable ones ("one day", "on Mondays", "soon") are left out.
    """
    if not _HINT.search(sentence.lower()):
        return []
    if at is not None:
        return _read(sentence, at)
    early = _read(sentence, _EARLY_US)
    late = set(_read(sentence, _LATE_US)) if early else set()
    return [found for found in early if found in late]


def _read(sentence: str, at_us: int) -> list[FoundDate]:
    reader = TimeReader(sentence, almanac.clamped(at_us))
    ahead = _AHEAD.search(sentence.lower()) is not None
    found: list[FoundDate] = []
    at, end = 0, len(reader.words)
    while at < end and len(found) < MAX_DATES:
        match = _match(reader, at, ahead=ahead)
        if match is None:
            at += 1
            continue
        begin_us, end_us = map(almanac.clamped, match.period)
        if begin_us < end_us and match.kind != "recent":
            span = (reader.starts[at], reader.end(match.stop - 1))
            found.append(FoundDate(span=span, from_us=begin_us, to_us=end_us))
        at = match.stop
        reader.listed_at = at
    if "." in sentence:
        dotted = _dotted(sentence)
        inside = [date.span for date in dotted]
        found = [*dotted, *(date for date in found if not overlaps(date.span, inside))]
        found.sort(key=lambda date: date.span)
    return found


def _match(reader: TimeReader, at: int, *, ahead: bool) -> TimeMatch | None:
    word = reader.words[at]
    if rule := _AHEAD_RULES.get(word):
        return rule(reader, at)
    if word in _COUNTING or word[0].isdigit():
        counted = _counted(reader, at, ahead=ahead)
        if counted is not None:
            return counted
    if word in WEEKDAYS and (day := _weekday(reader, at, ahead=ahead)):
        return day
    found = read_expression(reader, at)
    if found and (reader.word(found.stop) in _GENERIC_AFTER or _is_compound(reader, found.stop)):
        return None
    if found and word in {"last", "past", "previous"} and VAGUE.keys() & set(reader.words[at : found.stop]):
        return TimeMatch(Period(0, 0), "recent", found.stop)
    if found is None:
        return _bare_year(reader, at) if 3 <= len(word) <= 4 and word.isdecimal() and word.isascii() else None
    if word in {"tonight", "last"} and found.period.begin_us % DAY_US:  # an evening counts as its day
        return TimeMatch(almanac.days(almanac.day_of(found.period.begin_us)), "day", found.stop)
    if ahead and found.period.begin_us <= reader.asked_us:
        return _next_one(reader, at, found)
    if word.endswith("00s") and found.kind == "year":  # the 1900s
        return TimeMatch(almanac.months(int(word[:4]), 1, 1200), "year", found.stop)
    return found


def _next_one(reader: TimeReader, at: int, found: TimeMatch) -> TimeMatch:
    """The next occurrence of a yearly or weekly period, unless its year or "last" is given."""
    words = reader.words[at : found.stop]
    if words == ["weekend"]:
        return found._replace(period=almanac.calendar_unit(reader.today, "weekend", 0))
    if {"last", "this", "past", "ago", "previous"}.intersection(words):
        return found
    if words[0] in WEEKDAYS or words[0] in SHORT_WEEKDAYS:
        if len(words) > 2:
            return found
        later_us = found.period.begin_us + 7 * DAY_US
        return found._replace(period=Period(later_us, later_us + DAY_US))
    if not _YEARLY.intersection(words):
        return found
    year_later = read_expression(reader.asked(reader.asked_us + 365 * DAY_US), at)
    return year_later if year_later and year_later.stop == found.stop else found


# ---- the future


def _tomorrow(reader: TimeReader, at: int) -> TimeMatch | None:
    stop = at + 2 if reader.word(at + 1) in DAY_PARTS else at + 1
    return TimeMatch(almanac.days(reader.today + 1), "day", stop)


def _next(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "Next week", "next Friday", "next May", "the next two weeks"."""
    after = at + 1
    word = reader.word(after)
    number = WEEKDAYS.get(word, SHORT_WEEKDAYS.get(word))
    if number is not None:
        stop = after + 2 if reader.word(after + 1) in DAY_PARTS else after + 1
        day = reader.today + ((number - almanac.weekday_of(reader.today) - 1) % 7) + 1
        return TimeMatch(almanac.days(day), "day", stop)
    if word in {"week", "month", "quarter", "year"}:
        period = almanac.calendar_unit(reader.today, word, -1)
        kind = {"week": "week", "month": "month", "quarter": "quarter"}.get(word, "year")
        return TimeMatch(period, kind, after + 1)  # type: ignore[arg-type]
    if word == "weekend":
        return TimeMatch(almanac.calendar_unit(reader.today, word, -1), "weekend", after + 1)
    if word in MONTHS or word in SEASONS:
        later = almanac.latest(_of_year(word), reader.asked_us + 365 * DAY_US)
        return TimeMatch(later, "month", after + 1) if later else None
    amount = read_amount(reader, after) if word not in {"a", "an"} else None
    unit = UNITS.get(reader.word(amount[2])) if amount else None
    if amount and unit and unit not in {"hour", "minute"}:
        end = almanac.step_back(reader.today, -amount[1], unit)
        return TimeMatch(Period.of_days(reader.today, end + 1), "between", amount[2] + 1)
    return None


def _of_year(word: str) -> Callable[[int], Period]:
    """The month or season of a year."""
    if word in MONTHS:
        return lambda year: almanac.months(year, MONTHS[word])
    return partial(almanac.season, word)


def _coming(reader: TimeReader, at: int) -> TimeMatch | None:
    return _next(reader, at) if reader.word(at - 1) in {"the", "this"} else None


def _this(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "This Friday", "this weekend": today or later in this week."""
    word = reader.word(at + 1)
    if word in WEEKDAYS:
        day = reader.today + (WEEKDAYS[word] - almanac.weekday_of(reader.today)) % 7
        return TimeMatch(almanac.days(day), "day", at + 3 if reader.word(at + 2) in DAY_PARTS else at + 2)
    if word == "weekend":
        return TimeMatch(almanac.calendar_unit(reader.today, word, 0), "weekend", at + 2)
    return read_expression(reader, at)


def _edge(_reader: TimeReader, _at: int) -> TimeMatch | None:
    """As in "The end of next year": the year is the date, its end is not read."""
    return None


def _day_after(reader: TimeReader, at: int) -> TimeMatch | None:
    if reader.words[at + 1 : at + 3] == ["after", "tomorrow"]:
        return TimeMatch(almanac.days(reader.today + 2), "day", at + 3)
    return read_expression(reader, at)


def _counted(reader: TimeReader, at: int, *, ahead: bool) -> TimeMatch | None:
    """As in "Two weeks ago", "three days from now", "in a month": the day, or the whole week, month or year, that far
    away.

    "A few weeks ago" is too vague; "in two weeks" counts only in a sentence about plans, else it is a duration.
    """
    amount = read_amount(reader, at)
    unit = _CALENDAR_UNITS.get(reader.word(amount[2])) if amount else None
    if amount is None or unit is None:
        return _century(reader, at)
    least, most, after = amount[0], amount[1], amount[2] + 1
    how = reader.word(after)
    if how == "ago":
        count, stop = int(least), after + 1
    elif how == "from" and reader.word(after + 1) in {"now", "today"}:
        count, stop = -int(least), after + 2
    elif ahead and reader.word(at - 1) == "in" and reader.ends_clause(after):
        count, stop = -int(least), after
    else:
        return None
    if least != most:
        return TimeMatch(Period(0, 0), "recent", stop)
    if unit == "day":
        return TimeMatch(almanac.days(reader.today - count), "day", stop)
    if unit == "decade" or least != int(least):
        return None
    return TimeMatch(almanac.calendar_unit(reader.today, unit, count), "day", stop)


_CALENDAR_UNITS = {form: name for form, name in UNITS.items() if name in {"day", "week", "month", "year", "weekend"}}
_AFTER_DAY_TEXT = (
    "and or but with at in on for was is i we you he she they it to from when since so because then who that if"
)
_AFTER_DAY = frozenset(_AFTER_DAY_TEXT.split())
_COUNTING = frozenset(["a", "an", *NUMBERS, *VAGUE])
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")


def _century(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "The 6th century", "the 5th and 6th centuries"."""
    first = _ORDINAL.fullmatch(reader.word(at))
    if first is None:
        return None
    number = last = int(first[1])
    stop = at + 1
    if reader.word(stop) in {"and", "-", "to", "–"} and (second := _ORDINAL.fullmatch(reader.word(stop + 1))):
        last, stop = int(second[1]), stop + 2
    stop += reader.word(stop) == "-"
    if reader.word(stop + 1) in {"bc", "bce"}:
        return None
    if reader.word(stop) not in {"century", "centuries"} or not 1 <= number <= last <= 22:
        return None
    return TimeMatch(almanac.months(100 * number - 99, 1, 1200 * (last - number + 1)), "year", stop + 1)


def _is_compound(reader: TimeReader, at: int) -> bool:
    """As in "Halloween-themed"."""
    return reader.joined(at, "-") and reader.raw[at + 1][0].isalpha()


def _is_large(reader: TimeReader, at: int) -> bool:
    """Whether a word is capitalised: "Sunday Riley" is a name."""
    return at < len(reader.raw) and reader.raw[at][0].isupper() and len(reader.raw[at]) > 1


def _weekday(reader: TimeReader, at: int, *, ahead: bool) -> TimeMatch | None:
    """A weekday alone: the last one, or the next one in a plan; none for a habit or beside a date."""
    after = reader.word(at + 1)
    if reader.lead(at) in {"every", "each", "any", "most"} or after in {"of", "before", "after", "last", "this"}:
        return None
    if after == "," and (reader.whole(at + 2) is not None or reader.word(at + 2) in {*MONTHS, "the"}):
        return None
    if not reader.raw[at][0].isupper() and reader.lead(at) != "on":
        return None
    if reader.word(at - 1) in {"a", "an", '"'} or after in {":", "*", "|", "-"} or _is_large(reader, at + 1):
        return None
    stop = at + 2 if after in DAY_PARTS else at + 1
    if reader.lead(at) != "on" and not reader.ends_clause(stop) and reader.word(stop) not in _AFTER_DAY:
        return None  # my Saturday morning group
    number, today = WEEKDAYS[reader.word(at)], almanac.weekday_of(reader.today)
    day = reader.today + ((number - today - 1) % 7 + 1 if ahead else -((today - number - 1) % 7 + 1))
    return TimeMatch(almanac.days(day), "day", stop)


_AHEAD_RULES = {
    "tomorrow": _tomorrow,
    "next": _next,
    "coming": _coming,
    "upcoming": _coming,
    "day": _day_after,
    "this": _this,
    **dict.fromkeys(["beginning", "start", "middle", "end"], _edge),
}


# ---- years and numbers


def _bare_year(reader: TimeReader, at: int) -> TimeMatch | None:
    """A number that looks like a year, unless the words around it make it an amount."""
    year, before, after = int(reader.words[at]), reader.word(at - 1), reader.word(at + 1)
    if 300 <= year < 1000:  # an early year only if it is not an amount
        early = (
            before in {"in", "from", "until", "since"}
            and reader.ends_clause(at + 1)
            and not reader.joined(at + 1, after)
        )
        return TimeMatch(almanac.months(year, 1, 12), "year", at + 1) if early else None
    if before == "the" and reader.is_capital(at - 1):  # a band
        return None
    if year not in _YEARS or (before in _NO_YEAR_BEFORE and not _is_spaced_dash(reader, at)):
        return None
    if after in _NO_YEAR_AFTER and reader.joined(at + 1, after):
        return None
    if after in UNITS or (
        before not in {"in", "since"} and after.endswith("s") and len(after) > 4 and reader.raw[at + 1].islower()
    ):
        return None
    return TimeMatch(almanac.months(year, 1, 12), "year", at + 1)


def _is_spaced_dash(reader: TimeReader, at: int) -> bool:
    """A dash between two years, or with spaces around it."""
    return reader.word(at - 1) == "-" and (reader.year(at - 2) is not None or reader.end(at - 1) < reader.starts[at])


def _dotted(sentence: str) -> list[FoundDate]:
    """As in "08.05.2023": day first."""
    found = []
    for match in _DOTTED.finditer(sentence):
        day = almanac.day_in(int(match[3]), month, int(match[1])) if 1 <= (month := int(match[2])) <= 12 else None
        if day is not None:
            begin_us, end_us = almanac.days(day)
            found.append(FoundDate(span=match.span(), from_us=begin_us, to_us=end_us))
    return found
