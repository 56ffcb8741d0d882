"""Calendar periods in microseconds: days, weeks, months, seasons, quarters, years, holidays.

Days are integers as in `date.toordinal`, so that no sum overflows; only `Period.of_days` converts them to times, within
the years 1 to 9999. Weeks begin on Monday, seasons are northern, all times are UTC.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date
from typing import NamedTuple, Self

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
_EPOCH_DAY = date(1970, 1, 1).toordinal()
MIN_YEAR, MAX_YEAR = 1, 9999


class Period(NamedTuple):
    """Half-open: `begin_us` is included, `end_us` is not."""

    begin_us: int
    end_us: int

    @classmethod
    def of_days(cls, first: int, end: int) -> Self:
        """From the day `first` up to, but not including, the day `end`."""
        return cls(_moment(first), _moment(end))


def clamped(instant_us: int) -> int:
    """The time, or the nearest one that weft can store."""
    return min(max(instant_us, MIN_INSTANT_US), MAX_INSTANT_US)


def _moment(day: int) -> int:
    return clamped((day - _EPOCH_DAY) * DAY_US)


def day_of(instant_us: int) -> int:
    """The day of a time."""
    return clamped(instant_us) // DAY_US + _EPOCH_DAY


def year_month(day: int) -> tuple[int, int]:
    """The year and month of a day."""
    found = date.fromordinal(min(max(day, 1), date.max.toordinal()))
    return found.year, found.month


def weekday_of(day: int) -> int:
    """The weekday of a day; Monday is 0."""
    return (day - 1) % 7


def first_of(year: int, month: int) -> int:
    """The first day of a month; months below 1 and above 12 run into other years."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if year > MAX_YEAR:
        return date.max.toordinal() + 1
    return date(year, month, 1).toordinal() if year >= MIN_YEAR else 1


def day_in(year: int, month: int, number: int) -> int | None:
    """The day with this date, if it exists."""
    if not (MIN_YEAR <= year <= MAX_YEAR and 1 <= number <= monthrange(year, month)[1]):
        return None
    return first_of(year, month) + number - 1


def months_before(day: int, months: int) -> int:
    """The same day of an earlier month; its last day if the month is too short."""
    year, month = year_month(day)
    first = first_of(year, month - months)
    length = first_of(year, month - months + 1) - first
    return first + min(day - first_of(year, month), max(length - 1, 0))


def days(day: int, count: int = 1) -> Period:
    """As many whole days from this one on."""
    return Period.of_days(day, day + count)


def week(day: int) -> Period:
    """The week, Monday to Sunday, of a day."""
    return days(day - weekday_of(day), 7)


def weekend(day: int) -> Period:
    """Saturday and Sunday of the week of a day."""
    return days(day - weekday_of(day) + 5, 2)


def months(year: int, month: int, count: int = 1) -> Period:
    """As many calendar months from this one on."""
    return Period.of_days(first_of(year, month), first_of(year, month + count))


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def season(name: str, year: int) -> Period:
    """Three whole months; winter begins in December of the year."""
    return months(year, _SEASONS[name], 3)


def _easter(year: int) -> int:
    """Easter Sunday by the Gregorian rule (the anonymous algorithm), also for years before the calendar was adopted."""
    century, rest = divmod(year, 100)
    golden = year % 19
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    full = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    month, number = divmod(epact + full - 7 * ((golden + 11 * epact + 22 * full) // 451) + 114, 31)
    return first_of(year, month) + number


def _nth(year: int, month: int, weekday: int, nth: int) -> int:
    first = first_of(year, month)
    return first + (weekday - weekday_of(first)) % 7 + 7 * (nth - 1)


# Name → (first day in a year, number of days).
_HOLIDAYS: dict[str, tuple[Callable[[int], int], int]] = {
    "new year": (lambda year: first_of(year, 1) - 1, 2),
    "valentine": (lambda year: first_of(year, 2) + 13, 1),
    "easter": (lambda year: _easter(year) - 2, 4),
    "halloween": (lambda year: first_of(year, 10) + 30, 1),
    "thanksgiving": (lambda year: _nth(year, 11, 3, 4), 4),
    "christmas": (lambda year: first_of(year, 12) + 23, 3),
}


def holiday(name: str, year: int) -> Period:
    """The days of a holiday: New Year two, from its eve; Easter four, from Friday; Christmas three, from the 24th;
    American Thanksgiving four, from Thursday; Valentine's Day and Halloween one.
    """
    first, kept = _HOLIDAYS[name]
    return days(first(year), kept)


def latest(of_year: Callable[[int], Period | None], before_us: int, *, ended: bool = False) -> Period | None:
    """The last yearly period that had begun by then (or, with `ended`, was over by then)."""
    year = year_month(day_of(before_us))[0]
    for candidate in range(year + 1, year - 9, -1):  # 29 February can be eight years apart
        if candidate > MAX_YEAR or candidate < MIN_YEAR:
            continue
        found = of_year(candidate)
        if found and (found.end_us if ended else found.begin_us) <= before_us:
            return found
    return None


def nearest(of_year: Callable[[int], Period | None], to_us: int) -> Period | None:
    """The yearly period whose middle is nearest to a time, before or after."""
    year = year_month(day_of(to_us))[0]
    near = [y for y in range(year - 1, year + 2) if MIN_YEAR <= y <= MAX_YEAR]
    found = [period for candidate in near if (period := of_year(candidate))]
    return min(found, key=lambda period: abs(period.begin_us + period.end_us - 2 * to_us), default=None)


def calendar_unit(day: int, unit: str, ago: int) -> Period:
    """The whole week, weekend, month, quarter or year of a day, or the one `ago` units before it."""
    year, month = year_month(day)
    if unit == "week":
        return week(day - 7 * ago)
    if unit == "weekend":
        return weekend(day - 7 * ago)
    if unit == "month":
        return months(year, month - ago)
    if unit == "quarter":
        return months(year, (month - 1) // 3 * 3 + 1 - 3 * ago, 3)
    return months(year - ago, 1, 12)


_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS_IN = {"day": 1, "night": 1, "week": 7, "weekend": 7, "fortnight": 14}


def step_back(day: int, count: float, unit: str) -> int:
    """The day this many units earlier; later for a negative count."""
    if unit in _MONTHS_IN:
        total = count * _MONTHS_IN[unit]
        whole = int(total)
        return months_before(day, whole) - int((total - whole) * 30.44)
    return day - round(count * _DAYS_IN.get(unit, 0))
