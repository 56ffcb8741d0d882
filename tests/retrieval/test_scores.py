"""Scores: every one is the sum of named parts, whatever is asked of whatever is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.running import SqlitePlace, memory_store
from tests.retrieval.small_worlds import NAMES, PROJECT, QUESTIONS, ROWS, WordEmbedder, context_over, embed_all, record
from weft.core.clock import to_iso
from weft.core.ports import Store
from weft.core.types import NOW
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, Stage, run
from weft.retrieval.scoring.rank import Rank
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, memory_of

Rows = list[tuple[str, str, str, int]]
ASKED = st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3, unique=True)


def fill(store: Store, clock: ManualClock, rows: Rows) -> None:
    scribe = Scribe(store, clock)
    for number, (shape, name, text, days) in enumerate(rows):
        scribe.one(record(shape, number, name, text, days))
    embed_all(store, clock)


def world(rows: Rows, *, vectors: bool = True) -> CallContext:
    clock = ManualClock()
    store = memory_store(clock)
    fill(store, clock, rows)
    return context_over(store, clock, embedder=WordEmbedder() if vectors else None)


def ask(ctx: CallContext, question: str, *, recipe: Sequence[Stage] = recipes.DEFAULT, **options: Any) -> Answer:
    asked = Ask(query=question, when=NOW, **{"limit": 10, "projects": (PROJECT, None)} | options)
    return run(recipe, ctx, asked)


def check(answer: Answer, recipe: Sequence[Stage] = recipes.DEFAULT) -> None:
    """What holds of every answer."""
    assert [step.stage for step in answer.trace] == [stage.name for stage in recipe]
    assert all(step.count >= 0 and step.milliseconds >= 0.0 for step in answer.trace)
    ranked = answer.ranked
    assert len(ranked) <= answer.ask.limit
    assert len({each.node.id for each in ranked}) == len(ranked)
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    for each in ranked:
        assert each.score > 0.0
        assert len({source.name for source in each.sources}) == len(each.sources), "each part once"
        for source in each.sources:
            assert source.part == pytest.approx(source.weight * source.raw)
            assert source.part
            assert source.rank >= 1
    for kind, name in {(each.node.kind, source.name) for each in ranked for source in each.sources}:
        alike = [each for each in ranked if each.node.kind == kind]
        found = [(s.rank, -s.part) for each in alike for s in each.sources if s.name == name]
        assert [part for _, part in sorted(found)] == sorted(part for _, part in found), "ranks go by parts"


@settings(max_examples=25)
@given(ROWS, ASKED, st.booleans())
def test_parts_add_up_and_scores_descend(rows: Rows, asked: list[str], vectors: bool) -> None:
    ctx = world(rows, vectors=vectors)
    for question in asked:
        for limit in (10, 2):
            answer = ask(ctx, question, limit=limit)
            check(answer)
            assert answer.ranked == () or answer.trace[-1].count == len(answer.ranked)
        again = ask(ctx, question, limit=limit)
        assert again.ranked == answer.ranked
        assert again.notes == answer.notes


@settings(max_examples=8)
@given(ROWS, st.sampled_from(QUESTIONS), st.booleans())
def test_any_stage_can_be_left_out(rows: Rows, question: str, vectors: bool) -> None:
    ctx = world(rows, vectors=vectors)
    for left_out in range(len(recipes.DEFAULT)):
        recipe = recipes.DEFAULT[:left_out] + recipes.DEFAULT[left_out + 1 :]
        check(ask(ctx, question, recipe=recipe), recipe)


UNCUT = (*(stage for stage in recipes.DEFAULT if stage.name not in ("relevant", "rank")), Rank(tail=0.0))


@settings(max_examples=8)
@given(ROWS, st.sampled_from(QUESTIONS))
def test_both_stores_answer_alike(rows: Rows, question: str) -> None:
    one = world(rows)
    place = SqlitePlace(ManualClock())
    try:
        fill(place.store, ManualClock(), rows)
        other = replace(one, store=place.store)
        here, there = ask(one, question, recipe=UNCUT), ask(other, question, recipe=UNCUT)
        # One store multiplies in single precision, the other in double: equals may change places.
        theirs = {each.node.id: each for each in there.ranked or ()}
        assert {each.node.id for each in here.ranked or ()} == set(theirs)
        for mine in here.ranked or ():
            assert mine.score == pytest.approx(theirs[mine.node.id].score, abs=1e-3)
            assert [s.name for s in mine.sources] == [s.name for s in theirs[mine.node.id].sources]
    finally:
        place.close()


# ---- what each stage adds


def parts(answer: Answer, node_id: str) -> dict[str, float]:
    found = {each.node.id: {source.name: source.part for source in each.sources} for each in answer.ranked}
    return found.get(node_id, {})


def detail(answer: Answer, node_id: str, part: str) -> str:
    return next(s.detail for each in answer.ranked if each.node.id == node_id for s in each.sources if s.name == part)


FILM: Rows = [
    ("titled", "The Glass Heron (film)", "The Glass Heron was directed by Elin Tarr Dravik.", -9),
    ("titled", "Elin Tarr Dravik", "Elin Tarr Dravik was born in Port Ysolde.", -8),
    ("titled", "Port Ysolde", "Port Ysolde is a harbour of the north.", -7),
    ("titled", "Velmora", "Velmora is a ferry. Nobody sails today.", -6),
]


@pytest.mark.parametrize("vectors", [True, False], ids=["with vectors", "words only"])
def test_a_linked_hit_says_by_which_texts_it_was_reached(vectors: bool) -> None:
    asked = "where was the director of The Glass Heron born?"
    answer = ask(world(FILM, vectors=vectors), asked, recipe=UNCUT)
    check(answer, UNCUT)
    assert parts(answer, "doc0")["name"] > 0
    assert parts(answer, "doc1")["links"] > 0
    assert detail(answer, "doc1", "links") == "The Glass Heron (film) -[elin tarr dravik]-> Elin Tarr Dravik"
    path = detail(answer, "doc2", "links")
    assert path.startswith(("The Glass Heron (film) -[", "Elin Tarr Dravik -["))
    assert path.endswith("-[port ysolde]-> Port Ysolde")
    assert "links" not in parts(answer, "doc3"), "no text names it"
    without = tuple(stage for stage in recipes.DEFAULT if stage.name != "links")
    assert "links" not in parts(
        ask(world(FILM), "where was the director of The Glass Heron born?", recipe=without), "doc1"
    )


@settings(max_examples=25)
@given(ROWS, ASKED)
def test_every_step_of_a_path_is_a_text_that_is_there(rows: Rows, asked: list[str]) -> None:
    ctx = world(rows)
    there = {each.name or each.id for each in _everything(ctx)}
    for question in asked:
        answer = ask(ctx, question)
        for each in answer.ranked:
            for source in each.sources:
                if source.name != "links":
                    continue
                steps = re.split(r" -\[[^\]]+\]-> ", source.detail)
                assert len(steps) in (2, 3)
                assert set(steps) <= there
                assert steps[-1] == (each.node.name or each.node.id)


def _everything(ctx: CallContext) -> Sequence[Any]:
    ids = [row.id for row in ctx.store.graph_rows(ctx.viewer) if hasattr(row, "id")]
    return ctx.store.nodes(ctx.viewer, NOW, ids)


def test_a_misspelt_name_is_found_and_said_as_written() -> None:
    answer = ask(world(FILM), "who lives in Port Ysolda?")
    assert answer.ranked[0].node.id == "doc2"
    assert detail(answer, "doc2", "name") == "named 'port ysolde', written 'ysolda'"


def test_an_id_means_its_node() -> None:
    for asked in ("doc3", " doc3 "):
        answer = ask(world(FILM), asked)
        assert answer.ranked[0].node.id == "doc3"
        assert parts(answer, "doc3")["id"] > 0


TALK: Rows = [
    ("talk", "Velmora", "I sail the ferry to Velmora. Nobody froze", -30),
    ("session", "Velmora", "My favourite ferry is Velmora. I sail it every week", -20),
    ("remembered", "Velmora", "The harbour froze.", -10),
]


def test_a_session_answers_as_a_whole_and_says_which_turns() -> None:
    answer = ask(world(TALK), "which is my favourite ferry?")
    check(answer)
    found = {each.node.id: each for each in answer.ranked}
    assert "p/talk1" in found
    assert not [each for each in found if each.startswith("p/talk1#")], "its turns do not stand beside it"
    assert found["p/talk1"].best
    assert all(turn.id.startswith("p/talk1#") for turn in found["p/talk1"].best)
    assert {"user words", "nearest turn"} <= set(parts(answer, "p/talk1"))


def test_turns_of_a_talk_answer_by_themselves_with_what_is_around_them() -> None:
    answer = ask(world(TALK), "what did Elin say about the ferry to Velmora?")
    check(answer)
    turns = [each for each in answer.ranked if each.node.id.startswith("p/talk0#")]
    assert turns
    assert any("around" in parts(answer, each.node.id) for each in turns)
    said = {each.node.props["speaker"] for each in turns if "speaker" in parts(answer, each.node.id)}
    assert said == {"Elin"}


def test_a_turn_asked_for_by_its_kind_stands_by_itself() -> None:
    answer = ask(world(TALK), "which is my favourite ferry?", kinds=("Message",))
    assert answer.ranked
    assert {each.node.kind for each in answer.ranked} == {"Message"}


def test_a_file_answers_for_its_symbols() -> None:
    rows: Rows = [("file", "Velmora", "sails", -3), ("file", "Port Ysolde", "sleeps", -3)]
    answer = ask(world(rows), "sail_velmora fails")
    check(answer)
    assert answer.ranked[0].node.id == "p/velmora0.py"
    assert "p/velmora0.py::sail_velmora" in [place.id for place in answer.ranked[0].best]


def test_of_two_that_say_the_like_the_newer_comes_first_and_the_older_is_marked() -> None:
    clock = ManualClock()
    store = memory_store(clock)
    scribe = Scribe(store, clock)
    for number, (days, place) in enumerate(((-300, "Tarn"), (-3, "Velmora"))):
        text = f"I live in a small house in {place} near the old harbour"
        scribe.one(memory_of(f"m{number}", text, valid_from=to_iso(day(days)), project=PROJECT))
    embed_all(store, clock)
    ctx = context_over(store, clock, embedder=WordEmbedder())
    answer = ask(ctx, "in which house do I live near the harbour?")
    check(answer)
    assert [each.node.id for each in answer.ranked] == ["m1", "m0"]
    newer = answer.ranked[0].node
    citation = store.citations(ctx.viewer, [newer.event])[newer.event]
    assert answer.ranked[1].marks == (f"a newer memory of {to_iso(day(-3))[:10]} may replace this: {citation}",)
    assert not answer.ranked[0].marks
    assert {each.node.id for each in ask(ctx, "where did I live before, in which house?").ranked} == {"m0", "m1"}


def test_nothing_there_gives_no_answer() -> None:
    clock = ManualClock()
    for embedder in (None, WordEmbedder()):
        answer = ask(context_over(memory_store(clock), clock, embedder=embedder), f"about {NAMES[0]}")
        assert answer.ranked == ()
        check(answer)
