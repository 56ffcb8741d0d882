"""What is learnt from episodes: once, surer with evidence, retired when contradicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.fleet.crew import Crew
from tests.places import MakeStore
from weft.core.errors import Invalid
from weft.core.types import NOW
from weft.testing.clock import ManualClock


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def edit(memory: weft.Memory, file: str, what: str = "changed it", **more: Any) -> str:
    metadata = {"file": file, "diff_summary": what, "lines_before": 1, "lines_after": 2, "reason": "it was wrong"}
    return str(memory.call("episode_add", type="EDIT", content=f"{what} in {file}", metadata=metadata, **more).id)


def run_tests(memory: weft.Memory, *tests: str, passed: int = 0, failed: int = 0, **more: Any) -> str:
    metadata = {"passed": passed, "failed": failed, "test_files": list(tests)}
    return str(memory.call("episode_add", type="TEST_RESULT", content="ran tests", metadata=metadata, **more).id)


def decide(memory: weft.Memory, title: str, *files: str) -> str:
    metadata = {"title": title, "rationale": "it seemed right", "tradeoffs": [], "affected_files": list(files)}
    return str(memory.call("episode_add", type="DECISION", content=title, metadata=metadata).id)


def fail(memory: weft.Memory, *entities: str) -> str:
    metadata = {"error_type": "KeyError", "stack_summary": "no such key"}
    return str(memory.call("episode_add", type="ERROR", content="it broke", metadata=metadata, entities=entities).id)


def test_a_file_edited_three_times_becomes_a_learning_joined_to_it(crew: Crew) -> None:
    file = crew.index("app.py", "one")
    ana = crew.agent("ana")
    ids = [edit(ana, "app.py", f"step {n}") for n in range(3)]
    made = ana.call("reflect")
    (pattern,) = made.patterns
    assert (pattern.kind, pattern.files, set(pattern.evidence)) == ("hotspot", ("app.py",), set(ids))
    (learnt,) = made.learnings
    assert (learnt.change, learnt.confidence) == ("new", 0.7)
    steps = ana.ctx.store.neighbours(ana.ctx.viewer, NOW, [learnt.id], rels=("APPLIES_TO",), direction="out")
    assert [step.node.id for step in steps] == [file]
    sources = ana.ctx.store.neighbours(ana.ctx.viewer, NOW, [made.reflection], rels=("DERIVED_FROM",), direction="out")
    assert {step.node.id for step in sources} == set(ids)


def test_the_same_episodes_teach_nothing_twice_and_new_ones_make_surer(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    for n in range(3):
        edit(ana, "app.py", f"step {n}")
    first = ana.call("reflect").learnings[0]
    before = ana.ctx.store.head(ana.ctx.viewer).pos
    again = ana.call("reflect")
    assert (again.reflection, again.learnings) == ("", ())
    assert ana.ctx.store.head(ana.ctx.viewer).pos == before
    edit(ana, "app.py", "one more")
    (surer,) = ana.call("reflect").learnings
    assert (surer.id, surer.change, surer.was) == (first.id, "reinforced", first.confidence)
    assert surer.confidence > first.confidence
    found = ana.call("episode_recall", query="edited again", types=["LEARNING"]).episodes
    assert [each.id for each in found] == [first.id]


def test_a_decision_followed_by_an_error_is_learnt_then_doubted_then_retired(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana = crew.agent("ana")
    decide(ana, "Cache sessions in memory", "app.py")
    fail(ana, "app.py::login")
    fail(ana, "app.py::login")
    (learnt,) = ana.call("reflect").learnings
    assert (learnt.change, learnt.confidence) == ("new", 0.8)
    ana.call("episode_add", type="OBSERVATION", content="no failure here", entities=["app.py"])
    metadata = {"passed": 4, "failed": 0, "test_files": ["test_app.py"]}
    for number, change in enumerate(("retired",)):
        ana.call("episode_add", type="TEST_RESULT", content=f"fine {number}", metadata=metadata, entities=["app.py"])
        (told,) = ana.call("reflect").learnings
        assert (told.id, told.change) == (learnt.id, change)
        assert told.confidence < learnt.confidence
    assert not ana.call("episode_recall", query="Cache sessions led to errors", types=["LEARNING"]).episodes
    assert not ana.ctx.store.nodes(ana.ctx.viewer, NOW, [learnt.id])
    assert not [
        hit for hit in ana.call("recall", query="Cache sessions led to errors").hits if hit.node.kind == "Learning"
    ]


def test_what_made_tests_pass_is_learnt_and_doubted_when_they_fail_again(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    run_tests(ana, "test_app.py", failed=2)
    edit(ana, "app.py")
    run_tests(ana, "test_app.py", passed=5)
    (learnt,) = ana.call("reflect").learnings
    assert learnt.title == "Editing app.py made test_app.py pass"
    run_tests(ana, "test_app.py", failed=1)
    (told,) = [each for each in ana.call("reflect").learnings if each.id == learnt.id]
    assert told.change == "retired"


def test_what_is_read_again_and_again_is_told_unless_it_was_edited_in_between(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    for number in range(3):
        ana.call("episode_add", type="OBSERVATION", content=f"look {number}", entities=["app.py::login"])
    assert [each.kind for each in ana.call("reflect").patterns] == ["reread"]
    for number in range(3):
        if number == 2:
            edit(ben, "app.py")
        ben.call("episode_add", type="OBSERVATION", content=f"look {number}", entities=["app.py::login"])
    assert ben.call("reflect").patterns == ()


def test_an_error_elsewhere_says_nothing_about_a_decision(crew: Crew) -> None:
    crew.index("app.py", "one")
    crew.index("lib.py", "one", "other")
    ana = crew.agent("ana")
    decide(ana, "Cache sessions in memory", "app.py")
    fail(ana, "lib.py::other")
    assert ana.call("reflect").patterns == ()


def test_tests_that_passed_before_the_edit_were_not_mended_by_it(crew: Crew) -> None:
    ana = crew.agent("ana")
    run_tests(ana, "test_app.py", failed=1)
    run_tests(ana, "test_app.py", passed=1)
    edit(ana, "app.py")
    run_tests(ana, "test_app.py", passed=1)
    assert ana.call("reflect").patterns == ()


def test_it_reflects_by_itself_when_the_interval_is_over(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana", reflect_minutes=60)
    for n in range(3):
        edit(ana, "app.py", f"step {n}")
    crew.clock.step(3_700_000_000)
    metadata = {"file": "app.py", "diff_summary": "x", "lines_before": 1, "lines_after": 2, "reason": "y"}
    told = ana.call("episode_add", type="EDIT", content="the fourth", metadata=metadata)
    assert len(told.learnings) == 1
    told = ana.call("episode_add", type="EDIT", content="the fifth", metadata=metadata)
    assert told.learnings == ()


def test_a_task_and_an_agent_are_not_both_asked_for(crew: Crew) -> None:
    with pytest.raises(Invalid, match="both a task and an agent"):
        crew.agent("ana").call("reflect", task_id=crew.task(), agent="ana")
