"""Feedback: what was of use ranks higher, what was wrong ranks lower, nothing is lost, and all of it fades."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from weft.errors import Invalid, NotFound
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.feedback import MemoryFeedback, memory_feedback
from weft.operations.remembered import Remembered
from weft.retrieval.cognitive import Cognitive, Given, salience
from weft.retrieval.retention import Retention
from weft.testing.clock import DAY_US, day
from weft.testing.scribe import edge
from weft.testing.viewers import OPERATOR, PUBLIC, STAFF
from weft.types import Viewer, When

from .adjusting import asked, ferry, harbour, ids, score, scored, why


def tell(loom: Loom, memory: str, outcome: str, **more: Any) -> Remembered:
    """Feedback by whoever works here."""
    return memory_feedback(loom, MemoryFeedback(id=memory, outcome=outcome, **more))


def later(loom: Loom, days: int) -> None:
    loom.clock.step(days * DAY_US)  # type: ignore[attr-defined]


def seen_by(loom: Loom, viewer: Viewer) -> Loom:
    return replace(loom, viewer=viewer)


def factor(loom: Loom, memory: str) -> float:
    """What feedback makes of a score that nothing is cut from."""
    return score(asked(loom, Cognitive()), memory) / score(asked(loom), memory)


# ---- the weight of feedback


@pytest.mark.parametrize(
    ("outcome", "expected"), [("confirmed", 1.5), ("surfaced", 1.05), ("promoted", 2.0), ("invalidated", 0.2)]
)
def test_fresh_feedback_counts_in_full(outcome: str, expected: float) -> None:
    loom = harbour(ferry("a"), ferry("b"))
    tell(loom, "a", outcome)
    assert factor(loom, "a") == pytest.approx(expected)
    assert factor(loom, "b") == 1.0
    assert ids(asked(loom, Cognitive())) == (["a", "b"] if expected > 1 else ["b", "a"])
    assert f"{outcome} 1 x" in why(asked(loom, Cognitive()), "a", "cognitive")


def test_feedback_multiplies_within_bounds() -> None:
    def given(*multipliers: float) -> list[Given]:
        return [Given(at=day(0), outcome="told", multiplier=each) for each in multipliers]

    assert salience(given(1.5, 2.0, 0.2), day(0)) == pytest.approx(0.6)
    assert salience(given(*[2.0] * 9), day(0)) == 10.0
    assert salience(given(*[0.2] * 9), day(0)) == 0.01
    assert salience((), day(0)) == 1.0


@pytest.mark.parametrize("outcome", ["confirmed", "invalidated"])
def test_feedback_fades_to_nothing_and_never_turns(outcome: str) -> None:
    loom = harbour(ferry("a"), ferry("b"))
    tell(loom, "a", outcome)
    strong = factor(loom, "a")
    later(loom, 30)
    half = factor(loom, "a")
    assert half == pytest.approx(strong**0.5)
    later(loom, 3_000)
    assert factor(loom, "a") == pytest.approx(1.0, abs=1e-9)


def test_old_praise_is_never_worse_than_none() -> None:
    loom = harbour(ferry("a"), ferry("b"))
    tell(loom, "a", "confirmed")
    later(loom, 365)
    assert ids(asked(loom, Cognitive())) == ["a", "b"]


def test_before_it_was_given_feedback_does_not_count() -> None:
    loom = harbour(ferry("a", at=-9), ferry("b", at=-9))
    tell(loom, "a", "promoted")
    then = When(valid_at=day(-5))
    assert asked(loom, Cognitive(), when=then).ranked == asked(loom, when=then).ranked


def test_the_latest_feedback_counts_however_much_there_was_before() -> None:
    loom = harbour(ferry("a"), ferry("b"))
    for _ in range(60):
        tell(loom, "a", "surfaced")
    later(loom, 400)
    tell(loom, "a", "invalidated")
    assert factor(loom, "a") == pytest.approx(0.2, rel=0.01)


# ---- nobody is lost


def test_an_invalidated_memory_is_still_the_answer_if_there_is_no_other() -> None:
    loom = harbour(ferry("a"))
    for _ in range(4):
        tell(loom, "a", "invalidated")
    assert ids(asked(loom, Cognitive())) == ["a"]


def test_neither_blame_nor_praise_pushes_anybody_out() -> None:
    loom = harbour(*(ferry(f"n{n}") for n in range(4)))
    for _ in range(4):
        tell(loom, "n0", "invalidated")
        tell(loom, "n1", "promoted")
        tell(loom, "n2", "invalidated", note="and once more")
    tell(loom, "n2", "invalidated")
    answer = asked(loom, Cognitive())
    assert ids(answer) == ["n1", "n3", "n2", "n0"], "beyond the bounds blame weighs the same"
    assert "kept beside" in why(answer, "n3", "cognitive")


@pytest.mark.parametrize("props", [{"pinned": True}, {"status": "accepted"}])
def test_pinned_and_accepted_memories_cannot_be_weakened(props: dict[str, object]) -> None:
    loom = harbour(ferry("held", props=props), ferry("other"))
    tell(loom, "held", "invalidated")
    answer = scored(loom)
    assert Cognitive()(loom, answer) is answer
    tell(loom, "held", "promoted")
    tell(loom, "held", "promoted")
    tell(loom, "held", "promoted")
    assert factor(loom, "held") == pytest.approx(1.6), "though they can be strengthened"


# ---- cold parity


def test_without_feedback_and_cues_nothing_is_touched() -> None:
    loom = harbour(ferry("a", props={"mission": "north"}), ferry("b"), edge("b", "ABOUT", "a"))
    for answer in (scored(loom), scored(loom, "marmalade"), scored(loom, cues={"mission": "south"})):
        assert Cognitive()(loom, answer) is answer


def test_feedback_that_one_may_not_see_does_not_count() -> None:
    loom = harbour(ferry("a"), ferry("b"))
    record = graph.NodeAssertion(
        id="f", kind="Feedback", props={"outcome": "invalidated", "multiplier": 0.2}, scope="admin"
    )
    about = graph.EdgeAssertion(src="f", rel="ABOUT", dst="b", scope="admin")
    loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(record,), edges=(about,)))])
    assert ids(asked(loom, Cognitive())) == ["a", "b"]
    public = seen_by(loom, PUBLIC)
    answer = scored(public)
    assert Cognitive()(public, answer) is answer


@pytest.mark.parametrize(
    "props",
    [{}, {"outcome": "marvellous"}, {"outcome": 7}, {"multiplier": "9"}, {"multiplier": True}, {"multiplier": -3.0}],
)
def test_records_that_say_nothing_count_for_nothing(props: dict[str, object]) -> None:
    loom = harbour(ferry("a"), ferry("b"))
    record = graph.NodeAssertion(id="f", kind="Feedback", props=props, scope="public")
    about = graph.EdgeAssertion(src="f", rel="ABOUT", dst="b", scope="public")
    loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(record,), edges=(about,)))])
    answer = scored(loom)
    assert Cognitive()(loom, answer) is answer


def test_asked_for_by_its_id_a_memory_comes_first() -> None:
    loom = harbour(ferry("the-ferry", "Boats"), ferry("b", "The ferry sails, the ferry is on time"))
    for _ in range(4):
        tell(loom, "b", "promoted")
        tell(loom, "the-ferry", "invalidated")
    assert ids(asked(loom, Cognitive(), question="the-ferry"))[0] == "the-ferry"


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
    loom = harbour(ferry("here", props={"mission": "north", "tool": "grep", "colour": "blue"}), ferry("there"))
    plain, answer = asked(loom), asked(loom, Cognitive(), cues=cues)
    assert ids(plain) == ["there", "here"]
    assert ids(answer) == ["here", "there"]
    assert score(answer, "here") - score(plain, "here") == pytest.approx(0.25 * share * score(plain, "there"))


def test_what_is_joined_to_something_useful_gains_as_much_as_the_feedback_is_worth() -> None:
    def drawn(outcome: str) -> float:
        loom = harbour(ferry("a"), ferry("friend"), ferry("stranger"), edge("a", "RELATES", "friend"))
        tell(loom, "a", outcome)
        answer = asked(loom, Cognitive())
        assert score(answer, "stranger") == score(asked(loom), "stranger")
        return score(answer, "friend") / score(asked(loom), "friend")

    assert 1.0 < drawn("surfaced") < 1.02
    assert 1.1 < drawn("promoted") <= 1.25
    assert drawn("invalidated") == 1.0


def test_parts_add_up() -> None:
    loom = harbour(ferry("a", props={"mission": "north"}), ferry("b"), edge("a", "RELATES", "b"))
    tell(loom, "a", "confirmed")
    answer = asked(loom, Cognitive(), cues={"mission": "north"})
    named = {source.name for each in answer.ranked or () for source in each.sources}
    assert named >= {"cognitive", "cues", "spread"}
    assert all(
        each.score > 0 and len({s.name for s in each.sources}) == len(each.sources) for each in answer.ranked or ()
    )


# ---- the operation


def test_feedback_is_kept_with_the_rights_of_the_memory() -> None:
    loom = harbour(ferry("a", scope="admin", agents=("ann",), sensitive=True), ferry("b"))
    record = loom.store.nodes(OPERATOR, When(), [tell(loom, "a", "confirmed", note="I checked").id])[0]
    assert (record.guard.scope, record.guard.agents, record.guard.sensitive) == ("admin", ("ann",), True)
    assert record.props == {"outcome": "confirmed", "multiplier": 1.5, "about": "a", "note": "I checked"}
    assert not loom.store.nodes(STAFF, When(), [record.id])
    told = tell(seen_by(loom, PUBLIC), "b", "confirmed")
    assert told.status == "saved"
    assert told.citation.startswith("weft://main/events/")


def test_feedback_is_not_an_answer_and_changes_no_other_score() -> None:
    loom = harbour(ferry("a"), ferry("b"))
    before = asked(loom)
    tell(loom, "a", "promoted", note="the ferry does sail")
    assert asked(loom).ranked == before.ranked


def test_a_repeated_request_is_written_once() -> None:
    loom = harbour(ferry("a"), ferry("b"))
    first = tell(loom, "a", "confirmed", request_id="r1")
    later(loom, 1)
    again = tell(loom, "a", "confirmed", request_id="r1")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    assert len(again.notes) == 1
    assert len(loom.store.neighbours(OPERATOR, When(), ["a"], rels=("ABOUT",))) == 1


def test_only_what_is_there_and_may_be_seen_can_be_spoken_of() -> None:
    loom = harbour(ferry("a", scope="admin"), ferry("b"))
    for viewer, memory in ((PUBLIC, "a"), (OPERATOR, "nothing")):
        with pytest.raises(NotFound, match=memory) as caught:
            tell(seen_by(loom, viewer), memory, "confirmed")
        assert "recall" in caught.value.hint
    with pytest.raises(Invalid, match="marvellous") as wrong:
        tell(loom, "b", "marvellous")
    assert "confirmed, surfaced, promoted, invalidated" in wrong.value.hint
    record = tell(loom, "b", "confirmed").id
    with pytest.raises(Invalid, match="own kind of record"):
        tell(loom, record, "confirmed")


# ---- with retention


def test_reinforcement_makes_a_memory_last() -> None:
    loom = harbour(ferry("used", at=-90), ferry("idle", at=-90), ferry("new", at=0))
    tell(loom, "used", "confirmed")
    later(loom, 30)
    plain, answer = asked(loom), asked(loom, Retention(policy="decay"))
    assert ids(answer) == ["used", "new", "idle"]
    assert score(answer, "used") == pytest.approx((0.5 + 0.03) * score(plain, "used"))
    assert score(answer, "idle") == pytest.approx(0.5**4 * score(plain, "idle"))
    assert "30 days old, half-life 30, importance 1, 1 reinforcements" in why(answer, "used", "retention")
    tell(loom, "idle", "invalidated")
    again = asked(loom, Retention(policy="decay"))
    assert score(again, "idle") == score(answer, "idle"), "blame is no reinforcement"
