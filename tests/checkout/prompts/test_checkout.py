"""`memory_checkout`: what it shows within its budget, and what each purpose makes of it."""

from __future__ import annotations

import pytest

import weft
from tests.checkout.harbour import WHEN, WHY
from tests.checkout.prompts.checked_out import Opened, checkout, kinds, note, suppressed
from weft.checkout.request import FIELDS
from weft.context.tokens import count_tokens
from weft.core.errors import Invalid, OverBudget
from weft.retrieval.purposes import PURPOSES
from weft.testing.clock import DAY_US, ManualClock

# ---- what it shows


def test_a_checkout_says_everything_about_its_prompt(night: weft.Memory) -> None:
    answer = checkout(night, WHEN, purpose="release")
    assert answer.status == "succeeded"
    assert answer.prompt.startswith("Memory for release, project quay.")
    assert '[Event] "The certificate of Lantern ran out."' in answer.prompt
    assert answer.token_use.prompt == count_tokens(answer.prompt) <= answer.token_use.budget == 1_200
    assert answer.counts["shown"] == len(answer.evidence) == sum(answer.counts.get(slot, 0) for slot in SLOTS)
    for line in answer.evidence:
        assert f"{line.number}. [" in answer.prompt
        assert line.citation, line
    origins = {origin.number: origin for origin in answer.provenance}
    assert {number for origin in origins.values() for number in origin.lines} == {
        each.number for each in answer.evidence
    }
    assert all(origin.session and origin.agent == "operator" and origin.recorded_at for origin in origins.values())
    renewed = checkout(night, "what renews Lantern?", purpose="release")
    assert "Lantern renewed by the robot" in [fact.text for fact in renewed.current_facts]
    assert [task.name for task in answer.working_set.tasks][:1] == ["Test the spare certificate of Lantern"]
    assert answer.quality.evidence == "strong"
    assert answer.quality.coverage == 1.0
    assert answer.guidance[0] in answer.prompt


SLOTS = ("core", "dependencies", "decisions", "plan", "episodes")


def test_lines_stand_in_the_slot_of_their_kind(night: weft.Memory) -> None:
    answer = checkout(night, "the spare certificate of Lantern", max_tokens=4_000)
    assert set(kinds(answer, "decisions")) <= {"Decision", "Preference"}
    assert set(kinds(answer, "plan")) == {"Task"}
    assert "Decision" in kinds(answer, "decisions")
    assert not {"Decision", "Task"} & set(kinds(answer, "core"))
    assert "docs/certificates.md" in answer.working_set.files
    filed = next(each for each in answer.provenance if each.citation.startswith("file://"))
    assert filed.event.startswith("weft://harbour/")


def test_a_question_that_nothing_answers_says_so(opened: Opened) -> None:
    answer = checkout(opened(), "the lighthouse")
    assert (answer.status, answer.evidence, answer.quality.evidence) == ("empty", (), "none")
    assert "(nothing to show)" in answer.prompt
    assert any("no memory that you may see matches" in note for note in answer.notes)


def test_weak_evidence_is_left_out_and_counted_unless_any_is_wanted(night: weft.Memory) -> None:
    question = "the berth of the night ferry in May"
    strict, lenient = checkout(night, question), checkout(night, question, task_profile={"evidence": "any"})
    assert kinds(strict, "core")[0] == "Memory"
    assert suppressed(strict)["low evidence"] > 0
    assert "low evidence" not in suppressed(lenient)
    assert len(kinds(lenient, "core")) > len(kinds(strict, "core"))


# ---- the budget


@pytest.mark.parametrize("tokens", [150, 300, 599, 600, 1_200, 5_000])
def test_a_prompt_stays_within_its_budget(night: weft.Memory, tokens: int) -> None:
    answer = checkout(night, WHY, max_tokens=tokens, purpose="coding")
    assert answer.token_use.prompt == count_tokens(answer.prompt) <= tokens
    assert answer.evidence
    gone = suppressed(answer).get("over budget", 0)
    assert bool(gone) == ("omitted" in answer.prompt)


def test_a_budget_for_no_line_is_an_error_that_says_how_much_it_takes(night: weft.Memory) -> None:
    with pytest.raises(OverBudget, match="no line fits into 50 tokens") as caught:
        checkout(night, WHY, max_tokens=50)
    least = int(caught.value.hint.split()[2])
    assert caught.value.hint == f"give max_tokens {least} or more"
    assert checkout(night, WHY, max_tokens=least).evidence
    with pytest.raises(OverBudget):
        checkout(night, WHY, max_tokens=least - 1)


