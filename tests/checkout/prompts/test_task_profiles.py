"""`memory_checkout` for a task and in a session: parts of a profile have effects, and what is at hand comes first."""

from __future__ import annotations

from base64 import b64encode

import pytest

import weft
from tests.checkout.harbour import WHEN
from tests.checkout.prompts.checked_out import Opened, checkout, kinds, note, suppressed
from weft.checkout.checkout import Checkout
from weft.context.checkout_policy import CHOICES, TaskProfile
from weft.core.errors import Invalid
from weft.testing.clock import DAY_US, ManualClock


def at_hand(answer: Checkout) -> list[str]:
    return [task.id for task in answer.working_set.tasks]


# ---- a task's profile


def test_every_part_of_a_profile_has_an_effect_that_is_told(night: weft.Memory) -> None:
    whole = {"role": "pilot", "task": "berth the ferry", "action": "write a plan"}
    whole |= {name: values[-1] for name, values in CHOICES.items()}
    assert set(whole) == set(TaskProfile.__struct_fields__)
    answer = checkout(night, WHEN, task_profile=whole)
    assert answer.diagnostics is not None
    effects = answer.diagnostics.policy.effects
    assert {effect.partition(":")[0].split()[0] for effect in effects} == set(whole)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"risk": "huge"}, "risk"), ({"lens": "x"}, "lens"), ({"role": "x" * 300}, "200"), ({"mood": "good"}, "mood")],
)
def test_a_wrong_profile_is_refused_with_what_it_may_be(night: weft.Memory, wrong: dict[str, str], named: str) -> None:
    with pytest.raises(Invalid, match=named):
        checkout(night, WHEN, task_profile=wrong)


def test_role_action_and_risk_add_words_and_guidance(night: weft.Memory) -> None:
    profile = {"role": "auditor", "action": 'sign the "log"', "risk": "high"}
    answer = checkout(night, WHEN, task_profile=profile)
    assert answer.diagnostics is not None
    policy = answer.diagnostics.policy
    assert {"auditor", "sign", "log", "rollback"} <= set(policy.emphasis)
    assert policy.scoring == "precision"
    assert 'Read them as "auditor" would.' in answer.prompt
    assert 'They are for this: "sign the \\"log\\"".' in answer.prompt
    assert "The risk is high" in answer.prompt


def test_permission_narrows_what_is_read_and_never_widens_it(opened: Opened) -> None:
    memory = opened()
    for scope in ("public", "shared", "admin"):
        memory.remember(f"The {scope} fare is nine crowns.", scope=scope)
    seen = {
        permission: {
            line.text.split()[1]
            for line in checkout(memory, "the fare", task_profile={"permission": permission}).evidence
        }
        for permission in ("public", "shared", "admin")
    }
    assert seen == {"public": {"public"}, "shared": {"public", "shared"}, "admin": {"public", "shared", "admin"}}
    seer = opened(sensitive="true", sensitive_key=f"one:{b64encode(bytes(range(32))).decode()}")
    secret = seer.remember("The secret fare is two crowns.", sensitive=True, scope="public").id
    for permission in ("shared", "admin"):
        told = checkout(seer, secret, task_profile={"permission": permission}).evidence
        assert [line.text for line in told if line.id == secret] == ["The secret fare is two crowns."]
    narrow = opened(scopes="public")
    assert len(checkout(narrow, "the fare", task_profile={"permission": "admin"}).evidence) == 1


def test_a_horizon_leaves_out_what_is_over_and_keeps_what_holds(opened: Opened, clock: ManualClock) -> None:
    memory = opened()
    clock.step(-40 * DAY_US)
    memory.remember("The tide gauge of the ferry was read wrong.")
    memory.call("save_decision", title="The tide gauge of the ferry is read twice")
    clock.step(40 * DAY_US)
    memory.remember("The tide gauge of the ferry was replaced.")
    week = checkout(memory, "the tide gauge of the ferry", task_profile={"horizon": "week"})
    assert [line.text for line in week.evidence if line.slot == "core"] == ["The tide gauge of the ferry was replaced."]
    assert kinds(week, "decisions") == ["Decision"]
    assert suppressed(week)["before the horizon"] == 1
    assert len(checkout(memory, "the tide gauge of the ferry", task_profile={"horizon": "all"}).evidence) == 3


def test_retention_filters_what_expired_or_lets_it_fade(opened: Opened, clock: ManualClock) -> None:
    memory = opened()
    memory.remember("The winter timetable of the ferry holds.", expires_at="2026-04-02")
    memory.remember("The timetable of the ferry hangs at the pier.")
    clock.step(10 * DAY_US)
    question = "the timetable of the ferry"
    assert len(checkout(memory, question).evidence) == 2
    strict = checkout(memory, question, task_profile={"retention": "filter_expired"})
    assert [line.text for line in strict.evidence] == ["The timetable of the ferry hangs at the pier."]
    assert (strict.retention.policy, strict.retention.expired) == ("filter_expired", 1)
    faded = checkout(memory, question, task_profile={"retention": "decay"})
    assert (faded.retention.policy, faded.retention.expired, faded.retention.decayed) == ("decay", 0, 2)
    assert faded.evidence[-1].text.startswith("The winter timetable")


