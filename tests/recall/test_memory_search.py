"""`memory_search` and `recall_raw` over one written story: settings that hold, settings that contradict, bounds."""

from __future__ import annotations

import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.small_worlds import PROJECT, WordEmbedder
from tests.retrieval.views_world import CHAIN, call, night
from weft.backends.memory import MemoryStore
from weft.core.errors import Invalid
from weft.core.types import Actor
from weft.log.chain import commit_genesis
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall.recall import Recall
from weft.recall.request import read_ask
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, run
from weft.retrieval.recipes import RankingPlan, compose
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.viewers import PUBLIC

OUTAGE = "Why could nobody book a crossing?"


@pytest.fixture
def ctx() -> CallContext:
    clock = ManualClock()
    made = night(MemoryStore(commit_genesis, clock=clock), clock, embedder=WordEmbedder())
    operator = replace(made.writer, actor=Actor(agent="keeper", role="operator"))
    call(replace(made, writer=operator), "reindex")
    return made


def ids(answer: dict[str, Any]) -> list[str]:
    return [each["hit"]["node"]["id"] for each in answer["results"]]


def test_without_settings_it_ranks_as_recall_does(ctx: CallContext) -> None:
    for question in (OUTAGE, "Who looks after payments?", "When did the certificate run out?", "spring sale"):
        searched = call(ctx, "memory_search", query=question)
        recalled = call(ctx, "recall", query=question)
        assert ids(searched) == [hit["node"]["id"] for hit in recalled["hits"]]
        assert [each["hit"]["score"] for each in searched["results"]] == [hit["score"] for hit in recalled["hits"]]


def test_results_bring_what_they_are_joined_to_and_may_leave_it(ctx: CallContext) -> None:
    found = call(ctx, "memory_search", query="The retries used up all database connections", limit=1)
    related = {(each["direction"], each["rel"], each["id"]) for each in found["results"][0]["related"]}
    assert ("in", "CAUSES", "c3-retries") in related
    assert ("out", "CAUSES", "c5-outage") in related
    bare = call(ctx, "memory_search", query="The retries used up all database connections", limit=1, expand_hops=0)
    assert "related" not in bare["results"][0]
    assert ids(bare) == ids(found)


def test_what_results_are_joined_to_passes_the_guards_again() -> None:
    clock = ManualClock()
    store = MemoryStore(commit_genesis, clock=clock)
    ctx = night(store, clock, embedder=WordEmbedder())
    call(
        replace(ctx, viewer=ctx.viewer),
        "add_fact",
        subject="Lantern",
        predicate="vault",
        object="nine",
        scope="admin",
    )
    public = replace(ctx, viewer=PUBLIC)
    found = call(public, "memory_search", query="Lantern payment gateway", everywhere=True)
    assert found["results"]
    assert not [each for each in found["results"] for step in each.get("related", ()) if step["kind"] == "Fact"]


def test_what_results_are_joined_to_is_of_the_projects_asked_about(ctx: CallContext) -> None:
    other = graph.NodeAssertion(id="zeno", kind="Cause", text="Zeno forged it", project="zeno")
    same = graph.NodeAssertion(id="here", kind="Cause", text="A storm", project=PROJECT)
    for node in (other, same):
        link = graph.EdgeAssertion(src=node.id, rel="CAUSES", dst="c4-connections", project=node.project)
        ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,), edges=(link,)))])
    question = "The retries used up all database connections"

    def related(**more: Any) -> set[str]:
        found = call(ctx, "memory_search", query=question, limit=1, **more)
        assert ids(found) == ["c4-connections"]
        return {each["id"] for each in found["results"][0]["related"]}

    assert "here" in related()
    assert "zeno" not in related()
    assert {"here", "zeno"} <= related(everywhere=True)


def test_a_wrong_cue_is_told_which_there_are(ctx: CallContext) -> None:
    with pytest.raises(Invalid, match="a key of cues cannot be 'tol'") as raised:
        call(ctx, "memory_search", query=OUTAGE, cues={"tol": "editor"})
    assert raised.value.hint == "a key of cues is one of mission, workspace, tool, phase"
    with pytest.raises(Invalid) as raised:
        call(ctx, "memory_search", query=OUTAGE, fusion="hot")
    assert raised.value.hint.startswith("fusion is one of gated, ")


