"""`assemble_context` and `previous_context`: what happened last, and where things stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.checkout.harbour import TALK, WHY
from weft.checkout import previous_context as previous
from weft.context.tokens import count_tokens
from weft.core.errors import NotFound, OverBudget
from weft.testing.clock import DAY_US, ManualClock

UNSUPPORTED = "no memory that was found supports them"


@pytest.fixture
def memory(tmp_path: Path, clock: ManualClock) -> Iterator[weft.Memory]:
    environment = {"HOME": str(tmp_path), "WEFT_PROJECT": "quay", "WEFT_AUDIT": "off", "WEFT_EMBEDDER": "none"}
    with weft.open(f"sqlite://{tmp_path / 's'}", directory=tmp_path, environment=environment, clock=clock) as made:
        yield made


def assembled(memory: weft.Memory, query: str, **given: Any) -> Any:
    return memory.call("assemble_context", query=query, **given)


def test_the_replay_of_a_session_stands_before_what_is_recalled(night: weft.Memory) -> None:
    answer = assembled(night, WHY, session="standup")
    assert (answer.replayed, answer.truncated, answer.warnings) == (len(TALK), False, ())
    places = [answer.context.index(turn) for turn in TALK]
    assert places == sorted(places), "newest last"
    assert answer.context.index("Last turns, newest last") < answer.context.index("What led to what")
    assert answer.recalled > 4
    assert answer.tokens == count_tokens(answer.context) <= 1_200


def test_nothing_is_told_twice(night: weft.Memory) -> None:
    answer = assembled(night, "how long were the bookings down?", session="standup")
    assert answer.context.count("two hours and four minutes") == 1


def test_a_replay_that_is_cut_keeps_the_latest_and_says_so(memory: weft.Memory) -> None:
    memory.record_turns("night", [f"Ines: crossing {number} left the pier on time" for number in range(30)])
    answer = assembled(memory, "crossing 3 left", session="night", max_tokens=300)
    assert answer.truncated
    assert "(earlier ones omitted)" in answer.context
    assert "crossing 29 left" in answer.context
    assert answer.tokens <= 300
    few = assembled(memory, "crossing 3 left", session="night", replay=5)
    assert (few.replayed, few.truncated) == (5, True)
    assert not any(UNSUPPORTED in warning for warning in few.warnings)


def test_the_answer_is_not_cut_away_with_the_replay(memory: weft.Memory) -> None:
    memory.record_turns(
        "night",
        ["Ines: the spare anchor lies in locker nine"]
        + [
            f"Ines: crossing {number} left the pier on time and nothing else was to be told of it"
            for number in range(15)
        ],
    )
    answer = assembled(memory, "where does the spare anchor lie?", session="night", max_tokens=300)
    assert answer.truncated
    assert answer.context.count("locker nine") == 1
    assert answer.recalled > 0
    assert not any(UNSUPPORTED in warning for warning in answer.warnings)
    assert "without the lines recalled below" in answer.context


def test_a_cut_replay_that_nothing_supports_is_warned_about(memory: weft.Memory) -> None:
    memory.record_turns("night", [f"Ines: crossing {number} left the pier on time" for number in range(30)])
    answer = assembled(memory, "the lighthouse of Skerry", session="night", replay=5)
    assert (answer.replayed, answer.recalled, answer.truncated) == (5, 0, True)
    assert any(UNSUPPORTED in warning for warning in answer.warnings)
    assert any(UNSUPPORTED in note for note in answer.notes)
    whole = assembled(memory, "the lighthouse of Skerry", session="night", replay=100, max_tokens=4_000)
    assert not whole.warnings


def test_without_a_session_the_project_is_replayed_without_what_was_only_read_out(memory: weft.Memory) -> None:
    memory.remember("Deploys freeze on Fridays because nobody is on call at weekends.")
    memory.remember("The ramp opens at six.", project=None)
    answer = assembled(memory, "the lighthouse")
    assert answer.replayed == 2
    assert "[Cause]" not in answer.context


def test_kinds_are_kept_in_the_replay_of_a_project(memory: weft.Memory) -> None:
    memory.remember("The ramp opens at six.")
    memory.add_fact("ramp", "opens at", "six")
    answer = assembled(memory, "the lighthouse", kinds=["Fact"])
    assert "[Fact]" in answer.context
    assert "[Memory]" not in answer.context
    assert "[Memory]" in assembled(memory, "the lighthouse").context


def test_a_session_that_is_not_there_is_said(memory: weft.Memory) -> None:
    with pytest.raises(NotFound, match="no conversation 'nowhere'"):
        assembled(memory, "anything", session="nowhere")


def test_no_replay_and_no_recall_is_empty_with_a_reason(memory: weft.Memory) -> None:
    answer = assembled(memory, "the lighthouse")
    assert (answer.status, answer.context) == ("empty", "")
    assert answer.notes


def test_a_budget_for_no_line_is_an_error(memory: weft.Memory) -> None:
    memory.remember("The ferry " + "leaves the pier of the old harbour in time, " * 10)
    with pytest.raises(OverBudget, match="no line fits into 50 tokens") as caught:
        assembled(memory, "ferry", max_tokens=50)
    least = int(caught.value.hint.split()[2])
    assert assembled(memory, "ferry", max_tokens=least).context
    with pytest.raises(OverBudget):
        assembled(memory, "ferry", max_tokens=least - 1)


# ---- where things stand


def test_where_things_stand(memory: weft.Memory, clock: ManualClock) -> None:
    memory.call("digest_write", title="Week one", body="Nothing happened.")
    clock.step(DAY_US)
    memory.call("digest_write", title="Week two", body="The ramp broke.")
    ids = {
        title: memory.call("work_create", kind="chore", title=title, **more).id
        for title, more in {
            "Sweep the deck": {},
            "Mend the ramp": {"importance": 5.0},
            "Order paint": {},
            "Done already": {"importance": 9.0},
        }.items()
    }
    memory.call("work_complete", id=ids["Done already"])
    memory.call("work_update", id=ids["Sweep the deck"], status="blocked", note="no broom")
    for number in range(7):
        memory.call("alert_raise", message=f"Alert number {number}")
        clock.step(60_000_000)
    answer = memory.call("previous_context")
    assert answer.digest.name == "Week two"
    assert [task.name for task in answer.tasks] == ["Mend the ramp", "Sweep the deck", "Order paint"]
    assert [alert.text for alert in answer.alerts] == [f"Alert number {number}" for number in range(6, 1, -1)]
    assert '[Task, blocked] "Sweep the deck"' in answer.context
    assert "Week one" not in answer.context
    assert answer.tokens == count_tokens(answer.context)
    few = memory.call("previous_context", limit=1)
    assert (len(few.tasks), few.open_tasks) == (1, 3)
    assert any("3 open tasks" in note for note in few.notes)
    clock.step(2 * DAY_US)
    assert memory.call("previous_context").alerts == ()


def test_open_work_is_found_behind_what_is_finished(memory: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previous, "PAGE", 3)
    memory.call("work_create", kind="chore", title="Mend the ramp")
    for number in range(8):
        memory.call("work_complete", id=memory.call("work_create", kind="chore", title=f"Chore {number}").id)
    answer = memory.call("previous_context")
    assert [task.name for task in answer.tasks] == ["Mend the ramp"]
    assert not any("newest" in note for note in answer.notes)
    monkeypatch.setattr(previous, "MAX_TASKS", 6)
    bounded = memory.call("previous_context")
    assert not bounded.tasks
    assert any("only the newest 6 tasks were searched" in note for note in bounded.notes)


def test_nothing_to_come_back_to_is_said(memory: weft.Memory) -> None:
    answer = memory.call("previous_context")
    assert (answer.status, answer.context) == ("empty", "")
    assert any("no digest, no open task and no alert" in note for note in answer.notes)
