"""Rounds of `kill -9`: a process writes and acknowledges, dies at a random moment, and everything is looked at."""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.crash.workload import all_events, assert_equals_rebuild, assert_sound, opened

START_TIMEOUT_S = 60.0
MOST_RUNNING_S = 0.25
TESTS = Path(__file__).parents[__name__.count(".")]


class Round(NamedTuple):
    """What one round acknowledged, and how many of its requests were under way when it died."""

    acknowledged: dict[str, list[str]]  # request id: citations
    killed: int


def start(directory: Path, session: str, seed: int) -> subprocess.Popen[bytes]:
    module = f"{__name__.rpartition('.')[0]}.writer"
    return subprocess.Popen(
        [sys.executable, "-m", module, str(directory), session, str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))},
    )


def run_round(directory: Path, chance: random.Random, *, writers: int = 1, number: int = 0) -> Round:
    """Starts writers, kills them at a random moment (now and then before they have begun), gathers what they said."""
    children = [start(directory, f"talk-{number}-{n}", chance.getrandbits(32)) for n in range(writers)]
    try:
        if chance.random() < 0.85:
            for child in children:
                assert child.stdout is not None
                select.select([child.stdout], [], [], START_TIMEOUT_S)
        time.sleep(chance.random() * MOST_RUNNING_S)
        for child in children:
            if child.poll() is not None:
                raise AssertionError(f"a writer stopped by itself: {child.communicate()[1].decode()}")
    finally:
        for child in children:
            child.kill()
        said = [child.communicate() for child in children]
    for _, errors in said:
        assert not errors, errors.decode()
    lines = [line.split() for out, _ in said for line in out.decode().splitlines()]
    return Round(acknowledged={line[0]: line[1:] for line in lines}, killed=len(children))


def check_round(directory: Path, acknowledged: dict[str, list[str]], *, killed: int) -> int:
    """All that was acknowledged is there, whole; at most one request more per writer killed; the graph is the log's.

    Returns how many events the log has.
    """
    if not directory.exists():
        assert not acknowledged
        return 0
    with opened(directory) as store:
        assert_sound(store)
        there: dict[str, list[str]] = {}
        events = all_events(store)
        for event in events:
            assert event.request_id is not None
            there.setdefault(event.request_id, []).append(event.citation)
        for request, citations in acknowledged.items():
            assert there.get(request) == citations, f"{request} was acknowledged and is lost"
        assert len(there) - len(acknowledged) <= killed
        assert_equals_rebuild(store)
        return len(events)
