"""Packs and checkouts tell who is at work on the code, and what was learnt about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.crew import Crew
from tests.fleet.test_reflect import edit
from tests.places import MakeStore
from weft.testing.clock import ManualClock


@pytest.fixture
def crew(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> Crew:
    return Crew(make_store(), clock, tmp_path)


def test_a_checkout_tells_what_others_hold_and_what_was_learnt(crew: Crew) -> None:
    crew.index("app.py", "session cookie path", "login")
    crew.index("lib.py", "nothing of that", "other")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    for n in range(3):
        edit(ana, "app.py", f"session cookie, step {n}")
    ana.call("reflect")
    ana.call("agent_claim", target="app.py", intent="mend the cookie")
    ana.call("agent_claim", target="lib.py", intent="tidy")
    ben.call("agent_claim", target="app.py", intent="me too")
    told = ben.call("memory_checkout", query="session cookie path", kinds=["File", "Function"])
    assert [line.split()[2] for line in told.claims] == ["harbour/app.py", "harbour/lib.py"]
    assert "ana works on harbour/app.py" in told.prompt
    assert any("ben wants harbour/app.py" in each for each in told.conflicts)
    assert any("edited again and again" in each for each in told.learnings)
    own = ana.call("memory_checkout", query="session cookie path", kinds=["File", "Function"])
    assert own.claims == ()
    assert "ana works on" not in own.prompt


def test_a_warning_calls_a_task_by_its_title(crew: Crew) -> None:
    ana, ben = crew.agent("ana"), crew.agent("ben")
    ana.call("task_create", title="Mend the session cookie")
    ana.call("agent_claim", target="Mend the session cookie", intent="mend it")
    prompt = ben.call("memory_checkout", query="mend the session cookie").prompt
    assert 'ana works on task "Mend the session cookie": do not change it now' in prompt


def test_a_claim_that_went_stale_is_told_to_who_held_it(crew: Crew) -> None:
    crew.index("app.py", "session cookie path", "login")
    ana = crew.agent("ana")
    ana.call("agent_claim", target="app.py", intent="mend the cookie")
    crew.index("app.py", "another session cookie", "login", by="ben")
    told = ana.call("memory_checkout", query="session cookie")
    assert any("your claim on harbour/app.py is stale" in each for each in told.conflicts)


def test_a_slice_tells_what_was_learnt_about_its_file(crew: Crew) -> None:
    crew.index("app.py", "session cookie path", "login")
    ana = crew.agent("ana")
    for n in range(3):
        edit(ana, "app.py", f"session cookie, step {n}")
    ana.call("reflect")
    (learnt,) = ana.call("semantic_slice", symbol="login", file="app.py", context="full").learnings
    assert "edited again and again" in learnt.title
    assert ana.call("semantic_slice", symbol="login", file="app.py").learnings == ()


def test_impact_tells_the_claims_in_the_way(crew: Crew) -> None:
    crew.index("app.py", "session cookie path", "login")
    ana, ben = crew.agent("ana"), crew.agent("ben")
    ana.call("agent_claim", target="app.py::login", intent="mend the cookie")
    (line,) = ben.call("impact_analyze", files=["app.py"]).claims
    assert line.startswith("ana holds harbour/app.py::login")
    assert ana.call("impact_analyze", files=["app.py"]).claims == ()
