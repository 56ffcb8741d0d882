"""Days that a question names by little, and several times in one question."""

from __future__ import annotations

import pytest

from weft.core.clock import parse_instant, to_iso
from weft.text.extract.time.windows import stated_windows, time_windows

ASKED = parse_instant("2023-06-14T10:30:00Z")  # a Wednesday


@pytest.mark.parametrize(
    ("question", "begin", "end"),
    [
        ("What happened Monday?", "2023-06-12", "2023-06-13"),
        ("who called friday", "2023-06-09", "2023-06-10"),
        ("Did Ana ring Monday morning?", "2023-06-12", "2023-06-13"),
        ("What did we do last week Tuesday?", "2023-06-06", "2023-06-07"),
        ("last week on Tuesday", "2023-06-06", "2023-06-07"),
        ("two weeks ago on Friday", "2023-06-02", "2023-06-03"),
        ("three Mondays ago", "2023-05-29", "2023-05-30"),
        ("the Monday before last", "2023-06-05", "2023-06-06"),
        ("a year ago today", "2022-06-14", "2022-06-15"),
        ("anything on the 3rd?", "2023-06-03", "2023-06-04"),
        ("what did we do the 16th?", "2023-05-16", "2023-05-17"),
        ("on the 31st", "2023-05-31", "2023-06-01"),
        ("on the first", "2023-06-01", "2023-06-02"),
        ("the night of the 3rd", "2023-06-03", "2023-06-04"),
        ("the 16th of last month", "2023-05-16", "2023-05-17"),
        ("the third of May", "2023-05-03", "2023-05-04"),
        ("May the 3rd", "2023-05-03", "2023-05-04"),
        ("on Friday the 9th", "2023-06-09", "2023-06-10"),
        ("What happened Monday through Wednesday?", "2023-06-12", "2023-06-15"),
        ("between Monday and Wednesday", "2023-06-12", "2023-06-15"),
        ("from the 3rd to the 9th", "2023-06-03", "2023-06-10"),
        ("from the 3rd to the 5th of May", "2023-05-03", "2023-05-06"),
        ("3-5 May", "2023-05-03", "2023-05-06"),
        ("May 3-5", "2023-05-03", "2023-05-06"),
        ("in the ten days after 8 May", "2023-05-09", "2023-05-19"),
        ("since the 10th", "2023-06-10", "2023-06-15"),
        ("from April on", "2023-04-01", "2023-06-15"),
        ("up to March", "0001-01-01", "2023-04-01"),
        ("the week of the 9th", "2023-06-05", "2023-06-12"),
        ("in the first quarter", "2023-01-01", "2023-04-01"),
        ("this time last year", "2022-05-30", "2022-06-30"),
    ],
)
def test_days_named_by_little_and_spans_between_them(question: str, begin: str, end: str) -> None:
    (window,) = time_windows(question, ASKED)
    assert (to_iso(window.begin_us)[:10], to_iso(window.end_us)[:10]) == (begin, end)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("on Monday and Tuesday", ["2023-06-12", "2023-06-13"]),
        ("what happened Sat and Sun?", ["2023-06-10", "2023-06-11"]),
        ("what happened Monday or Tuesday last week?", ["2023-06-05", "2023-06-06"]),
        ("on the 3rd and the 5th", ["2023-06-03", "2023-06-05"]),
        ("on 3 and 5 May", ["2023-05-03", "2023-05-05"]),
        ("on May 3 and 5", ["2023-05-03", "2023-05-05"]),
        ("last week compared to the week before", ["2023-06-05", "2023-05-29"]),
        ("compare May with September", ["2023-05-01", "2022-09-01"]),
    ],
)
def test_all_times_of_a_list_are_read(question: str, days: list[str]) -> None:
    assert [to_iso(window.begin_us)[:10] for window in time_windows(question, ASKED)] == days


@pytest.mark.parametrize("text", ["Poured the batch, the plumber comes Friday.", "Booked the flight for the 24th."])
def test_a_statement_may_mean_the_day_to_come(text: str) -> None:
    assert stated_windows(text, ASKED) == ()


def test_a_part_of_an_id_is_no_date() -> None:
    assert not time_windows("019b7711-9680-7fec-8cb8-8c26e5529629", 1_795_000_000_000_000)
