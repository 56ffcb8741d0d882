"""Dates as people and exports write them."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.clock import from_datetime, parse_instant
from weft.text.extract.time.dates import MAX_DATE_CHARACTERS, read_date


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024", "2024-01-01"),
        ("2024-03", "2024-03-01"),
        ("2024-03-09", "2024-03-09"),
        ("2024-3-9", "2024-03-09"),
        ("2024/03/09", "2024-03-09"),
        ("2024.03.09", "2024-03-09"),
        ("20240309", "2024-03-09"),
        ("2024-069", "2024-03-09"),
        ("2024-W10-6", "2024-03-09"),
        ("9 March 2024", "2024-03-09"),
        ("9 Mar. 2024", "2024-03-09"),
        ("9-Mar-2024", "2024-03-09"),
        ("March 9, 2024", "2024-03-09"),
        ("March 9th, 2024", "2024-03-09"),
        ("the 9th of March 2024", "2024-03-09"),
        ("Saturday, 9 March 2024", "2024-03-09"),
        ("Sept 2, 2024", "2024-09-02"),
        ("March 2024", "2024-03-01"),
        ("09.03.2024", "2024-03-09"),
        ("31/12/2024", "2024-12-31"),
        ("12/31/2024", "2024-12-31"),
        ("20240309T0407", "2024-03-09T04:07:00Z"),
        ("20240309T040708Z", "2024-03-09T04:07:08Z"),
        ("2024-03-09T04:07:08.5+02:00", "2024-03-09T02:07:08.5Z"),
        ("2024-03-09 04:07:08.123456789", "2024-03-09T04:07:08.123456Z"),
        ("2024-03-09 24:00", "2024-03-10T00:00:00Z"),
        ("4:07 pm on 9 March, 2024", "2024-03-09T16:07:00Z"),
        ("12:07 a.m., 9 March 2024", "2024-03-09T00:07:00Z"),
        ("March 9, 2024 at 12 PM", "2024-03-09T12:00:00Z"),
        ("March 9, 2024 at 4:07\u202fPM", "2024-03-09T16:07:00Z"),
        ("2024/03/09 (Sat) 04:07", "2024-03-09T04:07:00Z"),
        ("Sat, 09 Mar 2024 04:07:08 GMT", "2024-03-09T04:07:08Z"),
        ("Sat, 09 Mar 2024 04:07:08 +0100", "2024-03-09T03:07:08Z"),
        ("Sat, 09 Mar 2024 04:07:08 EST", "2024-03-09T09:07:08Z"),
        ("Sat Mar  9 04:07:08 2024", "2024-03-09T04:07:08Z"),
        ("Sat Mar 9 04:07:08 2024 -0330", "2024-03-09T07:37:08Z"),
        ("Sat Mar 09 2024 04:07:08 GMT+0100 (Central European Standard Time)", "2024-03-09T03:07:08Z"),
        ("09/Mar/2024:04:07:08 +0000", "2024-03-09T04:07:08Z"),
        ("[31/12/2024, 16:07:08]", "2024-12-31T16:07:08Z"),
        (1709957228, "2024-03-09T04:07:08Z"),
        (1709957228.25, "2024-03-09T04:07:08.25Z"),
        ("1709957228", "2024-03-09T04:07:08Z"),
        (1709957228123, "2024-03-09T04:07:08.123Z"),
        ("1709957228123", "2024-03-09T04:07:08.123Z"),
        (1709957228123456, "2024-03-09T04:07:08.123456Z"),
        (20240309, "2024-03-09"),
        (2024, "2024-01-01"),
    ],
)
def test_it_is_read(written: object, meant: str) -> None:
    read = read_date(written)
    assert read.at == parse_instant(meant)
    assert read.note == ""


def test_of_two_possible_orders_the_month_comes_first_and_a_note_says_so() -> None:
    read = read_date("05/08/2023")
    assert read.at == parse_instant("2023-05-08")
    assert "month first" in read.note
    assert read_date("05.08.2023").at == parse_instant("2023-08-05")
    assert read_date("05/05/2023").note == ""


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("9 March", "no year"),
        ("March 9th at 5 pm", "no year"),
        ("03/09", "no year"),
        ("3/9/24, 4:07 PM", "no year"),
        ("16:07", "no year"),
        ("yesterday", "no year"),
        ("2024 9", "no month"),
        ("30 February 2024", "day"),
        ("2024-13-01", "month"),
        ("25:00 on 9 March 2024", "25:00"),
        ("13 pm on 9 March 2024", "13 pm"),
        ("Sat Mar 9 04:07:08 CEST 2024", "cest"),
        ("9 March 2024 or so", "or"),
        ("9 March 9 2024", "too many"),
        ("0001-01-01T00:00+14:00", "years 1 to 9999"),
        ("", "empty"),
        ("12345", "a number is"),
        (-86400, "below zero"),
        ("9 March 2024" + " " * MAX_DATE_CHARACTERS, "longer than"),
        (10**400, "up to"),
        (float("inf"), "up to"),
        (float("nan"), "nan"),
        (True, "a string or a number"),
        (None, "a string or a number"),
        (["2024"], "a string or a number"),
        ({}, "a string or a number"),
    ],
)
def test_it_is_refused_with_the_reason(written: object, why: str) -> None:
    read = read_date(written)
    assert read.at is None
    assert why in read.note


moments = st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


@given(moments.map(lambda moment: moment.replace(microsecond=0)))
def test_every_way_of_writing_a_moment_means_it(moment: datetime) -> None:
    half = f"{moment:%I:%M:%S %p}"
    day, year = f"{moment.day} {moment:%B}", f"{moment.year:04d}"
    ways = [
        moment.isoformat(),
        format_datetime(moment),
        f"{half} on {day}, {year}",
        f"{moment:%B} {moment.day}, {year} at {half}",
        f"{year}/{moment.month:02d}/{moment.day:02d} ({moment:%a}) {moment:%H:%M:%S}",
        f"{moment.day}.{moment.month}.{year} {moment:%H:%M:%S}",
        f"{moment:%a %b} {moment.day} {moment:%H:%M:%S} {year}",
    ]
    assert {read_date(way).at for way in ways} == {from_datetime(moment)}, ways


@given(st.one_of(st.text(max_size=60), st.integers(), st.floats(), st.text("0123456789/.-: apmMay,TZ+()", max_size=30)))
def test_whatever_is_written_it_is_a_moment_or_a_reason(written: object) -> None:
    read = read_date(written)
    assert read.at is not None or read.note