def test_fields_narrow_after_ranking(ctx: CallContext) -> None:
    whole = call(ctx, "memory_search", query=OUTAGE, expand_hops=0)
    named = call(ctx, "memory_search", query=OUTAGE, expand_hops=0, fields=["name", "colour", "weight"])
    none = call(ctx, "memory_search", query=OUTAGE, expand_hops=0, fields=[])
    assert ids(whole) == ids(named) == ids(none)
    for each in named["results"]:
        assert each["hit"]["node"]["text"] == ""
        assert "props" not in each["hit"]["node"]
    assert any(each["hit"]["node"]["name"] for each in named["results"])
    assert "2 unknown fields skipped: colour, weight" in named["notes"]
    assert not any(each["hit"]["node"]["name"] or each["hit"]["node"]["text"] for each in none["results"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"profile": "fast"}, "balanced, precision, recall, temporal, custom"),
        ({"fusion": "magic"}, "gated, weighted, rrf, profile"),
        ({"intent": "HOW"}, "WHY, WHEN, WHO, WHAT, EXPLORE"),
        ({"retrieval_class": "people"}, "entity, temporal, event, general, none"),
        ({"rerank": "best"}, "configured, lexical, none"),
        ({"retention": "forget"}, "none, filter_expired, decay"),
        ({"purpose": "fun"}, "coding"),
        ({"weights": {"vectors": 1.0}}, "vector"),
        ({"weights": {"vector": 9.0}}, "from 0 to 2"),
        ({"weights": {"vector": float("nan")}}, "from 0 to 2"),
        ({"profile": "custom"}, "weights"),
        ({"fusion": "rrf", "weights": {"vector": 1.0}}, "another fusion"),
        ({"retrieval_class": "entity", "kinds": ["Event"]}, "Person"),
        ({"everywhere": True, "project": "other"}, "one of the two"),
        ({"cues": {"mood": "good"}}, "cues"),
        ({"entity_depth": 9}, "help"),
        ({"diversity": 2.0}, "help"),
        ({"expand_hops": 3}, "help"),
        ({"limit": 0}, "help"),
        ({"query": "a\x00b"}, "NUL"),
        ({"kinds": ["no kind!"]}, "help"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_next_step(ctx: CallContext, given: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid) as refused:
        call(ctx, "memory_search", **{"query": OUTAGE, **given})
    assert said in f"{refused.value.message} {refused.value.hint}"


def test_unknown_kinds_are_named_instead_of_a_silent_nothing(ctx: CallContext) -> None:
    for operation in ("memory_search", "recall", "recall_raw"):
        answer = call(ctx, operation, query=OUTAGE, kinds=["Dragon", "Event"], min_score=0.0)
        assert answer["status"] == "succeeded"
        answer = call(ctx, operation, query=OUTAGE, kinds=["Dragon"])
        assert answer["status"] == "empty"
        assert any("Dragon" in note and "Event" in note for note in answer["notes"])


def test_small_talk_is_not_searched_for_and_says_so(ctx: CallContext) -> None:
    for operation in ("memory_search", "recall", "recall_raw"):
        answer = call(ctx, operation, query="ok, thanks!")
        assert answer["status"] == "empty"
        assert any("small talk" in note for note in answer["notes"])
    assert call(ctx, "memory_search", query=OUTAGE, retrieval_class="none")["status"] == "empty"


def test_a_class_limits_the_kinds(ctx: CallContext) -> None:
    found = call(ctx, "memory_search", query="Lantern certificate", retrieval_class="event", fusion="weighted")
    assert found["results"]
    assert {each["hit"]["node"]["kind"] for each in found["results"]} <= {
        "Event",
        "Fact",
        "Episode",
        "Message",
        "Memory",
    }
    people = call(ctx, "memory_search", query="Who works for Harbour Desk?", retrieval_class="entity")
    assert {each["hit"]["node"]["kind"] for each in people["results"]} <= {
        "Person", "Organization", "Entity", "Service", "Place", "Product", "Concept",
    }  # fmt: skip


@pytest.mark.parametrize("fusion", ["gated", "weighted", "rrf", "profile"])
@pytest.mark.parametrize("profile", ["balanced", "precision", "recall", "temporal"])
def test_every_fusion_and_profile_answers_and_explains_itself(ctx: CallContext, fusion: str, profile: str) -> None:
    given = {} if fusion == "rrf" else {"profile": profile}
    answer = call(ctx, "memory_search", query=OUTAGE, fusion=fusion, diversity=0.7, explain=True, **given)
    assert {"c5-outage", "concept-outage"} & set(ids(answer)[:3])
    assert not [stage for stage in answer["stages"] if stage["failed"]] if "failed" in answer["stages"][0] else True
    for each in answer["results"]:
        parts = sum(part["part"] for part in each["hit"]["why"])
        assert parts == pytest.approx(each["hit"]["score"], abs=1e-9)


def test_history_resolves_what_is_referred_to(ctx: CallContext) -> None:
    asked = call(ctx, "memory_search", query="When did she renew it?", history=["Ines Calder keeps the certificates."])
    assert "Ines Calder" in asked["read_as"]
    assert "renewed" in ids(asked)
    assert "renewed" not in ids(call(ctx, "memory_search", query="When did she do it?"))[:3]


def test_recall_tells_causes_in_their_order(ctx: CallContext) -> None:
    recalled = call(ctx, "recall", query=OUTAGE, limit=20)
    assert recalled["intent"] == "WHY"
    places = [recalled["context"].index(words) for words in CHAIN_WORDS]
    assert places == sorted(places)
    assert "Sources" in recalled["context"]


CHAIN_WORDS = (
    "renewed by hand and its reminder",
    "ran out unnoticed",
    "repeated every failed payment",
    "used up all database connections",
    "Nobody could book a crossing",
)


def test_recall_raw_shows_views_chains_and_the_merge(ctx: CallContext) -> None:
    raw = call(ctx, "recall_raw", query=OUTAGE, limit=20)
    assert raw["intent"] == "WHY"
    assert raw["depths"] == {"entity": 1, "temporal": 1, "causal": 3}
    by_view = {view["view"]: [node["id"] for node in view["nodes"]] for view in raw["views"]}
    assert set(CHAIN) <= set(by_view["causal"])
    assert list(CHAIN) in [list(chain) for chain in raw["chains"]]
    both = next(node for node in raw["merged"] if node["id"] == "c5-outage")
    assert {"semantic", "causal"} <= set(both["views"])
    context = call(ctx, "linearize_context", nodes=raw["merged"], intent="WHY")
    assert "used up all database connections" in context["text"]


def test_a_stage_that_raises_costs_itself_only(ctx: CallContext) -> None:
    class Broken:
        name = "broken"

        def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
            raise ZeroDivisionError("inside")

    stages = compose(RankingPlan())
    ask = read_ask(ctx, Recall(query=OUTAGE))
    whole = run(stages, ctx, ask)
    for at in range(len(stages) + 1):
        found = run((*stages[:at], Broken(), *stages[at:]), ctx, ask)
        assert [each.node.id for each in found.ranked or ()] == [each.node.id for each in whole.ranked or ()]
        assert any("the step broken failed by a fault in weft (ZeroDivisionError)" in note for note in found.notes)
    for at, stage in enumerate(stages):
        without = run((*stages[:at], Broken(), *stages[at + 1 :]), ctx, ask)
        assert without.notes, stage.name


def test_past_the_deadline_only_what_is_essential_is_run(ctx: CallContext) -> None:
    class Slow:
        name = "slow"

        def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
            time.sleep(0.02)
            return answer

    ask = replace(read_ask(ctx, Recall(query=OUTAGE)), deadline_s=0.01)
    found = run((Slow(), *compose(RankingPlan())), ctx, ask)
    assert found.ranked
    assert found.ranked[0].node.id in ("c5-outage", "concept-outage")
    (note,) = [each for each in found.notes if "these steps were skipped" in each]
    assert "after 0.01 s" in note
    assert "links" in note
    assert "views" in note
    run_anyway = ["understand", "text", "gather", "base", "scale", "enough", "superseded", "retention", "passages"]
    assert [step.stage for step in found.trace] == ["slow", *run_anyway, "distinct", "derived", "rank"]


def test_every_named_recipe_answers(ctx: CallContext) -> None:
    for name in recipes.RECIPES:
        assert call(ctx, "recall", query=OUTAGE, recipe=name)["hits"], name
    with pytest.raises(Invalid, match="no recipe"):
        call(ctx, "recall", query=OUTAGE, recipe="secret")
