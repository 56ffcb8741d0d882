"""Which number each chunk of a section has: one that stays the same keeps its own, wherever it moves to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct


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
    """Places in both that belong together, each place once. Takes as long as there are texts, whatever they are."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    pairs = {at: at for at in range(start)}  # place in the new ones -> place in the old ones
    pairs |= {len(new) - 1 - at: len(old) - 1 - at for at in range(end)}
    left: dict[str, deque[int]] = {}
    for at in range(start, len(old) - end):
        left.setdefault(old[at], deque()).append(at)
    for at in range(start, len(new) - end):  # what says the same is the same: of several, in their order
        if left.get(new[at]):
            pairs[at] = left[new[at]].popleft()
    free = {at for places in left.values() for at in places}
    _pair_beside(pairs, free, range(len(new)), step=1, first=0)
    _pair_beside(pairs, free, range(len(new) - 1, -1, -1), step=-1, first=len(old) - 1)
    return [(was, now) for now, was in pairs.items()]


def _pair_beside(pairs: dict[int, int], free: set[int], places: range, *, step: int, first: int) -> None:
    """What stands beside a pair in both replaced the other; at an end, what stands there."""
    for at in places:
        if at in pairs:
            continue
        beside = pairs.get(at - step)
        was = first if at == places.start else None if beside is None else beside + step
        if was in free:
            free.discard(was)
            pairs[at] = was
