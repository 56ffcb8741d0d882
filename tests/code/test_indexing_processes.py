"""Indexing in several processes: killed halfway, two at once, and with processes that die over a file."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import weft
from tests.code.dying import Dying
from tests.code.test_indexing_machine import shown
from weft.code.index.index import index_workspace
from weft.code.index.processes import workers as code_workers
from weft.code.index.processes.workers import Worker, Workers
from weft.upkeep.log import LogVerify, log_verify

FILES = 90
INDEX = """
import sys, weft
from weft.code.index.index import index_workspace
scratch, root = sys.argv[1:]
environment = {"HOME": scratch, "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
memory = weft.open(f"sqlite://{scratch}/store", directory=root, environment=environment)
done = index_workspace(memory.ctx)
print(done.files, done.unchanged, flush=True)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ship"
    root.mkdir()
    for number in range(FILES):
        lines = [f"from m{(number + 1) % FILES} import f0", "import os"]
        lines += [f"def f{at}():\n    return f0() or os.getcwd() or {at}" for at in range(8)]
        (root / f"m{number}.py").write_text("\n".join(lines) + "\n")
    return root


def begin(root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", INDEX, str(root.parent), str(root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def opened(url: str, root: Path) -> weft.Memory:
    environment = {"HOME": str(root.parent), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    return weft.open(url, directory=root, environment=environment)


def check_whole(root: Path) -> None:
    """The store shows what a fresh one does, and its log is sound."""
    memory, fresh = opened(f"sqlite://{root.parent / 'store'}", root), opened(f"sqlite://{root.parent / 'fresh'}", root)
    index_workspace(fresh.ctx)
    assert shown(memory) == shown(fresh)
    assert log_verify(memory.ctx, LogVerify()).problem is None
    memory.close()
    fresh.close()


@pytest.mark.parametrize("wait_s", [0.5, 1.0])
def test_killed_at_any_moment_it_goes_on(root: Path, wait_s: float) -> None:
    running = begin(root)
    time.sleep(wait_s)
    children = children_of(running.pid)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    deadline_s = time.monotonic() + 10
    while any(map(is_running, children)):
        assert time.monotonic() < deadline_s, "processes that it started outlive it"
        time.sleep(0.05)
    again = begin(root)
    out, _ = again.communicate(timeout=100)
    files, unchanged = map(int, out.split())
    assert files + unchanged == FILES
    check_whole(root)


def test_two_at_once_do_the_work_once(root: Path) -> None:
    both = [begin(root), begin(root)]
    counts = [tuple(map(int, each.communicate(timeout=100)[0].split())) for each in both]
    assert sorted(counts) == [(0, FILES), (FILES, 0)]
    check_whole(root)


def children_of(pid: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    return [int(each) for each in found.split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_process_that_dies_over_a_file_costs_that_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_workers, "TASK_S", 4.0)
    tasks = [Dying(items=("a", "b")), Dying(items=("c", "bad", "d")), Dying(items=("slow",)), Dying(items=("e",))]
    workers = [Worker(), Worker()]
    pool: Workers[tuple[str, int]] = Workers(pickle.loads, lambda task, why: (f"lost {task.items[0]}: {why}", 0))
    answers = dict(pool.run(tasks, workers))
    assert set(answers) == {"a", "b", "c", "d", "e", "lost bad: died", "lost slow: time"}
    assert os.getpid() not in answers.values()


def test_who_stops_listening_ends_the_processes() -> None:
    workers = [Worker(), Worker()]
    pids = [each._process.pid for each in workers]
    pool: Workers[tuple[str, int]] = Workers(pickle.loads, lambda task, why: ("", 0))
    answers = pool.run([Dying(items=(str(number),)) for number in range(1_000)], workers)
    next(answers)
    answers.close()
    assert not any(map(is_running, pids))
