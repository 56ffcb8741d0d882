"""Other fusions: scores are bounded and add up, better in every list is better, a missing list costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from tests.retrieval.small_worlds import QUESTIONS, ROWS
from tests.retrieval.test_scores import Rows, ask, check, world
from weft.core.errors import Invalid
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Candidate, Stage
from weft.retrieval.profiles import BALANCED, PROFILES, profile_with
from weft.retrieval.question.other_wordings import ScoreWordings, SearchWordings
from weft.retrieval.scoring import fuse
from weft.retrieval.scoring.fuse import AGREEING, STRATEGIES, Fuse
from weft.retrieval.scoring.rank import Rank
from weft.runtime.call_context import CallContext
from weft.text.extract.question.intent import RetrievalClass

BEFORE = recipes.DEFAULT[: [stage.name for stage in recipes.DEFAULT].index("gather")]
SEARCHES = tuple(stage for stage in BEFORE if stage.name not in ("reword", "expansion"))
GATHER = next(stage for stage in recipes.DEFAULT if stage.name == "gather")
FUSIONS = [Fuse(strategy=each) for each in STRATEGIES] + [
    Fuse(strategy="profile", profile=each) for each in PROFILES.values()
]


class Reworded(Struct, frozen=True):
    """Says what the question is after, and in which other words."""

    wordings: tuple[tuple[str, float], ...] = ()
    wanted: RetrievalClass = "general"
    name: str = "reworded"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        return replace(answer, expansions=self.wordings, retrieval_class=self.wanted)


def recipe(fusion: Fuse, *more: Stage) -> tuple[Stage, ...]:
    return (*SEARCHES, *more, SearchWordings(), GATHER, fusion, Rank(tail=0.0))


def most(fusion: Fuse) -> float:
    """What a score cannot pass."""
    if fusion.strategy != "profile":
        return 1.0
    return 1.0 + AGREEING + fusion.profile.temporal + fusion.profile.traversal_bonus


def parts(hit: Candidate) -> dict[str, float]:
    return {source.name: source.part for source in hit.sources}


@settings(max_examples=20)
@given(ROWS, st.sampled_from(QUESTIONS), st.booleans(), st.sampled_from(FUSIONS), st.booleans())
def test_scores_add_up_and_are_bounded(rows: Rows, question: str, vectors: bool, fusion: Fuse, other: bool) -> None:
    reworded = Reworded((("the ferry that sails to Port Ysolde", 0.9), ("sail", 0.75)) if other else ())
    steps = recipe(fusion, reworded)
    answer = ask(world(rows, vectors=vectors), question, recipe=steps, limit=100)
    check(answer, steps)
    assert not [step for step in answer.trace if step.failed]
    for each in answer.ranked or ():
        assert -1e-9 <= each.score - parts(each).get("id", 0.0) <= most(fusion) + 1e-9
    if question in {each.node.id for each in answer.ranked or ()}:
        assert answer.ranked[0].node.id == question


@settings(max_examples=20)
@given(ROWS, st.sampled_from(QUESTIONS), st.booleans(), st.sampled_from(FUSIONS))
def test_what_is_better_in_every_list_is_better(rows: Rows, question: str, vectors: bool, fusion: Fuse) -> None:
    answer = ask(world(rows, vectors=vectors), question, recipe=recipe(fusion), limit=100)
    pool = answer.pool
    if not pool.nodes:
        return
    walked = [part.raw for part in pool.parts if part.name == "traversal"] or [np.zeros(len(pool.nodes))]
    lists = [each(answer, pool) for each in (fuse.exact_list, fuse.near_list, fuse.text_list, fuse.dated_list)]
    # A place that is not held is the last of all.
    columns = [np.where(each.ranks > 0, -each.ranks, -np.inf) for each in lists] + walked
    scores = pool.without_part("id").scores()
    for one in range(len(scores)):
        for other in range(len(scores)):
            if all(column[one] >= column[other] for column in columns):
                assert scores[one] >= scores[other] - 1e-9


HARBOUR: Rows = [
    ("titled", "Port Ysolde", "Port Ysolde is the harbour of the ferry Velmora.", -9),
    ("titled", "Tarn", "In Tarn the harbour froze.", -8),
    ("remembered", "", "Marta bought a green coat.", -7),
    ("remembered", "", "The ferry was painted in spring.", -6),
]
ASKED = "the harbour of Port Ysolde"


@pytest.mark.parametrize("strategy", ["weighted", "rrf"])
@pytest.mark.parametrize("vectors", [True, False], ids=["with vectors", "words only"])
def test_the_first_of_every_list_scores_one(strategy: fuse.Strategy, vectors: bool) -> None:
    best = ask(world(HARBOUR, vectors=vectors), ASKED, recipe=recipe(Fuse(strategy=strategy))).ranked[0]
    assert best.node.id == "doc0"
    assert best.score == pytest.approx(1.0)
    assert ("vector" in parts(best)) is vectors


class Wordless(Struct, frozen=True):
    """A text index that is down."""

    name: str = "text"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        return answer


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_a_text_index_meaning_alone_decides(strategy: fuse.Strategy) -> None:
    steps = tuple(Wordless() if stage.name == "text" else stage for stage in recipe(Fuse(strategy=strategy)))
    for wanted in ("general", "event"):  # the second would go by words alone
        both = (*steps[:3], Reworded(wanted=wanted), *steps[3:])
        best = ask(world(HARBOUR), ASKED, recipe=both).ranked[0]
        assert best.node.id == "doc0"
        assert best.score >= 0.95
        assert "keyword" not in parts(best)


@pytest.mark.parametrize(
    ("wanted", "vector", "text"),
    [("entity", 0.85, 0.15), ("temporal", 0.3, 0.7), ("event", 0.0, 1.0), ("general", 0.7, 0.3)],
)
def test_weights_follow_what_is_asked_unless_they_are_given(wanted: Any, vector: float, text: float) -> None:
    ctx = world(HARBOUR)
    best = ask(ctx, ASKED, recipe=recipe(Fuse(), Reworded(wanted=wanted))).ranked[0]
    expected = {name: weight for name, weight in (("vector", vector), ("keyword", text)) if weight}
    assert parts(best) == pytest.approx(expected)
    given_ = recipe(Fuse(vector_weight=0.6), Reworded(wanted=wanted))
    assert parts(ask(ctx, ASKED, recipe=given_).ranked[0]) == pytest.approx({"vector": 0.6, "keyword": 0.4})


def test_every_source_says_its_own_score_and_place() -> None:
    best = ask(world(HARBOUR), ASKED, recipe=recipe(Fuse(strategy="profile"))).ranked[0]
    told = {source.name: source.detail for source in best.sources}
    assert set(told) == {"exact", "vector", "keyword"}
    assert told["exact"].endswith("place 1, named 'port ysolde'")
    assert all(f"{name} " in detail and "place 1" in detail for name, detail in told.items())
    by_name = parts(best)
    assert by_name["exact"] == pytest.approx(BALANCED.exact), "the best source counts fully"
    assert by_name["vector"] + by_name["keyword"] == pytest.approx(AGREEING * (1 - (1 - 0.95) * (1 - 0.80)))


def test_a_profile_brings_what_relations_lead_to() -> None:
    ctx = world([*HARBOUR, ("entity", "Velmora", "", -3)])
    edge = graph.EdgeAssertion(src="ent4", rel="OWNED_BY", dst="mem2", scope="public", project="p")
    ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(edges=(edge,)))])
    steps = recipe(Fuse(strategy="profile"))
    found = {each.node.id: parts(each) for each in ask(ctx, "who has Velmora?", recipe=steps).ranked}
    assert {"traversal", "traversal bonus"} <= set(found["mem2"])
    less = recipe(Fuse(strategy="profile", profile=profile_with("balanced", {"traversal": 0.1, "traversal_bonus": 0})))
    after = {each.node.id: parts(each) for each in ask(ctx, "who has Velmora?", recipe=less).ranked}
    assert after["mem2"]["traversal"] < found["mem2"]["traversal"]
    assert "traversal bonus" not in after["mem2"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("vectors", [True, False], ids=["with vectors", "words only"])
def test_another_wording_lifts_what_the_question_missed(strategy: fuse.Strategy, vectors: bool) -> None:
    ctx = world(HARBOUR, vectors=vectors)
    asked = "who bought the ferry that was painted in spring?"

    def places(*wordings: tuple[str, float]) -> Sequence[Candidate]:
        steps = recipe(Fuse(strategy=strategy), Reworded(wordings))
        return ask(ctx, asked, recipe=steps).ranked or ()

    after = {each.node.id: each for each in places(("Marta got herself a green coat", 0.9))}
    before = {each.node.id: each.score for each in places()}
    assert parts(after["mem2"])["expansion"] > 0
    assert after["mem2"].score / after["mem3"].score > before["mem2"] / before["mem3"]
    assert "expansion" not in {name for each in places() for name in parts(each)}


def test_wordings_add_to_the_gated_score_and_only_where_there_are_any() -> None:
    plain = tuple(stage for stage in recipes.DEFAULT if stage.name not in ("reword", "expansion", "wordings"))
    names = [stage.name for stage in plain]
    cut, at = names.index("gather"), names.index("scale")
    steps = (*plain[:cut], SearchWordings(), *plain[cut:at], ScoreWordings(), *plain[at:])
    ctx = world(HARBOUR)
    assert ask(ctx, ASKED, recipe=steps).ranked == ask(ctx, ASKED, recipe=plain).ranked
    told = (*steps[:cut], Reworded((("ferry painted in spring", 0.8),)), *steps[cut:])
    answer = ask(ctx, "what did they do to the ferry?", recipe=told)
    check(answer, told)
    found = {each.node.id: {source.name: source for source in each.sources} for each in answer.ranked}
    assert found["mem3"]["expansion"].raw == pytest.approx(0.8), "the best of that wording, times its weight"
    assert found["mem3"]["expansion"].detail == "found by 'ferry painted in spring'"


def test_at_most_five_wordings_are_looked_for_and_none_twice() -> None:
    wordings = tuple((f"ferry number {number}", 0.9) for number in range(9))
    same = ((ASKED, 0.9), ("", 0.9), ("harbour", 0.0))
    steps = recipe(Fuse(), Reworded(same + wordings))
    answer = ask(world(HARBOUR), ASKED, recipe=steps)
    assert [words for words, *_ in answer.expanded] == [words for words, _ in wordings[:5]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "best"},
        {"vector_weight": 2.5},
        {"text_weight": float("nan")},
        {"vector_weight": 0.0, "text_weight": 0.0},
        {"k": 0},
    ],
)
def test_what_cannot_be_fused_is_refused_with_what_can(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        Fuse(**wrong)
    assert refused.value.hint
