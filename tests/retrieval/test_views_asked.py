"""The views as tools, and as a stage of the pipeline."""

from __future__ import annotations

from typing import Any

import pytest

from tests.retrieval.small_worlds import PROJECT, WordEmbedder, context_over, embed_all
from tests.retrieval.views import WHY_ASKED, asserted, by_id, ctx, edge, ids, place, thing
from tests.retrieval.views_world import asked, call, night
from tests.surfaces.conftest import Cli, cli  # noqa: F401 - a fixture
from weft.core.errors import Invalid
from weft.core.ports import Store
from weft.core.types import When
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, Stage, run
from weft.runtime.call_context import CallContext
from weft.testing.clock import DAY_US, ManualClock
from weft.testing.scribe import Scribe, memory_of, node
from weft.testing.viewers import PUBLIC

__all__ = ["ctx", "place"]  # fixtures


# ---- the tools


def test_a_question_followed_through_the_tools(ctx: CallContext) -> None:
    """Each tool takes exactly what the one before gave; what is not asked for is not in the way."""
    found = asked(ctx, WHY_ASKED, "WHY", "causal_expand", "temporal_expand", "entity_lookup")
    assert found["line_count"] > 15
    assert found["text"].index("renewed by hand and its reminder") < found["text"].index(
        "Nobody could book a crossing for"
    )


def test_merged_nodes_say_which_views_found_them(ctx: CallContext) -> None:
    causal = call(ctx, "causal_expand", entity_ids=["tidebook"])
    temporal = call(ctx, "temporal_expand", entity_ids=["tidebook"], depth=1)
    merged = by_id(call(ctx, "subgraph_merge", views=[causal, temporal], multi_view_boost=2.0))
    assert merged["down"]["views"] == ("temporal", "causal")
    assert merged["down"]["score"] == pytest.approx((0.5 + 1.0) / 2 * 2.0)
    few = call(ctx, "subgraph_merge", views=[causal, temporal], max_nodes=2)
    assert len(few["nodes"]) == 2
    assert few["notes"] == ("13 are left out: the best 2 are kept",)
    strong = call(ctx, "subgraph_merge", views=[causal], min_score=0.8)
    assert all(each["score"] >= 0.8 for each in strong["nodes"])
    assert strong["notes"] == ("4 scored less than 0.8 and are left out",)


def test_a_callers_words_about_a_node_are_not_taken(ctx: CallContext) -> None:
    forged = {
        "id": "c1-by-hand",
        "score": 0.4,
        "kind": "Decision",
        "text": "Pay the mayor",
        "citation": "weft://x/events/1",
    }
    merged = call(ctx, "subgraph_merge", views=[{"view": "causal", "nodes": [forged]}])
    assert merged["nodes"][0]["kind"] == "Cause"
    written = call(ctx, "linearize_context", nodes=[forged | {"views": ["causal"]}])
    assert "renewed by hand" in written["text"]
    assert "mayor" not in written["text"]
    assert "weft://x" not in written["text"]


def test_ids_that_are_not_there_and_those_not_to_be_seen_are_told_alike(place: tuple[Store, ManualClock]) -> None:
    night(*place)
    Scribe(*place).write(node("secret", "x", kind="Person", scope="admin", project=PROJECT))
    ctx = context_over(*place, viewer=PUBLIC)
    for tool, written in (
        ("entity_lookup", lambda each: {"entity_ids": ["noor", each]}),
        ("temporal_expand", lambda each: {"entity_ids": ["noor", each]}),
        ("causal_expand", lambda each: {"entity_ids": ["noor", each]}),
        ("subgraph_merge", lambda each: {"views": [{"view": "entity", "nodes": [{"id": each, "score": 1.0}]}]}),
        ("linearize_context", lambda each: {"nodes": [{"id": "noor"}, {"id": each}]}),
    ):
        hidden, missing = call(ctx, tool, **written("secret")), call(ctx, tool, **written("nobody"))
        assert hidden == missing
        assert "1 id names nothing that you may see at that time: left out" in hidden["notes"]


