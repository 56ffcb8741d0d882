"""What is found in a text without a model: names, times, quantities, addresses, facts, preferences, causes."""

from __future__ import annotations

import time

import pytest

from weft.core.clock import parse_instant, to_iso
from weft.text.extract.extraction import MAX_READ_CHARACTERS, VERSION, extract
from weft.text.extract.findings import Extraction
from weft.text.extract.names.mentioned_names import MAX_NAMES

AT = parse_instant("2023-06-14T10:30:00Z")  # a Wednesday


def read(text: str, speaker: str | None = None) -> Extraction:
    return extract(text, at=AT, speaker=speaker)


def names(text: str) -> list[str]:
    return [name.text for name in read(text).names]


def days(text: str, at: int | None = AT) -> list[tuple[str, str, str]]:
    found = extract(text, at=at).dates
    return [(text[slice(*date.span)], to_iso(date.from_us)[:10], to_iso(date.to_us)[:10]) for date in found]


def facts(text: str, speaker: str | None = None) -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.predicate, fact.object) for fact in read(text, speaker).facts]


def likes(text: str, speaker: str | None = None) -> list[tuple[str, str, str]]:
    return [(each.holder, each.polarity, each.object) for each in read(text, speaker).preferences]


def causes(text: str) -> list[tuple[str, str]]:
    return [(text[slice(*each.cause)], text[slice(*each.effect)]) for each in read(text).causes]


# ---- names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hey Anna, thanks for the book!", ["Anna"]),
        ("Thanks! Sounds lovely.", []),
        ("Visiting Oslo with Otto Berg was fun.", ["Oslo", "Otto Berg"]),
        ("She teaches at the University of Elmland.", ["University of Elmland"]),
        ("Dr. Okafor met King Karl III and the duke of Elmland.", ["Okafor", "Karl III", "Elmland"]),
        ("We live in Dunmore, Ohio.", ["Dunmore", "Ohio"]),
        ('He read "The Lanterns" twice.', ["The Lanterns"]),
        ("we saw The Lanterns on Monday in May", ["The Lanterns"]),
        ("An American poet spoke South Korean and French on TV.", []),
        ("I studied Computer Science.", []),
        ("Anna's Volvo is parked at St John's College.", ["Anna", "Volvo", "St John's College"]),
        ("J. K. Low and U.S. officials met at Elm, Inc. yesterday.", ["J. K. Low", "U.S.", "Elm, Inc."]),
        ("My iPhone 12 broke", ["iPhone 12"]),
        ("**Take breaks**: Rest often.", []),
        ("Painting is fun. Nature helps.", []),
        ("Łukasz flew to Århus.", ["Łukasz", "Århus"]),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_name_says_what_it_is_likely_of() -> None:
    kinds = {name.text: name.kind for name in read("Anna works at Elm Labs in Lisbon near Ash River.").names}
    assert kinds == {"Anna": "Person", "Elm Labs": "Organization", "Lisbon": "Place", "Ash River": "Place"}


def test_a_speakers_label_is_no_name_but_says_who_speaks() -> None:
    found = read("Ada Low: I live in Oslo.")
    assert [name.text for name in found.names] == ["Oslo"]
    assert found.facts[0].subject == "Ada Low"


# ---- times


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw her yesterday.", [("yesterday", "2023-06-13", "2023-06-14")]),
        ("We met last Friday.", [("last Friday", "2023-06-09", "2023-06-10")]),
        ("It broke two weeks ago.", [("two weeks ago", "2023-05-29", "2023-06-05")]),
        ("We moved five years ago", [("five years ago", "2018-01-01", "2019-01-01")]),
        ("She leaves next month.", [("next month", "2023-07-01", "2023-08-01")]),
        ("I'll call on Monday.", [("Monday", "2023-06-19", "2023-06-20")]),
        ("I called on Monday.", [("Monday", "2023-06-12", "2023-06-13")]),
        ("It happened on 8 May.", [("8 May", "2023-05-08", "2023-05-09")]),
        ("We will marry on 8 May.", [("8 May", "2024-05-08", "2024-05-09")]),
        ("She left in 2019 (or 2020).", [("2019", "2019-01-01", "2020-01-01"), ("2020", "2020-01-01", "2021-01-01")]),
        ("the 1920s", [("1920s", "1920-01-01", "1930-01-01")]),
        ("the 6th century", [("6th century", "0501-01-01", "0601-01-01")]),
        ("Last night was fun", [("Last night", "2023-06-13", "2023-06-14")]),
        ("I'm flying out in two weeks.", [("two weeks", "2023-06-26", "2023-07-03")]),
        ("Next summer we sail.", [("Next summer", "2024-06-01", "2024-09-01")]),
        ("They came on 03.04.2021.", [("03.04.2021", "2021-04-03", "2021-04-04")]),
        ("by the end of next year", [("next year", "2024-01-01", "2025-01-01")]),
    ],
)  # fmt: skip
def test_times_are_resolved_against_the_texts_own_time(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I may go one day.",
        "We train on Mondays and every Friday.",
        "a few weeks ago, recently, soon",
        "It has 2000 words and 1500 calories.",
        "I read it in two weeks.",
        "my Saturday morning group",
        "Halloween-themed cookies",
    ],
)
def test_what_names_no_time_is_left_out(text: str) -> None:
    assert days(text) == []


