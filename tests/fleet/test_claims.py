"""Claims: one holder, what is inside a file, what ends them, and what a refusal says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.crew import Crew
from tests.places import MakeStore
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.types import NOW
from weft.testing.clock import ManualClock

SECOND_US = 1_000_000


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def test_the_second_is_told_who_holds_it_why_and_since_when(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    got = ana.call("agent_claim", target="app.py", intent="rename the login")
    assert (got.status, got.type) == ("ok", "file")
    assert got.citation
    told = ben.call("agent_claim", target="app.py", intent="me too")
    assert told.status == "conflict"
    (held,) = told.conflicts
    assert (held.agent, held.intent, held.since) == ("ana", "rename the login", got.since)


def test_a_file_conflicts_with_what_is_inside_it_and_functions_beside_each_other_do_not(crew: Crew) -> None:
    crew.index("app.py", "one", "login", "logout")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    assert ana.call("agent_claim", target="app.py::login", intent="a").status == "ok"
    assert ben.call("agent_claim", target="app.py::logout", intent="b").status == "ok"
    told = crew.agent("cem").call("agent_claim", target="app.py", intent="c")
    assert {each.agent for each in told.conflicts} == {"ana", "ben"}
    ana.call("agent_release", target="app.py::login")
    ben.call("agent_release", target="app.py::logout")
    assert crew.agent("cem").call("agent_claim", target="app.py", intent="c").status == "ok"
    assert ana.call("agent_claim", target="app.py::login", intent="a").status == "conflict"


def test_a_claim_ends_when_another_changes_its_target(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    ana.call("agent_claim", target="app.py", intent="a")
    crew.index("app.py", "two", by="ben")
    (stale,) = ben.call("coordination_overview").stale
    assert "its target changed" in stale.stale
    assert "recorded by ben" in stale.stale
    assert any("stale" in note for note in ana.call("agent_status").notes)
    taken = ben.call("agent_claim", target="app.py", intent="b")
    assert taken.status == "ok"
    assert [each.agent for each in ben.call("coordination_overview").active] == ["ben"]
    with pytest.raises(Forbidden, match="held by ben"):
        ana.call("agent_release", target="app.py")
    (told,) = ana.call("agent_status").notes
    assert told.startswith("ben holds harbour/app.py now; your claim had ended: its target changed")


def test_the_holders_own_change_and_one_of_the_same_content_end_nothing(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    ana.call("agent_claim", target="app.py", intent="a")
    crew.index("app.py", "one", by="ben")
    crew.index("app.py", "two", by="ana")
    overview = ana.call("coordination_overview")
    assert [each.agent for each in overview.active] == ["ana"]
    assert not overview.stale


def test_a_lease_ends_by_itself_and_a_repeated_claim_renews_it(crew: Crew) -> None:
    task = crew.task()
    ana, ben = crew.agent("ana"), crew.agent("ben")
    got = ana.call("agent_claim", target=task, intent="a", lease_minutes=10)
    assert got.lease_until
    crew.clock.step(500 * SECOND_US)
    assert ana.call("agent_claim", target=task, intent="a", lease_minutes=10).status == "refreshed"
    crew.clock.step(500 * SECOND_US)
    assert ben.call("agent_claim", target=task, intent="b").status == "conflict"
    crew.clock.step(200 * SECOND_US)
    taken = ben.call("agent_claim", target=task, intent="b")
    assert taken.status == "ok"
    assert ben.call("coordination_overview").active[0].agent == "ben"


def test_a_repeated_claim_keeps_its_task_and_its_lease(crew: Crew) -> None:
    crew.index("app.py", "one")
    task, ana = crew.task(), crew.agent("ana")
    got = ana.call("agent_claim", target="app.py", intent="read it", task=task, lease_minutes=30)
    crew.clock.step(60 * SECOND_US)
    assert ana.call("agent_claim", target="app.py", intent="change it").status == "refreshed"
    (held,) = ana.call("coordination_overview").active
    assert (held.intent, held.task, held.lease_until) == ("change it", task, got.lease_until)
    assert ana.call("agent_claim", target="app.py", intent="change it", lease_minutes=0).lease_until is None
    assert ana.call("task_update", task=task, status="completed").released == ("harbour/app.py",)


def test_a_task_begun_again_under_the_same_title_is_the_open_one(crew: Crew) -> None:
    ana = crew.agent("ana")
    ana.call("task_update", task=ana.call("task_create", title="Mend the build").id, status="completed")
    again = ana.call("task_create", title="Mend the build").id
    assert ana.call("agent_claim", target="Mend the build", intent="again").target == again
    assert ana.call("task_update", task="Mend the build", note="begun").id == again
    ana.call("task_create", title="Mend the build")
    with pytest.raises(Invalid, match="matches 3 nodes"):
        ana.call("task_update", task="Mend the build", note="which?")


def test_another_session_of_the_same_name_is_another_program_until_it_says_otherwise(crew: Crew) -> None:
    task = crew.task()
    assert crew.agent("ana", "monday").call("agent_claim", target=task, intent="a").status == "ok"
    later = crew.agent("ana", "tuesday")
    told = later.call("agent_claim", target=task, intent="a")
    assert told.status == "conflict"
    assert "resume" in told.notes[0]
    assert later.call("agent_claim", target=task, intent="a", resume=True).status == "refreshed"
    assert crew.agent("ana", "monday").call("agent_claim", target=task, intent="a").status == "conflict"


def test_a_refusal_is_listed_once_however_often_it_is_tried(crew: Crew) -> None:
    task = crew.task()
    ben = crew.agent("ben")
    crew.agent("ana").call("agent_claim", target=task, intent="a")
    before = ben.ctx.store.head(ben.ctx.viewer).pos
    for _ in range(3):
        ben.call("agent_claim", target=task, intent="b")
    assert ben.ctx.store.head(ben.ctx.viewer).pos == before + 1
    (refused,) = ben.call("coordination_overview").conflicts
    assert (refused.agent, refused.holder, refused.intent) == ("ben", "ana", "b")


def test_a_release_tells_how_it_went_and_says_so_only_once(crew: Crew) -> None:
    task = crew.task()
    ana = crew.agent("ana")
    ana.call("agent_claim", target=task, intent="a")
    gone = ana.call("agent_release", target=task, outcome="partial", note="half of it works", request_id="r1")
    assert gone.status == "released"
    (episode,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [gone.episode])
    assert (episode.text, episode.props["outcome"], episode.props["task"]) == ("half of it works", "partial", task)
    assert ana.call("agent_release", target=task, outcome="partial", request_id="r1").status == "duplicate_skip"
    with pytest.raises(NotFound, match="nobody holds"):
        ana.call("agent_release", target=task)


def test_a_repeated_request_claims_once(crew: Crew) -> None:
    task = crew.task()
    ana = crew.agent("ana")
    assert ana.call("agent_claim", target=task, intent="a", request_id="r1").status == "ok"
    assert ana.call("agent_claim", target=task, intent="a", request_id="r1").status == "duplicate_skip"


def test_bad_claims_are_errors_that_say_what_to_do(crew: Crew) -> None:
    task = crew.task()
    ana, ben = crew.agent("ana"), crew.agent("ben")
    with pytest.raises(NotFound, match="nothing called 'nowhere") as missing:
        ana.call("agent_claim", target="nowhere.py", intent="a")
    assert missing.value.hint
    with pytest.raises(Invalid, match="target is blank"):
        ana.call("agent_claim", target=" ", intent="a")
    with pytest.raises(Invalid, match="intent is blank"):
        ana.call("agent_claim", target=task, intent="  ")
    with pytest.raises(NotFound, match="no task 'nothing'"):
        ana.call("agent_claim", target=task, intent="a", task="nothing")
    ana.call("agent_claim", target=task, intent="a")
    with pytest.raises(Forbidden, match="held by ana") as foreign:
        ben.call("agent_release", target=task)
    assert "handoff" in foreign.value.hint
    done = crew.task("Another one")
    crew.operator.call("work_complete", id=done)
    with pytest.raises(Conflict, match="cannot be claimed"):
        ana.call("agent_claim", target=done, intent="a")


def test_a_claim_is_not_forgotten_deleted_or_written_by_hand(crew: Crew) -> None:
    task = crew.task()
    crew.agent("ana").call("agent_claim", target=task, intent="a")
    ben = crew.agent("ben")
    for name, given in (("forget", {"id": f"claim:{task}"}), ("delete", {"target": f"claim:{task}"})):
        with pytest.raises(Invalid, match="Claim records itself"):
            ben.call(name, **given)
    with pytest.raises(Invalid, match="Claim records itself"):
        ben.call("memory_write", kind="Claim", text="mine")
    assert [each.agent for each in ben.call("coordination_overview").active] == ["ana"]


def test_other_systems_names_of_arguments_are_understood(crew: Crew) -> None:
    task = crew.task()
    told = crew.agent("ana").call("agent_claim", targetId=task, claimType="task", intent="a", taskId=task)
    assert told.status == "ok"
    assert crew.agent("ana").call("episode_recall", query="x", taskId=task).episodes == ()
    assert crew.agent("ben").call("agent_status", agentId="ana").agent == "ana"


def test_claims_are_not_found_as_memories_and_survive_a_rebuild(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    ana.call("agent_claim", target="app.py", intent="polish the brass")
    assert not ana.call("recall", query="polish the brass").hits
    crew.operator.call("rebuild")
    assert [each.intent for each in ana.call("coordination_overview").active] == ["polish the brass"]
