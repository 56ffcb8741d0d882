"""The graph views of a question, over one written story: seeds, expansions, merging, the tools, the stage."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.retrieval.views import WHY_ASKED, asserted, by_id, ctx, edge, ids, place, thing
from tests.retrieval.views_world import CHAIN, call, night
from weft.core.ports import Store
from weft.retrieval.pipeline import VIEW_NAMES
from weft.retrieval.views.chains import MAX_CHAINS, chains_of, in_causal_order
from weft.retrieval.views.merge import merge
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe

__all__ = ["ctx", "place"]  # fixtures


# ---- the seeds


def test_seeds_come_first_and_are_entities_not_matches(ctx: CallContext) -> None:
    found = call(ctx, "semantic_search", query=WHY_ASKED)
    assert list(found)[:4] == ["seed_entity_ids", "seed_entity_count", "instruction", "matches"]
    assert found["seed_entity_ids"] == ("tidebook",)
    assert found["seed_entity_count"] == 1
    assert "seed_entity_ids (not the ids of matches)" in found["instruction"]
    assert {each["id"] for each in found["matches"]} == {"concept-outage", "c5-outage"}
    assert all(0.5 <= each["score"] <= 1.0 and each["citation"] for each in found["matches"])
    # The concept represents the service; the cause refers to an event that involves it.
    assert [each["linked_entity_ids"] for each in found["matches"]] == [("tidebook",), ("tidebook",)]


def test_a_weak_search_takes_the_best_three_and_says_so(ctx: CallContext) -> None:
    found = call(ctx, "semantic_search", query="zebras and giraffes of the spring painted", min_score=0.99)
    assert 1 <= len(found["matches"]) <= 3
    assert any("no match scores 0.99 or more: the graph is followed from the best" in note for note in found["notes"])


def test_what_leads_to_no_entity_gives_no_seeds(ctx: CallContext) -> None:
    found = call(ctx, "semantic_search", query="the lighthouse at Skerry")
    assert found["matches"][0]["id"] == "skerry"
    assert found["seed_entity_ids"] == ()
    assert found["instruction"].startswith("No match leads to an entity")


def test_top_k_bounds_the_matches(ctx: CallContext) -> None:
    assert len(call(ctx, "semantic_search", query="the certificate of Lantern", top_k=2)["matches"]) == 2


# ---- entities


def test_entities_are_followed_as_deep_as_asked_with_the_way_in_words(ctx: CallContext) -> None:
    near = call(ctx, "entity_lookup", entity_ids=["lantern"], depth=1)
    assert ids(near)[0] == "lantern"
    assert set(ids(near)) == {"lantern", "warrant", "ines", "tidebook"}
    far = by_id(call(ctx, "entity_lookup", entity_ids=["lantern"], depth=3))
    assert {each: (far[each]["depth"], far[each]["score"]) for each in ("lantern", "ines", "desk", "noor")} == {
        "lantern": (0, 1.0),
        "ines": (1, 0.5),
        "desk": (2, round(1 / 3, 6)),
        "noor": (3, 0.25),
    }
    assert far["noor"]["path"] == "Lantern <-[MAINTAINS]- Ines Calder -[WORKS_AT]-> Harbour Desk <-[LEADS]- Noor Haddad"


def test_many_events_do_not_crowd_out_relations(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    crowd = [thing(f"crowd{n:03}", "Event") for n in range(150)]
    involved = tuple(edge(each.id, "INVOLVES", "noor", weight=2.0) for each in crowd)
    Scribe(*place).write(asserted(*crowd, thing("mayor", "Person"), edges=(*involved, edge("mayor", "KNOWS", "noor"))))
    assert {"desk", "mayor"} <= set(ids(call(ctx, "entity_lookup", entity_ids=["noor"], depth=1)))


def test_a_view_stops_at_its_bound_and_says_so(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    many = [thing(f"sailor{n:03}", "Person") for n in range(80)]
    events = [thing(f"trip{n:03}", "Event") for n in range(80)]
    causes = [thing(f"reason{n:03}", "Cause") for n in range(80)]
    edges = [edge(each.id, "SAILS_WITH", "noor") for each in many]
    edges += [edge(each.id, "INVOLVES", "noor") for each in events]
    edges += [edge(each.id, "AFFECTS", "noor") for each in causes]
    Scribe(*place).write(asserted(*many, *events, *causes, edges=tuple(edges)))
    for tool in ("entity_lookup", "temporal_expand", "causal_expand"):
        found = call(ctx, tool, entity_ids=["noor"], depth=5)
        assert len(found["nodes"]) == 50
        assert f"{found['view']} view: only the first 50 nodes were followed" in found["notes"]


# ---- times


def test_times_are_in_order_and_reach_through_others(ctx: CallContext) -> None:
    near = call(ctx, "temporal_expand", entity_ids=["gullmail"], depth=1)
    assert ids(near) == ["mails"]
    assert near["notes"] == ("temporal view: only 1 node",)
    own = call(ctx, "temporal_expand", entity_ids=["lantern"], depth=1)
    assert ids(own) == ["renewed", "muted", "expired", "robot"]
    far = call(ctx, "temporal_expand", entity_ids=["lantern"], depth=2)
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
def test_a_window_of_time(ctx: CallContext, start: str | None, end: str | None, wanted: list[str]) -> None:
    window = {name: value for name, value in (("start", start), ("end", end)) if value is not None}
    found = call(ctx, "temporal_expand", entity_ids=["tidebook", "warrant"], depth=1, **window)
    assert ids(found) == wanted


def test_facts_count_for_as_long_as_they_hold(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    Scribe(*place).write(
        asserted(
            thing("harboured", "Fact", valid_from="2020-01-01T00:00:00Z"),
            edges=(edge("harboured", "INVOLVES", "warrant"),),
        )
    )
    assert ids(call(ctx, "temporal_expand", entity_ids=["warrant"], depth=1, start="2026")) == ["harboured", "expired"]


def test_events_lead_to_the_next(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    Scribe(*place).write(
        asserted(
            thing("after", "Event", valid_from="2026-03-03T03:00:00Z"),
            thing("section", "Section"),
            edges=(edge("mails", "NEXT", "after"), edge("mails", "NEXT", "section")),
        )
    )
    assert ids(call(ctx, "temporal_expand", entity_ids=["gullmail"], depth=2)) == ["mails", "after"]


# ---- causes


def test_causes_lead_up_and_down_along_real_chains(ctx: CallContext) -> None:
    found = call(ctx, "causal_expand", entity_ids=["tidebook"])
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


def test_confidences_multiply_along_the_surest_way(ctx: CallContext) -> None:
    found = by_id(call(ctx, "causal_expand", entity_ids=["gullmail"]))
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
def test_directions_of_causes(ctx: CallContext, direction: str, depth: int, wanted: set[str]) -> None:
    found = call(ctx, "causal_expand", entity_ids=["gullmail"], direction=direction, depth=depth)
    assert {each["id"] for each in found["nodes"] if each["kind"] == "Cause"} == wanted


def test_a_circle_of_causes_is_cut_and_said(place: tuple[Store, ManualClock]) -> None:
    ctx = night(*place)
    Scribe(*place).write(asserted(edges=(edge("c5-outage", "CAUSES", "c3-retries"),)))
    found = call(ctx, "causal_expand", entity_ids=["tidebook"])
    assert CHAIN in found["chains"]
    assert any("form a cycle" in note for note in found["notes"])
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


USUAL: dict[str, Any] = {"boost": 1.5, "max_nodes": 50}
SEEN = st.lists(
    st.tuples(st.sampled_from(VIEW_NAMES), st.sampled_from("abcde"), st.floats(0.0, 1.0)), min_size=1, max_size=20
)


# ---- merging


@given(SEEN, st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_the_order(seen: list[Any], chance: Any) -> None:
    mixed = list(seen)
    chance.shuffle(mixed)
    merged = merge(seen, **USUAL)
    assert merged == merge(mixed, **USUAL)
    names = [each.id for each in merged.nodes]
    assert len(names) == len(set(names)) == len({name for _, name, _ in seen})
    assert [each.score for each in merged.nodes] == sorted((each.score for each in merged.nodes), reverse=True)


@given(st.floats(0.01, 1.0), st.permutations(VIEW_NAMES))
def test_seen_by_more_views_counts_more(score: float, views: list[Any]) -> None:
    scores = [merge([(view, "a", score) for view in views[:count]], **USUAL).nodes[0].score for count in (1, 2, 3, 4)]
    assert scores == pytest.approx([score, score * 1.5, score * 1.5**2, score * 1.5**3])


@given(SEEN, st.integers(0, 19), st.floats(0.0, 1.0))
def test_a_better_score_in_a_view_never_costs(seen: list[Any], at: int, better: float) -> None:
    view, name, score = seen[at % len(seen)]
    raised = [*seen, (view, name, max(score, better))]
    before = {each.id: each.score for each in merge(seen, **USUAL).nodes}
    assert {each.id: each.score for each in merge(raised, **USUAL).nodes}[name] >= before[name]


def test_the_worked_example_of_merging() -> None:
    merged = merge(
        [("entity", "a", 1.0), ("causal", "a", 0.5), ("causal", "b", 0.9), ("temporal", "c", 0.2)],
        min_score=0.3,
        **USUAL,
    )
    assert [(each.id, each.score, each.views) for each in merged.nodes] == [
        ("a", pytest.approx(0.75 * 1.5), ("entity", "causal")),
        ("b", pytest.approx(0.9), ("causal",)),
    ]
    assert (merged.weak, merged.over) == (1, 0)
