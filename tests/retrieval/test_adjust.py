"""Adjustments of scores: what raises a memory, what wears it off, and what stands in the place of another."""

from __future__ import annotations

import pytest

from tests.retrieval.adjusting import asked, ferry, harbour, hit, ids, score, scored, why
from weft.core.errors import Invalid
from weft.core.types import When
from weft.retrieval.judging.superseded import Superseded
from weft.retrieval.purposes import PURPOSES, Emphasis, purpose_of
from weft.retrieval.scoring.boosts import Boosts, backlink_bonus
from weft.retrieval.scoring.near_moment import Proximity
from weft.retrieval.scoring.retention import Retention
from weft.testing.clock import day
from weft.testing.scribe import edge, iso
from weft.testing.viewers import PUBLIC

# ---- compiled truth and backlinks


def test_a_compiled_truth_raises_a_score_by_fifteen_percent() -> None:
    ctx = harbour(ferry("told", props={"compiled_truth": "It sails daily."}), ferry("plain"))
    before, after = asked(ctx), asked(ctx, Boosts())
    assert score(after, "told") == pytest.approx(1.15 * score(before, "told"))
    assert score(after, "plain") == score(before, "plain")
    assert ids(before) == ["plain", "told"], "of equals the newer one"
    assert ids(after) == ["told", "plain"]
    assert "1.15" in why(after, "told", "compiled_truth")


@pytest.mark.parametrize(("count", "bonus"), [(1, 0.05), (10, 0.10), (100, 0.15), (1_000, 0.20), (10**9, 0.25)])
def test_backlinks_count_by_their_order_of_magnitude(count: int, bonus: float) -> None:
    assert backlink_bonus(count, "Function") == pytest.approx(bonus)
    assert backlink_bonus(count, "Memory") == pytest.approx(bonus / 5), "its own mentions point at a note"


def test_what_others_point_at_ranks_higher() -> None:
    others = [ferry(f"n{n}", "Something else") for n in range(10)]
    links = [edge(f"n{n}", "MENTIONS", "known") for n in range(10)]
    ctx = harbour(ferry("known"), ferry("plain"), *others, *links)
    after = asked(ctx, Boosts())
    assert ids(after) == ["known", "plain"]
    assert score(after, "known") == pytest.approx(1.02 * score(asked(ctx), "known"))
    assert why(after, "known", "backlinks") == "10 point at it: x 1.020"


def test_what_points_from_where_one_may_not_look_raises_nothing() -> None:
    drafts = [ferry("a"), ferry("secret", "Something else", scope="admin"), edge("secret", "MENTIONS", "a")]
    assert score(asked(harbour(*drafts), Boosts()), "a") > score(asked(harbour(*drafts)), "a")
    ctx = harbour(*drafts, viewer=PUBLIC)
    answer = scored(ctx)
    assert Boosts()(ctx, answer) is answer


def test_without_either_nothing_is_touched() -> None:
    ctx = harbour(ferry("a", props={"compiled_truth": "  "}), ferry("b"), edge("b", "CONTAINS", "a"))
    for answer in (scored(ctx), scored(ctx, "marmalade")):
        assert Boosts()(ctx, answer) is answer


# ---- nearness in time to a moment asked about


def test_near_the_moment_asked_about_counts_more() -> None:
    ctx = harbour(ferry("late", at=-10), ferry("early", at=-10 - 365))
    then = When(valid_at=day(-10))
    plain = asked(ctx, when=then)
    answer = asked(ctx, Proximity(weight=0.22), when=then, as_of=True)
    assert ids(plain) == ["early", "late"]
    assert ids(answer) == ["late", "early"]
    assert score(answer, "late") == pytest.approx((1 + 0.22 * 0.5) * score(plain, "late"))
    assert score(answer, "early") == pytest.approx(score(plain, "early")), "a year away: p is a half"
    assert why(answer, "late", "proximity") == "began 0 days before the time asked about: x 1.110"


def test_without_a_moment_asked_about_nothing_is_touched() -> None:
    ctx = harbour(ferry("a", at=-300), ferry("b"))
    answer = scored(ctx)
    assert Proximity()(ctx, answer) is answer
    assert ids(asked(ctx, Proximity(applies="always"))) == ["b", "a"]


# ---- retention


def expiring(**props: object) -> dict[str, object]:
    return {"expires_at": iso(day(-1)), **props}


