"""A terse question gets one other wording, from a table that can be read."""

from __future__ import annotations

import pytest

from weft.text.extract.question.rewording import MAX_ADDED, reworded
from weft.text.lexical import stems

WORDINGS = [
    ("auth decision", "authentication authorization login rationale reason choice"),
    ("db", "database"),
    ("What is the db config?", "database configuration settings"),
    ("k8s deploy", "kubernetes release rollout"),
    ("prod outage", "production incident downtime"),
    ("who broke the repo", "broke repository"),
    ("Heron dependencies", "heron deps packages"),
    ("DB of the DB", "database"),
]


@pytest.mark.parametrize(("query", "wording"), WORDINGS)
def test_words_are_replaced_by_their_equivalents(query: str, wording: str) -> None:
    assert reworded(query) == wording


@pytest.mark.parametrize(
    "query",
    [
        "",
        "the of and",
        "Heron gateway",  # none of its words are in the table
        "db database",  # says both already
        "where did the old harbour pilot keep the db key ring in winter",  # long enough as it is
        "db " + "x" * 500,
    ],
)
def test_others_have_none(query: str) -> None:
    assert reworded(query) is None


def test_it_is_bounded_and_says_the_rest_again() -> None:
    wording = reworded("bug perf auth owner cost Heron")
    assert wording is not None
    assert "heron" in wording
    assert len(stems(wording)) <= 6 * (MAX_ADDED + 1)