def test_a_small_budget_is_for_what_answers(night: weft.Memory) -> None:
    small, large = checkout(night, WHY, max_tokens=300), checkout(night, WHY, max_tokens=1_200)
    assert "What led to what" in small.prompt
    assert kinds(small, "core").count("Cause") == 6, "the whole chain"
    assert not kinds(small, "episodes")
    assert kinds(large, "episodes")
    assert suppressed(small)["beside the question"] > 0


def test_only_the_fields_asked_for_come_beside_the_prompt(night: weft.Memory) -> None:
    answer = checkout(night, WHEN, fields=["quality"])
    assert answer.prompt
    assert answer.quality.evidence == "strong"
    for name in set(FIELDS) - {"quality"}:
        assert not getattr(answer, name) or getattr(answer, name) == getattr(type(answer)(**BARE), name), name
    with pytest.raises(Invalid, match="fields"):
        checkout(night, WHEN, fields=["everything"])


BARE = dict.fromkeys(("query", "status", "prompt", "valid_at", "known_at", "purpose"), "")


# ---- purposes


@pytest.mark.parametrize("name", PURPOSES)
def test_a_purpose_reports_the_policy_that_it_applied(night: weft.Memory, name: str) -> None:
    purpose = PURPOSES[name]
    answer = checkout(night, WHEN, purpose=name, limit=5)
    assert answer.diagnostics is not None
    policy = answer.diagnostics.policy
    assert (policy.recall_floor, policy.multiplier, policy.scoring) == (
        purpose.recall_floor,
        purpose.multiplier,
        purpose.scoring,
    )
    assert policy.candidates == purpose.candidates(5)
    assert policy.emphasis == purpose.emphasis
    assert answer.counts["candidates"] <= policy.candidates
    assert len(kinds(answer, "core")) <= 5


def test_an_unknown_purpose_lists_those_that_there_are(night: weft.Memory) -> None:
    with pytest.raises(Invalid, match="unknown purpose 'codng'") as caught:
        checkout(night, WHEN, purpose="codng")
    assert all(name in caught.value.hint for name in PURPOSES)


def test_emphasis_tips_the_scale(opened: Opened) -> None:
    memory = opened()
    plain = memory.remember("The queue of the ferry was painted blue.").id
    told = memory.remember("The queue of the ferry is a security exposure.").id
    assert checkout(memory, "the queue of the ferry", purpose="security").evidence[0].id == told
    assert {line.id for line in checkout(memory, "the queue of the ferry").evidence} == {plain, told}


def test_to_coordinate_is_to_see_what_is_accepted(opened: Opened) -> None:
    memory = opened()
    accepted = note(memory, "The ramp of berth two is repaired.", state="accepted")
    for state in ("pending", "rejected", "deferred", "stale"):
        note(memory, f"The ramp of berth two needs paint, says worker {state}.", state=state)
    answer = checkout(memory, "the ramp of berth two", purpose="coordinate")
    assert [line.id for line in answer.evidence] == [accepted]
    assert {state: suppressed(answer)[state] for state in ("pending", "rejected", "deferred", "stale")} == {
        "pending": 1,
        "rejected": 1,
        "deferred": 1,
        "stale": 1,
    }
    assert "Only accepted state is shown" in answer.prompt
    for asked in ({"include_pending": True}, {"diagnostics": True}):
        more = checkout(memory, "the ramp of berth two", purpose="coordinate", **asked)
        assert len(more.evidence) == 5
        assert more.evidence[0].id == accepted, "what is accepted counts more"
        assert "! pending" in more.prompt
    coding = checkout(memory, "the ramp of berth two", purpose="coding")
    assert len(coding.evidence) == 5
    assert "! rejected" in coding.prompt, "marked, whatever the purpose"


# ---- time


def test_a_checkout_of_then_tells_what_was_known_then(opened: Opened, clock: ManualClock) -> None:
    memory = opened()
    memory.add_fact("Lantern", "owner", "Ines")
    clock.step(10 * DAY_US)
    memory.add_fact("Lantern", "owner", "Noor")
    clock.step(DAY_US)
    now, then = checkout(memory, "owner of Lantern"), checkout(memory, "owner of Lantern", as_of="2026-04-05")
    assert ["Noor" in fact.text for fact in now.current_facts] == [True]
    assert ["Ines" in fact.text for fact in then.current_facts] == [True]
    assert then.valid_at.startswith("2026-04-05")
    assert checkout(memory, "owner of Lantern", known_at="2026-03-01").status == "empty"
