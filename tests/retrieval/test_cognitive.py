"""Feedback: what was of use ranks higher, what was wrong ranks lower, nothing is lost, and all of it fades."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.retrieval.adjusting import asked, ferry, harbour, ids, score, scored, why
from weft.core.errors import Invalid, NotFound
from weft.core.types import Viewer, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.scoring.feedback import Feedback, FeedbackRecord, salience
from weft.retrieval.scoring.retention import Retention
from weft.runtime.call_context import CallContext
from weft.testing.clock import DAY_US, day
from weft.testing.scribe import edge
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF
from weft.writing.feedback import MemoryFeedback, memory_feedback
from weft.writing.write_contract import WriteResult


def tell(ctx: CallContext, memory: str, outcome: str, **more: Any) -> WriteResult:
    """Feedback by whoever works here."""
    return memory_feedback(ctx, MemoryFeedback(id=memory, outcome=outcome, **more))


def later(ctx: CallContext, days: int) -> None:
    ctx.clock.step(days * DAY_US)  # type: ignore[attr-defined]


def seen_by(ctx: CallContext, viewer: Viewer) -> CallContext:
    return replace(ctx, viewer=viewer)


def factor(ctx: CallContext, memory: str) -> float:
    """What feedback makes of a score that nothing is cut from."""
    return score(asked(ctx, Feedback()), memory) / score(asked(ctx), memory)


# ---- the weight of feedback


@pytest.mark.parametrize(
    ("outcome", "expected"), [("confirmed", 1.5), ("surfaced", 1.05), ("promoted", 2.0), ("invalidated", 0.2)]
)
def test_fresh_feedback_counts_in_full(outcome: str, expected: float) -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    tell(ctx, "a", outcome)
    assert factor(ctx, "a") == pytest.approx(expected)
    assert factor(ctx, "b") == 1.0
    assert ids(asked(ctx, Feedback())) == (["a", "b"] if expected > 1 else ["b", "a"])
    assert f"{outcome} 1 x" in why(asked(ctx, Feedback()), "a", "cognitive")


def test_feedback_multiplies_within_bounds() -> None:
    def given(*multipliers: float) -> list[FeedbackRecord]:
        return [FeedbackRecord(at=day(0), outcome="told", multiplier=each) for each in multipliers]

    assert salience(given(1.5, 2.0, 0.2), day(0)) == pytest.approx(0.6)
    assert salience(given(*[2.0] * 9), day(0)) == 10.0
    assert salience(given(*[0.2] * 9), day(0)) == 0.01
    assert salience((), day(0)) == 1.0


@pytest.mark.parametrize("outcome", ["confirmed", "invalidated"])
def test_feedback_fades_to_nothing_and_never_turns(outcome: str) -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    tell(ctx, "a", outcome)
    strong = factor(ctx, "a")
    later(ctx, 30)
    half = factor(ctx, "a")
    assert half == pytest.approx(strong**0.5)
    later(ctx, 3_000)
    assert factor(ctx, "a") == pytest.approx(1.0, abs=1e-9)


def test_old_praise_is_never_worse_than_none() -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    tell(ctx, "a", "confirmed")
    later(ctx, 365)
    assert ids(asked(ctx, Feedback())) == ["a", "b"]


def test_before_it_was_given_feedback_does_not_count() -> None:
    ctx = harbour(ferry("a", at=-9), ferry("b", at=-9))
    tell(ctx, "a", "promoted")
    then = When(valid_at=day(-5))
    assert asked(ctx, Feedback(), when=then).ranked == asked(ctx, when=then).ranked


def test_the_latest_feedback_counts_however_much_there_was_before() -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    for _ in range(60):
        tell(ctx, "a", "surfaced")
    later(ctx, 400)
    tell(ctx, "a", "invalidated")
    assert factor(ctx, "a") == pytest.approx(0.2, rel=0.01)


# ---- nobody is lost


def test_an_invalidated_memory_is_still_the_answer_if_there_is_no_other() -> None:
    ctx = harbour(ferry("a"))
    for _ in range(4):
        tell(ctx, "a", "invalidated")
    assert ids(asked(ctx, Feedback())) == ["a"]


def test_neither_blame_nor_praise_pushes_anybody_out() -> None:
    ctx = harbour(*(ferry(f"n{n}") for n in range(4)))
    for _ in range(4):
        tell(ctx, "n0", "invalidated")
        tell(ctx, "n1", "promoted")
        tell(ctx, "n2", "invalidated", note="and once more")
    tell(ctx, "n2", "invalidated")
    answer = asked(ctx, Feedback())
    assert ids(answer) == ["n1", "n3", "n2", "n0"], "beyond the bounds blame weighs the same"
    assert "has the cues" in why(answer, "n3", "cognitive")


@pytest.mark.parametrize("props", [{"pinned": True}, {"status": "accepted"}])
def test_pinned_and_accepted_memories_cannot_be_weakened(props: dict[str, object]) -> None:
    ctx = harbour(ferry("held", props=props), ferry("other"))
    tell(ctx, "held", "invalidated")
    answer = scored(ctx)
    assert Feedback()(ctx, answer) is answer
    tell(ctx, "held", "promoted")
    tell(ctx, "held", "promoted")
    tell(ctx, "held", "promoted")
    assert factor(ctx, "held") == pytest.approx(1.6), "though they can be strengthened"


# ---- cold parity


def test_without_feedback_and_cues_nothing_is_touched() -> None:
    ctx = harbour(ferry("a", props={"mission": "north"}), ferry("b"), edge("b", "ABOUT", "a"))
    for answer in (scored(ctx), scored(ctx, "marmalade"), scored(ctx, cues={"mission": "south"})):
        assert Feedback()(ctx, answer) is answer


def test_feedback_that_one_may_not_see_does_not_count() -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    record = graph.NodeAssertion(
        id="f", kind="Feedback", props={"outcome": "invalidated", "multiplier": 0.2}, scope="admin"
    )
    about = graph.EdgeAssertion(src="f", rel="ABOUT", dst="b", scope="admin")
    ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(record,), edges=(about,)))])
    assert ids(asked(ctx, Feedback())) == ["a", "b"]
    public = seen_by(ctx, PUBLIC)
    answer = scored(public)
    assert Feedback()(public, answer) is answer


@pytest.mark.parametrize(
    "props",
    [{}, {"outcome": "marvellous"}, {"outcome": 7}, {"multiplier": "9"}, {"multiplier": True}, {"multiplier": -3.0}],
)
def test_records_that_say_nothing_count_for_nothing(props: dict[str, object]) -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    record = graph.NodeAssertion(id="f", kind="Feedback", props=props, scope="public")
    about = graph.EdgeAssertion(src="f", rel="ABOUT", dst="b", scope="public")
    ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(record,), edges=(about,)))])
    answer = scored(ctx)
    assert Feedback()(ctx, answer) is answer


def test_asked_for_by_its_id_a_memory_comes_first() -> None:
    ctx = harbour(ferry("the-ferry", "Boats"), ferry("b", "The ferry sails, the ferry is on time"))
    for _ in range(4):
        tell(ctx, "b", "promoted")
        tell(ctx, "the-ferry", "invalidated")
    assert ids(asked(ctx, Feedback(), question="the-ferry"))[0] == "the-ferry"


# ---- cues and ties


@pytest.mark.parametrize(
    ("cues", "share"),
    [
        ({"mission": "North"}, 1 / 2),
        ({"mission": "north ", "tool": "GREP"}, 1.0),
        ({"mission": "north", "tool": "sed"}, 1 / 3),
        ({"mission": "north", "tool": "grep", "phase": "plan"}, 2 / 3),
        ({"mission": "north", "tool": "grep", "colour": "red"}, 1.0),
    ],
)
def test_memories_kept_where_one_stands_gain(cues: dict[str, str], share: float) -> None:
    ctx = harbour(ferry("here", props={"mission": "north", "tool": "grep", "colour": "blue"}), ferry("there"))
    plain, answer = asked(ctx), asked(ctx, Feedback(), cues=cues)
    assert ids(plain) == ["there", "here"]
    assert ids(answer) == ["here", "there"]
    assert score(answer, "here") - score(plain, "here") == pytest.approx(0.25 * share * score(plain, "there"))


def test_what_is_joined_to_something_useful_gains_as_much_as_the_feedback_is_worth() -> None:
    def drawn(outcome: str) -> float:
        ctx = harbour(ferry("a"), ferry("friend"), ferry("stranger"), edge("a", "RELATES", "friend"))
        tell(ctx, "a", outcome)
        answer = asked(ctx, Feedback())
        assert score(answer, "stranger") == score(asked(ctx), "stranger")
        return score(answer, "friend") / score(asked(ctx), "friend")

    assert 1.0 < drawn("surfaced") < 1.02
    assert 1.1 < drawn("promoted") <= 1.25
    assert drawn("invalidated") == 1.0


def test_parts_add_up() -> None:
    ctx = harbour(ferry("a", props={"mission": "north"}), ferry("b"), edge("a", "RELATES", "b"))
    tell(ctx, "a", "confirmed")
    answer = asked(ctx, Feedback(), cues={"mission": "north"})
    named = {source.name for each in answer.ranked or () for source in each.sources}
    assert named >= {"cognitive", "cues", "spread"}
    assert all(
        each.score > 0 and len({s.name for s in each.sources}) == len(each.sources) for each in answer.ranked or ()
    )


# ---- the operation


def test_feedback_is_kept_with_the_rights_of_the_memory() -> None:
    ctx = harbour(ferry("a", scope="admin", agents=("ann",), sensitive=True), ferry("b"))
    record = ctx.store.nodes(OPERATOR, When(), [tell(ctx, "a", "confirmed", note="I checked").id])[0]
    assert (record.guard.scope, record.guard.agents, record.guard.sensitive) == ("admin", ("ann",), True)
    assert record.props == {"outcome": "confirmed", "multiplier": 1.5, "about": "a", "note": "I checked"}
    assert not ctx.store.nodes(STAFF, When(), [record.id])
    told = tell(seen_by(ctx, PUBLIC), "b", "confirmed")
    assert told.status == "saved"
    assert told.citation.startswith("weft://main/events/")


def test_feedback_is_not_an_answer_and_changes_no_other_score() -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    before = asked(ctx)
    tell(ctx, "a", "promoted", note="the ferry does sail")
    assert asked(ctx).ranked == before.ranked


def test_a_repeated_request_is_written_once() -> None:
    ctx = harbour(ferry("a"), ferry("b"))
    first = tell(ctx, "a", "confirmed", request_id="r1")
    later(ctx, 1)
    again = tell(ctx, "a", "confirmed", request_id="r1")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    assert len(again.notes) == 1
    assert len(ctx.store.neighbours(OPERATOR, When(), ["a"], rels=("ABOUT",))) == 1


def test_only_what_is_there_and_may_be_seen_can_be_spoken_of() -> None:
    ctx = harbour(ferry("a", scope="admin"), ferry("b"))
    for viewer, memory in ((PUBLIC, "a"), (OPERATOR, "nothing")):
        with pytest.raises(NotFound, match=memory) as caught:
            tell(seen_by(ctx, viewer), memory, "confirmed")
        assert "recall" in caught.value.hint
    with pytest.raises(Invalid, match="marvellous") as wrong:
        tell(ctx, "b", "marvellous")
    assert "confirmed, surfaced, promoted, invalidated" in wrong.value.hint
    record = tell(ctx, "b", "confirmed").id
    with pytest.raises(Invalid, match="records itself"):
        tell(ctx, record, "confirmed")


# ---- with retention


def test_reinforcement_makes_a_memory_last() -> None:
    ctx = harbour(ferry("used", at=-90), ferry("idle", at=-90), ferry("new", at=0))
    tell(ctx, "used", "confirmed")
    later(ctx, 30)
    plain, answer = asked(ctx), asked(ctx, Retention(policy="decay"))
    assert ids(answer) == ["used", "new", "idle"]
    assert score(answer, "used") == pytest.approx((0.5 + 0.03) * score(plain, "used"))
    assert score(answer, "idle") == pytest.approx(0.5**4 * score(plain, "idle"))
    assert "30 days old, half-life 30, importance 1, 1 reinforcements" in why(answer, "used", "retention")
    tell(ctx, "idle", "invalidated")
    again = asked(ctx, Retention(policy="decay"))
    assert score(again, "idle") == score(answer, "idle"), "blame is no reinforcement"
