"""How many characters of its words each line may show: the best get most of what there is. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

FIRST_SHARE: Final = 0.4  # of what is left, for the next line: 40 %, 24 %, 14 % …
FULL_CHARACTERS: Final = 900  # that one line may take before the others had an equal share
WHOLE_CHARACTERS: Final = 120  # a text that is no longer is shown whole or not at all
LEAST_CHARACTERS: Final = 60  # of a longer one; with less it says nothing
AROUND_WORDS: Final = 100  # characters of a line beside its words, its source included

Made = TypeVar("Made")


def rooms_of(needs: Mapping[str, int], characters: int) -> dict[str, int]:
    """Room by id for those that get any, best first as given, of so many characters for lines with their sources.

    `needs` are the characters of their words. Short ones take what they need and leave the rest.
    What is left after the last goes to the first that have more to say.
    """
    left = characters
    most = max(FULL_CHARACTERS, characters // max(len(needs), 1) - AROUND_WORDS)
    rooms: dict[str, int] = {}
    for each, need in needs.items():
        free = left - AROUND_WORDS
        room = need if need <= min(WHOLE_CHARACTERS, free) else min(need, most, int(FIRST_SHARE * free))
        if room < min(need, WHOLE_CHARACTERS if need <= WHOLE_CHARACTERS else LEAST_CHARACTERS) or free < 0:
            continue
        rooms[each] = room
        left = free - room
    return longer(rooms, needs, left)


def longer(rooms: Mapping[str, int], needs: Mapping[str, int], characters: int) -> dict[str, int]:
    """With so many more characters, for the first that have more to say."""
    wider = dict(rooms)
    for each in rooms:
        more = min(max(needs[each] - rooms[each], 0), characters)
        wider[each] += more
        characters -= more
    return wider


def widest(write: Callable[[int], Made], fits: Callable[[Made], bool], most: int, step: int = 1) -> Made | None:
    """What is written with the most characters that fit; None where not even none do."""
    if fits(made := write(most)):
        return made
    best, low, high = None, -step, most
    while high - low > step:
        middle = max((low + high) // 2, 0)
        if fits(made := write(middle)):
            best, low = made, middle
        elif middle == 0:
            break
        else:
            high = middle
    return best
