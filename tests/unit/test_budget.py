"""Slots of a budget: whole items, best first, never more than there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.context.budget import PROFILE_TOKENS, SHARES, Slot, context_tokens, fill, wider

costs = st.lists(st.integers(1, 400), max_size=12)
ranked = st.dictionaries(st.sampled_from(list(SHARES)), costs, max_size=len(SHARES))


def items(costs_of: dict[Slot, list[int]]) -> dict[Slot, list[tuple[Slot, int, int]]]:
    """Items that know their slot, rank and cost."""
    return {slot: [(slot, at, cost) for at, cost in enumerate(held)] for slot, held in costs_of.items()}


def cost(item: tuple[Slot, int, int]) -> int:
    return item[2]


@given(ranked, st.integers(0, 3_000))
def test_it_is_never_over_budget_and_holds_whole_items_in_their_order(
    costs_of: dict[Slot, list[int]], budget: int
) -> None:
    given_items = items(costs_of)
    filled = fill(given_items, cost, budget)
    taken = [item for held in filled.slots.values() for item in held]
    assert filled.tokens == sum(map(cost, taken)) <= budget
    for slot, held in filled.slots.items():
        assert set(held) <= set(given_items[slot])
        assert [item[1] for item in held] == sorted(item[1] for item in held)
    for slot, all_of_it in given_items.items():
        assert len(filled.slots.get(slot, ())) + filled.left_out.get(slot, 0) == len(all_of_it)


@given(ranked, st.integers(0, 3_000))
def test_nothing_that_would_still_fit_is_left_out(costs_of: dict[Slot, list[int]], budget: int) -> None:
    given_items = items(costs_of)
    filled = fill(given_items, cost, budget)
    taken = {item for held in filled.slots.values() for item in held}
    left = [item for held in given_items.values() for item in held if item not in taken]
    assert all(cost(item) > budget - filled.tokens for item in left)


@given(ranked)
def test_without_a_budget_everything_is_taken(costs_of: dict[Slot, list[int]]) -> None:
    filled = fill(items(costs_of), cost, None)
    assert {slot: list(held) for slot, held in filled.slots.items()} == {
        slot: held for slot, held in items(costs_of).items() if held
    }
    assert not filled.left_out


def test_each_slot_has_its_share() -> None:
    plenty: dict[Slot, list[int]] = {slot: [10] * 100 for slot in SHARES}
    filled = fill(plenty, lambda item: item, 1_000)
    assert {slot: sum(held) for slot, held in filled.slots.items()} == {
        "core": 400,
        "dependencies": 250,
        "decisions": 200,
        "plan": 100,
        "episodes": 50,
    }


def test_what_a_slot_does_not_need_moves_on_to_the_next() -> None:
    filled = fill({"core": [100], "dependencies": [100] * 10, "episodes": [10] * 100}, lambda item: item, 1_000)
    assert sum(filled.slots["dependencies"]) == 500  # its own 250, and of the 300 that core did not need what fits
    assert filled.tokens == 1_000


def test_a_best_item_that_is_too_large_is_not_cut() -> None:
    filled = fill({"core": [900, 5], "plan": [20]}, lambda item: item, 100)
    assert filled.slots == {"core": (5,), "plan": (20,)}
    assert filled.left_out == {"core": 1}


def test_profiles_widen_and_a_context_leaves_room_around_it() -> None:
    assert [wider(profile) for profile in PROFILE_TOKENS] == ["balanced", "debug", "debug"]
    assert context_tokens("compact") < 300 < context_tokens("balanced") < 1_200 < context_tokens("debug")
