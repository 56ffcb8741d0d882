"""Places that cannot be written: reading goes on, writing says what is in the way, and nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.workload import (
    OPERATOR,
    START_US,
    FixedClock,
    all_events,
    assert_sound,
    database,
    kept_digest,
    make_small,
    opened,
    remembered,
    run_rebuild,
    script,
    state_of,
    writer,
)
from weft.append.append import append
from weft.core.errors import ReadOnly, StoreError, WeftError
from weft.log.verify import verify

NOBODY = 65534


# Places that cannot be written


def _unprivileged(work: Callable[[], object]) -> Any:
    """Runs `work` in a child that no permission is waived for."""

    def lowered() -> object:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return _in_a_child(lowered)


def _in_a_child(work: Callable[[], object]) -> Any:
    """Runs `work` in a child process, and returns what it returned, by way of JSON."""
    reader, sender = os.pipe()
    child = os.fork()
    if child == 0:  # nothing may leave this block: it is a copy of the test runner
        try:
            said = json.dumps(work())
        except BaseException as problem:
            said = json.dumps(f"raised {problem!r}")
        os.write(sender, said.encode())
        os._exit(0)
    os.close(sender)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


@pytest.fixture
def shared_place() -> Iterator[Path]:
    """A directory that others may enter: pytest's own is closed to them."""
    place = Path(tempfile.mkdtemp(prefix="weft-crash-"))
    place.chmod(0o755)
    yield place
    for each in place.rglob("*"):
        if each.is_dir():
            each.chmod(0o755)
    shutil.rmtree(place)


def _freeze(directory: Path) -> None:
    for each in (*directory.rglob("*"), directory):
        each.chmod(0o555 if each.is_dir() else 0o444)


def _read_and_write(directory: Path) -> dict[str, object]:
    said: dict[str, object] = {}
    with opened(directory) as store:
        for name, use in {
            "state": lambda: list(state_of(store)),
            "verify": lambda: verify(store, OPERATOR).problem,
            "append": lambda: append(store, writer(), [remembered("memory:x", "x")], clock=FixedClock(START_US)),
            "rebuild": lambda: run_rebuild(store),
        }.items():
            try:
                said[name] = use()
            except WeftError as problem:
                said[name] = f"{type(problem).__name__}: {bool(problem.hint)}"
    return said


def test_read_only_directory_can_be_read(pristine: Path, shared_place: Path) -> None:
    work = shutil.copytree(pristine, shared_place / "store")
    with opened(pristine) as store:
        expected = list(state_of(store))
    _freeze(work)
    said = _unprivileged(lambda: _read_and_write(work))
    assert said == {"state": expected, "verify": None, "append": "ReadOnly: True", "rebuild": "ReadOnly: True"}


def test_read_only_directory_with_a_wal_left_behind(
    shared_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest commits are in the WAL alone: they are read, or reading is refused. Never the state before them."""
    make_small(monkeypatch)
    with opened(tmp_path / "live") as store:
        for step in script():
            step(store)
        expected = list(state_of(store))
        for name, ignored in {"with-shm": "", "without-shm": "*-shm"}.items():
            shutil.copytree(tmp_path / "live", shared_place / name, ignore=shutil.ignore_patterns(ignored))
    for name in ("with-shm", "without-shm"):
        work = shared_place / name
        assert Path(f"{database(work)}-wal").stat().st_size > 0
        _freeze(work)
        said = _unprivileged(lambda work=work: _read_and_write(work))
        assert isinstance(said, dict)
        assert said["state"] in (expected, "ReadOnly: True"), name
        assert said["append"] == "ReadOnly: True"


def test_no_store_can_be_made_where_nothing_may_be_written(shared_place: Path) -> None:
    def work() -> str:
        try:
            with opened(shared_place / "new" / "store") as store:
                append(store, writer(), [remembered("memory:x", "x")], clock=FixedClock(START_US))
        except ReadOnly as problem:
            return problem.hint
        return ""

    assert _unprivileged(work)


def test_file_size_limit_stops_writes_and_loses_nothing(pristine: Path) -> None:
    """A real kernel saying no in the midst of a write: everything acknowledged before is there."""

    def work() -> list[object]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (512 * 1024, resource.RLIM_INFINITY))
        acknowledged: list[str] = []
        with opened(pristine) as store:
            for number in range(10_000):
                drafts = [remembered(f"memory:big-{number}", f"{number} " + "thread " * 1_000)]
                try:
                    done = append(store, writer(), drafts, clock=FixedClock(START_US))
                except StoreError as problem:
                    return [acknowledged, bool(problem.hint), len(all_events(store))]
                acknowledged.append(done.events[0].citation)
        return [acknowledged, False, 0]

    held = kept_digest(pristine)
    acknowledged, hinted, readable = _in_a_child(work)
    assert acknowledged
    assert hinted
    with opened(pristine) as store:
        events = all_events(store)
        assert readable == len(events)
        assert [event.citation for event in events][-len(acknowledged) :] == acknowledged
        assert state_of(store).log != held
        assert_sound(store)
