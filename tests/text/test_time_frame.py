"""Which time a question asks about: now, then, all of a window, before or after something."""

from __future__ import annotations

import pytest

from weft.core.clock import parse_instant
from weft.text.extract.question.question_names import names_in
from weft.text.extract.question.time_frame import is_key_words, is_question, read_time_frame, without_times
from weft.text.extract.time.windows import time_windows

ASKED_AT = parse_instant("2026-11-18T10:00:00Z")


@pytest.mark.parametrize(
    ("question", "frame"),
    [
        ("where do I live?", "now"),
        ("who leads billing now?", "now"),
        ("when is the launch?", "now"),
        ("where did I live in July 2025?", "state"),
        ("what was the learning rate on June 10?", "state"),
        ("what did Kim buy in March?", "within"),
        ("what happened last week?", "listing"),
        ("what did we do yesterday?", "listing"),
        ("where did I live before Arnhem?", "before"),
        ("who led billing after Priya?", "after"),
        ("what was our first supplier?", "first"),
        ("when did we last deploy?", "last"),
        ("why was the launch moved?", "any"),
        ("who painted the living room?", "past"),
        ("has Ana ever lived in Oslo?", "past"),
        ("where will I live?", "last"),
        ("home address", "now"),
        ("anything on the 16th?", "listing"),
        ("compare this week and last week", "listing"),
        ("what is due on the 1st?", "now"),
        ("how long after the launch did we move?", "past"),
    ],
)
def test_the_words_of_a_question_tell_its_time_frame(question: str, frame: str) -> None:
    assert read_time_frame(question, time_windows(question, ASKED_AT)).frame == frame


def test_what_is_named_after_before_is_kept() -> None:
    assert read_time_frame("Where did I live before the flat in Arnhem?", ()).beside == "flat in arnhem"


def test_times_are_taken_out_of_a_question() -> None:
    question = "who led billing in August before Anders?"
    rest = without_times(question, time_windows(question, ASKED_AT))
    assert "August" not in rest
    assert "Anders" not in rest
    assert "billing" in rest


@pytest.mark.parametrize(
    "text", ["why redis", "does Priya have a dog", "and in which city?", "Who's there", "Please tell me his name"]
)
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text", ["DHL key", "error format", "limits?", "howling wind", "whole wheat bread", "my address"]
)
def test_key_words_are_no_question(text: str) -> None:
    assert not is_question(text)
    assert is_key_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "add a retry to payments",
        "fix login bug",
        "We decided to cap payment retries at three.",
        "Was kostet die Wohnung?",
        "Is de huur hoog?",
        "Qui dirige l'équipe de facturation ?",
        "Түрээс хэд вэ?",
        "房租是多少?",
    ],
)
def test_tasks_statements_and_other_languages_have_no_time_frame(text: str) -> None:
    assert not is_question(text)
    assert not is_key_words(text)
    assert read_time_frame(text, time_windows(text, ASKED_AT)).frame == "any"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what does Jan de Boer do?", ("Jan de Boer",)),
        ("Where does Ana live?", ("Ana",)),
        ("what is Lotte's passport number?", ("Lotte",)),
        ("what happens on Friday in March?", ()),
        ("who works on Fridays?", ()),
        ("where do I live?", ()),
    ],
)
def test_names_in_a_question(question: str, names: tuple[str, ...]) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("question", "kind", "subject"),
    [
        ("list our decisions", "Decision", ()),
        ("show me all decisions since March", "Decision", ()),
        ("what did we decide in April?", "Decision", ()),
        ("which decisions have we made about pricing?", "Decision", ("pricing",)),
        ("which facts do we know about Ana?", "Fact", ("ana",)),
        ("all preferences", "Preference", ()),
        ("what are Tom's preferences?", "Preference", ("tom",)),
        ("what did we decide about pricing?", "", ()),
        ("what is the difference between facts and opinions?", "", ()),
        ("who wrote down the decisions?", "", ()),
        ("show me how decisions are made", "", ()),
    ],
)
def test_a_listing_of_a_kind(question: str, kind: str, subject: tuple[str, ...]) -> None:
    frame = read_time_frame(question, time_windows(question, ASKED_AT))
    assert (frame.kind, frame.subject if kind else frozenset()) == (kind, frozenset(subject))