def test_expired_memories_are_left_out_and_counted() -> None:
    ctx = harbour(ferry("gone", props=expiring(), at=-5), ferry("stays", props={"expires_at": "2031"}), ferry("plain"))
    assert sorted(ids(asked(ctx, Retention(policy="none")))) == ["gone", "plain", "stays"]
    answer = asked(ctx, Retention(policy="filter_expired"))
    assert sorted(ids(answer)) == ["plain", "stays"]
    assert any(note.startswith("1 expired memories are left out") for note in answer.notes)
    then = asked(ctx, Retention(policy="filter_expired"), when=When(valid_at=day(-1) - 1))
    assert "gone" in ids(then), "it had not expired then"


def test_what_is_left_out_speaks_for_nothing() -> None:
    ctx = harbour(ferry("gone", props=expiring()))
    answer = asked(ctx, Retention(policy="filter_expired"))
    assert answer.ranked == ()
    assert not any("failed" in note for note in answer.notes)


@pytest.mark.parametrize("written", ["soon", 17, True, ["2026"], "2026-13-45"])
def test_an_expiry_that_cannot_be_read_is_passed_over(written: object) -> None:
    ctx = harbour(ferry("a", props={"expires_at": written}))
    answer = asked(ctx, Retention(policy="filter_expired"))
    assert ids(answer) == ["a"]
    assert any("expires_at" in note for note in answer.notes)


def test_nothing_to_leave_out_leaves_all_untouched() -> None:
    ctx = harbour(ferry("a"), ferry("b", props={"expires_at": "2031"}))
    answer = scored(ctx)
    assert ctx.settings.retention == "none"
    for stage in (Retention(), Retention(policy="none"), Retention(policy="filter_expired")):
        assert stage(ctx, answer) is answer


def decayed(props: dict[str, object], *, at: int) -> float:
    """What is left of a memory's score, beside one that began this very moment."""
    ctx = harbour(ferry("it", at=at, props=props), ferry("new", at=0))
    return score(asked(ctx, Retention(policy="decay")), "it") / score(asked(ctx), "it")


@pytest.mark.parametrize(
    ("props", "at", "expected"),
    [
        ({}, 0, 1.0),
        ({}, -30, 0.5),
        ({}, -60, 0.25),
        ({"importance": 0.5}, -30, 0.25),
        ({"importance": 4.0}, -30, 1.0),
        ({"importance": "high"}, -30, 0.5),
        ({"pinned": True}, -900, 1.0),
        ({"pinned": "no"}, -30, 0.5),
        ({"purpose": "coding"}, -30, 0.5),
        ({"purpose": "review"}, -90, 0.5),
        ({"purpose": "release"}, -120, 0.5),
        ({"purpose": "security"}, -180, 0.5),
        ({"purpose": "coordinate"}, -180, 0.5),
        (expiring(), -30, 0.5 * 0.35),
        (expiring(pinned=True), -30, 1.0),
        (expiring(purpose="coordinate"), -900, 0.15),
    ],
)
def test_memories_wear_off(props: dict[str, object], at: int, expected: float) -> None:
    assert decayed(props, at=at) == pytest.approx(expected, rel=1e-3)


def test_reading_under_decay_loses_nothing_and_keeps_the_order_of_age() -> None:
    ctx = harbour(*(ferry(f"d{n}", at=-300 * n) for n in range(1, 4)), ferry("new", at=0))
    answer = asked(ctx, Retention(policy="decay"))
    assert ids(answer) == ["new", "d1", "d2", "d3"]
    assert "300 days old, half-life 30" in why(answer, "d1", "retention")
    longer = asked(ctx, Retention(policy="decay", half_life_days=300.0))
    assert score(longer, "d1") > score(answer, "d1")


def test_an_expired_memory_weighs_what_the_setting_says() -> None:
    ctx = harbour(ferry("it", props=expiring(), at=-1), ferry("new", at=0))
    light, heavy = (asked(ctx, Retention(policy="decay", expired_weight=each)) for each in (0.2, 0.9))
    assert score(light, "it") / score(heavy, "it") == pytest.approx(0.2 / 0.9)


# ---- purposes


def test_the_purposes_are_those_of_the_presets() -> None:
    rows = {name: (each.recall_floor, each.multiplier, each.scoring) for name, each in PURPOSES.items()}
    assert rows == {
        "coding": (16, 3, "recall"),
        "review": (16, 3, "precision"),
        "release": (24, 4, "temporal"),
        "security": (24, 4, "precision"),
        "research": (20, 3, "recall"),
        "coordinate": (24, 4, "recall"),
    }
    assert purpose_of("coding").candidates(4) == 16
    assert purpose_of("coding").candidates(10) == 30


def test_an_unknown_purpose_names_those_there_are() -> None:
    with pytest.raises(Invalid, match="cooking") as caught:
        purpose_of("cooking")
    assert all(name in caught.value.hint for name in PURPOSES)


