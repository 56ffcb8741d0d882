"""How many tokens an answer may cost, and who of those that want them gets how many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, Literal, TypeVar

from msgspec import Struct

Profile = Literal["compact", "balanced", "debug"]
# None is no bound but that of every answer (`weft.operations.bounds`).
PROFILE_TOKENS: Final[Mapping[Profile, int | None]] = {"compact": 300, "balanced": 1_200, "debug": None}
ENVELOPE_TOKENS: Final = 30  # of a profile, for the summary and notes around a context
DEBUG_TOKENS: Final = 20_000  # of a context, where the profile has no bound
Slot = Literal["core", "dependencies", "decisions", "plan", "episodes"]
SHARES: Final[Mapping[Slot, float]] = {
    "core": 0.40,
    "dependencies": 0.25,
    "decisions": 0.20,
    "plan": 0.10,
    "episodes": 0.05,
}

Item = TypeVar("Item")


def wider(profile: Profile) -> Profile:
    """The next profile, with more room; the widest itself where there is none."""
    names = tuple(PROFILE_TOKENS)
    return names[min(names.index(profile) + 1, len(names) - 1)]


def context_tokens(profile: Profile) -> int:
    """What the text of a context may cost so that the answer around it, as words or as data, stays within a profile."""
    tokens = PROFILE_TOKENS[profile]
    return DEBUG_TOKENS if tokens is None else tokens - tokens // 10 - ENVELOPE_TOKENS


class Filled(Struct, Generic[Item], frozen=True, kw_only=True):
    """What each slot holds, in the order it was given, what all of it costs, and how many had no room."""

    slots: Mapping[Slot, tuple[Item, ...]]
    tokens: int
    left_out: Mapping[Slot, int]


def fill(ranked: Mapping[Slot, Sequence[Item]], cost: Callable[[Item], int], budget_tokens: int | None) -> Filled[Item]:
    """Takes whole items, best first, until the share of their slot is spent; nothing is ever cut.

    What a slot does not need moves on to the next one. What is left after the last goes to whatever fits, in the order
    of slots. Without a budget everything is taken.
    """
    taken: dict[Slot, list[int]] = {slot: [] for slot in SHARES}
    costs = {slot: [cost(item) for item in ranked.get(slot, ())] for slot in SHARES}
    if budget_tokens is None:
        taken = {slot: list(range(len(costs[slot]))) for slot in SHARES}
    else:
        left = 0.0
        for slot, share in SHARES.items():
            left += budget_tokens * share
            for at, price in enumerate(costs[slot]):
                if price > left:
                    break
                left -= price
                taken[slot].append(at)
        room = budget_tokens - _spent(costs, taken)
        for slot in SHARES:
            for at, price in enumerate(costs[slot]):
                if at not in taken[slot] and price <= room:
                    room -= price
                    taken[slot].append(at)
    return Filled(
        slots={slot: tuple(ranked[slot][at] for at in sorted(chosen)) for slot, chosen in taken.items() if chosen},
        tokens=_spent(costs, taken),
        left_out={slot: gone for slot in SHARES if (gone := len(costs[slot]) - len(taken[slot]))},
    )


def _spent(costs: Mapping[Slot, Sequence[int]], taken: Mapping[Slot, Sequence[int]]) -> int:
    return sum(costs[slot][at] for slot, chosen in taken.items() for at in chosen)
