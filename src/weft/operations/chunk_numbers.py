"""Which number each chunk of a section has: one that stays the same keeps its own, wherever it moves to."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

MAX_COMPARED: Final = 1_000_000  # pairs of chunks: past that, what differs is paired in order


class Numbered(Struct, frozen=True, kw_only=True):
    """The chunks of a section that stand, (number, text) in their order, and the highest number there ever was."""

    standing: tuple[tuple[int, str], ...] = ()
    highest: int = 0


def chunk_numbers(before: Numbered, texts: Sequence[str]) -> list[int]:
    """A number for each text, no two alike.

    Texts that stood keep theirs; one that replaced another takes its; others get new ones, higher than any before.
    """
    numbers: list[int | None] = [None] * len(texts)
    for old, new in _pairs([text for _, text in before.standing], texts):
        numbers[new] = before.standing[old][0]
    made: list[int] = []
    highest = before.highest
    for number in numbers:
        if number is None:
            number = highest = highest + 1  # noqa: PLW2901 - counted on
        made.append(number)
    return made


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places in both that belong together, each place once."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    found = [(at, at) for at in range(start)]
    found += [(len(old) - 1 - at, len(new) - 1 - at) for at in range(end)]
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if len(left) * len(right) > MAX_COMPARED:
        return [*found, *((start + at, start + at) for at in range(min(len(left), len(right))))]
    for tag, low, high, low_new, high_new in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag in ("equal", "replace"):
            both = zip(range(low, high), range(low_new, high_new), strict=False)
            found += [(start + one, start + other) for one, other in both]
    return found
