"""Points in time as arguments of calls give them, relative to now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, parse_instant
from weft.text.extract.time.relative import read_relative

NOW = parse_instant("2026-05-20T10:00:00Z")  # a Wednesday


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("now", "2026-05-20T10:00:00.000000Z"),
        ("Today", "2026-05-20"),
        ("  yesterday ", "2026-05-19"),
        ("tomorrow", "2026-05-21"),
        ("the day after tomorrow", "2026-05-22"),
        ("last night", "2026-05-19"),
        ("last Friday", "2026-05-15"),
        ("next Friday", "2026-05-22"),
        ("this Friday", "2026-05-22"),
        ("last week", "2026-05-11"),
        ("next week", "2026-05-25"),
        ("last month", "2026-04"),
        ("next month", "2026-06"),
        ("this year", "2026"),
        ("last year", "2025"),
        ("last summer", "2025-06-01"),
        ("3 days ago", "2026-05-17"),
        ("two weeks ago", "2026-05-06"),
        ("in two weeks", "2026-06-03"),
        ("a month from now", "2026-06-20"),
        ("in 3 years", "2029-05-20"),
        ("an hour ago", "2026-05-20T09:00:00.000000Z"),
        ("in 90 minutes", "2026-05-20T11:30:00.000000Z"),
        ("8 May 2026", "2026-05-08"),
        ("in March 2025", "2025-03"),
    ],
)
def test_a_time_is_as_precise_as_its_words(written: str, read: str) -> None:
    assert read_relative(written, NOW) == read


@pytest.mark.parametrize(
    "written",
    [
        "",
        "someday",
        "recently",
        "a few weeks ago",
        "two weeks",  # a length
        "in two weeks ago",
        "0 days ago",
        "since May",
        "until Monday",
        "between May and June 2025",
        "8 May",  # the last or the next one
        "christmas",
        "on Monday",
        "05/08/2026",  # a day of May or of August
        "yesterday or today",
        "the meeting of yesterday",
        "in 9999 years",
        "9999 years ago",
        "999999 days ago",
        "HEAD",
        "main",
        "summer-2025",
        "tx-1",
    ],
)
def test_what_names_no_one_time_is_none(written: str) -> None:
    assert read_relative(written, NOW) is None


WORDS = "in next last a two 7 999999 day weeks month years hours ago from now May 2025 on the"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=5), st.integers(MIN_INSTANT_US, MAX_INSTANT_US))
def test_what_is_read_is_a_time_whatever_the_words_and_the_day(words: list[str], now_us: int) -> None:
    read = read_relative(" ".join(words), now_us)
    assert read is None or MIN_INSTANT_US <= parse_instant(read) <= MAX_INSTANT_US
