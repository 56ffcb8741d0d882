"""`kill -9` at random moments: nothing acknowledged is lost. `benchmarks/chaos/kill.py` runs a thousand rounds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.killing import check_round, run_round

ROUNDS = 25
ROUNDS_OF_TWO = 8
LIVES = 6  # rounds that one store goes through before a new one is begun


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("writers", "rounds"), [(1, ROUNDS), (2, ROUNDS_OF_TWO)], ids=["one", "two"])
def test_nothing_acknowledged_is_lost(writers: int, rounds: int, tmp_path: Path) -> None:
    chance = random.Random(writers)
    written = 0
    for number in range(rounds):
        if number % LIVES == 0:
            store, acknowledged, killed = tmp_path / f"store-{number}", dict[str, list[str]](), 0
        done = run_round(store, chance, writers=writers, number=number)
        acknowledged |= done.acknowledged
        killed += done.killed
        written += len(done.acknowledged)
        check_round(store, acknowledged, killed=killed)
    assert written > rounds  # they did write
