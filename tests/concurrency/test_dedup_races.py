"""Decisions and facts that exclude each other, written by two processes at once.

`benchmarks/chaos/races.py` does the same a thousand times.
"""

from __future__ import annotations

from pathlib import Path

from tests.concurrency.racing import pair, run_rounds, same_decision

ROUNDS = 60


def test_of_two_writers_at_once_only_one_gets_through(tmp_path: Path) -> None:
    call_stats = run_rounds(tmp_path, ROUNDS)
    assert call_stats.at_once > ROUNDS // 2, call_stats


def test_many_copies_at_once_are_one_decision(tmp_path: Path) -> None:
    with pair(tmp_path, seed=1) as two:
        for _ in range(10):
            same_decision(two)
