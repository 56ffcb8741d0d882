"""The graph views of a question, over one written story: seeds, expansions, merging, the tools, the stage."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.running import SqlitePlace, memory_store
from tests.surfaces.conftest import Cli, cli  # noqa: F401 - a fixture

from weft.errors import Invalid
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.ports import Store
from weft.retrieval import recipes
from weft.retrieval.pipeline import VIEW_NAMES, Answer, Ask, Stage, run
from weft.retrieval.views.chains import MAX_CHAINS, chains_of, in_causal_order
from weft.retrieval.views.ground import MAX_NODES
from weft.retrieval.views.merge import merge
from weft.testing.clock import DAY_US, ManualClock
from weft.testing.scribe import Scribe, memory_of, node
from weft.testing.viewers import PUBLIC
from weft.types import When

from .small_worlds import PROJECT, WordEmbedder, embed_all, loom_over
from .views_world import CHAIN, asked, call, night

WHY_ASKED = "why could nobody book a crossing that night?"


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Store, ManualClock]]:
    clock = ManualClock()
    if request.param == "memory":
        yield memory_store(clock), clock
        return
    made = SqlitePlace(clock)
    try:
        yield made.store, clock
    finally:
        made.close()


@pytest.fixture
def loom(place: tuple[Store, ManualClock]) -> Loom:
    return night(*place)


def ids(answer: dict[str, Any]) -> list[str]:
    return [each["id"] for each in answer["nodes"]]


def by_id(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in answer["nodes"]}


def asserted(*nodes: graph.NodeAssertion, edges: tuple[graph.EdgeAssertion, ...] = ()) -> Draft:
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes, edges=edges))


def edge(src: str, rel: str, dst: str, **fields: Any) -> graph.EdgeAssertion:
    return graph.EdgeAssertion(src=src, rel=rel, dst=dst, project=PROJECT, scope="public", **fields)


def thing(node_id: str, kind: str, **fields: Any) -> graph.NodeAssertion:
    return graph.NodeAssertion(
        id=node_id, kind=kind, **{"name": node_id, "project": PROJECT, "scope": "public"} | fields
    )


# ---- the seeds


def test_seeds_come_first_and_are_entities_not_matches(loom: Loom) -> None:
    found = call(loom, "semantic_search", query=WHY_ASKED)
    assert list(found)[:4] == ["seed_entity_ids", "seed_entity_count", "instruction", "matches"]
    assert found["seed_entity_ids"] == ("tidebook",)
    assert found["seed_entity_count"] == 1
    assert "seed_entity_ids (not the ids of matches)" in found["instruction"]
    assert {each["id"] for each in found["matches"]} == {"concept-outage", "c5-outage"}
    assert all(0.5 <= each["score"] <= 1.0 and each["citation"] for each in found["matches"])
    # The concept represents the service; the cause refers to an event that involves it.
    assert [each["linked_entity_ids"] for each in found["matches"]] == [("tidebook",), ("tidebook",)]


def test_a_weak_search_takes_the_best_three_and_says_so(loom: Loom) -> None:
    found = call(loom, "semantic_search", query="zebras and giraffes of the spring painted", min_score=0.99)
    assert 1 <= len(found["matches"]) <= 3
    assert any("no match scores 0.99 or more: the views begin with the best" in note for note in found["notes"])


def test_what_leads_to_no_entity_gives_no_seeds(loom: Loom) -> None:
    found = call(loom, "semantic_search", query="the lighthouse at Skerry")
    assert found["matches"][0]["id"] == "skerry"
    assert found["seed_entity_ids"] == ()
    assert found["instruction"].startswith("No match leads to an entity")


def test_top_k_bounds_the_matches(loom: Loom) -> None:
    assert len(call(loom, "semantic_search", query="the certificate of Lantern", top_k=2)["matches"]) == 2


# ---- entities


def test_entities_are_followed_as_deep_as_asked_with_the_way_in_words(loom: Loom) -> None:
    near = call(loom, "entity_lookup", entity_ids=["lantern"], depth=1)
    assert ids(near)[0] == "lantern"
    assert set(ids(near)) == {"lantern", "warrant", "ines", "tidebook"}
    far = by_id(call(loom, "entity_lookup", entity_ids=["lantern"], depth=3))
    assert {each: (far[each]["depth"], far[each]["score"]) for each in ("lantern", "ines", "desk", "noor")} == {
        "lantern": (0, 1.0),
        "ines": (1, 0.5),
        "desk": (2, round(1 / 3, 6)),
        "noor": (3, 0.25),
    }
    assert far["noor"]["path"] == "Lantern <-[MAINTAINS]- Ines Calder -[WORKS_AT]-> Harbour Desk <-[LEADS]- Noor Haddad"


def test_many_events_do_not_crowd_out_relations(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    crowd = [thing(f"crowd{n:03}", "Event") for n in range(150)]
    involved = tuple(edge(each.id, "INVOLVES", "noor", weight=2.0) for each in crowd)
    Scribe(*place).write(asserted(*crowd, thing("mayor", "Person"), edges=(*involved, edge("mayor", "KNOWS", "noor"))))
    assert {"desk", "mayor"} <= set(ids(call(loom, "entity_lookup", entity_ids=["noor"], depth=1)))


def test_a_view_stops_at_its_bound_and_says_so(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    many = [thing(f"sailor{n:03}", "Person") for n in range(80)]
    events = [thing(f"trip{n:03}", "Event") for n in range(80)]
    causes = [thing(f"reason{n:03}", "Cause") for n in range(80)]
    edges = [edge(each.id, "SAILS_WITH", "noor") for each in many]
    edges += [edge(each.id, "INVOLVES", "noor") for each in events]
    edges += [edge(each.id, "AFFECTS", "noor") for each in causes]
    Scribe(*place).write(asserted(*many, *events, *causes, edges=tuple(edges)))
    for tool in ("entity_lookup", "temporal_expand", "causal_expand"):
        found = call(loom, tool, entity_ids=["noor"], depth=5)
        assert len(found["nodes"]) == MAX_NODES
        assert f"{found['view']}: stopped at 50 nodes; there are more" in found["notes"]


# ---- times


def test_times_are_in_order_and_reach_through_others(loom: Loom) -> None:
    near = call(loom, "temporal_expand", entity_ids=["gullmail"], depth=1)
    assert ids(near) == ["mails"]
    assert near["notes"] == ("temporal: 1 node, fewer than 3: little to go by",)
    own = call(loom, "temporal_expand", entity_ids=["lantern"], depth=1)
    assert ids(own) == ["renewed", "muted", "expired", "robot"]
    far = call(loom, "temporal_expand", entity_ids=["lantern"], depth=2)
    assert ids(far) == ["renewed", "muted", "expired", "fixed", "robot"]
    assert by_id(far)["fixed"]["path"].startswith("Lantern <-[INVOLVES]- ")
    assert by_id(far)["fixed"]["score"] == round(1 / 3, 6)


@pytest.mark.parametrize(
    ("start", "end", "wanted"),
    [
        ("2026-03-03", "2026-03-03", ["expired", "paged", "down", "fixed"]),
        ("2026-03-03T00:20:00Z", "2026-03-03T02:00:00Z", ["down"]),
        ("2026-03-06", None, ["pause"]),
        (None, "2026-02", ["sale"]),
        (None, "2025", []),
    ],
)
def test_a_window_of_time(loom: Loom, start: str | None, end: str | None, wanted: list[str]) -> None:
    window = {name: value for name, value in (("start", start), ("end", end)) if value is not None}
    found = call(loom, "temporal_expand", entity_ids=["tidebook", "warrant"], depth=1, **window)
    assert ids(found) == wanted


def test_facts_count_for_as_long_as_they_hold(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    Scribe(*place).write(
        asserted(
            thing("harboured", "Fact", valid_from="2020-01-01T00:00:00Z"),
            edges=(edge("harboured", "INVOLVES", "warrant"),),
        )
    )
    assert ids(call(loom, "temporal_expand", entity_ids=["warrant"], depth=1, start="2026")) == ["harboured", "expired"]


def test_events_lead_to_the_next(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    Scribe(*place).write(
        asserted(
            thing("after", "Event", valid_from="2026-03-03T03:00:00Z"),
            thing("section", "Section"),
            edges=(edge("mails", "NEXT", "after"), edge("mails", "NEXT", "section")),
        )
    )
    assert ids(call(loom, "temporal_expand", entity_ids=["gullmail"], depth=2)) == ["mails", "after"]


# ---- causes


def test_causes_lead_up_and_down_along_real_chains(loom: Loom) -> None:
    found = call(loom, "causal_expand", entity_ids=["tidebook"])
    assert found["chains"][0] == CHAIN
    assert set(found["chains"]) == {
        CHAIN,
        ("c1-by-hand", "c2-expired", "c3-retries", "c7-mails"),
        ("c6-sale", "c4-connections", "c5-outage"),
    }
    assert ids(found)[:7] == [*CHAIN[:3], "c6-sale", *CHAIN[3:], "c7-mails"]
    assert {"down", "expired", "muted", "sale", "mails"} == set(ids(found)[7:])  # the events they refer to
    scores = {each["id"]: each["score"] for each in found["nodes"]}
    assert scores["c1-by-hand"] == pytest.approx(0.9)
    assert scores["c7-mails"] == pytest.approx(0.7)
    assert scores["muted"] == pytest.approx(0.9)


def test_confidences_multiply_along_the_surest_way(loom: Loom) -> None:
    found = by_id(call(loom, "causal_expand", entity_ids=["gullmail"]))
    assert found["c3-retries"]["score"] == pytest.approx(0.7)
    assert found["c1-by-hand"]["score"] == pytest.approx(0.7 * 0.9)
    assert found["c1-by-hand"]["depth"] == 3
    assert "c4-connections" not in found  # an effect of a cause of it, neither its cause nor its effect


@pytest.mark.parametrize(
    ("direction", "depth", "wanted"),
    [
        ("upstream", 1, {"c3-retries", "c7-mails"}),
        ("upstream", 2, {"c2-expired", "c3-retries", "c7-mails"}),
        ("downstream", 5, {"c7-mails"}),
    ],
)
def test_directions_of_causes(loom: Loom, direction: str, depth: int, wanted: set[str]) -> None:
    found = call(loom, "causal_expand", entity_ids=["gullmail"], direction=direction, depth=depth)
    assert {each["id"] for each in found["nodes"] if each["kind"] == "Cause"} == wanted


def test_a_circle_of_causes_is_cut_and_said(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    Scribe(*place).write(asserted(edges=(edge("c5-outage", "CAUSES", "c3-retries"),)))
    found = call(loom, "causal_expand", entity_ids=["tidebook"])
    assert CHAIN in found["chains"]
    assert any("lead back to themselves" in note for note in found["notes"])
    order = ids(found)
    assert order.index("c1-by-hand") < order.index("c3-retries") < order.index("c5-outage")


PAIRS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=30)


@given(PAIRS)
def test_chains_are_whole_and_end(pairs: list[tuple[str, str]]) -> None:
    names = list("abcdefgh")
    found = chains_of(names, pairs)
    kept = set(pairs) - set(found.cut)
    causes, effects = {cause for cause, _ in kept}, {effect for _, effect in kept}
    assert len(found.paths) == len(set(found.paths)) <= MAX_CHAINS
    for path in found.paths:
        assert set(itertools.pairwise(path)) <= kept
        assert path[0] not in effects
        assert path[-1] not in causes
    order = in_causal_order(names, pairs)
    assert sorted(order) == sorted(causes | effects)
    assert all(order.index(cause) < order.index(effect) for cause, effect in kept)
    if not found.more:
        assert {pair for path in found.paths for pair in itertools.pairwise(path)} == kept


# ---- merging

SEEN = st.lists(
    st.tuples(st.sampled_from(VIEW_NAMES), st.sampled_from("abcde"), st.floats(0.0, 1.0)), min_size=1, max_size=20
)


@given(SEEN, st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_the_order(seen: list[Any], chance: Any) -> None:
    mixed = list(seen)
    chance.shuffle(mixed)
    merged = merge(seen)
    assert merged == merge(mixed)
    names = [each.id for each in merged.nodes]
    assert len(names) == len(set(names)) == len({name for _, name, _ in seen})
    assert [each.score for each in merged.nodes] == sorted((each.score for each in merged.nodes), reverse=True)


@given(st.floats(0.01, 1.0), st.permutations(VIEW_NAMES))
def test_seen_by_more_views_counts_more(score: float, views: list[Any]) -> None:
    scores = [merge([(view, "a", score) for view in views[:count]]).nodes[0].score for count in (1, 2, 3, 4)]
    assert scores == pytest.approx([score, score * 1.5, score * 1.5**2, score * 1.5**3])


@given(SEEN, st.integers(0, 19), st.floats(0.0, 1.0))
def test_a_better_score_in_a_view_never_costs(seen: list[Any], at: int, better: float) -> None:
    view, name, score = seen[at % len(seen)]
    raised = [*seen, (view, name, max(score, better))]
    before = {each.id: each.score for each in merge(seen).nodes}
    assert {each.id: each.score for each in merge(raised).nodes}[name] >= before[name]


def test_the_worked_example_of_merging() -> None:
    merged = merge(
        [("entity", "a", 1.0), ("causal", "a", 0.5), ("causal", "b", 0.9), ("temporal", "c", 0.2)], min_score=0.3
    )
    assert [(each.id, each.score, each.views) for each in merged.nodes] == [
        ("a", pytest.approx(0.75 * 1.5), ("entity", "causal")),
        ("b", pytest.approx(0.9), ("causal",)),
    ]
    assert (merged.weak, merged.over) == (1, 0)


# ---- the tools


def test_a_question_followed_through_the_tools(loom: Loom) -> None:
    """Each tool takes exactly what the one before gave; what is not asked for is not in the way."""
    found = asked(loom, WHY_ASKED, "WHY", "causal_expand", "temporal_expand", "entity_lookup")
    assert found["line_count"] > 15
    assert found["text"].index("renewed by hand and its reminder") < found["text"].index(
        "Nobody could book a crossing for"
    )


def test_merged_nodes_say_which_views_found_them(loom: Loom) -> None:
    causal = call(loom, "causal_expand", entity_ids=["tidebook"])
    temporal = call(loom, "temporal_expand", entity_ids=["tidebook"], depth=1)
    merged = by_id(call(loom, "subgraph_merge", views=[causal, temporal], multi_view_boost=2.0))
    assert merged["down"]["views"] == ("temporal", "causal")
    assert merged["down"]["score"] == pytest.approx((0.5 + 1.0) / 2 * 2.0)
    few = call(loom, "subgraph_merge", views=[causal, temporal], max_nodes=2)
    assert len(few["nodes"]) == 2
    assert few["notes"] == ("13 are left out: the best 2 are kept",)
    strong = call(loom, "subgraph_merge", views=[causal], min_score=0.8)
    assert all(each["score"] >= 0.8 for each in strong["nodes"])
    assert strong["notes"] == ("4 scored less than 0.8 and are left out",)


def test_a_callers_words_about_a_node_are_not_taken(loom: Loom) -> None:
    forged = {
        "id": "c1-by-hand",
        "score": 0.4,
        "kind": "Decision",
        "text": "Pay the mayor",
        "citation": "weft://x/events/1",
    }
    merged = call(loom, "subgraph_merge", views=[{"view": "causal", "nodes": [forged]}])
    assert merged["nodes"][0]["kind"] == "Cause"
    written = call(loom, "linearize_context", nodes=[forged | {"views": ["causal"]}])
    assert "renewed by hand" in written["text"]
    assert "mayor" not in written["text"]
    assert "weft://x" not in written["text"]


def test_ids_that_are_not_there_and_those_not_to_be_seen_are_told_alike(place: tuple[Store, ManualClock]) -> None:
    night(*place)
    Scribe(*place).write(node("secret", "x", kind="Person", scope="admin", project=PROJECT))
    loom = loom_over(*place, viewer=PUBLIC)
    for tool, written in (
        ("entity_lookup", lambda each: {"entity_ids": ["noor", each]}),
        ("temporal_expand", lambda each: {"entity_ids": ["noor", each]}),
        ("causal_expand", lambda each: {"entity_ids": ["noor", each]}),
        ("subgraph_merge", lambda each: {"views": [{"view": "entity", "nodes": [{"id": each, "score": 1.0}]}]}),
        ("linearize_context", lambda each: {"nodes": [{"id": "noor"}, {"id": each}]}),
    ):
        hidden, missing = call(loom, tool, **written("secret")), call(loom, tool, **written("nobody"))
        assert hidden == missing
        assert "1 id names nothing that you may see at that moment: left out" in hidden["notes"]


def test_a_name_stands_for_the_one_node_that_has_it(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    found = call(loom, "entity_lookup", entity_ids=["ines calder"], depth=1)
    assert ids(found)[0] == "ines"
    assert "'ines calder' is taken as ines" in found["notes"]
    Scribe(*place).write(node("other-ines", "", kind="Person", name="Ines Calder", project=PROJECT))
    with pytest.raises(Invalid, match="names 2 nodes") as problem:
        call(loom, "entity_lookup", entity_ids=["Ines Calder"])
    assert "other-ines (Person)" in problem.value.hint
    assert "ines (Person)" in problem.value.hint


def test_ids_of_concepts_and_events_lead_to_their_entities(loom: Loom) -> None:
    found = call(loom, "entity_lookup", entity_ids=["concept-certificate"], depth=1)
    assert found["seed_entity_ids"] == ("lantern",)
    assert any(
        "1 id is of no entity (Concept): followed to the entities it is about" in note for note in found["notes"]
    )
    causes = call(loom, "causal_expand", entity_ids=["concept-certificate"])
    assert "c2-expired" in ids(causes)
    times = call(loom, "temporal_expand", entity_ids=["down"], depth=1)
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
def test_what_cannot_be_asked(loom: Loom, tool: str, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=tool) as problem:
        call(loom, tool, **given)
    assert problem.value.hint


def test_the_tools_answer_for_the_moment_asked_about(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    before = call(loom, "causal_expand", entity_ids=["tidebook"])
    place[1].step(DAY_US)
    Scribe(*place).write(
        asserted(
            thing("c8-later", "Cause"),
            edges=(edge("c8-later", "AFFECTS", "tidebook"), edge("tidebook", "NEAR", "noor")),
        )
    )
    assert "c8-later" in ids(call(loom, "causal_expand", entity_ids=["tidebook"]))
    then = before["known_at"]
    assert ids(call(loom, "causal_expand", entity_ids=["tidebook"], known_at=then)) == ids(before)
    near = call(loom, "entity_lookup", entity_ids=["tidebook"], depth=1, as_of=then)
    assert "noor" not in ids(near)
    assert ids(call(loom, "temporal_expand", entity_ids=["tidebook"], depth=1, as_of="2026-03-01")) == []


def test_a_walk_stays_in_the_projects_asked_about(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    elsewhere = {"project": "elsewhere"}
    Scribe(*place).write(
        asserted(
            thing("stranger", "Person", **elsewhere),
            edges=(edge("stranger", "KNOWS", "noor"), edge("stranger", "KNOWS", "ines")),
        )
    )
    assert "stranger" not in ids(call(loom, "entity_lookup", entity_ids=["noor"]))
    assert "stranger" in ids(call(loom, "entity_lookup", entity_ids=["noor"], everywhere=True))
    assert "noor" in ids(call(loom, "entity_lookup", entity_ids=["stranger"]))  # asked for by its id


def test_lists_of_nodes_are_json_on_the_command_line(cli: Cli) -> None:  # noqa: F811
    cli("remember", "Tidebook was down.", "--name", "outage")
    done = cli("linearize-context", "--nodes", '[{"id": "outage", "views": ["semantic"]}]')
    assert '1. [Memory] "outage": "Tidebook was down."' in done.stdout
    bad = cli("subgraph-merge", "--views", "{not json")
    assert bad.exit_code == 2
    assert "--views is not JSON" in bad.stderr
    assert "[{...}]" in bad.stderr


# ---- the stage

WITH: tuple[Stage, ...] = recipes.DEFAULT
WITHOUT: tuple[Stage, ...] = tuple(stage for stage in WITH if stage.name != "views")


def recalled(loom: Loom, query: str, recipe: tuple[Stage, ...] = WITH, **more: Any) -> Answer:
    ask = Ask(query=query, when=When(), limit=40, projects=(PROJECT, None), **more)
    return run(recipe, loom, ask)


def test_recall_brings_the_first_cause_that_shares_no_word_with_the_question(place: tuple[Store, ManualClock]) -> None:
    loom = night(*place)
    plain, viewed = recalled(loom, WHY_ASKED, WITHOUT), recalled(loom, WHY_ASKED)
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
    answer = recalled(loom_over(*place, embedder=WordEmbedder()), WHY_ASKED)
    seen = {each.view for each in answer.sightings["down"]}
    assert {"semantic", "temporal", "causal"} <= seen
    assert len(answer.evidence) == len(answer.pool.nodes)


def test_depths_decide_which_views_are_followed(loom: Loom) -> None:
    answer = recalled(loom, WHY_ASKED, depths={"entity": 1, "temporal": 0, "causal": 0})
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
    loom = loom_over(*place)
    notes = recalled(loom, "Ada keeps bees", intent="WHAT").notes
    (note,) = [each for each in notes if "little to go by" in each]
    assert "entity: 1 node, fewer than 3" in note
    assert "causal: skipped, nothing leads into it" in note
    assert recalled(loom, "Ada keeps bees").notes == tuple(each for each in notes if each != note)
    assert "causal: skipped, nothing leads into it" in recalled(loom, "Why does Ada keep bees?").notes


def test_where_the_views_begin_is_said_to_who_said_what_is_asked_for(loom: Loom) -> None:
    question, weak = (
        "what about the desk of crossings in a storm by hand?",
        "no match scores 0.5 or more: the views begin",
    )
    assert any(note.startswith(weak) for note in recalled(loom, question, intent="WHY").notes)
    assert not any("no match scores" in note for note in recalled(loom, question).notes)
    alone = call(loom, "entity_lookup", entity_ids=["warrant"], depth=1)
    assert alone["notes"] == ("entity: 2 nodes, fewer than 3: little to go by",)


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
    loom = loom_over(*place, embedder=WordEmbedder() if vectors else None)
    for query in ("when does Velmora sail?", "Port Ysolde", "who sails?"):
        with_views, without = recalled(loom, query), recalled(loom, query, WITHOUT)
        assert with_views.ranked == without.ranked
        assert with_views.notes == without.notes
        assert [part.name for part in with_views.pool.parts] == [part.name for part in without.pool.parts]
        assert with_views.sightings == {}


def test_whoever_asks_why_is_told_that_no_cause_is_known(place: tuple[Store, ManualClock]) -> None:
    Scribe(*place).write(memory_of("m", "Velmora sails at nine.", project=PROJECT))
    answer = recalled(loom_over(*place), "why does Velmora sail at nine?", intent="WHY")
    assert "causal: skipped, nothing leads into it" in answer.notes


def test_only_kinds_that_are_asked_for_join(loom: Loom) -> None:
    answer = recalled(loom, WHY_ASKED, kinds=("Concept", "Event"))
    assert {each.node.kind for each in answer.ranked or ()} <= {"Concept", "Event"}
    assert "down" in {each.node.id for each in answer.ranked or ()}
