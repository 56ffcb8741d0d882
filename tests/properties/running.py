"""Runs a machine: as the profile says, or quickly and always alike where it is meant to fail."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.log.chain import commit_genesis

# A failing example is worth waiting for until it is small; a long run has no limit.
patient = pytest.mark.timeout(0 if os.environ.get("WEFT_HYPOTHESIS") == "thorough" else 600)

FAILING = settings(
    max_examples=150,
    stateful_step_count=25,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def run(machine: type[RuleBasedStateMachine], *, share: float = 1.0) -> None:
    """As many examples as the profile asks for, or a share of them for a machine whose examples are dear."""
    run_state_machine_as_test(machine, settings=settings(max_examples=max(1, int(settings().max_examples * share))))


def run_and_fail(machine: type[RuleBasedStateMachine], complaint: str) -> None:
    """The machine finds a fault, and the one that is there. Only in long runs: it tests the test, and takes minutes."""
    if not os.environ.get("WEFT_MACHINES"):
        pytest.skip("`make chaos` looks whether the machines find faults")
    with pytest.raises(AssertionError, match=complaint):
        run_state_machine_as_test(machine, settings=FAILING)


class Machine(RuleBasedStateMachine):
    """A machine whose last look at everything does not hide what failed before it."""

    def __init__(self) -> None:
        super().__init__()
        self.sound = True

    def claim(self, holds: bool, complaint: str, *details: object) -> None:
        """Fails, with what it saw, unless `holds`."""
        if not holds:
            self.sound = False
            raise AssertionError("\n  ".join((complaint, *map(repr, details))))


class Place(Protocol):
    """A store, and the end of its place."""

    store: Store

    def close(self) -> None: ...


def memory_store(clock: Clock) -> Store:
    return MemoryStore(commit_genesis, clock=clock)


class SqlitePlace:
    """A SQLite store in a directory of its own."""

    def __init__(self, clock: Clock) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="weft-properties-")
        self.store = SqliteStore(Path(self._directory.name) / "store", commit_genesis, clock=clock)

    def close(self) -> None:
        self.store.close()
        self._directory.cleanup()
