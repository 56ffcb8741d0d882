"""Tasks: what they wait for, what ends with them, and how another carries on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.fleet.crew import Crew
from tests.fleet.test_reflect import decide, edit, fail, run_tests
from tests.places import MakeStore
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.types import NOW
from weft.fleet import tasks
from weft.operations import operation
from weft.runtime.priorities import Profile
from weft.surfaces.mcp.answer import success
from weft.testing.clock import ManualClock

MINUTE_US = 60_000_000


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def commits(memory: weft.Memory) -> int:
    return len(memory.ctx.store.log(memory.ctx.operator("read the log"), after=0, limit=10_000))


def test_the_end_of_a_task_releases_its_claims_keeps_the_outcome_and_learns_in_one_commit(crew: Crew) -> None:
    crew.index("app.py", "one")
    crew.index("lib.py", "one")
    ana = crew.agent("ana")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target=task, intent="fix it")
    ana.call("agent_claim", target="app.py", intent="fix it", task=task)
    ana.call("agent_claim", target="lib.py", intent="something else")
    for n in range(3):
        edit(ana, "app.py", f"step {n}", task_id=task)
    before = commits(crew.operator)
    told = ana.call("task_update", task=task, status="completed", note="It was the cookie.")
    assert commits(crew.operator) == before + 1
    assert told.state == "succeeded"
    assert set(told.released) == {task, "harbour/app.py"}
    assert [each.target for each in ana.call("coordination_overview").active] == ["harbour/lib.py"]
    (decision,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [told.decision])
    assert (decision.kind, decision.text, decision.props["outcome"]) == ("Decision", "It was the cookie.", "success")
    assert decision.props["affected_files"] == ["app.py"]
    assert len(told.learnings) == 1
    (reflection,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [told.reflection])
    assert reflection.props["type"] == "REFLECTION"
    with pytest.raises(Conflict, match="completed"):
        ana.call("task_update", task=task, status="open")


def test_a_workflows_task_that_nobody_worked_on_just_ends(crew: Crew) -> None:
    task = crew.task()
    before = crew.operator.ctx.store.head(crew.operator.ctx.viewer).pos
    crew.operator.call("work_complete", id=task, result="done")
    assert crew.operator.ctx.store.head(crew.operator.ctx.viewer).pos == before + 1


def test_a_workflows_task_that_is_claimed_ends_its_claims_like_any_other(crew: Crew) -> None:
    task = crew.task()
    crew.agent("ana").call("agent_claim", target=task, intent="a")
    told = crew.operator.call("work_complete", id=task, result="done")
    assert "claims released: Fix the login (of ana)" in told.notes
    assert not crew.operator.call("coordination_overview").active


def test_no_claim_of_a_task_is_overlooked_however_many_there_are(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.writing.claims.held.MAX_CLAIMS", 2)
    ana = crew.agent("ana")
    task = ana.call("task_create", title="Fix the login").id
    crew.index("app.py", "one")
    ana.call("agent_claim", target="app.py", intent="fix", task=task)
    for number in range(5):
        ana.call("agent_claim", target=ana.call("task_create", title=f"later {number}").id, intent="later")
    assert [each.target for each in ana.call("handoff", task=task).claims] == ["harbour/app.py"]
    assert ana.call("task_update", task=task, status="completed").released == ("harbour/app.py",)


def test_a_claim_made_while_its_task_ends_ends_with_it(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target=task, intent="fix")
    planned, claims = tasks.completion, [lambda: ben.call("agent_claim", target="app.py", intent="help", task=task)]

    def late(*given: Any, **more: Any) -> Any:
        made = planned(*given, **more)
        while claims:
            claims.pop()()
        return made

    monkeypatch.setattr(tasks, "completion", late)
    assert ana.call("task_update", task=task, status="completed").released == (task, "harbour/app.py")
    assert not ana.call("coordination_overview").stale


def test_features_made_at_once_are_one(crew: Crew) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: crew.agent(f"a{n}").call("feature_create", title="Sign in"), range(8)))
    assert len({each.id for each in made}) == 1
    assert sorted(each.status for each in made) == ["duplicate_skip"] * 7 + ["saved"]


def test_no_task_waits_for_itself_not_even_through_others(crew: Crew) -> None:
    ana = crew.agent("ana")
    one = ana.call("task_create", title="one").id
    two = ana.call("task_create", title="two", depends_on=["one"]).id
    three = ana.call("task_create", title="three", depends_on=[two]).id
    with pytest.raises(Invalid, match="cannot depend on itself") as own:
        ana.call("task_update", task=one, depends_on=[one])
    assert own.value.hint
    with pytest.raises(Invalid, match="would wait for itself: 'three' -> 'two' waits for it"):
        ana.call("task_update", task=one, depends_on=[three])
    with pytest.raises(Invalid, match="'four' cannot depend on itself"):
        ana.call("task_create", title="four", depends_on=["four"])
    with pytest.raises(NotFound, match="no task 'nothing'"):
        ana.call("task_create", title="four", depends_on=["nothing"])
    with pytest.raises(NotFound, match="no task 'nothing'"):
        ana.call("task_update", task="nothing", status="running")


def test_a_plan_is_an_ordered_list_of_tasks_and_progress_tells_who_is_at_what(crew: Crew) -> None:
    ana = crew.agent("ana")
    ana.call("feature_create", title="Sign in")
    steps = [{"title": "schema"}, {"title": "form", "priority": "high"}, {"title": "docs", "after": [1]}]
    plan = ana.call("plan_save", title="Sign in, step by step", steps=steps, feature="Sign in")
    ana.call("agent_claim", target=plan.tasks[0], intent="begin")
    ana.call("task_update", task=plan.tasks[0], status="in_progress")
    rows = ana.call("progress_query", feature="Sign in, step by step").tasks
    assert {row.title: row.waits_for for row in rows} == {"schema": (), "form": ("schema",), "docs": ("schema",)}
    assert rows[0].title == "form"  # the most urgent
    assert next(row for row in rows if row.title == "schema").held_by == "ana"
    page = ana.call("progress_query", limit=2)
    assert (len(page.tasks), page.total, page.next_offset) == (2, 3, 2)
    assert [row.title for row in ana.call("progress_query", assignee="ana").tasks] == ["schema"]
    with pytest.raises(Invalid, match="step 1 waits for step 2, which comes later"):
        ana.call("plan_save", title="x", steps=[{"title": "a", "after": [2]}, {"title": "b"}])
    shown = ana.call("feature_status", feature="Sign in")
    assert (shown.done, shown.total, shown.status) == (0, 3, "running")
    assert any("waits for schema" in each for each in shown.blockers)


def test_a_repeated_plan_is_told_with_its_tasks(crew: Crew) -> None:
    ana, steps = crew.agent("ana"), [{"title": "schema"}, {"title": "form"}, {"title": "docs"}]
    first = ana.call("plan_save", title="Sign in", steps=steps, request_id="r1")
    again = ana.call("plan_save", title="Sign in", steps=steps, request_id="r1")
    assert (again.status, again.id, again.tasks) == ("duplicate_skip", first.id, first.tasks)


def test_the_end_of_an_open_task_repeats_no_words_of_those_who_keep_theirs_to_themselves(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    task = ana.call("task_create", title="Answer the press", scope="public").id
    for number in range(3):
        edit(ana, "app.py", f"inner detail {number}", task_id=task)
    ana.call("agent_claim", target=task, intent="answer")
    done = ana.call("task_update", task=task, status="completed", note="answered")
    assert (done.released, done.learnings) == ((task,), ())
    (decision,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [done.decision])
    assert (decision.guard.scope, decision.props["affected_files"]) == ("public", [])


def test_what_is_in_the_way_is_told_with_the_next_step(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    first = ana.call("task_create", title="first").id
    ana.call("task_create", title="second", depends_on=["first"])
    ana.call("task_update", task=first, status="blocked", note="no key for the vault")
    ana.call("agent_claim", target="app.py", intent="rename")
    ben.call("agent_claim", target="app.py", intent="format")
    run_tests(ana, "test_app.py", failed=2, task_id=first)
    found = {each.kind: each for each in ana.call("blocking_issues").issues}
    assert set(found) == {"blocked", "conflict", "failing", "waits"}
    assert found["blocked"].reason == "no key for the vault"
    assert "ben wants it" in found["conflict"].reason
    assert all(each.next_step and "weft " not in each.next_step for each in found.values())
    run_tests(ana, "test_app.py", passed=3, task_id=first)
    assert "failing" not in {each.kind for each in ana.call("blocking_issues").issues}
    assert [each.kind for each in ana.call("blocking_issues", task="second").issues] == ["waits"]


def test_a_handoff_tells_all_that_is_needed_with_sources(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    task = ana.call("task_create", title="Fix the login", description="Sessions end too early.").id
    ana.call("agent_claim", target="app.py", intent="fix", task=task)
    decide(ana, "Keep sessions in Redis", "app.py")
    ana.call("episode_add", type="OBSERVATION", content="the cookie has no path", task_id=task)
    edit(ana, "app.py", "set the path", task_id=task)
    run_tests(ana, "test_app.py", failed=1, task_id=task)
    pack = ben.call("handoff", task="Fix the login")
    assert pack.asked == "Sessions end too early."
    assert [line.type for line in pack.done] == ["EDIT", "OBSERVATION"]
    assert [line.type for line in pack.open] == ["TEST_RESULT"]
    assert [line.text for line in pack.where] == ["app.py", "test_app.py (not indexed)"]
    assert [each.agent for each in pack.claims] == ["ana"]
    assert all(line.citation for line in (*pack.done, *pack.open))


def test_a_task_is_taken_over_from_who_is_silent_and_from_nobody_at_work(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target=task, intent="fix")
    ana.call("agent_claim", target="app.py", intent="fix", task=task)
    with pytest.raises(Forbidden, match="ana is at work") as early:
        ben.call("handoff", task=task, take_over=True)
    assert "silent for 15 minutes" in early.value.hint
    crew.clock.step(16 * MINUTE_US)
    told = ben.call("handoff", task=task, take_over=True, note="ana is gone")
    assert set(told.taken) == {task, "harbour/app.py"}
    assert told.taken_from == ("ana",)
    assert {each.agent for each in ben.call("coordination_overview").active} == {"ben"}
    assert "Took 'Fix the login' over from ana" in told.done[0].text
    with pytest.raises(Forbidden, match="held by ben"):
        ana.call("agent_release", target="app.py")


def test_another_agent_in_the_same_session_does_not_keep_the_silent_one_at_work(crew: Crew) -> None:
    ana, ben = crew.agent("ana", "shared"), crew.agent("ben", "shared")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target=task, intent="fix")
    crew.clock.step(16 * MINUTE_US)
    ben.call("episode_add", type="OBSERVATION", content="ana is quiet")
    assert ben.call("handoff", task=task, take_over=True).taken_from == ("ana",)


def test_a_task_is_taken_over_without_what_overlaps_other_work_of_its_agent(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target="app.py", intent="tidy all of it")
    ana.call("agent_claim", target="app.py::login", intent="fix", task=task)
    crew.clock.step(16 * MINUTE_US)
    told = ben.call("handoff", task=task, take_over=True)
    assert told.taken == (task,)
    assert told.notes == ("harbour/app.py::login was not taken: ana holds harbour/app.py",)
    held = {each.target: each.agent for each in ben.call("coordination_overview").active}
    assert held == {task: "ben", "harbour/app.py": "ana"}


def test_two_sessions_of_one_name_are_told_what_to_do(crew: Crew) -> None:
    task = crew.task()
    for session in ("monday", "tuesday"):
        crew.agent("ana", session).call("agent_claim", target=task, intent=session)
    (issue,) = crew.agent("ana").call("blocking_issues").issues
    assert "another session of ana wants it (tuesday)" in issue.reason
    assert "a name of its own" in issue.next_step


def test_the_holder_passes_a_task_on_and_only_it(crew: Crew) -> None:
    ana, ben, cem = crew.agent("ana"), crew.agent("ben"), crew.agent("cem")
    task = ana.call("task_create", title="Fix the login").id
    ana.call("agent_claim", target=task, intent="fix")
    with pytest.raises(Forbidden, match="ana works on this task"):
        ben.call("handoff", task=task, to="ben")
    ana.call("handoff", task=task, to="ben", note="the tests are red")
    with pytest.raises(Forbidden):
        cem.call("handoff", task=task, take_over=True)
    assert ben.call("handoff", task=task, take_over=True).taken == (task,)
    with pytest.raises(Invalid, match="either passed on or taken over"):
        ben.call("handoff", task=task, to="cem", take_over=True)


def test_what_is_claimed_for_a_task_falls_with_its_errors_told(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana = crew.agent("ana")
    task = ana.call("task_create", title="Fix the login").id
    fail(ana, "app.py::login")
    ana.call("agent_claim", target="app.py", intent="fix", task=task)
    told = ana.call("task_update", task=task, status="failed", note="too hard")
    (decision,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [told.decision])
    assert (decision.props["outcome"], decision.name) == ("failure", "Fix the login: failed")


@pytest.mark.parametrize("profile", ["compact", "balanced"])
def test_a_long_handoff_keeps_something_of_every_part_within_its_budget(crew: Crew, profile: Profile) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    task = ana.call("task_create", title="Fix the login", description="Sessions end too early.").id
    decide(ana, "Keep sessions in Redis", "app.py")
    for number in range(15):
        edit(ana, "app.py", f"step {number} of a long way to a login that nobody has to repeat", task_id=task)
    run_tests(ana, "test_app.py", failed=1, task_id=task)
    told = ana.call("handoff", task=task)
    answer = success(told, wording=str, profile=profile, operation=operation("handoff"))
    assert answer.envelope.token_estimate <= {"compact": 300, "balanced": 1_200}[profile]
    assert answer.envelope.data is not None
    assert answer.envelope.data["asked"] == "Sessions end too early."
    assert "step 14" in answer.envelope.data["done"][0]["text"]  # the latest
    assert "1 failed" in answer.envelope.data["open"][0]["text"]
    assert answer.envelope.data["where"][0]["text"] == "app.py"