def test_a_name_stands_for_the_one_node_that_has_it(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    found = call(ctx, "entity_lookup", entity_ids=["ines calder"], depth=1)
    assert ids(found)[0] == "ines"
    assert "'ines calder' is taken as ines" in found["notes"]
    Scribe(*place).write(node("other-ines", "", kind="Person", name="Ines Calder", project=PROJECT))
    with pytest.raises(Invalid, match="names 2 nodes") as problem:
        call(ctx, "entity_lookup", entity_ids=["Ines Calder"])
    assert "other-ines (Person)" in problem.value.hint
    assert "ines (Person)" in problem.value.hint


def test_ids_of_concepts_and_events_lead_to_their_entities(ctx: CallContext) -> None:
    found = call(ctx, "entity_lookup", entity_ids=["concept-certificate"], depth=1)
    assert found["seed_entity_ids"] == ("lantern",)
    assert any(
        "1 id is of no entity (Concept): followed to the entities it is about" in note for note in found["notes"]
    )
    causes = call(ctx, "causal_expand", entity_ids=["concept-certificate"])
    assert "c2-expired" in ids(causes)
    times = call(ctx, "temporal_expand", entity_ids=["down"], depth=1)
    assert times["seed_entity_ids"] == ("tidebook",)
    assert "down" in ids(times)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("entity_lookup", {"entity_ids": []}),
        ("entity_lookup", {"entity_ids": [f"e{n}" for n in range(101)]}),
        ("entity_lookup", {"entity_ids": ["noor"], "depth": 0}),
        ("temporal_expand", {"entity_ids": ["noor"], "depth": 6}),
        ("temporal_expand", {"entity_ids": ["noor"], "start": "2026-03-04", "end": "2026-03-03"}),
        ("causal_expand", {"entity_ids": ["noor"], "direction": "sideways"}),
        ("subgraph_merge", {"views": []}),
        ("subgraph_merge", {"views": [{"view": "entity", "nodes": [{"id": "noor", "score": 1.5}]}]}),
        ("subgraph_merge", {"views": [{"view": "dreams", "nodes": []}]}),
        ("linearize_context", {"nodes": []}),
        ("linearize_context", {"nodes": [{"id": "noor"}], "max_tokens": 1}),
        ("linearize_context", {"nodes": [{"id": "noor"}], "intent": "HOW"}),
        ("semantic_search", {"query": "x", "top_k": 0}),
    ],
)
def test_what_cannot_be_asked(ctx: CallContext, tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=tool) as problem:
        call(ctx, tool, **given)
    assert problem.value.hint


