"""What the words of a question say about it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.extract.identifiers import MAX_IDENTIFIERS, identifiers
from weft.text.extract.question.question import MAX_SEGMENTS, read_question
from weft.text.extract.quoted import quoted_spans

FLAGS = ("asks_assistant", "asks_advice")

REPORT = """Saving a draft twice loses the second `title`

Steps:
1. open a draft and call draft.save() before the first autosave, how many times does not matter
2. the handler in editor/autosave.py sees a staleRevision and now drops the form_data
3. any ideas? You said in our last chat that it should work.
"""


def flags(text: str) -> set[str]:
    question = read_question(text)
    return {name.removeprefix("asks_") for name in FLAGS if getattr(question, name)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where does my aunt live?", set()),
        ("Which glaze did you recommend for the blue bowl?", {"assistant"}),
        ("which three parks have you already suggested", {"assistant"}),
        ("What was the tenth name on the list you gave me?", {"assistant"}),
        ("Can you remind me how the soup is thickened?", {"assistant"}),
        ("In our last conversation there was a good proverb.", {"assistant"}),
        ("We discussed a knot for the hammock, what is it called?", {"assistant"}),
        ("What did you say about the pump?", {"assistant"}),
        ("You've explained the second law to me, what was the example?", {"assistant"}),
        ("Can you recommend a quiet hotel in Ghent?", {"advice"}),
        ("Could you suggest a book for the train?", {"advice"}),
        ("My tomatoes look sad. Any tips?", {"advice"}),
        ("I fly to Oslo soon, any good museums there?", {"advice"}),
        ("What should I cook tonight?", {"advice"}),
        ("I am not sure what to wear.", {"advice"}),
        ("I need ideas for a small balcony", {"advice"}),
        ("How old is Mira?", set()),
        ("the nine-year-old and the dog that is four years old", set()),
        ("What is needed in order to renew the pass?", set()),
        ("I know the knowledge base", set()),
        ("", set()),
    ],
)
def test_flags(text: str, expected: set[str]) -> None:
    assert flags(text) == expected
    assert flags(text.upper()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did I finish 'The Long Rain' before 'Salt Road'?", ("The Long Rain", "Salt Road")),
        ("Which is longer, “Winter Sea” or “Ash”?", ("Winter Sea", "Ash")),
        ("Which came first, the kettle or the toaster?", ("the kettle", "the toaster")),
        (
            "How many days passed between the storm and the day I fixed the roof?",
            ("the storm", "the day I fixed the roof"),
        ),
        ("Put these in order: the move, the new job, and the wedding.", ("the move", "the new job", "the wedding")),
        ("What did I pay for the tent and the stove?", ("What did I pay for the tent", "the stove")),
        ("Was the ferry cheaper than the bridge toll?", ("Was the ferry cheaper", "the bridge toll")),
        ("Did rent in Lyon rise compared to Nantes?", ("Did rent in Lyon rise", "Nantes")),
        ("Where did I sleep after the concert?", ("Where did I sleep", "the concert")),
        ("How many weeks since I planted the fig?", ()),
        ("Who sings Salt And Honey?", ()),
        ("Was it before or after?", ()),
        ("the report on 'Salt Road'", ()),
        ("My sisters' and my brothers' bikes?", ("My sisters'", "my brothers' bikes")),
        ("What is the capital of Peru?", ()),
        ("", ()),
    ],
)
def test_segments(text: str, expected: tuple[str, ...]) -> None:
    assert read_question(text).segments == expected


def test_segments_are_few() -> None:
    assert len(read_question("red or blue or green or pink or grey or black or white").segments) == MAX_SEGMENTS
    assert len(read_question(" ".join(f"'title number{n}x'" for n in range(9))).segments) == MAX_SEGMENTS


def test_a_report_is_long_and_of_several_lines() -> None:
    question = read_question(REPORT)
    assert question.is_report
    assert question.first_line == "Saving a draft twice loses the second `title`"
    assert question.identifiers == ("title", "draft.save", "autosave.py", "staleRevision", "form_data")
    assert flags(REPORT) == set(), "only the first line of a report asks"
    assert not read_question("two\nshort\nlines\nonly").is_report
    assert not read_question("one long line " * 40).is_report


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("why does parseHeader fail", ("parseHeader",)),
        ("the HTTPServer and XMLReader classes", ("HTTPServer", "XMLReader")),
        ("set max_items, not _cache or __init__", ("max_items", "_cache", "__init__")),
        ("use `limit` here, and `flush()` there", ("limit", "flush")),
        ("os.path.join(a, b) of shop.models", ("os.path.join", "shop.models")),
        ("call open() twice, then open()", ("open",)),
        ("the file(s) and class(es), e.g. at 9 a.m. in the U.S.", ()),
        ("plain words, Capital Words, NASA, URLs and _emphasis_", ()),
        ("see https://example.org/some_page/readMe.html or ask a_b@example.org", ("a_b",)),
        ("`git commit -m x` and ``", ()),
        ("", ()),
    ],
)
def test_identifiers(text: str, expected: tuple[str, ...]) -> None:
    assert identifiers(text) == expected
    assert read_question(text).identifiers == expected


def test_identifiers_have_a_limit() -> None:
    assert len(identifiers(" ".join(f"name_{n}" for n in range(500)))) == MAX_IDENTIFIERS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the 'red' one", ["red"]),
        ('"a" and “b” and ‘c’', ["a", "b", "c"]),
        ("'The Baker's Wife' again", ["The Baker's Wife"]),
        ("it's Tom's and the girls' turn", []),
        ("the '90s and the '80s", []),
        ("an 'open end", []),
        ("'' and \"\"", []),
    ],
)
def test_quoted_parts(text: str, expected: list[str]) -> None:
    assert [text[start:stop] for start, stop in quoted_spans(text)] == expected


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    question = read_question(text)
    assert len(question.segments) in {0, *range(2, MAX_SEGMENTS + 1)}
    assert all(part in text for part in (*question.segments, *question.identifiers, question.first_line))


@pytest.mark.parametrize(
    "piece",
    ["you have ", "we had ", "our last ", "any a ", ", any ", "a or ", "ab, ", "' 'a", '"', "`a", "_", "aB", "a.", "a",
     " ", "a\n", "http://", "a between b and ", "old ", "x: "],
)  # fmt: skip
def test_a_long_text_is_read_in_one_pass(piece: str) -> None:
    """A tenth of a second if the time taken is linear, well over ten seconds if every word looks at all others."""
    text = (piece * (32_768 // len(piece) + 1))[:32_768]
    begun = time.process_time()
    read_question(text)
    assert time.process_time() - begun < 1.0


def test_an_ordinary_question_takes_microseconds() -> None:
    question = "How many times did I go to the pool with Nora in the past two weeks, and was it before the 8th of May?"

    def seconds() -> float:
        begun = time.process_time()
        read_question(question)
        return time.process_time() - begun

    assert min(seconds() for _ in range(200)) < 200e-6
