"""Sixteen processes fight for a hundred targets; the benchmark `benchmarks/fleet/contend.py` does it for a minute."""

from __future__ import annotations

from pathlib import Path

from benchmarks.fleet.contend import contend


def test_sixteen_processes_never_hold_one_target_together_and_each_gets_some(tmp_path: Path) -> None:
    told = contend(tmp_path, processes=16, targets=100, seconds=3.0)
    assert told["refused"] > 0  # they were in each other's way
    assert told["least_got"] > 0


def test_a_single_target_passes_from_hand_to_hand(tmp_path: Path) -> None:
    told = contend(tmp_path, processes=4, targets=1, seconds=2.0)
    assert told["refused"] > told["processes"]
    assert told["got"] > 1