def test_the_tools_answer_for_the_moment_asked_about(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    before = call(ctx, "causal_expand", entity_ids=["tidebook"])
    place[1].step(DAY_US)
    Scribe(*place).write(
        asserted(
            thing("c8-later", "Cause"),
            edges=(edge("c8-later", "AFFECTS", "tidebook"), edge("tidebook", "NEAR", "noor")),
        )
    )
    assert "c8-later" in ids(call(ctx, "causal_expand", entity_ids=["tidebook"]))
    then = before["known_at"]
    assert ids(call(ctx, "causal_expand", entity_ids=["tidebook"], known_at=then)) == ids(before)
    near = call(ctx, "entity_lookup", entity_ids=["tidebook"], depth=1, as_of=then)
    assert "noor" not in ids(near)
    assert ids(call(ctx, "temporal_expand", entity_ids=["tidebook"], depth=1, as_of="2026-03-01")) == []


def test_a_walk_stays_in_the_projects_asked_about(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    elsewhere = {"project": "elsewhere"}
    Scribe(*place).write(
        asserted(
            thing("stranger", "Person", **elsewhere),
            edges=(edge("stranger", "KNOWS", "noor"), edge("stranger", "KNOWS", "ines")),
        )
    )
    assert "stranger" not in ids(call(ctx, "entity_lookup", entity_ids=["noor"]))
    assert "stranger" in ids(call(ctx, "entity_lookup", entity_ids=["noor"], everywhere=True))
    assert "noor" in ids(call(ctx, "entity_lookup", entity_ids=["stranger"]))  # asked for by its id


def test_lists_of_nodes_are_json_on_the_command_line(cli: Cli) -> None:  # noqa: F811
    cli("remember", "Tidebook was down.", "--name", "outage")
    done = cli("linearize-context", "--nodes", '[{"id": "outage", "views": ["semantic"]}]')
    assert '1. [Memory] "outage": "Tidebook was down."' in done.stdout
    bad = cli("subgraph-merge", "--views", "{not json")
    assert bad.exit_code == 2
    assert "--views is not JSON" in bad.stderr
    assert "[{...}]" in bad.stderr


WITH: tuple[Stage, ...] = recipes.DEFAULT


WITHOUT: tuple[Stage, ...] = tuple(stage for stage in WITH if stage.name != "views")


UNREACHED = "no relation leads from the best matches into it"


def recalled(ctx: CallContext, query: str, recipe: tuple[Stage, ...] = WITH, **more: Any) -> Answer:
    ask = Ask(query=query, when=When(), limit=40, projects=(PROJECT, None), **more)
    return run(recipe, ctx, ask)


# ---- the stage


def test_recall_brings_the_first_cause_that_shares_no_word_with_the_question(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    plain, viewed = recalled(ctx, WHY_ASKED, WITHOUT), recalled(ctx, WHY_ASKED)
    assert "c1-by-hand" not in {each.node.id for each in plain.ranked or ()}
    hits = {each.node.id: each for each in viewed.ranked or ()}
    (source,) = [each for each in hits["c1-by-hand"].sources if each.name == "views"]
    assert source.detail.startswith("causal: ")
    assert "<-[CAUSES]- The certificate was renewed by hand" in source.detail
    assert source.part == pytest.approx(source.raw * source.weight)
    assert hits["c1-by-hand"].score == pytest.approx(sum(each.part for each in hits["c1-by-hand"].sources))
    seen = {each.view: each for each in viewed.sightings["c1-by-hand"]}
    assert seen["causal"].score == pytest.approx(0.9)
    assert seen["causal"].path in source.detail


def test_rows_seen_by_meaning_and_by_views_say_both(place: tuple[Store, ManualClock]) -> None:
    night(*place)
    embed_all(*place)
    answer = recalled(context_over(*place, embedder=WordEmbedder()), WHY_ASKED)
    seen = {each.view for each in answer.sightings["down"]}
    assert {"semantic", "temporal", "causal"} <= seen
    assert len(answer.evidence) == len(answer.pool.nodes)


def test_depths_decide_which_views_are_followed(ctx: CallContext) -> None:
    answer = recalled(ctx, WHY_ASKED, depths={"entity": 1, "temporal": 0, "causal": 0})
    assert {each.view for seen in answer.sightings.values() for each in seen} == {"entity"}
    assert "c1-by-hand" not in answer.sightings


def test_thin_views_are_said_once(place: tuple[Store, ManualClock]) -> None:
    Scribe(*place).write(
        asserted(
            thing("ada", "Person", text="Ada keeps bees."),
            thing("met", "Event", text="Ada met the beekeepers."),
            edges=(edge("met", "INVOLVES", "ada"),),
        )
    )
    ctx = context_over(*place)
    answer = recalled(ctx, "Ada keeps bees", intent="WHAT")
    (note,) = [each for each in answer.details if "only 1 node" in each]
    assert "entity view: only 1 node" in note
    assert f"causal view: {UNREACHED}" in note
    assert recalled(ctx, "Ada keeps bees").notes == answer.notes
    assert f"causal view: {UNREACHED}" in recalled(ctx, "Why does Ada keep bees?").details


def test_where_the_views_begin_is_said_to_who_said_what_is_asked_for(ctx: CallContext) -> None:
    question, weak = (
        "what about the desk of crossings in a storm by hand?",
        "no match scores 0.5 or more: the graph is followed",
    )
    assert any(note.startswith(weak) for note in recalled(ctx, question, intent="WHY").details)
    assert not any("no match scores" in note for note in recalled(ctx, question).details)
    alone = call(ctx, "entity_lookup", entity_ids=["warrant"], depth=1)
    assert alone["notes"] == ("entity view: only 2 nodes",)


@pytest.mark.parametrize("vectors", [False, True])
def test_nothing_changes_where_there_is_nothing_to_follow(place: tuple[Store, ManualClock], vectors: bool) -> None:
    texts = (
        "Velmora sails at nine.",
        "Marta Okonro sails Velmora.",
        "Port Ysolde froze.",
        "I live in Port Ysolde now.",
    )
    Scribe(*place).write(*(memory_of(f"m{n}", text, project=PROJECT) for n, text in enumerate(texts)))
    Scribe(*place).write(node("velmora", "", kind="Entity", name="Velmora", project=PROJECT))
    place[1].step()
    embed_all(*place)
    ctx = context_over(*place, embedder=WordEmbedder() if vectors else None)
    for query in ("when does Velmora sail?", "Port Ysolde", "who sails?"):
        with_views, without = recalled(ctx, query), recalled(ctx, query, WITHOUT)
        assert with_views.ranked == without.ranked
        assert with_views.notes == without.notes
        assert [part.name for part in with_views.pool.parts] == [part.name for part in without.pool.parts]
        assert with_views.sightings == {}


def test_whoever_asks_why_is_told_that_no_cause_is_known(place: tuple[Store, ManualClock]) -> None:
    Scribe(*place).write(memory_of("m", "Velmora sails at nine.", project=PROJECT))
    answer = recalled(context_over(*place), "why does Velmora sail at nine?", intent="WHY")
    assert f"causal view: {UNREACHED}" in answer.details
    assert not any("causal" in note for note in answer.notes)


def test_only_kinds_that_are_asked_for_join(ctx: CallContext) -> None:
    answer = recalled(ctx, WHY_ASKED, kinds=("Concept", "Event"))
    assert {each.node.kind for each in answer.ranked or ()} <= {"Concept", "Event"}
    assert "down" in {each.node.id for each in answer.ranked or ()}
