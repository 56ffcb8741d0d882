"""The disk fails at the Nth change, for every N until the script runs clean."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.faulty_vfs import FULL_FAULTS, IO_FAULTS, FaultyVfs
from tests.crash.workload import State, assert_sound, make_small, opened, refolded, script, state_of
from weft.core.errors import DiskFull, StoreError, WeftError
from weft.core.ports import Store

STEPS = script()
RETRY_EVERY = 3  # faults: after one in so many, the same store tries again


class _Stage:
    """The stores before each step, as a process that is still running leaves them: the WAL not yet folded in."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.states: list[State] = []
        work = directory / "work"
        with opened(work) as store:
            self._keep(work, store)
            for step in STEPS:
                step(store)
                self._keep(work, store)

    def _keep(self, work: Path, store: Store) -> None:
        number = len(self.states)
        self.states.append(state_of(store))
        if work.exists():
            copy_store(work, self._directory / f"before-{number}")

    def set_up(self, number: int, target: Path) -> None:
        before = self._directory / f"before-{number}"
        if before.exists():
            copy_store(before, target)


def copy_store(source: Path, target: Path) -> None:
    """What a kill would leave: every file as the kernel has it, without the shared memory."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*-shm"))


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Stage:
    make_small(monkeypatch)
    return _Stage(tmp_path / "stage")


@contextmanager
def _caught() -> Iterator[list[WeftError]]:
    """Collects a weft error. Anything else, a driver's error above all, fails the test."""
    errors: list[WeftError] = []
    try:
        yield errors
    except WeftError as problem:
        errors.append(problem)


def _state_after(directory: Path) -> State:
    with opened(directory) as store:
        assert_sound(store)
        return state_of(store)


def _fail_once(
    stage: _Stage, number: int, fail_at: int, faults: Mapping[str, int], expected: type[StoreError], tmp_path: Path
) -> int:
    """Runs one step over a disk that fails once; returns how often it did."""
    step, old, new = STEPS[number], stage.states[number], stage.states[number + 1]
    work, killed = tmp_path / "work", tmp_path / "killed"
    shutil.rmtree(work, ignore_errors=True)
    stage.set_up(number, work)
    retried = fail_at % RETRY_EVERY == 0
    faulty = FaultyVfs(fail_at=fail_at, faults=faults, stays=faults is FULL_FAULTS)
    with faulty as disk, opened(work, vfs=disk.name) as store:
        with _caught() as errors:
            step(store)
        if errors:
            assert isinstance(errors[0], expected), errors[0]
            assert errors[0].hint
            if not retried:
                copy_store(work, killed)
        else:
            assert state_of(store) == new
        if retried:
            disk.armed = False
            step(store)  # the same store goes on once the disk does
            assert state_of(store) == new
    # A failed checkpoint comes after the commit, and takes nothing back. (SQLite keeps it to itself; only a disk
    # written in Python makes apsw raise.)
    allowed = (new,) if retried or not errors or disk.failed_checkpoint else (old, new)
    assert _state_after(work) in allowed
    if errors and not retried:
        assert _state_after(killed) in ((new,) if disk.failed_checkpoint else (old, new))
    return disk.fired


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", range(len(STEPS)))
@pytest.mark.parametrize(("faults", "expected"), [(IO_FAULTS, StoreError), (FULL_FAULTS, DiskFull)], ids=["io", "full"])
def test_fails_at_every_change(
    stage: _Stage, number: int, faults: Mapping[str, int], expected: type[StoreError], tmp_path: Path
) -> None:
    injected = 0
    for fail_at in itertools.count(1):
        fired = _fail_once(stage, number, fail_at, faults, expected, tmp_path)
        if not fired:
            break
        injected += 1
    assert injected > 10  # the step did write


def test_the_script_folds_to_the_same_graph_elsewhere(stage: _Stage, tmp_path: Path) -> None:
    """What the other tests compare with is itself right."""
    with opened(tmp_path / "stage" / "work") as store:
        assert state_of(store) == stage.states[-1]
        assert state_of(refolded(store)) == stage.states[-1]
    assert len(set(stage.states)) == len(STEPS)  # every step but the rebuild changes the state
