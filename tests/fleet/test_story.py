"""The day of docs/fleet.md: three agents, one repository, one crash, one handoff, and a log that tells it all."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.fleet.crew import Crew
from tests.fleet.test_reflect import decide, edit, run_tests
from tests.places import MakeStore
from weft.core.errors import Forbidden
from weft.surfaces.render import render
from weft.testing.clock import ManualClock

MINUTE_US = 60_000_000


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def test_a_day_with_three_agents(crew: Crew) -> None:
    crew.index("src/login.py", "sessions in memory", "sign_in", "sign_out")
    ana, ben, cem = (crew.agent(name) for name in ("ana", "ben", "cem"))

    # Ana plans and begins.
    steps = [{"title": "Sessions on disk"}, {"title": "Document sessions"}]
    plan = ana.call("plan_save", title="Keep sessions", steps=steps)
    task = plan.tasks[0]
    ana.call("agent_claim", target="Sessions on disk", intent="find out where sessions live")
    ana.call("agent_claim", target="src/login.py", intent="write sessions to disk", task=task)

    # Ben is told, and takes nothing that is hers.
    told = ben.call("agent_claim", target="src/login.py::sign_in", intent="rename it")
    assert (told.status, told.conflicts[0].agent) == ("conflict", "ana")
    waiting = {row.title: row.waits_for for row in ben.call("progress_query", open_only=True).tasks}
    assert waiting == {"Sessions on disk": (), "Document sessions": ("Sessions on disk",)}

    # Ana works, and is gone in the middle.
    decide(ana, "Keep sessions in one file", "src/login.py")
    edit(ana, "src/login.py", "write sessions", task_id=task)
    run_tests(ana, "tests/test_login.py", passed=3, failed=1, task_id=task)
    (failing,) = [each for each in cem.call("blocking_issues").issues if each.kind == "failing"]
    assert failing.subject == "Sessions on disk"
    with pytest.raises(Forbidden, match="ana is at work"):
        cem.call("handoff", task=task, take_over=True)

    # She was not heard of for a while: Cem carries on, and finishes.
    crew.clock.step(20 * MINUTE_US)
    taken = cem.call("handoff", task=task, take_over=True, note="ana is silent")
    assert taken.taken_from == ("ana",)
    assert any("write sessions" in line.text for line in taken.done)
    assert [line.type for line in taken.open] == ["TEST_RESULT"]
    assert taken.where[0].text == "src/login.py"
    edit(cem, "src/login.py", "read sessions", task_id=task)
    run_tests(cem, "tests/test_login.py", passed=4, task_id=task)
    done = cem.call("task_update", task=task, status="completed", note="Sessions survive restarts.")
    assert set(done.released) == {task, "harbour/src/login.py"}
    assert not cem.call("coordination_overview").active
    assert len(done.learnings) == 1

    # The next one begins with what was learnt, and is no longer in anybody's way.
    assert ben.call("agent_claim", target="src/login.py::sign_in", intent="rename it").status == "ok"
    learnt = ben.call("episode_recall", query="test_login fails", types=["LEARNING"]).episodes
    assert "tests/test_login.py pass" in learnt[0].title
    assert ben.call("decision_query", query="sessions", affected_files=["src/login.py"]).episodes
    assert next(row for row in ben.call("progress_query").tasks if row.title == "Document sessions").waits_for == ()

    _the_log_tells_it(crew.operator)


def _the_log_tells_it(operator: weft.Memory) -> None:
    shown = operator.call("log_show", limit=100)
    told = "\n".join(render(shown, "person").blocks)
    story = (
        "ana claims src/login.py: write sessions to disk",
        "ben was refused what ana holds: rename it",
        "Keep sessions in one file",
        "Edit of src/login.py: write sessions",
        "Tests: 3 passed, 1 failed",
        "cem takes src/login.py over from ana: ana is silent",
        "Took 'Sessions on disk' over from ana. ana is silent",
        "Tests: 4 passed, 0 failed",
        "the task succeeded; claims released: ",
        "Sessions on disk: is done: Sessions survive restarts.",
        "new learning, confidence 0.80",
        "ben claims",
    )
    places = [told.find(line) for line in story]
    assert [line for line, place in zip(story, places, strict=True) if place < 0] == []
    assert places == sorted(places)
    for event in shown.events:
        assert operator.call("cite", citation=event.citation)
