"""Decisions and facts that exclude each other, written by two processes at once.

`benchmarks/chaos/races.py` does the same a thousand times.
"""

from __future__ import annotations

from pathlib import Path

from .racing import pair, run_rounds, same_decision


def test_of_two_writers_at_once_only_one_gets_through(tmp_path: Path) -> None:
    tally = run_rounds(tmp_path, 60)
    assert tally.at_once > tally.rounds // 2, tally


def test_many_copies_at_once_are_one_decision(tmp_path: Path) -> None:
    with pair(tmp_path, seed=1) as two:
        for _ in range(10):
            same_decision(two)
