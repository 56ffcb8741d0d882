"""Episodes: what each type must tell, the chain, what they involve, and how they are found again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.fleet.crew import Crew
from tests.places import MakeStore, Place
from weft.core.errors import Invalid, Misconfigured, NotFound
from weft.core.types import NOW
from weft.testing.clock import DAY_US, ManualClock

EDIT: dict[str, Any] = {
    "file": "app.py",
    "diff_summary": "renamed login to sign_in",
    "lines_before": 10,
    "lines_after": 12,
    "reason": "the old name lied",
}
DECISION: dict[str, Any] = {
    "title": "Keep sessions in Redis",
    "rationale": "Postgres locks were slow",
    "tradeoffs": ["one more service"],
    "affected_files": ["app.py"],
}


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "named"),
    [
        ("DECISION", {"title": "x"}, ["rationale", "tradeoffs", "affected_files"]),
        ("EDIT", {"file": "a.py"}, ["diff_summary", "lines_before", "lines_after", "reason"]),
        ("TEST_RESULT", {}, ["passed", "failed", "test_files"]),
        ("ERROR", {"error_type": "KeyError", "stack_summary": 3}, ["stack_summary must be a text"]),
        ("OBSERVATION", {"file": 3, "test_files": "t.py"}, ["file must be a text", "test_files must be a list"]),
        ("TEST_RESULT", {"passed": True, "failed": -1, "test_files": []}, ["passed must be", "failed must be"]),
    ],
)
def test_what_a_type_lacks_is_named_and_nothing_is_written(
    crew: Crew, kind: str, given: dict[str, Any], named: list[str]
) -> None:
    ana = crew.agent("ana")
    before = ana.ctx.store.head(ana.ctx.viewer).pos
    with pytest.raises(Invalid) as refused:
        ana.call("episode_add", type=kind, content="something", metadata=given)
    assert [each for each in named if each not in refused.value.message] == []
    assert f"{kind} metadata needs" in refused.value.hint
    assert ana.ctx.store.head(ana.ctx.viewer).pos == before


def test_camel_case_metadata_is_understood(crew: Crew) -> None:
    told = {"file": "app.py", "diffSummary": "x", "linesBefore": 1, "linesAfter": 2, "reason": "y"}
    assert crew.agent("ana").call("episode_add", type="EDIT", content="an edit", metadata=told).status == "saved"


def test_episodes_of_a_session_form_a_chain_and_join_what_they_involve(crew: Crew) -> None:
    file = crew.index("app.py", "one", "login")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    first = ana.call("episode_add", type="OBSERVATION", content="login is slow", entities=["app.py::login", "Redis"])
    ben.call("episode_add", type="OBSERVATION", content="something else")
    second = ana.call("episode_add", type="EDIT", content="renamed it", metadata=EDIT)
    assert (first.after, second.after) == (None, first.id)
    assert f"{file}::login" in first.linked
    assert file in second.linked
    steps = ana.ctx.store.neighbours(ana.ctx.viewer, NOW, [first.id], rels=("NEXT_EPISODE",), direction="out")
    assert [step.node.id for step in steps] == [second.id]


def test_a_file_is_one_file_however_its_path_is_written(crew: Crew) -> None:
    file = crew.index("app.py", "one", "login")
    ana, root = crew.agent("ana"), crew.operator.ctx.settings.root
    for path in ("app.py", "./app.py", f"{root}/app.py"):
        told = ana.call("episode_add", type="EDIT", content="edited", metadata=EDIT | {"file": path})
        assert told.linked == (file,)
    (learning,) = ana.call("reflect").learnings
    assert learning.title == "app.py is edited again and again"
    ana.call("episode_add", type="DECISION", content="x", metadata=DECISION)
    for path in (f"{root}/app.py", f"{root}/app.py::login"):
        (found,) = ana.call("decision_query", query="sessions", affected_files=[path]).episodes
        assert found.why.nearness == 1.0


def test_a_path_that_is_not_indexed_makes_no_entity(crew: Crew) -> None:
    told = crew.agent("ana").call("episode_add", type="OBSERVATION", content="read it", entities=["lib/nowhere.py"])
    assert told.linked == ()
    assert "lib/nowhere.py" in told.notes[0]


def test_a_decision_is_one_thing_whichever_way_it_was_kept(crew: Crew) -> None:
    file = crew.index("app.py", "one")
    ana = crew.agent("ana")
    kept = ana.call("save_decision", title=DECISION["title"], rationale=DECISION["rationale"])
    again = ana.call("episode_add", type="DECISION", content="We take Redis.", metadata=DECISION)
    assert (again.status, again.id) == ("duplicate_skip", kept.id)
    other = {**DECISION, "title": "Use ports above 1024", "rationale": "no root needed"}
    new = ana.call("episode_add", type="DECISION", content="We stay above 1024.", metadata=other)
    (node,) = ana.ctx.store.nodes(ana.ctx.viewer, NOW, [new.id])
    assert (node.kind, node.name, node.props["status"]) == ("Decision", "Use ports above 1024", "accepted")
    told = ana.call("save_decision", title="Use ports above 1024", rationale="no root needed")
    assert (told.status, told.id) == ("duplicate_skip", new.id)
    near = ana.call("decision_query", query="which ports?", affected_files=["app.py"])
    assert [each.id for each in near.episodes][:1] == [new.id]
    assert near.episodes[0].why.nearness == 1.0
    assert file in near.episodes[0].involves


def test_the_score_is_the_stated_sum_and_each_part_is_shown(crew: Crew) -> None:
    crew.index("app.py", "one", "login")
    ana = crew.agent("ana")
    old = ana.call(
        "episode_add", type="OBSERVATION", content="the brass bell is loud", entities=["app.py::login", "Redis"]
    )
    crew.clock.step(20 * DAY_US)
    ana.call("episode_add", type="OBSERVATION", content="nothing about that")
    told = ana.call("episode_recall", query="brass bell", entities=["app.py::login"])
    hit = next(each for each in told.episodes if each.id == old.id)
    assert hit.why.recency == pytest.approx(math.exp(-1.0), abs=1e-3)
    assert hit.why.nearness == 0.5  # one of two
    assert hit.why.meaning == 1.0  # by words, where there are no vectors
    assert hit.score == pytest.approx(0.5 + 0.3 * math.exp(-1.0) + 0.1, abs=1e-3)
    assert told.episodes[0].id == old.id


def test_filters_leave_only_what_fits(crew: Crew) -> None:
    task = crew.task()
    ana, ben = crew.agent("ana"), crew.agent("ben")
    ana.call("episode_add", type="OBSERVATION", content="saw a heron", task_id=task)
    ben.call(
        "episode_add", type="ERROR", content="a heron broke it", metadata={"error_type": "E", "stack_summary": "s"}
    )
    crew.clock.step(DAY_US)
    ben.call("episode_add", type="OBSERVATION", content="another heron")

    def found(**asked: Any) -> list[str]:
        return [each.text for each in ana.call("episode_recall", query="heron", **asked).episodes]

    assert found(agent="ana") == ["saw a heron"]
    assert found(task_id=task) == ["saw a heron"]
    assert found(types=["ERROR"]) == ["a heron broke it"]
    assert found(since="2026-01-01T12:00:00Z") == ["another heron"]
    assert len(found()) == 3
    with pytest.raises(NotFound, match="no task 'nothing'"):
        found(task_id="nothing")


def test_a_superseded_decision_is_not_returned(crew: Crew) -> None:
    ana = crew.agent("ana")
    old = ana.call("save_decision", title="Use Redis for sessions", rationale="fast")
    new = ana.call("save_decision", title="Use Postgres for sessions", rationale="one service", supersedes=old.id)
    found = [each.id for each in ana.call("decision_query", query="sessions").episodes]
    assert found == [new.id]


def test_the_holders_recorded_edit_refreshes_its_claim_before_and_after_the_index_sees_it(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana = crew.agent("ana")
    ana.call("agent_claim", target="app.py", intent="a")
    ana.call("episode_add", type="EDIT", content="edited", metadata=EDIT)
    crew.index("app.py", "two")  # by someone who watches files
    assert [each.agent for each in ana.call("coordination_overview").active] == ["ana"]
    crew.index("app.py", "three")
    assert [each.agent for each in ana.call("coordination_overview").stale] == ["ana"]
    told = ana.call("episode_add", type="EDIT", content="edited again", metadata=EDIT)
    assert told.claims
    assert [each.agent for each in ana.call("coordination_overview").active] == ["ana"]


def test_anothers_recorded_edit_ends_a_claim_and_says_whose_it_was(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    ana.call("agent_claim", target="app.py", intent="rename it")
    told = ben.call("episode_add", type="EDIT", content="edited", metadata=EDIT)
    assert "ana held" in told.claims[0]
    board = ana.call("coordination_overview")
    assert (board.active, [each.agent for each in board.stale]) == ((), ["ana"])
    assert "ben recorded an edit of it" in ana.call("agent_status").notes[0]
    assert ben.call("agent_claim", target="app.py", intent="go on").ended[0].agent == "ana"


def test_a_claim_that_anothers_edit_ended_is_taken_again_or_follows_its_holders_edit(crew: Crew) -> None:
    crew.index("app.py", "one")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    for again in (
        lambda: ana.call("agent_claim", target="app.py", intent="rename it"),
        lambda: ana.call("episode_add", type="EDIT", content="edited", metadata=EDIT),
    ):
        ana.call("agent_claim", target="app.py", intent="rename it")
        ben.call("episode_add", type="EDIT", content="edited", metadata=EDIT)
        assert not ben.call("coordination_overview").active
        again()
        assert [each.agent for each in ben.call("coordination_overview").active] == ["ana"]


def test_sensitive_episodes_stay_out_of_ordinary_recalls_and_of_what_is_learnt(place: Place) -> None:
    with pytest.raises(Misconfigured, match="stored encrypted"):
        place.open(agent="ben", role="agent", sensitive_key="").call(
            "episode_add", type="OBSERVATION", content="the vault code", sensitive=True
        )
    ana, ben = (place.open(agent=name, role="agent", sensitive=on) for name, on in (("ana", "on"), ("ben", "off")))
    task = ana.call("task_create", title="Rotate keys").id
    for number in range(3):
        told = EDIT | {"file": "vault.py", "diff_summary": f"vault code {number}"}
        ana.call("episode_add", type="EDIT", content="vault code", metadata=told, sensitive=True, task_id=task)
    assert len(ana.call("episode_recall", query="vault code").episodes) == 3
    reflected = ana.call("reflect", task_id=task)
    assert (reflected.learnings, reflected.read) == ((), 0)
    assert "3 episodes" in reflected.notes[0]
    ana.call("task_update", task=task, status="completed", note="rotated")
    for shown in (
        ben.call("episode_recall", query="vault code"),
        ben.call("recall", query="vault code"),
        ben.call("agent_status", agent="ana"),
        ben.call("handoff", task=task),
        ben.call("log_show", limit=100),
    ):
        assert "vault code" not in str(shown).replace("query='vault code'", "")
    written = b"".join(path.read_bytes() for path in (place.scratch / "store").rglob("*") if path.is_file())
    assert b"vault code" not in written


def test_what_is_joined_to_a_sensitive_episode_is_sensitive(place: Place) -> None:
    ana, ben = (place.open(agent=name, role="agent", sensitive=on) for name, on in (("ana", "on"), ("ben", "off")))
    ana.call("episode_add", type="OBSERVATION", content="seen at the gate", entities=["Odile Fenn"], sensitive=True)
    assert ana.show("Odile Fenn").node is not None
    with pytest.raises(NotFound):
        ben.show("Odile Fenn")
    target = ana.remember("the vault is behind the oven", sensitive=True).id
    ana.call("agent_claim", target=target, intent="move the vault")
    ana.call("agent_release", target=target, note="the vault is in the cellar now")
    assert "cellar" in str(ana.call("episode_recall", query="vault cellar"))
    for shown in (ben.call("episode_recall", query="where is it now?"), ben.call("log_show", limit=100)):
        assert "cellar" not in str(shown)
