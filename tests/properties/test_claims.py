"""Claims, tasks and code changes in any order, against a naive list of who holds what."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.fleet.crew import Crew
from weft.backends.memory import MemoryStore
from weft.core.errors import Forbidden, NotFound, WeftError
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock

AGENTS = ("ana", "ben", "cem")
FILES = ("a.py", "b.py")
TARGETS = ("harbour/a.py", "harbour/a.py::one", "harbour/a.py::two", "harbour/b.py", "TASK")
LEASE_MINUTES = 10


def inside(one: str, other: str) -> bool:
    """The naive rule: the same target, or one a file and the other in it."""
    return one == other or one.startswith(f"{other}::") or other.startswith(f"{one}::")


class Holding:
    """What the list knows of a claim."""

    def __init__(self, agent: str, until: int | None, version: int, *, for_task: bool) -> None:
        self.agent, self.until, self.version, self.for_task = agent, until, version, for_task
        self.changed = False  # by another's hand
        self.overtaken = False  # by another's recorded edit
        self.awaits = False  # the next version is the holder's own


class ClaimMachine(RuleBasedStateMachine):
    """Every rule is done by weft and by the list; afterwards both know the same holders."""

    @initialize()
    def begin(self) -> None:
        self.clock = ManualClock()
        self.crew = Crew(MemoryStore(commit_genesis, clock=self.clock), self.clock, Path(tempfile.gettempdir()))
        self.versions = dict.fromkeys(FILES, 0)
        for file in FILES:
            self.crew.index(file, "0", "one", "two")
        self.task = self.crew.task()
        self.open = True
        self.held: dict[str, Holding] = {}

    def name(self, target: str) -> str:
        return self.task if target == "TASK" else target

    def version(self, target: str) -> int:
        file = target.removeprefix("harbour/").partition("::")[0]
        return self.versions.get(file, 0)

    def live(self, target: str) -> Holding | None:
        """Whoever holds a target so that it counts."""
        known = self.held.get(target)
        if known is None or known.changed or known.overtaken:
            return None
        if known.until is not None and known.until <= self.clock.now_us():
            return None
        return known

    def others(self, agent: str, target: str) -> set[str]:
        found = {each: self.live(each) for each in self.held if inside(each, target)}
        return {known.agent for known in found.values() if known is not None and known.agent != agent}

    @rule(agent=st.sampled_from(AGENTS), place=st.sampled_from(TARGETS), leased=st.booleans(), for_task=st.booleans())
    def claim(self, agent: str, place: str, leased: bool, for_task: bool) -> None:
        for_task = for_task and self.open
        if place == "TASK" and not self.open:
            with pytest.raises(WeftError):
                self.crew.agent(agent).call("agent_claim", target=self.task, intent="x")
            return
        told = self.crew.agent(agent).call(
            "agent_claim",
            target=self.name(place),
            intent=f"{agent} works",
            lease_minutes=LEASE_MINUTES if leased else 0,
            task=self.task if for_task else None,
        )
        in_the_way = self.others(agent, place)
        assert (told.status == "conflict") == bool(in_the_way)
        assert {each.agent for each in told.conflicts} == in_the_way
        if not in_the_way:
            until = self.clock.now_us() + LEASE_MINUTES * 60_000_000 if leased else None
            before = self.live(place)
            for_task = for_task or place == "TASK" or (before is not None and before.for_task)
            self.held = {each: known for each, known in self.held.items() if self.live(each) or not inside(each, place)}
            self.held[place] = Holding(agent, until, self.version(place), for_task=for_task)

    @rule(agent=st.sampled_from(AGENTS), place=st.sampled_from(TARGETS))
    def release(self, agent: str, place: str) -> None:
        known = self.held.get(place)
        memory = self.crew.agent(agent)
        if known is None:
            with pytest.raises(NotFound, match="nobody holds"):
                memory.call("agent_release", target=self.name(place))
        elif known.agent != agent:
            with pytest.raises(Forbidden, match=f"held by {known.agent}"):
                memory.call("agent_release", target=self.name(place))
        else:
            assert memory.call("agent_release", target=self.name(place), outcome="success").status == "released"
            del self.held[place]

    @rule(agent=st.sampled_from(AGENTS), file=st.sampled_from(FILES))
    def change(self, agent: str, file: str) -> None:
        """A new version of a file and of what is in it, as an agent indexes it."""
        self.versions[file] += 1
        self.crew.index(file, str(self.versions[file]), "one", "two", by=agent)
        for target, known in self.held.items():
            if inside(target, f"harbour/{file}"):
                known.changed = agent != known.agent and (known.changed or not known.awaits)
                known.awaits = False

    @rule(agent=st.sampled_from(AGENTS), file=st.sampled_from(FILES))
    def edit(self, agent: str, file: str) -> None:
        """An agent records its edit: its own claims follow, another's claim on the file goes stale."""
        metadata = {"file": file, "diff_summary": "x", "lines_before": 1, "lines_after": 2, "reason": "y"}
        self.crew.agent(agent).call("episode_add", type="EDIT", content="an edit", metadata=metadata)
        for target, known in list(self.held.items()):
            if not inside(target, f"harbour/{file}"):
                continue
            if known.agent == agent:
                known.awaits = self.versions[file] == known.version
                known.changed, known.overtaken, known.version = False, False, self.versions[file]
            elif target == f"harbour/{file}" and self.live(target) is not None:
                known.overtaken = True

    @rule(minutes=st.sampled_from([1, 11]))
    def wait(self, minutes: int) -> None:
        self.clock.step(minutes * 60_000_000)

    @rule(agent=st.sampled_from(AGENTS))
    def take_over(self, agent: str) -> None:
        """The task and all that is claimed for it passes to an agent."""
        if not self.open:
            return
        self.crew.agent(agent, silent_minutes=0).call("handoff", task=self.task, take_over=True)
        others = {each: known for each, known in self.held.items() if not known.for_task and known.agent != agent}
        live = {each for each in others if self.live(each)}
        for target, known in list(self.held.items()):
            if not known.for_task or known.agent == agent:
                continue
            if any(inside(each, target) for each in live):  # who holds what it overlaps keeps that
                del self.held[target]
                continue
            self.held[target] = Holding(agent, None, self.version(target), for_task=True)
            self.held = {
                each: known for each, known in self.held.items() if each not in others or not inside(each, target)
            }
        self.held.setdefault("TASK", Holding(agent, None, 0, for_task=True))

    @rule(agent=st.sampled_from(AGENTS))
    def complete(self, agent: str) -> None:
        if not self.open:
            return
        self.crew.agent(agent).call("task_update", task=self.task, status="completed", note="done")
        self.open = False
        self.held = {target: known for target, known in self.held.items() if not known.for_task}

    @invariant()
    def both_know_the_same_holders(self) -> None:
        if not hasattr(self, "crew"):
            return
        overview = self.crew.operator.call("coordination_overview")
        told = {each.target: each.agent for each in overview.active}
        live = {self.name(target): known.agent for target in self.held if (known := self.live(target)) is not None}
        assert told == live
        for one, its_holder in told.items():
            for other, holder in told.items():
                assert not inside(one, other) or its_holder == holder, "two hold what overlaps"


ClaimMachine.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestClaims = ClaimMachine.TestCase
