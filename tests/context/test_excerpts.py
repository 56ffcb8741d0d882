"""Excerpts of long texts, and texts that say again what others say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.places import Place
from weft.context.excerpts import excerpt, repeats, tells_again

LONG = " ".join(f"Sentence number {n} speaks of ropes and pumps and lamps in the old harbour." for n in range(40))


def test_an_excerpt_begins_with_a_sentence_and_ends_with_a_word() -> None:
    start = LONG.index("Sentence number 20")
    said = excerpt(LONG, start, start + 70, 160)
    assert said.startswith("…Sentence number 1")
    assert said.endswith("…")
    assert f" {said.rstrip('…').rpartition(' ')[2]} " in f" {LONG} "
    assert "Sentence number 20 speaks" in said


def test_without_sentences_it_begins_with_a_word() -> None:
    words = " ".join(f"word{n}" for n in range(400))
    start = words.index("word200")
    assert excerpt(words, start, start + 7, 100).startswith("…word")
    assert excerpt("x" * 900, 500, 520, 100).startswith("…x")
    assert excerpt("short text", 0, 5, 100) == "short text"


@given(st.text(alphabet="ab .\n。", max_size=300), st.integers(0, 300), st.integers(0, 60), st.integers(1, 80))
def test_the_place_itself_is_always_in_it(text: str, start: int, size: int, around: int) -> None:
    start = min(start, len(text))
    end = min(start + size, len(text))
    assert text[start:end].strip() in excerpt(text, start, end, around)


@pytest.mark.parametrize(
    ("short", "long", "again"),
    [
        ("Pumps run in pairs.", "Pumps **run** in\npairs. The second starts later.", True),
        ("Pumps run in pairs.", "Lamps burn oil.", False),
        ("Pumps", "Pumps run in pairs.", True),
        ("", "Pumps run in pairs.", False),
    ],
)
def test_a_text_that_is_told_again(short: str, long: str, again: bool) -> None:
    assert tells_again(short, long) is again
    assert repeats(long, short) is again


def test_a_section_is_not_told_twice(place: Place, memory: weft.Memory) -> None:
    (place.root / "g.md").write_text("# Guide\n\n## Pumps\n\nPumps run in pairs. The second one waits for the first.\n")
    memory.ingest(place.root)
    answer = memory.recall("Pumps", kinds=["Section"])
    assert answer.hits[0].parts
    assert answer.context.count("Pumps run in pairs") == 1
