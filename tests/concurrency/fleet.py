"""Many processes on one store at once, and what must hold afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from weft.log.verify import read_commits, verify

TESTS = Path(__file__).parents[__name__.count(".")]
LOOK_EVERY_S = 0.02
GRACE_S = 60.0  # beyond its time, for a process on a busy machine
FAIR = 3.0  # equal writers: the largest share is at most this many times the smallest


class Report(NamedTuple):
    """What a fleet did."""

    writers: dict[str, dict[str, float]]
    readers: list[dict[str, float]]
    wal_peak_bytes: int

    @property
    def unfairness(self) -> float:
        shares = [told["written"] for told in self.writers.values()]
        return max(shares) / max(1, min(shares))

    @property
    def worst_wait_ms(self) -> float:
        return max(told["worst_ms"] for told in self.writers.values())


def start(module: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of this folder's `module`, which says "ready" and waits for a line."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", f"{__name__.rpartition('.')[0]}.{module}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )


def expect(child: subprocess.Popen[str], line: str) -> None:
    """Waits for a line. Raises with all the process said if it is another."""
    assert child.stdout is not None
    said = child.stdout.readline().strip()
    if said != line:
        child.kill()
        raise AssertionError(f"said {said!r}, not {line!r}: {child.communicate()[1]}")


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def answer(child: subprocess.Popen[str], *, within_s: float = GRACE_S) -> Any:
    """The line of JSON that a process ends with. Raises with its errors if it failed."""
    said, errors = child.communicate(timeout=within_s)
    assert child.returncode == 0, errors
    assert not errors, errors
    return json.loads(said.splitlines()[-1])


class Hand:
    """Another process, at our command (see `servant`). As a context it is killed in the end, however that comes."""

    def __init__(self, directory: Path) -> None:
        self._child = start("servant", directory)
        expect(self._child, "ready")

    def begin(self, order: str, **arguments: object) -> None:
        """Gives an order and does not wait."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps([order, arguments]) + "\n")
        self._child.stdin.flush()

    def result(self) -> dict[str, Any]:
        """What came of the order: an `answer`, or an `error` with its `message`."""
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        assert line, self._child.communicate()[1]
        told: dict[str, Any] = json.loads(line)
        return told

    def do(self, order: str, **arguments: object) -> Any:
        self.begin(order, **arguments)
        told = self.result()
        assert "answer" in told, told
        return told["answer"]

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()

    def wait_for_death(self) -> int:
        self._child.communicate(timeout=GRACE_S)
        return self._child.returncode

    def __enter__(self) -> Hand:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def run_fleet(directory: Path, *, writers: int, readers: int, seconds: float, options: tuple[str, ...] = ()) -> Report:
    """Starts everybody, lets them begin together, watches the write-ahead log, gathers what they saw."""
    names = [f"writer{n}" for n in range(writers)]
    crew = {name: start("member", "writer", directory, name, seconds, *options) for name in names}
    audience = [start("member", "reader", directory, ",".join(names), seconds, *options) for _ in range(readers)]
    everybody = [*crew.values(), *audience]
    try:
        for child in everybody:
            expect(child, "ready")
        for child in everybody:
            go(child)
        wal, peak = directory / "accounts" / f"{ACCOUNT}.db-wal", 0
        while any(child.poll() is None for child in crew.values()):
            peak = max(peak, wal.stat().st_size if wal.exists() else 0)
            time.sleep(LOOK_EVERY_S)
        return Report(
            writers={name: answer(child) for name, child in crew.items()},
            readers=[answer(child) for child in audience],
            wal_peak_bytes=peak,
        )
    finally:
        for child in everybody:
            child.kill()
            child.communicate()


def check_fleet(directory: Path, report: Report) -> None:
    """Nothing lost, nothing doubled, each writer's events in its own order; the chain verifies, the files are sound."""
    store = open_store(directory)
    found: dict[str, list[str | None]] = {name: [] for name in report.writers}
    for _, events in read_commits(store, OPERATOR):
        for event in events:
            found[event.session].append(event.request_id)
    for name, told in report.writers.items():
        assert found[name] == [f"{name}-{n}" for n in range(1, int(told["written"]) + 1)], f"{name} lost or doubled"
    assert verify(store, OPERATOR).problem is None
    assert store.check(OPERATOR) == ()
    store.close()
    assert not (directory / "accounts" / f"{ACCOUNT}.db-wal").exists(), "the last to close removes the log"