def test_a_lens_prefers_its_kinds(opened: Opened) -> None:
    memory = opened()
    note(memory, "The mast of the ferry is steel, the mast of the ferry.", kind="Concept")
    note(memory, "The mast of the ferry was oiled.", kind="Learning")
    question = "the mast of the ferry"
    assert kinds(checkout(memory, question), "core") == ["Concept", "Learning"]
    assert kinds(checkout(memory, question, task_profile={"lens": "work"}), "core") == ["Learning", "Concept"]


# ---- sessions


def test_the_briefing_that_a_session_left_comes_back_first(opened: Opened) -> None:
    memory = opened()
    memory.record_turns("night", ["Ines: we moved the bookings to Redis", "Noor: thanks"])
    memory.call(
        "session_compact",
        session="night",
        asked=["Move the bookings to Redis."],
        done=["The reads were moved."],
        in_progress=["The writes are next, in bookings.py."],
    )
    answer = checkout(memory, "bookings in Redis", session="night")
    first, second = answer.prompt.split("\n\n")[1].split("\n")[:2]
    assert first == "Briefing that this session left on 2026-04-01, by operator"
    assert second.startswith('1. [In_progress] "The writes are next, in bookings.py."')
    assert answer.counts["briefing"] == 3
    assert [line.slot for line in answer.evidence][:3] == ["briefing"] * 3
    assert answer.evidence[0].text == "The writes are next, in bookings.py."
    assert "Briefing" not in [line.kind for line in answer.evidence], "it is told once"
    assert suppressed(answer)["said in this conversation"] >= 1
    other = checkout(memory, "bookings in Redis")
    assert "Briefing that this session left" not in other.prompt
    assert any("we moved the bookings" in line.text for line in other.evidence)


def test_a_long_briefing_leaves_room_for_what_answers(opened: Opened) -> None:
    memory = opened()
    memory.record_turns("night", ["Ines: we moved the bookings to Redis"])
    done = [f"Step {number} of the long way to a new booking desk was taken and looked at." for number in range(40)]
    memory.call("session_compact", session="night", asked=["Move the bookings."], done=done)
    for number in range(6):
        memory.remember(f"Pier {number} has a bell of bronze that rings when fog comes in over the sound.")
    answer = checkout(memory, "which pier has a bell of bronze?", session="night", max_tokens=700)
    slots = [line.slot for line in answer.evidence]
    assert slots.count("core") >= 5
    assert 3 <= slots.count("briefing") < 20


def test_tasks_of_the_session_and_of_the_profile_come_first(opened: Opened) -> None:
    memory = opened(conversation="night")
    memory.record_turns("night", ["Ines: the ramp is stuck"])
    raised = memory.call("work_create", kind="chore", title="Grease the ramp").id
    named = opened().call("work_create", kind="chore", title="Count the life vests").id
    for number in range(100):
        memory.remember(f"Crossing {number} was on time.")
    assert at_hand(checkout(memory, "crossing 7", session="night")) == [raised, named]
    profile = {"task": "Count the life vests"}
    assert at_hand(checkout(memory, "crossing 7", task_profile=profile)) == [named, raised]
    memory.call("work_complete", id=raised)
    assert at_hand(checkout(memory, "crossing 7", session="night")) == [named]


def test_tasks_of_other_projects_stay_there(opened: Opened) -> None:
    opened(project="yard").call("work_create", kind="chore", title="Count the life vests")
    memory = opened()
    own = memory.call("work_create", kind="chore", title="Grease the ramp").id
    memory.remember("Crossing 7 was on time.")
    profile = {"task": "Count the life vests"}
    assert at_hand(checkout(memory, "crossing 7", task_profile=profile)) == [own]
    assert len(at_hand(checkout(memory, "crossing 7", task_profile=profile, everywhere=True))) == 2


def test_open_tasks_of_long_ago_are_listed_by_priority(opened: Opened) -> None:
    memory = opened()
    told = {"Paint the bow": 1.0, "Seal the leak": 4.0, "Order rope": 3.0}
    made = {
        title: memory.call("work_create", kind="chore", title=title, importance=importance).id
        for title, importance in told.items()
    }
    done = memory.call("work_create", kind="chore", title="Ring the bell", importance=4.0).id
    memory.call("work_complete", id=done)
    opened(project="dock").call("work_create", kind="chore", title="Sweep the dock")
    for number in range(100):
        memory.remember(f"Crossing {number} was on time.")
    answer = checkout(memory, "crossing 7")
    assert at_hand(answer) == [made[title] for title in ("Seal the leak", "Order rope", "Paint the bow")]
    places = [answer.prompt.index(title) for title in ("Seal the leak", "Order rope", "Paint the bow")]
    assert places == sorted(places)
    for name in "abcdefghijklmnopqrstuvwxyz":
        memory.call("work_create", kind="chore", title=f"Mend the net {name}")
    many = at_hand(checkout(memory, "crossing 7", max_tokens=20_000))
    assert many[:2] == [made["Seal the leak"], made["Order rope"]]
    assert len(many) == 12