def test_without_a_time_of_its_own_only_full_dates_are_read() -> None:
    text = "Yesterday, on 8 May, and in March we met; on 8 May 2021 and in 1999 too."
    assert [written for written, *_ in days(text, None)] == ["8 May 2021", "1999"]


# ---- quantities and addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It cost $1.5 million.", [("$1.5 million", 1_500_000.0, "dollars")]),
        ("We sold three small boats.", [("three small boats", 3.0, "boats")]),
        ("I ate a dozen eggs.", [("a dozen eggs", 12.0, "eggs")]),
        ("a 20-mile hike", [("20-mile", 20.0, "mile")]),
        ("It took 2 hours and 5 minutes", [("2 hours and 5 minutes", 2.0, "hours")]),
        ("About 80 % of 1,207 people", [("80 %", 80.0, "%"), ("1,207 people", 1207.0, "people")]),
        ("twenty-five cats, one of them old", [("twenty-five cats", 25.0, "cats")]),
        ("1. Add 2 cups", [("2 cups", 2.0, "cups")]),
        ("the 3rd of 5, chapter 7, at 7 pm, version 2.3.1, 63 to 57", []),
        ("two weeks ago", []),
    ],
)  # fmt: skip
def test_quantities(text: str, expected: list[tuple[str, float, str]]) -> None:
    assert [(text[slice(*each.span)], each.value, each.unit) for each in read(text).quantities] == expected


def test_addresses_paths_and_code() -> None:
    text = (
        "Mail ada@example.com or @ada_low (#weaving), see https://example.com/a?b=1, elm.org and src/app/main.py; then"
        " parse_text() in `Reader`."
    )
    assert [(mark.text, mark.kind) for mark in read(text).marks] == [
        ("ada@example.com", "email"),
        ("@ada_low", "handle"),
        ("#weaving", "hashtag"),
        ("https://example.com/a?b=1", "url"),
        ("elm.org", "url"),
        ("src/app/main.py", "path"),
        ("parse_text", "identifier"),
        ("Reader", "identifier"),
    ]


def test_a_brand_in_camel_case_is_a_name_not_code() -> None:
    found = read("I watched LeBron on YouTube, e.g. at 9 a.m.")
    assert found.marks == ()
    assert [name.text for name in found.names] == ["LeBron", "YouTube"]


# ---- facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Oslo, Norway.", [("Ada", "lives_in", "Oslo, Norway")]),
        ("I work as a nurse at Elm Hospital.", [("Ada", "role", "nurse"), ("Ada", "works_at", "Elm Hospital")]),
        ("I'm 41 and I'm a backend developer.", [("Ada", "age", "41"), ("Ada", "role", "backend developer")]),
        ("We moved to Austin last week!", [("Ada", "lives_in", "Austin")]),
        ("My wife Ida is a teacher.", [("Ada", "spouse", "Ida"), ("Ida", "role", "teacher")]),
        ("My name is Ada Low.", [("Ada", "name", "Ada Low")]),
        ("Otto married Ida Berg in 1990.", [("Otto", "spouse", "Ida Berg")]),
        ("Dunmore is a village in Ash County, Ohio.", [("Dunmore", "located_in", "Ash County, Ohio")]),
        ("Lisbon is the capital of Portugal.", [("Lisbon", "capital_of", "Portugal")]),
        (
            "Elm Corp is owned by Ash Holdings and was founded in 1923.",
            [("Elm Corp", "owner", "Ash Holdings"), ("Elm Corp", "founded_on", "1923")],
        ),
        ("She was born in Lisbon and died in 1950.", [("She", "born_in", "Lisbon"), ("She", "died_on", "1950")]),
        ("We upgraded Postgres from 14 to 16.2.", [("Postgres", "version", "16.2")]),
        (
            "The Lanterns is a 1950 British film directed by Ida Low and starring Otto Berg.",
            [
                ("The Lanterns", "released_on", "1950"),
                ("The Lanterns", "nationality", "British"),
                ("The Lanterns", "creator", "Ida Low"),
            ],
        ),
        (
            "Otto Berg (8 May 1901, Bergen – 3 June 1980) was a Danish painter, poet and critic.",
            [
                ("Otto Berg", "born_on", "8 May 1901"),
                ("Otto Berg", "born_in", "Bergen"),
                ("Otto Berg", "died_on", "3 June 1980"),
                ("Otto Berg", "nationality", "Danish"),
                ("Otto Berg", "role", "painter, poet and critic"),
            ],
        ),
    ],
)
def test_facts(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert facts(text, "Ada") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Oslo?",
        "I would live in Oslo if I could.",
        "I don't live in Oslo.",
        "I might work at Elm Labs.",
        "I want to work at Elm Labs.",
        "I'm going to work at Elm Labs.",
        "Imagine I live in a castle.",
        "I live in Narnia, just kidding!",
        "Apparently she works at Elm Labs.",
        "I have a doctor.",
        "I'm a big fan of yours.",
    ],
)
def test_what_is_asked_supposed_denied_or_joked_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_what_is_over_is_told_as_past() -> None:
    worked, works = read("She worked at Elm Labs.").facts, read("She works at Elm Labs.").facts
    assert [fact.past for fact in (*worked, *works)] == [True, False]


