"""The settings of the graph views: used by recall and by the tools that run its steps one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.views import WHY_ASKED, ctx, ids, place
from tests.retrieval.views_world import CHAIN, call
from weft.core.errors import Misconfigured
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.text.extract.question.intent import MAX_DEPTH

__all__ = ["ctx", "place"]  # fixtures

WIDE = "the certificate of Lantern"


def with_set(ctx: CallContext, **settings: Any) -> CallContext:
    return replace(ctx, settings=replace(ctx.settings, **settings))


def views_of(raw: dict[str, Any]) -> dict[str, list[str]]:
    return {view["view"]: [node["id"] for node in view["nodes"]] for view in raw["views"]}


# ---- the tools


def test_matches_are_as_many_as_set_and_a_call_may_say_otherwise(ctx: CallContext) -> None:
    few = with_set(ctx, view_top_k=2, view_min_score=0.0)
    assert len(call(few, "semantic_search", query=WIDE)["matches"]) == 2
    assert len(call(few, "semantic_search", query=WIDE, top_k=4)["matches"]) == 4


def test_the_least_score_of_a_match_is_set(ctx: CallContext) -> None:
    strict = with_set(ctx, view_min_score=0.99)
    asked = "zebras and giraffes of the spring painted"
    told = "no match scores 0.99 or more: the graph is followed from the best"
    assert any(told in note for note in call(strict, "semantic_search", query=asked)["notes"])
    free = call(strict, "semantic_search", query=asked, min_score=0.0)
    assert not any("no match scores" in note for note in free.get("notes", ()))


@pytest.mark.parametrize(
    ("tool", "setting", "seed"),
    [
        ("entity_lookup", "view_entity_depth", "lantern"),
        ("temporal_expand", "view_temporal_depth", "lantern"),
        ("causal_expand", "view_causal_depth", "tidebook"),
    ],
)
def test_steps_are_as_set_and_a_call_may_say_otherwise(ctx: CallContext, tool: str, setting: str, seed: str) -> None:
    usual = call(ctx, tool, entity_ids=[seed])
    near = call(with_set(ctx, **{setting: 1}), tool, entity_ids=[seed])
    assert set(ids(near)) < set(ids(usual))
    assert ids(near) == ids(call(ctx, tool, entity_ids=[seed], depth=1))
    assert call(with_set(ctx, **{setting: 1}), tool, entity_ids=[seed], depth=3) == call(
        ctx, tool, entity_ids=[seed], depth=3
    )
    left_out = with_set(ctx, **{setting: 0})
    assert ids(call(left_out, tool, entity_ids=[seed])) == ids(usual), "0 concerns recall: who calls the tool wants it"


def test_the_most_and_the_fewest_nodes_of_a_view_are_set(ctx: CallContext) -> None:
    for tool, seed in (("entity_lookup", "lantern"), ("temporal_expand", "lantern"), ("causal_expand", "tidebook")):
        few = call(with_set(ctx, view_max_nodes=3), tool, entity_ids=[seed])
        assert len(few["nodes"]) == 3
        assert f"{few['view']} view: only the first 3 nodes were followed" in few["notes"]
    many = with_set(ctx, view_min_nodes=9)
    assert "temporal view: only 5 nodes" in call(many, "temporal_expand", entity_ids=["lantern"])["notes"]
    assert "notes" not in call(ctx, "temporal_expand", entity_ids=["lantern"])


def test_merging_takes_the_boost_and_the_most_nodes_that_are_set(ctx: CallContext) -> None:
    views = [
        {"view": "entity", "nodes": [{"id": "lantern", "score": 0.5}, {"id": "ines", "score": 0.2}]},
        {"view": "causal", "nodes": [{"id": "lantern", "score": 0.5}]},
    ]
    double = with_set(ctx, view_boost=2.0, view_max_nodes=1)
    merged = call(double, "subgraph_merge", views=views)
    assert [(each["id"], each["score"]) for each in merged["nodes"]] == [("lantern", 1.0)]
    assert "1 are left out: the best 1 are kept" in merged["notes"]
    both = call(double, "subgraph_merge", views=views, multi_view_boost=1.0, max_nodes=5)
    assert [(each["id"], each["score"]) for each in both["nodes"]] == [("lantern", 0.5), ("ines", 0.2)]


# ---- recall


def test_recall_follows_views_as_deep_as_set(ctx: CallContext) -> None:
    usual = call(ctx, "recall_raw", query=WHY_ASKED)
    assert usual["depths"] == {"entity": 1, "temporal": 1, "causal": 3}
    assert set(CHAIN) <= set(views_of(usual)["causal"])
    short = call(with_set(ctx, view_causal_depth=1), "recall_raw", query=WHY_ASKED)
    assert short["depths"] == {"entity": 1, "temporal": 1, "causal": 1}
    assert not set(CHAIN) <= set(views_of(short)["causal"])
    without = call(with_set(ctx, view_causal_depth=0, view_entity_depth=0), "recall_raw", query=WHY_ASKED)
    assert (views_of(without)["causal"], views_of(without)["entity"]) == ([], [])


def test_a_call_that_says_a_depth_is_above_the_setting(ctx: CallContext) -> None:
    none = with_set(ctx, view_causal_depth=0)
    assert call(none, "memory_search", query=WHY_ASKED, causal_depth=3) == call(
        ctx, "memory_search", query=WHY_ASKED, causal_depth=3
    )


def test_recall_begins_with_as_many_matches_as_set(ctx: CallContext) -> None:
    wide = views_of(call(with_set(ctx, view_min_score=0.0, view_top_k=20), "recall_raw", query=WIDE))
    one = views_of(call(with_set(ctx, view_min_score=0.0, view_top_k=1), "recall_raw", query=WIDE))
    strict = views_of(call(with_set(ctx, view_min_score=1.0), "recall_raw", query=WIDE))
    sizes = [sum(len(nodes) for view, nodes in each.items() if view != "semantic") for each in (one, strict, wide)]
    assert 0 < sizes[0] < sizes[2]
    assert sizes[1] < sizes[2]


def test_a_node_of_more_views_gains_by_the_boost_that_is_set(ctx: CallContext) -> None:
    def scores(boost: float) -> dict[str, float]:
        raw = call(with_set(ctx, view_boost=boost), "recall_raw", query=WHY_ASKED)
        return {each["id"]: each["score"] for each in raw["merged"]}

    plain, boosted = scores(1.0), scores(4.0)
    assert any(boosted[each] > plain[each] for each in boosted.keys() & plain.keys())


# ---- what may be set


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("view_top_k", "0", "must be a number from 1 to 50"),
        ("view_min_score", "1.5", "must be a number from 0 to 1"),
        ("view_entity_depth", "6", "must be a number from 0 to 5"),
        ("view_temporal_depth", "1.5", "is not a whole number"),
        ("view_causal_depth", "deep", "is not a number"),
        ("view_max_nodes", "0", "must be a number from 1 to 100"),
        ("view_boost", "0.5", "must be a number from 1 to 10"),
        ("view_min_nodes", "51", "view_min_nodes is 51, more than view_max_nodes, which is 50"),
    ],
)
def test_a_value_that_cannot_be_is_refused(tmp_path: Path, name: str, value: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        load_settings(tmp_path, {"HOME": "/home/ada", f"WEFT_{name.upper()}": value})


def test_a_depth_is_by_intent_until_it_is_set(tmp_path: Path) -> None:
    home = {"HOME": "/home/ada"}
    assert load_settings(tmp_path, home).view_entity_depth is None
    assert load_settings(tmp_path, home | {"WEFT_VIEW_ENTITY_DEPTH": ""}).view_entity_depth is None
    assert load_settings(tmp_path, home | {"WEFT_VIEW_ENTITY_DEPTH": str(MAX_DEPTH)}).view_entity_depth == MAX_DEPTH