def test_a_purpose_tips_the_scale_and_no_more() -> None:
    ctx = harbour(
        ferry("safe", "The ferry sails. Its security was checked."),
        ferry("warm", "The ferry sails. Its heating was checked."),
        ferry("off", "Security, permission, secret: exposure of a vulnerability."),
        ferry("better", "When does the ferry sail? The ferry does sail: when the ferry bell rings, ferry people sail."),
    )
    plain = asked(ctx, first=(Emphasis(),))
    assert ids(plain) == ["better", "warm", "safe"]
    answer = asked(ctx, first=(Emphasis(),), purpose="security")
    assert ids(answer)[:3] == ["better", "safe", "warm"]
    assert asked(ctx, first=(Emphasis(),), purpose="cooking").ranked == plain.ranked
    silent = asked(ctx, first=(Emphasis(),), purpose="security", question="...")
    assert silent.ranked == ()


# ---- what was replaced


def test_what_was_replaced_is_hidden_and_named_on_the_newer_one() -> None:
    ctx = harbour(ferry("old", at=-9), ferry("new", at=-2), edge("new", "SUPERSEDES", "old"), ferry("else"))
    assert sorted(ids(asked(ctx))) == ["else", "new", "old"]
    answer = asked(ctx, Superseded())
    assert sorted(ids(answer)) == ["else", "new"]
    assert hit(answer, "new").marks == (f"replaces old of {iso(day(-9))[:10]}",)  # type: ignore[index]
    assert hit(answer, "else").marks == ()


def test_the_newer_one_stands_in_though_the_words_are_the_older_ones() -> None:
    drafts = [
        ferry("old", "The ferry sails at nine"),
        ferry("new", "It leaves at ten now"),
        edge("new", "SUPERSEDES", "old"),
    ]
    ctx = harbour(*drafts, ferry("weak", "The ferry, a very long text about other things than how boats go to sea"))
    plain, answer = asked(ctx), asked(ctx, Superseded())
    assert ids(plain) == ["old", "weak"]
    assert ids(answer) == ["new", "weak"]
    assert score(answer, "new") == score(plain, "old")
    assert why(answer, "new", "superseded") == "in place of old"


def test_the_last_of_a_line_stands_for_all_before_it() -> None:
    line = [edge(f"n{n + 1}", "SUPERSEDES", f"n{n}") for n in range(3)]
    ctx = harbour(*(ferry(f"n{n}", at=-9 + n) for n in range(3)), ferry("n3", "Another wording"), *line)
    answer = asked(ctx, Superseded())
    assert ids(answer) == ["n3"]
    assert len(hit(answer, "n3").marks) == 3


def test_a_circle_hides_nobody() -> None:
    ctx = harbour(ferry("a"), ferry("b"), edge("a", "SUPERSEDES", "b"), edge("b", "SUPERSEDES", "a"))
    assert asked(ctx, Superseded()).ranked == asked(ctx).ranked
    itself = harbour(ferry("a"), edge("a", "SUPERSEDES", "a"))
    assert ids(asked(itself, Superseded())) == ["a"]


def test_the_older_one_stays_where_the_newer_one_is_not_to_be_shown() -> None:
    drafts = [ferry("old"), ferry("new", project="q"), edge("new", "SUPERSEDES", "old")]
    answer = asked(harbour(*drafts), Superseded())
    assert ids(answer) == ["old"]
    assert hit(answer, "old").marks[0].startswith("replaced by new of ")


def test_what_one_may_not_see_replaces_nothing() -> None:
    drafts = [ferry("old"), ferry("new", scope="admin"), edge("new", "SUPERSEDES", "old", scope="admin")]
    ctx = harbour(*drafts, viewer=PUBLIC)
    answer = scored(ctx)
    assert Superseded()(ctx, answer) is answer
    assert ids(asked(harbour(*drafts), Superseded())) == ["new"]


def test_before_it_was_replaced_it_is_answered() -> None:
    link = edge("new", "SUPERSEDES", "old", at=day(-2))
    ctx = harbour(ferry("old", at=-9), ferry("new", at=-2), link)
    assert ids(asked(ctx, Superseded(), when=When(valid_at=day(-5)))) == ["old"]


def test_asked_for_by_its_id_the_older_one_is_shown() -> None:
    ctx = harbour(ferry("old"), ferry("new"), edge("new", "SUPERSEDES", "old"))
    answer = asked(ctx, Superseded(), question="old")
    assert ids(answer) == ["old"]
    assert hit(answer, "old").marks[0].startswith("replaced by new")


def test_where_nothing_was_replaced_nothing_is_touched() -> None:
    ctx = harbour(ferry("a"), ferry("b"), edge("b", "MENTIONS", "a"))
    for answer in (scored(ctx), scored(ctx, "marmalade")):
        assert Superseded()(ctx, answer) is answer
