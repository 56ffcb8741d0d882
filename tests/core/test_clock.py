"""Moments: read from ISO 8601, kept as microseconds, written in one form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, SystemClock, from_datetime, parse_instant, to_iso
from weft.core.errors import Invalid


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("2026", "2026-01-01T00:00:00.000000Z"),
        ("2026-05", "2026-05-01T00:00:00.000000Z"),
        ("2026-05-08", "2026-05-08T00:00:00.000000Z"),
        ("  2026-05-08 ", "2026-05-08T00:00:00.000000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000000Z"),
        ("2026-05-08T09:30", "2026-05-08T09:30:00.000000Z"),
        ("2026-05-08 09:30:01", "2026-05-08T09:30:01.000000Z"),
        ("2026-05-08T09:30:00Z", "2026-05-08T09:30:00.000000Z"),
        ("2026-05-08T09:30:00+02:00", "2026-05-08T07:30:00.000000Z"),
        ("2026-05-08T01:00:00+05:30", "2026-05-07T19:30:00.000000Z"),
        ("2026-05-08T23:00:00-08:00", "2026-05-09T07:00:00.000000Z"),
        ("2026-05-08T09:30:00.123456Z", "2026-05-08T09:30:00.123456Z"),
        ("2026-05-08T09:30:00.5Z", "2026-05-08T09:30:00.500000Z"),
        ("0001", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_reads(written: str, read_as: str) -> None:
    assert to_iso(parse_instant(written)) == read_as


@pytest.mark.parametrize(
    "written",
    [
        "",
        "   ",
        "now",
        "yesterday",
        "0000",
        "2026-00",
        "2026-13",
        "2026-02-29",
        "2026-04-31",
        "2026-05-08T24:61:00",
        "2026-05-08T09:60",
        "2026-05-08T09:30:00+25:00",
        "10000-01-01",
        "26",
        "2026-5-8",
        "08.05.2026",
        "2026-05-08Tnoon",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59.999999-00:01",
        "x" * 5000,
    ],
)
def test_refuses_what_is_no_moment(written: str) -> None:
    with pytest.raises(Invalid, match="as_of is not a moment") as caught:
        parse_instant(written, field="as_of")
    assert "2026-05-08" in caught.value.hint
    assert len(caught.value.message) < 300


def test_the_ends_of_time_round_trip() -> None:
    for instant in (MIN_INSTANT_US, MIN_INSTANT_US + 1, -1, 0, 1, MAX_INSTANT_US - 1, MAX_INSTANT_US):
        assert parse_instant(to_iso(instant)) == instant
    assert to_iso(MIN_INSTANT_US) == "0001-01-01T00:00:00.000000Z"
    assert to_iso(MAX_INSTANT_US) == "9999-12-31T23:59:59.999999Z"


def test_the_written_form_sorts_as_time_does() -> None:
    instants = [
        MIN_INSTANT_US,
        -62_000_000_000_000_000,
        -1,
        0,
        999_999,
        1_000_000,
        1_767_225_600_000_000,
        MAX_INSTANT_US,
    ]
    written = [to_iso(each) for each in instants]
    assert written == sorted(written)
    assert {len(each) for each in written} == {27}


def test_datetimes_with_and_without_a_zone() -> None:
    plain = datetime(2026, 5, 8, 9, 30)  # noqa: DTZ001 - the case under test
    assert from_datetime(plain) == from_datetime(plain.replace(tzinfo=UTC))
    assert from_datetime(plain.replace(tzinfo=timezone(timedelta(hours=2)))) == from_datetime(plain) - 7_200_000_000


def test_the_system_clock_tells_the_present() -> None:
    before = from_datetime(datetime.now(UTC))
    told = SystemClock().now_us()
    assert before <= told <= from_datetime(datetime.now(UTC)) + 1
