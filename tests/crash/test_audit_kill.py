"""The audit under several processes, and under `kill -9`: no call twice, none lost but those of the last second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.crash.audit_caller import open_at
from tests.crash.killing import TESTS
from weft.access.audit import audit_store
from weft.log.kinds import payload_of
from weft.log.verify import read_commits, verify

LATE_S = 2.5  # a second in the queue, and what a busy machine adds


def start(directory: Path, session: str, count: int) -> subprocess.Popen[bytes]:
    module = f"{__name__.rpartition('.')[0]}.audit_caller"
    return subprocess.Popen(
        [sys.executable, "-m", module, str(directory), session, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))},
    )


def recorded(directory: Path) -> dict[str, list[int]]:
    """The calls of the log that are on record, by session, in order; after the chain was verified."""
    with open_at(directory, "reader", audit="off") as memory:
        store, viewer = audit_store(memory.ctx), memory.ctx.operator("read the audit")
        assert store is not None
        assert verify(store, viewer).problem is None
        found: dict[str, list[int]] = {}
        for _, events in read_commits(store, viewer):
            for event in events:
                (node,) = payload_of(event).nodes
                if node.props["operation"] == "log_head":
                    found.setdefault(event.session, []).append(json.loads(node.props["input"])["limit"])
        return found


def expected(count: int) -> list[int]:
    return [number % 100 + 1 for number in range(1, count + 1)]


def test_two_processes_record_every_call_once(tmp_path: Path) -> None:
    with open_at(tmp_path, "first", audit="off") as memory:
        memory.remember("The ferry leaves at noon.")
    callers = [start(tmp_path, f"caller-{number}", 150) for number in range(2)]
    for caller in callers:
        _, errors = caller.communicate(timeout=60)
        assert (caller.returncode, errors) == (0, b"")
    assert recorded(tmp_path) == {"caller-0": expected(150), "caller-1": expected(150)}


def test_a_killed_process_loses_at_most_its_last_second(tmp_path: Path) -> None:
    with open_at(tmp_path, "first", audit="off") as memory:
        memory.remember("The ferry leaves at noon.")
    caller = start(tmp_path, "caller", 0)
    assert caller.stdout is not None
    said: list[tuple[float, int]] = []
    until = time.monotonic() + 5
    while not said or time.monotonic() < until:
        line = caller.stdout.readline()
        if not said:
            until = time.monotonic() + LATE_S + 1
        said.append((time.monotonic(), int(line)))
    killed = time.monotonic()
    caller.kill()
    rest, errors = caller.communicate()
    assert errors == b""
    found = recorded(tmp_path)["caller"]
    safe = max(number for at, number in said if at < killed - LATE_S)
    last = int(rest.split()[-1]) if rest.split() else said[-1][1]
    assert safe <= len(found) <= last + 1
    assert found == expected(len(found))
