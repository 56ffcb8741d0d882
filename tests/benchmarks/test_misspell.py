"""Misspellings: always the same, always one letter, always in a name."""

from __future__ import annotations

import difflib

import pytest
from benchmarks.quality.misspell import lower, misspelt

QUESTION = "Which harbour did Valentina Moreau leave before Thursday?"
NAMES = ("Valentina", "Moreau", "Thursday")


def changed_words(before: str, after: str) -> list[tuple[str, str]]:
    pairs = zip(before.split(), after.split(), strict=True)
    return [(old.strip("?"), new.strip("?")) for old, new in pairs if old != new]


def test_the_same_seed_gives_the_same_misspelling() -> None:
    assert (
        misspelt(QUESTION, seed="q1")
        == misspelt(QUESTION, seed="q1")
        == "Which harbour did Valentina Moveau leave before Thursday?"
    )


@pytest.mark.parametrize("seed", [f"q{number}" for number in range(60)])
def test_one_letter_of_one_name_changes(seed: str) -> None:
    after = misspelt(QUESTION, seed=seed)
    assert after is not None
    ((old, new),) = changed_words(QUESTION, after)
    assert old in NAMES
    assert new[0] == old[0]
    assert abs(len(new) - len(old)) <= 1
    assert difflib.SequenceMatcher(None, old, new, autojunk=False).ratio() > 0.8


def test_seeds_reach_every_name_and_every_sort_of_edit() -> None:
    made = [changed_words(QUESTION, misspelt(QUESTION, seed=f"q{number}") or "")[0] for number in range(200)]
    assert {old for old, _ in made} == set(NAMES)
    assert {len(new) - len(old) for old, new in made} == {-1, 0, 1}
    assert any(sorted(new) == sorted(old) for old, new in made), "two letters swapped"
    assert any(len(new) == len(old) and sorted(new) != sorted(old) for old, new in made), "one letter replaced"


def test_without_a_name_there_is_nothing_to_misspell() -> None:
    assert misspelt("Where is the key?", seed="q1") is None
    assert misspelt("which ferry goes to NATO at Ulm?", seed="q1") is None
    assert misspelt("", seed="q1") is None


def test_a_name_that_opens_the_question_counts_if_there_is_no_other() -> None:
    assert changed_words("Valentina left when?", misspelt("Valentina left when?", seed="a") or "")[0][0] == "Valentina"
    assert changed_words("Harbours of Moreau?", misspelt("Harbours of Moreau?", seed="a") or "")[0][0] == "Moreau"


def test_a_name_of_one_repeated_letter_still_changes() -> None:
    for number in range(40):
        assert misspelt("who is Aaaaa?", seed=str(number)) not in (None, "who is Aaaaa?")


def test_lower_case() -> None:
    assert lower("Who met Moreau?") == "who met moreau?"
    assert lower("who met moreau?") is None
