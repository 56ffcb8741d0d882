"""The measures, on cases small enough to work out by hand."""

from __future__ import annotations

from math import log2

import pytest
from benchmarks.quality.score import newest_first, score, score_by_type, score_one
from benchmarks.quality.sets import Judged


def asked(name: str, *gold: str, kind: str = "plain", latest: str | None = None) -> Judged:
    return Judged(id=name, scope="s", query="?", gold=gold, type=kind, latest_gold=latest)


def test_one_of_two_at_the_second_place() -> None:
    found = score_one(["a", "b"], ["x", "a", "y", "z", "w", "b"])
    assert {name: found[name] for name in ("R@1", "R@2", "R@5", "R@10")} == {
        "R@1": 0.0,
        "R@2": 0.5,
        "R@5": 0.5,
        "R@10": 1.0,
    }
    assert (found["All@5"], found["Hit@5"], found["MRR"]) == (0.0, 1.0, 0.5)
    assert found["nDCG@10"] == pytest.approx((1 / log2(3) + 1 / log2(7)) / (1 + 1 / log2(3)))


def test_a_perfect_and_a_missing_answer() -> None:
    best = score_one(["a", "b"], ["b", "a", "c"])
    assert (best["R@1"], best["R@2"], best["All@5"], best["MRR"], best["nDCG@10"]) == (0.5, 1.0, 1.0, 1.0, 1.0)
    assert set(score_one(["a"], []).values()) == {0.0}
    assert score_one(["a"], [*(f"x{n}" for n in range(20)), "a"])["R@20"] == 0.0
    assert score_one(["a"], [*(f"x{n}" for n in range(20)), "a"])["MRR"] == pytest.approx(1 / 21)


def test_parts_count_as_their_whole_and_once() -> None:
    found = score_one(["s1", "p.py"], ["s1#4", "s1#9", "p.py::Class.method"])
    assert (found["R@1"], found["R@2"]) == (0.5, 1.0)
    assert score_one(["s1#4"], ["s1#4"])["R@1"] == 1.0, "an id that is gold itself is no part"


def test_means_are_in_percent_and_a_question_left_out_counts_nothing() -> None:
    questions = [asked("1", "a"), asked("2", "b", kind="odd"), asked("3", "c", kind="odd")]
    run = {"1": ["a"], "2": ["x", "b"]}
    assert (score(run, questions)["n"], score(run, questions)["R@1"], score(run, questions)["MRR"]) == (3, 33.33, 50.0)
    assert {kind: each["R@2"] for kind, each in score_by_type(run, questions).items()} == {"odd": 50.0, "plain": 100.0}


def test_the_newest_of_several_versions_should_come_first() -> None:
    update = "knowledge-update"
    questions = [
        asked("1", "old", "new", kind=update, latest="new"),
        asked("2", "old", "new", kind=update, latest="new"),
        asked("3", "old", "new", kind=update, latest="new"),
        asked("4", "only", kind=update, latest="only"),
        asked("5", "old", "new", latest="new"),
    ]
    run = {"1": ["x", "new", "old"], "2": ["old", "new"], "4": ["only"], "5": ["new"]}
    assert newest_first(run, questions) == {"n": 3, "share": 33.33}
    assert newest_first(run, questions[3:]) is None
