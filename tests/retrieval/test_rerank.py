"""Reranking: candidates change places and never more than that, and the explanation still adds up."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import weft
from tests.properties.running import memory_store
from tests.retrieval.reranking import (
    BEFORE,
    KEY,
    QUESTION,
    TEXTS,
    RerankServer,
    Said,
    ask,
    order,
    served,
    serving,
    with_stage,
    world,
)
from tests.retrieval.small_worlds import PROJECT, ROWS, context_over, record
from weft.core.errors import Misconfigured
from weft.core.types import NOW
from weft.models import json_post
from weft.models.overlap import LexicalReranker
from weft.models.reranker_in_use import RestingReranker
from weft.retrieval.pipeline import Ask, run
from weft.retrieval.scoring.rerank import Rerank
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, memory_of
from weft.testing.viewers import OPERATOR, PUBLIC


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RerankServer]:
    monkeypatch.setattr(json_post, "RETRY_PAUSE_S", 0.01)
    with serving() as played:
        yield played


def test_without_a_reranker_nothing_changes() -> None:
    ctx = world()
    without = tuple(stage for stage in with_stage(Rerank()) if stage.name != "rerank")
    plain = run(without, ctx, Ask(query=QUESTION, when=NOW, limit=10, projects=(PROJECT, None)))
    answer = ask(ctx)
    assert answer.ranked == plain.ranked
    assert answer.notes == plain.notes


def test_rows_beyond_the_candidates_stay_below_them() -> None:
    ctx = world()
    worst_first = Said(lambda texts: [float(at) for at in range(len(texts))])
    answer = ask(ctx, Rerank(reranker=worst_first, among=3))
    assert order(answer) == ["blue", "ten", "nine", "train"]
    assert [len(texts) for texts in worst_first.asked] == [3]
    assert answer.ranked is not None
    assert answer.ranked[-1] == (ask(ctx).ranked or ())[-1]


def test_equal_scores_are_told_apart_even_from_equals_outside() -> None:
    ctx = world(
        {f"m{number}": f"the ferry of {where}" for number, where in enumerate(("Tarn", "Ysolde", "Bree", "Elm"))}
    )
    plain = order(ask(ctx, question="ferry"))
    oldest_first = Said(lambda texts: [float(at) for at in range(len(texts))])
    answer = ask(ctx, Rerank(reranker=oldest_first, among=3), question="ferry")
    assert order(answer) == [*plain[:3][::-1], *plain[3:]]


def test_a_weight_of_nothing_asks_nobody_and_a_wrong_one_is_told() -> None:
    ctx, reranker = world(), Said(lambda texts: [0.0 for _ in texts])
    assert ask(ctx, Rerank(reranker=reranker, weight=0.0)).ranked == ask(ctx).ranked
    assert not reranker.asked
    answer = ask(ctx, Rerank(reranker=reranker, weight=1.5))
    assert order(answer) == BEFORE
    assert [note for note in answer.notes if "weight is from 0 to 1, not 1.5" in note]


def test_a_row_asked_for_by_its_id_stays_first() -> None:
    texts = {**TEXTS, "other": "what nine says"}
    hostile = Said(lambda given: [float("ferry to Tarn" not in text) for text in given])
    assert order(ask(world(texts), Rerank(reranker=hostile), question="nine"))[0] == "nine"


@pytest.mark.parametrize("many", [0, 3, 5])
def test_another_count_of_scores_than_texts_is_no_answer(many: int) -> None:
    answer = ask(world(), Rerank(reranker=Said(lambda texts: [1.0] * many)))
    assert order(answer) == BEFORE
    assert f"the reranker failed, so its step was skipped: it gave {many} scores for 4 texts" in answer.notes


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_no_answer(score: float) -> None:
    ctx = world()
    answer = ask(ctx, Rerank(reranker=Said(lambda texts: [1.0, 2.0, 3.0, score])))
    assert answer.ranked == ask(ctx).ranked
    assert "the reranker failed, so its step was skipped: it gave a score that is not finite" in answer.notes


def test_a_reranker_that_breaks_costs_itself_only() -> None:
    def broken(texts: Sequence[str]) -> Sequence[float]:
        raise KeyError(texts[0])

    answer = ask(world(), Rerank(reranker=RestingReranker(Said(broken), ManualClock(), deadline_s=3.0)))
    assert order(answer) == BEFORE
    assert [note for note in answer.notes if note.startswith("the step rerank failed")]


def test_only_what_the_viewer_sees_is_sent(server: RerankServer) -> None:
    clock = ManualClock()
    store = memory_store(clock)
    scribe = Scribe(store, clock)
    for node_id, text in TEXTS.items():
        scribe.one(memory_of(node_id, text, project=PROJECT, scope="public"))
    scribe.one(memory_of("secret", "the ferry to Tarn leaves from the hidden pier", project=PROJECT, scope="admin"))
    for viewer, sees in ((OPERATOR, True), (PUBLIC, False)):
        server.requests.clear()
        ask(replace(context_over(store, clock, viewer=viewer), reranker=served("http", server)))
        assert ("hidden pier" in json.dumps(server.requests)) is sees


def test_of_a_long_text_the_nearest_place_is_read() -> None:
    filler = "Nobody sails today. " * 400
    texts = {"long": f"{filler}The ferry to Tarn leaves at nine. {filler}", "short": "The ferry is blue."}
    reranker = Said(lambda given: [0.0 for _ in given])
    ask(world(texts, vectors=True), Rerank(reranker=reranker))
    read = reranker.asked[0]
    assert [text for text in read if "leaves at nine" in text]
    assert max(map(len, read)) <= 2_000


def test_a_session_is_read_by_the_turns_that_were_found() -> None:
    clock = ManualClock()
    store = memory_store(clock)
    scribe = Scribe(store, clock)
    scribe.one(record("session", 1, "Velmora", "My favourite ferry is Velmora. I sail it every week", -20))
    scribe.one(record("remembered", 2, "", "The ferry froze in the harbour.", -10))
    reranker = Said(lambda given: [float("My favourite ferry" in text) for text in given])
    answer = ask(context_over(store, clock), Rerank(reranker=reranker), question="which is my favourite ferry?")
    assert order(answer)[0] == "p/talk1"
    assert [text for text in reranker.asked[0] if "My favourite ferry is Velmora" in text]


FINITE = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3).map(float))
SAID = st.one_of(
    st.lists(FINITE, min_size=60, max_size=60),
    st.lists(st.one_of(st.none(), FINITE), min_size=60, max_size=60),
    st.lists(st.floats(), min_size=0, max_size=60),
)


@given(ROWS, SAID, st.floats(0, 1), st.integers(1, 12))
def test_whatever_it_says_the_candidates_stay_and_scores_add_up(
    rows: list[tuple[str, str, str, int]], scores: list[float | None], weight: float, among: int
) -> None:
    clock = ManualClock()
    store = memory_store(clock)
    scribe = Scribe(store, clock)
    for number, (shape, name, text, days) in enumerate(rows):
        scribe.one(record(shape, number, name, text, days))
    ctx = context_over(store, clock)
    stage = Rerank(reranker=Said(lambda texts: scores[: len(texts)]), weight=weight, among=among)
    question = "which ferry sails to Velmora?"
    before, after = ask(ctx, question=question, limit=50), ask(ctx, stage, question=question, limit=50)
    assert {each.node.id for each in after.ranked or ()} == {each.node.id for each in before.ranked or ()}
    assert [each.score for each in after.ranked or ()] == pytest.approx([each.score for each in before.ranked or ()])
    old = {each.node.id: each for each in before.ranked or ()}
    for each in after.ranked or ():
        parts = {source.name: source.part for source in each.sources}
        assert all(map(math.isfinite, parts.values()))
        assert each.score == float(after.pool.scores()[after.pool.places[each.node.id]])
        assert sum(part for name, part in parts.items() if name != "rerank") == pytest.approx(old[each.node.id].score)
    if any("reranker failed" in note for note in after.notes):
        assert after.ranked == before.ranked


def test_a_better_score_never_stands_below_at_full_weight() -> None:
    wanted = {"blue": 1e308, "train": 5.0, "nine": 4.999, "ten": -1e308}
    by_text = {TEXTS[node_id]: score for node_id, score in wanted.items()}
    answer = ask(world(), Rerank(reranker=Said(lambda texts: [by_text[text] for text in texts])))
    assert order(answer)[0] == "blue"
    assert order(answer)[-1] == "ten"


# ---- the built-in one


def test_the_built_in_one_prefers_what_holds_more_of_the_question() -> None:
    rank = LexicalReranker().rank
    some, all_of_it, none = rank("harbour pilot licence", ["the harbour", "a pilot's licence of the harbours", "x"])
    assert all_of_it > some > none == 0.0
    common, rare, _ = rank("ferry manifest", ["a ferry", "a manifest", "another ferry"])
    assert rare > common
    in_order, turned = rank("ferry manifest", ["the ferry manifest is here", "the manifest, by ferry"])
    assert in_order > turned
    assert rank("what is it?", ["what is it?", "no"]) == [0.0, 0.0]
    assert rank("ferry", []) == []


def test_the_built_in_one_reranks_by_setting(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_RERANKER": "lexical"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        memory.remember("the ferry to Tarn leaves at nine")
        memory.remember("Tarn ferry, Tarn ferry, Tarn ferry: which of them leaves is not known")
        project = memory.ctx.settings.project
        asked = Ask(query="ferry to Tarn leaves", when=NOW, limit=5, projects=(project, None))
        answer = run(with_stage(Rerank()), memory.ctx, asked)
    assert answer.ranked
    for each in answer.ranked:
        assert next(s.detail for s in each.sources if s.name == "rerank").startswith("lexical (lexical): ")


# ---- settings


def test_settings_compose_the_reranker_and_hide_its_key(server: RerankServer, tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "WEFT_EMBEDDER": "none",
        "WEFT_RERANKER": "http:small",
        "WEFT_RERANKER_URL": server.url,
        "WEFT_RERANKER_KEY": KEY,
    }
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        for text in TEXTS.values():
            memory.remember(text)
        asked = Ask(query=QUESTION, when=NOW, limit=5, projects=(memory.ctx.settings.project, None))
        answer = run(with_stage(Rerank()), memory.ctx, asked)
        shown = {setting.name: setting.value for setting in memory.config().settings}
    assert (answer.ranked or ())[0].node.text == TEXTS["ten"]
    assert shown["reranker_key"] == "(set)"
    assert KEY not in str(shown)


@pytest.mark.parametrize(
    ("name", "url", "said"),
    [
        ("best", "", "there is no reranker 'best'"),
        ("http:", "http://127.0.0.1:1", "there is no reranker 'http:'"),
        ("http:small", "", "has no address"),
        ("late:small", "", "has no address"),
        ("http:small", "ftp://x", "is not the url of a model server"),
    ],
)
def test_settings_that_name_no_reranker_stop_the_start(tmp_path: Path, name: str, url: str, said: str) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_RERANKER": name, "WEFT_RERANKER_URL": url}
    with pytest.raises(Misconfigured, match=said):
        weft.open("memory://", directory=tmp_path, environment=environment)


def test_none_is_the_default(tmp_path: Path) -> None:
    with weft.open("memory://", directory=tmp_path, environment={"HOME": str(tmp_path)}) as memory:
        assert memory.ctx.reranker is None
