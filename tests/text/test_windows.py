"""Time expressions of questions: which days they name, seen from when the question was asked."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from weft.core.clock import MAX_INSTANT_US, MIN_INSTANT_US, parse_instant, to_iso
from weft.text.extract.time.windows import MAX_WINDOWS, TimeWindow, time_windows

ASKED = "2023-06-14T10:30:00Z"  # a Wednesday
DAY_US = 86_400_000_000


def read(question: str, asked: str = ASKED) -> tuple[TimeWindow, ...]:
    return time_windows(question, parse_instant(asked))


def shown(question: str, asked: str = ASKED) -> list[tuple[str, str, str]]:
    """(first day, day after the last, kind) of each window; a time of day is shown where it is not midnight."""

    def moment(instant_us: int) -> str:
        return to_iso(instant_us)[:16].removesuffix("T00:00")

    return [(moment(w.begin_us), moment(w.end_us), w.kind) for w in read(question, asked)]


COUNTED = [
    ("Which café did I try two days ago?", "2023-06-12", "2023-06-13"),
    ("what did we plant 3 days ago", "2023-06-11", "2023-06-12"),
    ("Who called a week ago?", "2023-06-04", "2023-06-11"),
    ("a couple of weeks ago", "2023-05-28", "2023-06-04"),
    ("a couple weeks ago", "2023-05-28", "2023-06-04"),
    ("a week and a half ago", "2023-06-01", "2023-06-08"),
    ("twelve weeks ago", "2023-03-19", "2023-03-26"),
    ("a fortnight ago", "2023-05-24", "2023-06-08"),
    ("a month ago", "2023-04-29", "2023-05-30"),
    ("about two months ago", "2023-03-30", "2023-04-30"),
    ("a few months ago", "2023-01-30", "2023-04-30"),
    ("half a year ago", "2022-11-29", "2022-12-30"),
    ("a year ago", "2021-12-14", "2022-12-14"),
    ("half an hour ago", "2023-06-14T09:30", "2023-06-14T10:30"),
    ("an hour ago", "2023-06-14T09:00", "2023-06-14T10:00"),
    ("Two Years Ago", "2020-12-14", "2021-12-14"),
    ("two and a half years ago", "2020-06-15", "2021-06-15"),
    ("1.5 years ago", "2021-06-15", "2022-06-15"),
    ("a few weeks back.", "2023-05-14", "2023-06-04"),
    ("two weeks before May 8", "2023-04-21", "2023-04-28"),
    ("three days after 1 June", "2023-06-04", "2023-06-05"),
]

DAYS = [
    ("yesterday", "2023-06-13", "2023-06-14"),
    ("What was yesterday's plan?", "2023-06-13", "2023-06-14"),
    ("yesterday evening", "2023-06-13", "2023-06-14"),
    ("the day before yesterday", "2023-06-12", "2023-06-13"),
    ("today", "2023-06-14", "2023-06-15"),
    ("this morning", "2023-06-14", "2023-06-15"),
    ("tonight", "2023-06-14T18:00", "2023-06-15T06:00"),
    ("last night", "2023-06-13T18:00", "2023-06-14T06:00"),
    ("last Friday", "2023-06-09", "2023-06-10"),
    ("last wednesday", "2023-06-07", "2023-06-08"),
    ("on Monday", "2023-06-12", "2023-06-13"),
    ("on wednesday", "2023-06-14", "2023-06-15"),
    ("on Thursday morning", "2023-06-08", "2023-06-09"),
    ("this Friday", "2023-06-16", "2023-06-17"),
    ("What came out of Monday's call?", "2023-06-12", "2023-06-13"),
    ("Monday last week", "2023-06-05", "2023-06-06"),
    ("the Tuesday of last week", "2023-06-06", "2023-06-07"),
    ("the Monday before May 24, 2023", "2023-05-22", "2023-05-23"),
    ("the Friday after May 24, 2023", "2023-05-26", "2023-05-27"),
    ("the Wednesday two months ago", "2023-04-12", "2023-04-13"),
    ("on Sunday, May 7", "2023-05-07", "2023-05-08"),
    ("8 May", "2023-05-08", "2023-05-09"),
    ("on 8 may", "2023-05-08", "2023-05-09"),
    ("the 8th of may", "2023-05-08", "2023-05-09"),
    ("May 8th, 2022", "2022-05-08", "2022-05-09"),
    ("may 8th", "2023-05-08", "2023-05-09"),
    ("May 8", "2023-05-08", "2023-05-09"),
    ("on 8 May, 2021", "2021-05-08", "2021-05-09"),
    ("the Dec 24 dinner", "2022-12-24", "2022-12-25"),
    ("2023-05-08", "2023-05-08", "2023-05-09"),
    ("2023/5/8", "2023-05-08", "2023-05-09"),
    ("5/8/2023", "2023-05-08", "2023-05-09"),
    ("on 13/5/2023", "2023-05-13", "2023-05-14"),
    ("on 5/22", "2023-05-22", "2023-05-23"),
    ("on 4 July 1969", "1969-07-04", "1969-07-05"),
]

SPANS = [
    ("this week", "2023-06-12", "2023-06-19", "week"),
    ("last week", "2023-06-05", "2023-06-12", "week"),
    ("the week before last", "2023-05-29", "2023-06-05", "week"),
    ("the week before May 3, 2023", "2023-04-26", "2023-05-03", "week"),
    ("the week of 8 May", "2023-05-08", "2023-05-15", "week"),
    ("this weekend", "2023-06-17", "2023-06-19", "weekend"),
    ("last weekend", "2023-06-10", "2023-06-12", "weekend"),
    ("over the weekend", "2023-06-10", "2023-06-12", "weekend"),
    ("this past weekend", "2023-06-10", "2023-06-12", "weekend"),
    ("the last weekend before April 10, 2023", "2023-04-08", "2023-04-10", "weekend"),
    ("the first weekend of August 2022", "2022-08-06", "2022-08-08", "weekend"),
    ("the last weekend of April", "2023-04-29", "2023-05-01", "weekend"),
    ("this month", "2023-06-01", "2023-07-01", "month"),
    ("last month", "2023-05-01", "2023-06-01", "month"),
    ("in May", "2023-05-01", "2023-06-01", "month"),
    ("in may", "2023-05-01", "2023-06-01", "month"),
    ("in july?", "2022-07-01", "2022-08-01", "month"),
    ("in May 2021", "2021-05-01", "2021-06-01", "month"),
    ("in May of 2021", "2021-05-01", "2021-06-01", "month"),
    ("May last year", "2022-05-01", "2022-06-01", "month"),
    ("last may", "2023-05-01", "2023-06-01", "month"),
    ("What was in the March budget?", "2023-03-01", "2023-04-01", "month"),
    ("in Sept", "2022-09-01", "2022-10-01", "month"),
    ("in early March", "2023-03-01", "2023-03-11", "month"),
    ("in mid-March", "2023-03-11", "2023-03-21", "month"),
    ("late in March", "2023-03-21", "2023-04-01", "month"),
    ("at the end of April", "2023-04-21", "2023-05-01", "month"),
    ("the second week of November", "2022-11-08", "2022-11-15", "month"),
    ("the last two weeks of August 2022", "2022-08-18", "2022-09-01", "month"),
    ("2023-05", "2023-05-01", "2023-06-01", "month"),
    ("this quarter", "2023-04-01", "2023-07-01", "quarter"),
    ("last quarter", "2023-01-01", "2023-04-01", "quarter"),
    ("in Q4", "2022-10-01", "2023-01-01", "quarter"),
    ("q2 2021", "2021-04-01", "2021-07-01", "quarter"),
    ("last spring", "2023-03-01", "2023-06-01", "season"),
    ("this summer", "2023-06-01", "2023-09-01", "season"),
    ("last summer", "2022-06-01", "2022-09-01", "season"),
    ("last autumn", "2022-09-01", "2022-12-01", "season"),
    ("in the fall", "2022-09-01", "2022-12-01", "season"),
    ("last winter", "2022-12-01", "2023-03-01", "season"),
    ("the summer of 2021", "2021-06-01", "2021-09-01", "season"),
    ("towards the end of summer 2022", "2022-07-31", "2022-09-01", "season"),
    ("this year", "2023-01-01", "2024-01-01", "year"),
    ("last year", "2022-01-01", "2023-01-01", "year"),
    ("in 2022", "2022-01-01", "2023-01-01", "year"),
    ("in 1962", "1962-01-01", "1963-01-01", "year"),
    ("in the 1990s", "1990-01-01", "2000-01-01", "year"),
    ("the first half of 2022", "2022-01-01", "2022-07-01", "year"),
    ("the last three months of 2021", "2021-10-01", "2022-01-01", "year"),
    ("early last year", "2022-01-01", "2022-05-02", "year"),
    ("over the past three months", "2023-03-14", "2023-06-15", "past"),
    ("in the last week", "2023-06-07", "2023-06-15", "past"),
    ("the past month", "2023-05-14", "2023-06-15", "past"),
    ("the last few weeks", "2023-05-17", "2023-06-15", "past"),
    ("in the past 10 days", "2023-06-04", "2023-06-15", "past"),
    ("since June", "2023-06-01", "2023-06-15", "since"),
    ("since last Friday", "2023-06-09", "2023-06-15", "since"),
    ("since the start of the year", "2023-01-01", "2023-06-15", "since"),
    ("after Christmas", "2022-12-27", "2023-06-15", "since"),
    ("until July", "0001-01-01", "2022-08-01", "until"),
    ("by 7 July 2022", "0001-01-01", "2022-07-08", "until"),
    ("before the 5/22 trip", "0001-01-01", "2023-05-22", "until"),
    ("between March and May", "2023-03-01", "2023-06-01", "between"),
    ("between march and may", "2023-03-01", "2023-06-01", "between"),
    ("between November and February", "2022-11-01", "2023-03-01", "between"),
    ("between March and May 2021", "2021-03-01", "2021-06-01", "between"),
    ("from July to October", "2022-07-01", "2022-11-01", "between"),
    ("from May 8 to 12", "2023-05-08", "2023-05-13", "between"),
    ("from 2019 until 2021", "2019-01-01", "2022-01-01", "between"),
    ("recently", "2023-04-15", "2023-06-15", "recent"),
    ("lately", "2023-04-15", "2023-06-15", "recent"),
    ("the other day", "2023-05-31", "2023-06-15", "recent"),
    ("at Christmas", "2022-12-24", "2022-12-27", "holiday"),
    ("for christmas dinner", "2022-12-24", "2022-12-27", "holiday"),
    ("on Christmas Eve", "2022-12-24", "2022-12-25", "holiday"),
    ("on Christmas Day 2020", "2020-12-25", "2020-12-26", "holiday"),
    ("over New Year", "2022-12-31", "2023-01-02", "holiday"),
    ("on New Year's Eve", "2022-12-31", "2023-01-01", "holiday"),
    ("New Year's Eve 2020", "2020-12-31", "2021-01-01", "holiday"),
    ("on Valentine’s Day", "2023-02-14", "2023-02-15", "holiday"),
    ("at Thanksgiving", "2022-11-24", "2022-11-28", "holiday"),
    ("last Easter", "2023-04-07", "2023-04-11", "holiday"),
    ("at easter 2024", "2024-03-29", "2024-04-02", "holiday"),
    ("Halloween 2021", "2021-10-31", "2021-11-01", "holiday"),
]


@pytest.mark.parametrize(("question", "begin", "end"), COUNTED)
def test_so_long_ago_is_a_unit_wide(question: str, begin: str, end: str) -> None:
    assert shown(question) == [(begin, end, "ago")]


@pytest.mark.parametrize(("question", "begin", "end"), DAYS)
def test_days(question: str, begin: str, end: str) -> None:
    assert shown(question) == [(begin, end, "day")]


@pytest.mark.parametrize(("question", "begin", "end", "kind"), SPANS)
def test_longer_spans(question: str, begin: str, end: str, kind: str) -> None:
    assert shown(question) == [(begin, end, kind)]


@pytest.mark.parametrize(
    ("question", "asked", "begin", "end"),
    [
        # the first and the last day of a month, a year
        ("in June", "2023-06-01T00:00:00Z", "2023-06-01", "2023-07-01"),
        ("in June", "2023-05-31T23:59:59Z", "2022-06-01", "2022-07-01"),
        ("last month", "2023-01-01", "2022-12-01", "2023-01-01"),
        ("last quarter", "2023-02-11", "2022-10-01", "2023-01-01"),
        ("yesterday", "2023-01-01T00:00:00Z", "2022-12-31", "2023-01-01"),
        ("last year", "2023-01-01", "2022-01-01", "2023-01-01"),
        ("in December", "2023-12-31T23:00:00Z", "2023-12-01", "2024-01-01"),
        ("this winter", "2023-01-20", "2022-12-01", "2023-03-01"),
        ("last winter", "2023-01-20", "2021-12-01", "2022-03-01"),
        ("New Year's Eve", "2022-12-31T20:00:00Z", "2022-12-31", "2023-01-01"),
        ("last Christmas", "2022-12-25", "2021-12-24", "2021-12-27"),
        ("last March", "2023-03-20", "2022-03-01", "2022-04-01"),
        ("this Christmas", "2023-11-02", "2023-12-24", "2023-12-27"),
        # leap days and short months
        ("a year ago", "2024-02-29", "2022-08-30", "2023-08-30"),
        ("a month ago", "2024-03-31", "2024-02-14", "2024-03-16"),
        ("on 29 February", "2023-06-14", "2020-02-29", "2020-03-01"),
        ("on 29 February", "1903-06-14", "1896-02-29", "1896-03-01"),
        ("in February", "2024-06-14", "2024-02-01", "2024-03-01"),
        # weeks that cross a year, and the days a week turns on
        ("last week", "2023-01-01", "2022-12-19", "2022-12-26"),
        ("last weekend", "2023-06-11", "2023-06-03", "2023-06-05"),
        ("the past weekend", "2023-06-11", "2023-06-10", "2023-06-12"),
        ("this weekend", "2023-06-12", "2023-06-10", "2023-06-12"),
        ("last Monday", "2023-06-12", "2023-06-05", "2023-06-06"),
        # before 1970, and at the ends of time
        ("two days ago", "1969-12-31T12:00:00Z", "1969-12-29", "1969-12-30"),
        ("last Friday", "1970-01-01", "1969-12-26", "1969-12-27"),
        ("in May", "1954-08-01", "1954-05-01", "1954-06-01"),
        ("at Easter", "1961-08-01", "1961-03-31", "1961-04-04"),
        ("a week ago", "0001-01-05", "0001-01-01", "0001-01-02"),
    ],
)
def test_edges_of_the_calendar(question: str, asked: str, begin: str, end: str) -> None:
    assert [window[:2] for window in shown(question, asked)] == [(begin, end)]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is my sister's name?",
        "What may I bring to the party?",
        "may 8 people join us?",
        "May I ask about the boat?",
        "this may be wrong",
        "They march through the town, and march again",
        "the march on the capital",
        "Which song comes second?",
        "one second please",
        "Did I fall off my bike?",
        "the fall of the old wall",
        "spring rolls with a summer salad",
        "June told me about April and August",
        "Who went with June?",
        "How many weeks ago did I sell the car?",
        "What time do I get up on Mondays?",
        "on Saturday mornings",
        "every December",
        "next Friday, next month or next May",
        "How many sports have I tried in the past?",
        "Which one did I see last?",
        "my last trip and the last season of the show",
        "Write it in 2000 words",
        "the Fisheries Act of 1868",
        "the film (1982)",
        "Room 2022",
        "half a cup and 1/2 spoon",
        "on 31 June",
        "on Feb 30",
        "2023-13-45",
        "the Christmas tree lights",
        "an easter egg in the menu",
        "a new year resolution",
        "Who is singing 'Last Christmas' on the tape?",
        'the chapter "Yesterday and Two Weeks Ago"',
        "Which came out more recently?",
        "Who directed A Night In Winter?",
        "sun and sat on the bench, wed in white",
        "in_may",
        "a day before my birthday",
        "who works Monday?",
        "what did Sun and Oracle announce?",
        "when is the Monday meeting?",
        "What happened on the 16th floor?",
        "who finished 16th?",
        "on the 3rd attempt",
        "what did I get up to in the second flat?",
        "what did we say about Christmas?",
    ],
)
def test_what_only_looks_like_a_time_names_none(question: str) -> None:
    assert read(question) == ()


def test_several_times_keep_their_order() -> None:
    question = "Did I run more in April, May and June than in 2021?"
    assert [question[w.start : w.stop] for w in read(question)] == ["April", "May", "June", "2021"]
    assert [w[:2] for w in shown("in December or January")] == [
        ("2022-12-01", "2023-01-01"),
        ("2023-01-01", "2023-02-01"),
    ]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What did I cook a couple of weeks ago, and why?", "a couple of weeks ago"),
        ("Who came between March and May 2021?", "between March and May 2021"),
        ("Have I run since last Friday?", "since last Friday"),
        ("The  8th  of  May,  2021 ?", "8th  of  May,  2021"),
        ("Où — in MAY?", "MAY"),
    ],
)
def test_the_span_is_the_words_that_name_it(question: str, named: str) -> None:
    (window,) = read(question)
    assert question[window.start : window.stop] == named


def test_a_thing_may_be_told_some_time_after_it_happened() -> None:
    def told(question: str, asked: str = ASKED) -> str:
        return to_iso(read(question, asked)[0].told_us)[:16]

    assert told("in March") == "2023-04-16T12:00"  # half as long again
    assert told("last Friday") == "2023-06-13T00:00"  # three days at least
    assert told("last month") == "2023-06-14T10:30"  # not after the question
    assert told("until March") == "2023-04-01T00:00"
    assert told("this year") == "2024-01-01T00:00"


def test_there_are_only_so_many_windows() -> None:
    assert len(read("yesterday, " * 100)) == MAX_WINDOWS


WORDS = """
a an half and the of in on at by to from since until before after between last this past next early mid late end
first second two 3 8 8th 31 99 2022 0001 2023-05-08 1/2 7/22/2023 day week weekends month quarters year decades hour
ago back couple few may May march Dec june Monday sun Sat summer fall Christmas new year's Easter eve yesterday
tonight night recently other Q3 ' " , . ? - – & é 999999 12:30
third 16th versus
"""
words = st.sampled_from(WORDS.split())
instants = st.one_of(
    st.integers(MIN_INSTANT_US, MAX_INSTANT_US),
    st.sampled_from(
        [MIN_INSTANT_US, MIN_INSTANT_US + 40 * DAY_US, -1, 0, MAX_INSTANT_US - 40 * DAY_US, MAX_INSTANT_US]
    ),
)


@given(st.one_of(st.lists(words, max_size=12).map(" ".join), st.text(max_size=80)), instants)
@example("999999 decades ago", MIN_INSTANT_US)
@example("the week after December 31, 2199 and three years after 2199", MAX_INSTANT_US)
@example("this winter, last Easter and the weekend of 31 December", MAX_INSTANT_US)
@example("this winter, last Easter and on 1 January", MIN_INSTANT_US)
def test_any_words_at_any_moment_give_sound_windows(question: str, asked_at: int) -> None:
    at = 0
    for window in time_windows(question, asked_at):
        assert MIN_INSTANT_US <= window.begin_us < window.end_us <= window.told_us <= MAX_INSTANT_US
        assert at <= window.start < window.stop <= len(question)
        at = window.stop


CASED = {"may", "sat", "sun", "dec"}  # a capital may make a month or a day of them


@given(st.lists(words.filter(lambda word: word.lower() not in CASED), max_size=12).map(" ".join))
@example("on Monday and last Christmas")
def test_words_that_need_no_capital_are_read_without_it(question: str) -> None:
    assert read(question.lower()) == read(question)


def test_only_a_capital_makes_a_day_of_a_word_that_has_another_meaning() -> None:
    assert [each.kind for each in read("Who called last Sun?")] == ["day"]
    assert read("who called last sun?") == ()


@pytest.mark.parametrize(
    "piece",
    ["may ", "may 8 ", "1", "1.", "1/", "2023-", "' 'a", '"', "last monday before ", "first week of ", "from 1 may to ",
     "a year and a half ", "between march and ", "the ", "in the ", "since the day before ", "\n ", "é’s ", "a"],
)  # fmt: skip
def test_a_long_text_is_read_in_one_pass(piece: str) -> None:
    """A tenth of a second if the time taken is linear, well over ten seconds if every word looks at all others."""
    text = (piece * (32_768 // len(piece) + 1))[:32_768]
    begun = time.process_time()
    time_windows(text, parse_instant(ASKED))
    assert time.process_time() - begun < 1.0


def test_an_ordinary_question_takes_microseconds() -> None:
    question = "How many times did I go to the pool with Nora in the past two weeks, and was it before the 8th of May?"
    asked = parse_instant(ASKED)

    def seconds() -> float:
        begun = time.process_time()
        time_windows(question, asked)
        return time.process_time() - begun

    assert min(seconds() for _ in range(200)) < 200e-6
