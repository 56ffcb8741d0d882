"""Budget fitting: which items to keep, how long their texts may be, and the largest version that fits. Pure.

Everywhere the same holds: the result never costs more than the budget, better items come first, an item is kept whole
or omitted and counted, and the same input gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

NEXT_SHARE: Final = 0.4  # of the characters left, for the next text: 40 %, 24 %, 14 % …
FULL_CHARACTERS: Final = 900  # of one text before the others had an equal share
WHOLE_CHARACTERS: Final = 120  # a text that is no longer is shown whole or not at all
LEAST_CHARACTERS: Final = 60  # of a longer text
AROUND_TEXT: Final = 100  # characters of a line beside its text, its source included

Group = TypeVar("Group", bound=str)
Item = TypeVar("Item")
Made = TypeVar("Made")


class Fitted(Struct, Generic[Group, Item], frozen=True, kw_only=True):
    """The items kept of each group, in the given order; what they cost; how many of each group are omitted."""

    groups: Mapping[Group, tuple[Item, ...]]
    cost: int
    omitted: Mapping[Group, int]

    @property
    def kept(self) -> tuple[Item, ...]:
        """The items of all groups."""
        return tuple(item for items in self.groups.values() for item in items)


def fit(
    groups: Mapping[Group, Sequence[Item]],
    cost: Callable[[Item], int],
    budget: int | None,
    shares: Mapping[Group, float] | None = None,
) -> Fitted[Group, Item]:
    """Keeps whole items of every group, best first, within the budget; everything without a budget.

    Each group may spend its share of the budget, in the order of `shares`, and passes on the rest. What is left then
    goes to any item that still fits, in the same order. Without shares the groups have equal ones.
    """
    shares = shares or {name: 1.0 / len(groups) for name in groups}
    costs = {name: [cost(item) for item in groups.get(name, ())] for name in shares}
    taken: dict[Group, list[int]] = {name: list(range(len(costs[name]))) if budget is None else [] for name in shares}
    if budget is not None:
        room = budget
        left = 0.0
        for name, share in shares.items():
            left += budget * share
            for at, price in enumerate(costs[name]):
                if price > min(left, room):
                    break
                left, room = left - price, room - price
                taken[name].append(at)
        for name in shares:
            for at, price in enumerate(costs[name]):
                if at not in taken[name] and price <= room:
                    room -= price
                    taken[name].append(at)
    return Fitted(
        groups={name: tuple(groups[name][at] for at in sorted(chosen)) for name, chosen in taken.items() if chosen},
        cost=sum(costs[name][at] for name, chosen in taken.items() for at in chosen),
        omitted={name: gone for name in shares if (gone := len(costs[name]) - len(taken[name]))},
    )


def text_lengths(needs: Mapping[str, int], characters: int) -> dict[str, int]:
    """The number of characters allowed for each text, best first; an omitted text has no entry.

    `needs` are full lengths; each text costs AROUND_TEXT more. Short texts get what they need; the rest goes to the
    first texts that need more.
    """
    left = characters
    most = max(FULL_CHARACTERS, characters // max(len(needs), 1) - AROUND_TEXT)
    lengths: dict[str, int] = {}
    for name, need in needs.items():
        free = left - AROUND_TEXT
        length = need if need <= min(WHOLE_CHARACTERS, free) else min(need, most, int(NEXT_SHARE * free))
        if length < min(need, WHOLE_CHARACTERS if need <= WHOLE_CHARACTERS else LEAST_CHARACTERS) or free < 0:
            continue
        lengths[name] = length
        left = free - length
    return lengthened(lengths, needs, left)


def lengthened(lengths: Mapping[str, int], needs: Mapping[str, int], characters: int) -> dict[str, int]:
    """Distributes additional characters to the first texts that need more."""
    longer = dict(lengths)
    for name in lengths:
        more = min(max(needs[name] - lengths[name], 0), characters)
        longer[name] += more
        characters -= more
    return longer


def largest(
    make: Callable[[int], Made], fits: Callable[[Made], bool], most: int, step: int = 1, *, least: int = 0
) -> Made | None:
    """The result of `make` for the largest fitting size from `least` to `most`, by bisection; None if none fits."""
    if fits(made := make(most)):
        return made
    best, low, high = None, least - step, most
    while high - low > step:
        middle = max((low + high) // 2, least)
        if fits(made := make(middle)):
            best, low = made, middle
        elif middle == least:
            break
        else:
            high = middle
    return best
