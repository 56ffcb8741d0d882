"""Profiles: what there is, what may be changed, and that the balanced one changes nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft.retrieval
from tests.retrieval.small_worlds import NAMES, QUESTIONS, ROWS, SENTENCES, SHAPES, sentence
from tests.retrieval.test_scores import Rows, ask, check, world
from weft.core.errors import Invalid
from weft.retrieval import recipes
from weft.retrieval.pipeline import Stage
from weft.retrieval.profiles import (
    BALANCED,
    PART_SOURCES,
    PRECISION,
    PROFILES,
    RECALL,
    SOURCE_NAMES,
    TEMPORAL,
    WEIGHT_NAMES,
    Profile,
    profile_with,
)
from weft.retrieval.scoring.profile_weights import Weigh

# Two rows of every shape, which say much.
EVERYTHING: Rows = [
    (shape, NAMES[(number + at) % len(NAMES)], text, -30 * at - 1)
    for number, shape in enumerate(SHAPES)
    for at in (0, 1)
    for text in [" ".join(sentence(each, NAMES[number % 6], NAMES[(each + at) % 6]) for each in range(len(SENTENCES)))]
]


def weighed(profile: Profile) -> tuple[Stage, ...]:
    at = [stage.name for stage in recipes.DEFAULT].index("scale")
    plain = [stage for stage in recipes.DEFAULT[:at] if stage.name != "weigh"]
    return (*plain, Weigh(profile), *recipes.DEFAULT[at:])


def test_every_part_of_a_score_has_a_source() -> None:
    ctx = world(EVERYTHING)
    found = {part.name for question in QUESTIONS for part in ask(ctx, question).pool.parts}
    assert len(found) > 20, "the world is too small to show what stages add"
    assert found - set(PART_SOURCES) == set(), "say in PART_SOURCES what these tell of"
    assert set(PART_SOURCES.values()) == {*SOURCE_NAMES, "adjusted"}


def test_every_part_that_a_stage_may_add_has_a_source() -> None:
    """Those that small worlds do not show, too: names written where a part is added, and those of the stages."""
    found = set()
    for file in Path(weft.retrieval.__path__[0]).rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and each.args]
        added = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "with_part"]
        found |= {str(name.value) for name in added if isinstance(name, ast.Constant)}
        if any(isinstance(name, ast.Attribute) and name.attr == "name" for name in added):
            found |= {
                str(each.value.value)
                for each in ast.walk(tree)
                if isinstance(each, ast.AnnAssign) and getattr(each.target, "id", "") == "name"
                if isinstance(each.value, ast.Constant)
            }
    assert {"text", "walk", "bridges"} <= found
    assert found - set(PART_SOURCES) == set(), "say in PART_SOURCES what these tell of"


@settings(max_examples=10)
@given(ROWS, st.sampled_from(QUESTIONS), st.booleans())
def test_balanced_is_the_default_to_the_bit(rows: Rows, question: str, vectors: bool) -> None:
    ctx = world(rows, vectors=vectors)
    answer = ask(ctx, question)
    assert Weigh()(ctx, answer) is answer
    assert ask(ctx, question, recipe=weighed(BALANCED)).ranked == answer.ranked


@settings(max_examples=10)
@given(ROWS, st.sampled_from(QUESTIONS), st.sampled_from([PRECISION, RECALL, TEMPORAL]))
def test_weighed_scores_still_add_up(rows: Rows, question: str, profile: Profile) -> None:
    recipe = weighed(profile)
    check(ask(world(rows), question, recipe=recipe), recipe)


def test_a_profile_weighs_each_source_against_balanced() -> None:
    ctx = world(EVERYTHING)
    question = QUESTIONS[1]
    at = [stage.name for stage in recipes.DEFAULT].index("scale")
    plain = ask(ctx, question, recipe=recipes.DEFAULT[:at])
    after = ask(ctx, question, recipe=(*recipes.DEFAULT[:at], Weigh(PRECISION)))
    assert {PART_SOURCES[part.name] for part in plain.pool.parts} >= {"keyword", "vector", "exact", "traversal"}
    *parts, bonus = after.pool.parts
    assert bonus.name == "traversal bonus"
    assert bonus.values.any()
    assert (bonus.values <= 0.0).all(), "precision keeps less of what relations lead to"
    for before, part in zip(plain.pool.parts, parts, strict=True):
        source = PART_SOURCES[part.name]
        factor = 1.0 if source == "adjusted" else PRECISION.of(source) / BALANCED.of(source)
        assert part.name == before.name
        assert part.values == pytest.approx(before.values * factor)
        if factor != 1.0:
            assert part.detail is not None
            assert part.detail(0).endswith(f"x {factor:.2f} by profile precision")


def test_the_temporal_profile_puts_what_lies_in_the_asked_time_first() -> None:
    rows: Rows = [
        ("remembered", "", "The ferry sails to Velmora and the ferry froze.", -100),
        ("remembered", "", "The ferry sails, and nobody came along to see it leave the harbour.", -7),
    ]
    asked = "last week the ferry did sail"

    def share(profile: Profile) -> float:
        hits = {each.node.id: each.score for each in ask(world(rows), asked, recipe=weighed(profile)).ranked}
        return hits["mem1"] / hits["mem0"]

    assert share(TEMPORAL) > share(BALANCED) > share(PRECISION)


# ---- profiles of one's own


def test_the_profiles_there_are() -> None:
    table = {
        "balanced": (1, 0.95, 0.90, 0.80, 0.92, 0.12, 0.70, 0.10),
        "precision": (1, 0.85, 0.75, 0.65, 0.75, 0.08, 0.82, 0.04),
        "recall": (1, 1, 0.95, 0.85, 0.98, 0.10, 0.58, 0.14),
        "temporal": (1, 0.90, 0.90, 0.78, 0.90, 0.22, 0.68, 0.10),
    }
    assert {name: tuple(getattr(each, weight) for weight in WEIGHT_NAMES) for name, each in PROFILES.items()} == table


def test_weights_may_be_set_one_by_one() -> None:
    assert profile_with("recall", {}) is RECALL
    assert profile_with("recall", {"vector": 1.0}) is RECALL, "it is 1 already"
    mine = profile_with("recall", {"vector": 0, "diversity": 1})
    assert (mine.name, mine.vector, mine.diversity, mine.keyword) == ("custom", 0.0, 1.0, RECALL.keyword)
    assert profile_with("custom", {"keyword": 2.0}).keyword == 2.0


@pytest.mark.parametrize(
    ("name", "weights", "told"),
    [
        ("fast", {}, "precision"),
        ("balanced", {"speed": 1.0}, "traversal_bonus"),
        ("balanced", {"name": 1.0}, "keyword"),
        ("balanced", {"vector": float("nan")}, "0 to 2"),
        ("balanced", {"vector": float("inf")}, "0 to 2"),
        ("balanced", {"vector": -0.1}, "0 to 2"),
        ("balanced", {"vector": 2.1}, "0 to 2"),
        ("balanced", {"vector": True}, "0 to 2"),
        ("balanced", {"diversity": 1.1}, "0 to 1"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(name: str, weights: dict[str, float], told: str) -> None:
    with pytest.raises(Invalid) as refused:
        profile_with(name, weights)
    assert told in refused.value.hint