def test_a_model_that_speaks_of_itself_tells_no_facts_and_has_no_tastes() -> None:
    found = read("assistant: I'm a developer and I love hiking.\nuser: I'm a nurse and I love tea.")
    assert [fact.object for fact in found.facts] == ["nurse"]
    assert [each.object for each in found.preferences] == ["tea"]


# ---- preferences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I really love hiking in the hills.", [("likes", "hiking in the hills")]),
        ("I love hiking, swimming and yoga.", [("likes", "hiking"), ("likes", "swimming"), ("likes", "yoga")]),
        ("I can't stand noise, but I enjoy tea.", [("dislikes", "noise"), ("likes", "tea")]),
        ("I don't really like olives.", [("dislikes", "olives")]),
        ("I'm not a fan of horror movies.", [("dislikes", "horror movies")]),
        ("I'm really into jazz these days.", [("likes", "jazz")]),
        ("My favourite tea is oolong.", [("likes", "oolong")]),
        ("Rowing is my favorite sport.", [("likes", "Rowing")]),
        ("I prefer trains to planes.", [("likes", "trains")]),
        ("I'd rather walk than drive.", [("likes", "walk")]),
        ("Love baking bread!", [("likes", "baking bread")]),
        ("I've never liked olives.", [("dislikes", "olives")]),
    ],
)
def test_preferences(text: str, expected: list[tuple[str, str]]) -> None:
    assert likes(text, "Ada") == [("Ada", *each) for each in expected]


@pytest.mark.parametrize(
    "text",
    [
        "I'd love to visit Rome.",
        "Do you like tea?",
        "I love your photo!",
        "I like it.",
        "I love how you did that.",
        "If I liked tea, I'd say so.",
        "I love the colors!",
    ],
)
def test_wishes_questions_and_compliments_are_no_preferences(text: str) -> None:
    assert likes(text) == []


def test_others_have_preferences_too() -> None:
    found = likes("Anna loves painting and Otto hates noise.")
    assert found == [("Anna", "likes", "painting"), ("Otto", "dislikes", "noise")]


# ---- causes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I stayed home because it rained.", [("it rained", "I stayed home")]),
        ("It rained all day, so we stayed home.", [("It rained all day", "we stayed home")]),
        ("The storm led to a flood.", [("storm", "flood")]),
        ("The flight was late due to the fog.", [("fog", "The flight was late")]),
        ("Because the shop was shut, we cooked.", [("the shop was shut", "we cooked")]),
        ("The outage was caused by a bad deploy.", [("bad deploy", "The outage")]),
        ("It was loud, which is why I left.", [("It was loud", "I left")]),
        ("The bridge was closed. As a result, we drove home.", [("The bridge was closed.", "we drove home")]),
    ],
)
def test_causes(text: str, expected: list[tuple[str, str]]) -> None:
    assert causes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Why did you stay, because it rained?",
        "I would stay home because of rain.",
        "It is so good, so cute!",
        "Since 2019 I have lived alone, and since then I cook.",
        "That's why I left.",
        "Label the boxes, so we find them.",
        "The train is due to arrive at noon.",
        "Many good causes such as this one matter.",
    ],
)
def test_what_only_looks_like_a_cause(text: str) -> None:
    assert causes(text) == []


# ---- bounds


def test_spans_point_into_the_whole_text() -> None:
    text = "First line.\n\nuser: I met Anna Low in Oslo. I love tea because it warms."
    found = read(text)
    assert [text[slice(*name.span)] for name in found.names] == ["Anna Low", "Oslo"]
    assert [text[slice(*each.span)] for each in found.preferences] == ["tea"]
    assert [text[slice(*each.cause)] for each in found.causes] == ["it warms"]
    assert found.version == VERSION


def test_long_texts_are_bounded() -> None:
    text = "We met Anna Low at 9 km because it rained. " * 10_000
    began = time.process_time()
    found = read(text)
    assert time.process_time() - began < 20
    assert len(found.names) == MAX_NAMES
    assert max(date.span[1] for date in (*found.quantities, *found.names)) <= MAX_READ_CHARACTERS


@pytest.mark.parametrize(
    "word", ["because ", "I love ", "so, ", "(", "Anna ", "a, ", "1 ", '"', "my wife ", "was born in ", "is a ", "- "]
)
def test_a_word_said_ten_thousand_times_takes_no_longer_than_its_length(word: str) -> None:
    took = []
    for times in (2_500, 10_000):
        began = time.process_time()
        read(word * times)
        took.append(time.process_time() - began)
    assert took[1] < 12 * took[0] + 0.5
