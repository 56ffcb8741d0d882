"""Variety: a new order of the same rows, on the same scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.pools import Row, answer_of, empty_context, ids
from tests.retrieval.small_worlds import QUESTIONS, ROWS
from tests.retrieval.test_scores import Rows, ask, check, world
from weft.retrieval import recipes
from weft.retrieval.judging.diverse import Diverse
from weft.retrieval.pipeline import Answer, Stage

LOOM = empty_context()
TEXTS = ("", "the ferry sails to Velmora", "the ferry sails to Velmora today", "Marta wrote a letter", "harbour")
SCORES = st.sampled_from([-0.5, 0.0, 0.04, 0.3, 0.3, 0.5, 0.9, 1.2]) | st.floats(-1.0, 2.0)
MADE = st.lists(
    st.tuples(st.integers(0, 99), SCORES, st.sampled_from(TEXTS)).map(
        lambda made: Row(f"n{made[0]}", made[1], text=made[2])
    ),
    max_size=20,
    unique_by=lambda row: row.id,
)
BALANCES = st.floats(0.0, 1.0)


def recipe(balance: float) -> tuple[Stage, ...]:
    return (*recipes.DEFAULT[:-1], Diverse(balance), recipes.DEFAULT[-1])


def varied(answer: Answer, balance: float) -> Answer:
    return Diverse(balance)(LOOM, answer)


@given(MADE, BALANCES, st.integers(1, 8))
def test_the_same_rows_the_first_stays_first_scores_are_sums(rows: list[Row], balance: float, limit: int) -> None:
    answer = answer_of(rows, limit=limit)
    after = varied(answer, balance)
    assert after.pool.nodes == answer.pool.nodes
    before, now = answer.pool.scores(), after.pool.scores()
    assert np.isfinite(now).all()
    assert sorted(now.tolist()) == pytest.approx(sorted(before.tolist()), abs=1e-6), "the same scores, given anew"
    if rows and max(before) > 0.0:
        assert ids(after)[0] == ids(answer)[0]
        shown = {node.id for node, score in zip(answer.pool.nodes, before, strict=True) if score > 0.1 * max(before)}
        assert set(ids(after)[: len(shown)]) == shown, "what was too weak to be shown stays so"


@given(MADE)
def test_a_balance_of_one_changes_nothing(rows: list[Row]) -> None:
    answer = answer_of(rows)
    assert varied(answer, 1.0) is answer


@settings(max_examples=12)
@given(ROWS, st.sampled_from(QUESTIONS), st.booleans(), st.sampled_from([0.0, 0.3, 0.7, 0.95]))
def test_an_answer_is_varied_and_still_explained(rows: Rows, question: str, vectors: bool, balance: float) -> None:
    ctx = world(rows, vectors=vectors)
    plain, after = ask(ctx, question, limit=100), ask(ctx, question, limit=100, recipe=recipe(balance))
    check(after, recipe(balance))
    assert {each.node.id for each in after.ranked or ()} == {each.node.id for each in plain.ranked or ()}
    if plain.ranked:
        assert after.ranked[0].node.id == plain.ranked[0].node.id
    assert all(math.isfinite(each.score) for each in after.ranked or ())


def test_what_says_the_same_comes_after_what_says_something_else() -> None:
    rows = [
        Row("one", 1.0, text="the ferry sails to Velmora on Mondays"),
        Row("again", 0.95, text="the ferry sails to Velmora on Mondays too"),
        Row("other", 0.8, text="Marta Okonro bought the harbour light"),
    ]
    after = varied(answer_of(rows), 0.7)
    assert ids(after) == ["one", "other", "again"]
    part = after.pool.parts[-1]
    assert part.name == "diverse"
    assert part.detail is not None
    assert part.detail(2) == "place 3 to 2, for variety"
    assert ids(varied(answer_of(rows), 0.95)) == ["one", "again", "other"]


def test_vectors_tell_what_is_alike() -> None:
    rows: Rows = [
        ("remembered", "", "the ferry sails to Velmora", -3),
        ("remembered", "", "the ferry sails to Velmora again", -4),
        ("remembered", "", "a ferry froze at the harbour of Tarn", -5),
    ]
    asked = "sail the ferry to Velmora"
    assert [each.node.id for each in ask(world(rows), asked).ranked][:3] == ["mem0", "mem1", "mem2"]
    varied = ask(world(rows), asked, recipe=recipe(0.4))
    assert [each.node.id for each in varied.ranked][:3] == ["mem0", "mem2", "mem1"]
