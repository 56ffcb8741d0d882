"""Time windows of a question: its time expressions as calendar periods relative to when it was asked.

Rules read word by word and look a fixed number of words ahead, so time is linear in the text. Decision 28 compares it
with dateparser.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from weft.core.clock import MIN_INSTANT_US
from weft.text.extract.time import calendar as almanac
from weft.text.extract.time.bare_days import bare_weekday, numbered_day, numbered_weekday
from weft.text.extract.time.calendar import DAY_US, HOUR_US, Period
from weft.text.extract.time.periods import PERIOD_RULES, read_period, read_simple
from weft.text.extract.time.time_words import (
    NUMBERS,
    ORDINAL_WORDS,
    PREPOSITIONS,
    SHORT_WEEKDAYS,
    UNITS,
    VAGUE,
    WEEKDAYS,
    Kind,
    TimeMatch,
    TimeReader,
    read_amount,
)

MAX_WINDOWS = 8
RECENT_DAYS = 60
OTHER_DAY_DAYS = 14
TOLD_WITHIN_DAYS = 3
_HALF_DAYS = {"day": 0, "night": 0, "weekend": 3, "week": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 182}
_HALVES = {"year": (6.0, "month"), "month": (2.0, "week")}
_MONTHS_IN = {"half": 6, "quarter": 3, "month": 1}
_PARTS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 0}
_WEEKDAYS = {f"{name}s": number for name, number in WEEKDAYS.items()}
_BARE_UNITS: dict[str, Kind] = {"week": "week", "month": "month", "quarter": "quarter", "year": "year"}
_BESIDE = {"day", "night", "week", "weekend", "month", "quarter", "year"}
_THROUGHOUT = {"in", "within", "during", "over", "throughout"}
_CHANGES = ("mov", "switch", "chang", "shift", "postpon", "reschedul")
_ON = {"on", "onward", "onwards"}
_GET = {"get", "got", "getting", "be", "been", "am", "are", "is", "was", "were"}  # what did I get up to last week?
_LISTED: set[Kind] = {"day", "month", "quarter", "season", "year", "holiday"}


class TimeWindow(Struct, frozen=True, kw_only=True):
    """A period named by `question[start:stop]`: from `begin_us` up to, but not including, `end_us`.

    Kind "recent" is soft: newer is better, older is not wrong. An open "since" ends with the day of asking, an open
    "until" begins at the beginning of time. People may mention a thing after it happened: `told_us` extends the window
    by half its length, at least three days, but not beyond the question.
    """

    begin_us: int
    end_us: int
    told_us: int
    start: int
    stop: int
    kind: Kind


def time_windows(question: str, asked_at: int) -> tuple[TimeWindow, ...]:
    """The windows of a question, in order, within the years 1 to 9999; at most MAX_WINDOWS.

    A month, date, season or holiday without a year is the latest one begun by `asked_at`. Quoted parts, plans ("next
    week", "tomorrow") and habits ("on Mondays", "every May") give none.
    """
    return _windows(TimeReader(question, almanac.clamped(asked_at), asks=True))


def stated_windows(text: str, told_at: int) -> tuple[TimeWindow, ...]:
    """The windows that a statement names, by the same rules, except for days that may be meant as plans."""
    return _windows(TimeReader(text, almanac.clamped(told_at)))


def _windows(reader: TimeReader) -> tuple[TimeWindow, ...]:
    found: list[TimeWindow] = []
    at, end = 0, len(reader.words)
    while at < end and len(found) < MAX_WINDOWS:
        match = _match(reader, at)
        if match is None:
            at += 1
            continue
        begin_us, end_us = map(almanac.clamped, match.period)
        if begin_us < end_us:
            told_us = _told(begin_us, end_us, match.kind, reader.asked_us)
            start, stop = reader.starts[at], reader.end(match.stop - 1)
            window = TimeWindow(
                begin_us=begin_us, end_us=end_us, told_us=told_us, start=start, stop=stop, kind=match.kind
            )
            found.append(window)
        at, reader.previous = match.stop, match
        reader.listed_at = at if match.kind in _LISTED else -1
    return tuple(found)


def _told(begin_us: int, end_us: int, kind: Kind, asked_us: int) -> int:
    later_us = 0 if kind == "until" else max((end_us - begin_us) // 2, TOLD_WITHIN_DAYS * DAY_US)
    return max(end_us, min(end_us + later_us, asked_us))


def _match(reader: TimeReader, at: int) -> TimeMatch | None:
    word = reader.words[at]
    for rule in _RULES.get(word, ()):
        if found := rule(reader, at):
            return found
    if word[0].isdigit():
        return _counted(reader, at) or numbered_day(reader, at) or read_period(reader, at)
    return None


# ---- counted: two weeks ago, three days before 8 May


def _counted(reader: TimeReader, at: int) -> TimeMatch | None:
    amount = read_amount(reader, at)
    unit = UNITS.get(reader.word(amount[2])) if amount else None
    if amount and reader.word(amount[2] + 1) == "ago" and (number := _WEEKDAYS.get(reader.word(amount[2]))) is not None:
        day = reader.today - 1 - (almanac.weekday_of(reader.today) - 1 - number) % 7  # three Mondays ago
        return TimeMatch(almanac.days(day - 7 * int(amount[1] - 1)), "day", amount[2] + 2)
    if amount is None or unit is None:
        return None
    least, most, after = amount[0], amount[1], amount[2] + 1
    if reader.word(at) == "half" and unit in _HALVES:
        least, unit = _HALVES[unit]
        most = least
    if reader.words[after : after + 3] == ["and", "a", "half"]:
        least, most, after = least + 0.5, most + 0.5, after + 3
    how = reader.word(after)
    if how == "ago" or (how == "back" and reader.ends_clause(after + 1)):
        if unit in {"hour", "minute"}:
            return TimeMatch(_clock_ago(reader.asked_us, least, most, unit), "ago", after + 1)
        return _day_of_ago(reader, least, most, unit, after + 1)
    if how in {"before", "after"} and unit in _HALF_DAYS:
        anchor = read_simple(reader, reader.skip_the(after + 1))
        if anchor and reader.lead(at) in _THROUGHOUT:
            return _span_beside(anchor, how, most, unit)
        if anchor and how == "before":
            day = almanac.day_of(anchor.period.begin_us)
            return TimeMatch(_around(day, least, most, unit), "ago", anchor.stop)
        if anchor:
            day = almanac.day_of(anchor.period.end_us - 1)
            return TimeMatch(_around(day, -most, -least, unit), "ago", anchor.stop)
    return None


def _span_beside(anchor: TimeMatch, how: str, count: float, unit: str) -> TimeMatch:
    """As in "In the ten days after 8 May"."""
    first, end = almanac.day_of(anchor.period.begin_us), almanac.day_of(anchor.period.end_us - 1) + 1
    if how == "before":
        return TimeMatch(Period.of_days(almanac.step_back(first, count, unit), first), "between", anchor.stop)
    return TimeMatch(Period.of_days(end, almanac.step_back(end, -count, unit)), "between", anchor.stop)


def _day_of_ago(reader: TimeReader, least: float, most: float, unit: str, stop: int) -> TimeMatch:
    """As in "Two weeks ago", and the day of it: "a year ago today", "two weeks ago on Tuesday"."""
    day_at = stop + 1 if reader.word(stop) == "on" else stop
    if reader.word(stop) == "today":
        return TimeMatch(almanac.days(almanac.step_back(reader.today, most, unit)), "day", stop + 1)
    if unit != "day" and (number := WEEKDAYS.get(reader.word(day_at))) is not None:
        middle = almanac.step_back(reader.today, (least + most) / 2, unit)
        return TimeMatch(almanac.days(_nearest_weekday(middle, number)), "day", day_at + 1)
    return TimeMatch(_around(reader.today, least, most, unit), "ago", stop)


def _nearest_weekday(day: int, number: int) -> int:
    return day + (number - almanac.weekday_of(day) + 3) % 7 - 3


def _around(day: int, least: float, most: float, unit: str) -> Period:
    """Whole days, half a unit to either side of the day this many units before."""
    half = _HALF_DAYS.get(unit, 1826)
    return Period.of_days(almanac.step_back(day, most, unit) - half, almanac.step_back(day, least, unit) + half + 1)


def _clock_ago(asked_us: int, least: float, most: float, unit: str) -> Period:
    unit_us = HOUR_US if unit == "hour" else HOUR_US // 60
    return Period(asked_us - int((most + 0.5) * unit_us), asked_us - int((least - 0.5) * unit_us))


def _weekday_ago(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "The Wednesday two months ago": the one nearest to that day."""
    ago = _counted(reader, at + 1)
    if ago is None or ago.kind != "ago":
        return None
    middle = almanac.day_of((ago.period.begin_us + ago.period.end_us) // 2)
    return TimeMatch(almanac.days(_nearest_weekday(middle, WEEKDAYS[reader.word(at)])), "day", ago.stop)


# ---- parts of a period, and periods beside one


def _part(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "Early March", "mid-March", "the end of the year": a third of the period."""
    after = at + 1
    if reader.word(after) in {"of", "in", "-"}:
        after += 1
    after = reader.skip_the(after)
    whole = read_simple(reader, after) or _bare_unit(reader, after)
    if whole is None or whole.kind not in {"week", "month", "quarter", "season", "year"}:
        return None
    first, end = almanac.day_of(whole.period.begin_us), almanac.day_of(whole.period.end_us - 1) + 1
    third = max((end - first) // 3, 1)
    cuts = (first, first + third, first + 2 * third, end)
    part = _PARTS[reader.word(at)]
    return TimeMatch(Period.of_days(cuts[part], cuts[part + 1]), whole.kind, whole.stop)


def _bare_unit(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "the end of the year"."""
    kind = _BARE_UNITS.get(reader.word(at))
    if kind is None or reader.word(at - 1) != "the":
        return None
    return TimeMatch(almanac.calendar_unit(reader.today, kind, 0), kind, at + 1)


def _nth_of(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "The second week of May", "the last two weeks of August", "the first half of 2022"."""
    nth, after = _ORDINALS[reader.word(at)], at + 1
    amount = read_amount(reader, after) if reader.word(after) not in {"a", "an"} else None
    count, after = (int(amount[1]), amount[2]) if amount else (1, after)
    unit = reader.word(after) if reader.word(after) == "half" else UNITS.get(reader.word(after), "")
    if unit == "quarter" and nth and not amount and reader.lead(at) in PREPOSITIONS and reader.word(after + 1) != "of":
        of_year = almanac.latest(lambda year: almanac.months(year, 3 * nth - 2, 3), reader.asked_us)
        return TimeMatch(of_year, "quarter", after + 1) if of_year else None
    if unit not in {"day", "week", "weekend", "month", "half", "quarter"} or reader.word(after + 1) != "of":
        return None
    start = reader.skip_the(after + 2)
    whole = read_simple(reader, start) or _bare_unit(reader, start)
    if whole is None or whole.kind not in {"month", "quarter", "season", "year"}:
        return None
    first, end = almanac.day_of(whole.period.begin_us), almanac.day_of(whole.period.end_us - 1) + 1
    if unit == "weekend":
        saturday = first + (5 - almanac.weekday_of(first)) % 7 + 7 * (nth - 1)
        if nth == 0:
            saturday = end - 1 - (almanac.weekday_of(end - 1) - 5) % 7
        return TimeMatch(almanac.days(saturday, 2), "weekend", whole.stop)
    if whole.kind == "year" and unit in _MONTHS_IN:
        size, year = _MONTHS_IN[unit], almanac.year_month(first)[0]
        month = 1 + size * (nth - 1) if nth else 13 - size * min(count, 12)
        return TimeMatch(almanac.months(year, month, size * min(count, 12)), "year", whole.stop)
    sizes = {"day": 1, "week": 7, "half": (end - first + 1) // 2, "quarter": (end - first + 3) // 4, "month": 31}
    size = sizes[unit] * min(count, 366)
    begin = max(end - size, first) if nth == 0 else first + sizes[unit] * (nth - 1)
    return TimeMatch(Period.of_days(begin, min(begin + size, end)), whole.kind, whole.stop)


def _last_before(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "The last weekend before 10 April"."""
    beside = reader.word(at + 1) in _BESIDE and reader.word(at + 2) == "before"
    return _unit_beside(reader, at + 1) if beside else None


def _unit_beside(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "The day before yesterday", "the week before 3 August", "the weekend of 8 May", "the week before last"."""
    unit, how = reader.word(at), reader.word(at + 1)
    if how not in {"before", "after", "of"}:
        return None
    beside = numbered_day(reader, reader.skip_the(at + 2)) or read_simple(reader, reader.skip_the(at + 2))
    if beside is None and how != "of" and unit in _BARE_UNITS and reader.previous and reader.ends_clause(at + 2):
        return _beside_previous(reader.previous, how, unit, at + 2)  # last week compared to the week before
    if beside is None:
        if how == "before" and reader.word(at + 2) == "last" and unit in {*_BARE_UNITS, "weekend"}:
            kind: Kind = "weekend" if unit == "weekend" else _BARE_UNITS[unit]
            return TimeMatch(almanac.calendar_unit(reader.today, unit, 2), kind, at + 3)
        return None
    first, end = almanac.day_of(beside.period.begin_us), almanac.day_of(beside.period.end_us - 1) + 1
    if how == "of":
        if unit not in {"week", "weekend"} or beside.kind not in {"day", "holiday"}:
            return None
        return TimeMatch(almanac.calendar_unit(first, unit, 0), "week" if unit == "week" else "weekend", beside.stop)
    if unit == "weekend":
        sunday_before = first - 1 - (almanac.weekday_of(first - 1) - 6) % 7
        saturday = sunday_before - 1 if how == "before" else end + (5 - almanac.weekday_of(end)) % 7
        return TimeMatch(almanac.days(saturday, 2), "weekend", beside.stop)
    kind = "day" if unit in {"day", "night"} else _BARE_UNITS[unit]
    if how == "before":
        return TimeMatch(Period.of_days(almanac.step_back(first, 1, unit), first), kind, beside.stop)
    return TimeMatch(Period.of_days(end, almanac.step_back(end, -1, unit)), kind, beside.stop)


def _beside_previous(previous: TimeMatch, how: str, unit: str, stop: int) -> TimeMatch:
    first, end = almanac.day_of(previous.period.begin_us), almanac.day_of(previous.period.end_us - 1) + 1
    if how == "before":
        return TimeMatch(Period.of_days(almanac.step_back(first, 1, unit), first), _BARE_UNITS[unit], stop)
    return TimeMatch(Period.of_days(end, almanac.step_back(end, -1, unit)), _BARE_UNITS[unit], stop)


# ---- open and closed ranges


def _open(reader: TimeReader, at: int) -> TimeMatch | None:
    """Since, after, until, by or before a period."""
    word = reader.word(at)
    if word == "up" and (reader.word(at + 1) != "to" or reader.word(at - 1) in _GET):
        return None
    edge = _edge(reader, reader.skip_the(at + 2 if word == "up" else at + 1))
    if edge is None:
        return None
    begin_us, end_us = edge.period
    if word in {"since", "after"}:
        today_us = almanac.days(reader.today).end_us
        return TimeMatch(Period(begin_us if word == "since" else end_us, today_us), "since", edge.stop)
    return TimeMatch(Period(MIN_INSTANT_US, begin_us if word == "before" else end_us), "until", edge.stop)


def _edge(reader: TimeReader, at: int) -> TimeMatch | None:
    return numbered_day(reader, at) or read_expression(reader, at)


def read_expression(reader: TimeReader, at: int) -> TimeMatch | None:
    """Any expression that is not a range."""
    word = reader.word(at)
    for rule in _INNER_RULES.get(word, ()):
        if found := rule(reader, at):
            return found
    return (_counted(reader, at) or read_period(reader, at)) if word[:1].isdigit() else None


def _range(reader: TimeReader, at: int) -> TimeMatch | None:
    """As in "Between March and May", "from 8 May to 12 May"; both ends are included. "From" alone is not a range."""
    if reader.word(at) == "from" and any(word.startswith(_CHANGES) for word in reader.words[max(at - 4, 0) : at]):
        return None  # the call was moved from Monday to Thursday
    first_at = reader.skip_the(at + 1)
    first = _edge(reader, first_at)
    if first and reader.word(first.stop) in _ON and reader.word(at) == "from" and reader.asks:
        today_us = almanac.days(reader.today).end_us
        since = reader.ends_clause(first.stop + 1) and first.period.begin_us < today_us
        return TimeMatch(Period(first.period.begin_us, today_us), "since", first.stop + 1) if since else None
    joints = {"and"} if reader.word(at) == "between" else {"to", "until", "till", "through", "-", "–"}
    if first is None or reader.word(first.stop) not in joints:
        return None
    second_at = reader.skip_the(first.stop + 1)
    reader.listed_at = first.stop
    second = _edge(reader, second_at) or _day_in_same_month(reader, first, second_at)
    if second is None:
        return None
    if first.period.begin_us > second.period.begin_us:  # between March and May 2022: the first is of that year too
        first = _edge(reader.asked(second.period.begin_us), first_at) or first
    return TimeMatch(Period(first.period.begin_us, second.period.end_us), "between", second.stop)


def _day_in_same_month(reader: TimeReader, first: TimeMatch, at: int) -> TimeMatch | None:
    number = reader.whole(at)
    if first.kind != "day" or not number:
        return None
    day = almanac.day_in(*almanac.year_month(almanac.day_of(first.period.begin_us)), number)
    return None if day is None else TimeMatch(almanac.days(day), "day", at + 1)


# ---- recent


def _recent(reader: TimeReader, at: int) -> TimeMatch | None:
    if reader.word(at) == "other":  # the other day
        if reader.word(at - 1) != "the" or reader.word(at + 1) != "day":
            return None
        return TimeMatch(Period.of_days(reader.today - OTHER_DAY_DAYS, reader.today + 1), "recent", at + 2)
    if reader.word(at - 1) == "more":  # a comparison
        return None
    return TimeMatch(Period.of_days(reader.today - RECENT_DAYS, reader.today + 1), "recent", at + 1)


_Rules = tuple[Callable[[TimeReader, int], TimeMatch | None], ...]


def _by_word(*rows: tuple[Callable[[TimeReader, int], TimeMatch | None], list[str]]) -> dict[str, _Rules]:
    """Word → rules that may begin with it, in the order in which they are tried."""
    table: dict[str, _Rules] = {}
    for rule, words in rows:
        for word in words:
            table[word] = (*table.get(word, ()), rule)
    return table


_INNER_ROWS = (
    (_weekday_ago, list(WEEKDAYS)),
    (_counted, ["a", "an", "half", *NUMBERS, *VAGUE]),
    (_last_before, ["last"]),
    (_part, list(_PARTS)),
    (_nth_of, list(_ORDINALS)),
    (_unit_beside, list(_BESIDE)),
    *((rule, [word]) for word, rule in PERIOD_RULES.items()),
)
_INNER_RULES = _by_word(*_INNER_ROWS)
_RULES = _by_word(
    (numbered_weekday, [*WEEKDAYS, *SHORT_WEEKDAYS]),
    (_range, ["between", "from"]),
    (_open, ["since", "after", "until", "till", "by", "before", "through", "up"]),
    (_recent, ["recently", "lately", "other"]),
    *_INNER_ROWS,
    (numbered_day, list(ORDINAL_WORDS)),
    (bare_weekday, [*WEEKDAYS, *SHORT_WEEKDAYS]),
)
