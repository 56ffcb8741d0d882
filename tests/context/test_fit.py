"""Budget fitting: whole items, best first, never more than there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.context.budget import PROFILE_TOKENS, SHARES, Slot, context_tokens, wider
from weft.context.fit import AROUND_TEXT, Fitted, fit, largest, lengthened, text_lengths

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
    fitted = fit(given_items, cost, budget, SHARES)
    taken = [item for held in fitted.groups.values() for item in held]
    assert fitted.cost == sum(map(cost, taken)) <= budget
    for slot, held in fitted.groups.items():
        assert set(held) <= set(given_items[slot])
        assert [item[1] for item in held] == sorted(item[1] for item in held)
    for slot, all_of_it in given_items.items():
        assert len(fitted.groups.get(slot, ())) + fitted.omitted.get(slot, 0) == len(all_of_it)


@given(ranked, st.integers(0, 3_000))
def test_nothing_that_would_still_fit_is_omitted(costs_of: dict[Slot, list[int]], budget: int) -> None:
    given_items = items(costs_of)
    fitted = fit(given_items, cost, budget, SHARES)
    taken = {item for held in fitted.groups.values() for item in held}
    left = [item for held in given_items.values() for item in held if item not in taken]
    assert all(cost(item) > budget - fitted.cost for item in left)


@given(ranked)
def test_without_a_budget_everything_is_taken(costs_of: dict[Slot, list[int]]) -> None:
    fitted = fit(items(costs_of), cost, None, SHARES)
    assert {slot: list(held) for slot, held in fitted.groups.items()} == {
        slot: held for slot, held in items(costs_of).items() if held
    }
    assert not fitted.omitted


def test_each_slot_has_its_share() -> None:
    plenty: dict[Slot, list[int]] = {slot: [10] * 100 for slot in SHARES}
    fitted = fit(plenty, lambda item: item, 1_000, SHARES)
    assert {slot: sum(held) for slot, held in fitted.groups.items()} == {
        "core": 400,
        "dependencies": 250,
        "decisions": 200,
        "plan": 100,
        "episodes": 50,
    }


def test_what_a_slot_does_not_need_moves_on_to_the_next() -> None:
    fitted = fit({"core": [100], "dependencies": [100] * 10, "episodes": [10] * 100}, lambda item: item, 1_000, SHARES)
    assert sum(fitted.groups["dependencies"]) == 500  # its own 250, and of the 300 that core did not need what fits
    assert fitted.cost == 1_000


def test_a_best_item_that_is_too_large_is_not_cut() -> None:
    fitted = fit({"core": [900, 5], "plan": [20]}, lambda item: item, 100, SHARES)
    assert fitted.groups == {"core": (5,), "plan": (20,)}
    assert fitted.omitted == {"core": 1}


# ---- one group


def alone(of: list[int], budget: int) -> Fitted[str, int]:
    """The numbers of the items that are kept."""
    return fit({"all": list(range(len(of)))}, of.__getitem__, budget)


@given(costs, st.integers(0, 3_000), st.integers(0, 400))
def test_a_larger_budget_never_gives_up_a_better_item_for_a_worse_one(of: list[int], budget: int, more: int) -> None:
    less, wide = alone(of, budget).kept, alone(of, budget + more).kept
    differ = [at for at in range(len(of)) if (at in less) != (at in wide)]
    assert not differ or differ[0] in wide


@given(costs, st.integers(0, 3_000))
def test_the_same_input_gives_the_same_result(of: list[int], budget: int) -> None:
    assert alone(of, budget) == alone(of, budget)


@given(costs, st.integers(0, 3_000))
def test_an_item_is_omitted_only_where_the_better_ones_left_it_no_room(of: list[int], budget: int) -> None:
    kept = alone(of, budget).kept
    for at, price in enumerate(of):
        if at not in kept:
            assert price + sum(of[each] for each in kept if each < at) > budget


# ---- texts

needs_of = st.lists(st.integers(0, 3_000), max_size=15).map(lambda needs: {str(at): n for at, n in enumerate(needs)})


@given(needs_of, st.integers(0, 9_000))
def test_texts_take_no_more_than_there_is_and_the_first_has_most(needs: dict[str, int], characters: int) -> None:
    lengths = text_lengths(needs, characters)
    assert sum(lengths.values()) + AROUND_TEXT * len(lengths) <= characters or not lengths
    assert all(min(needs[each], 60) <= length <= needs[each] for each, length in lengths.items())
    cut = [length for each, length in lengths.items() if length < needs[each]]
    assert cut == sorted(cut, reverse=True)


def test_short_texts_leave_their_room_to_others() -> None:
    assert text_lengths({"a": 50, "b": 2_000, "c": 80}, 900) == {"a": 50, "b": 470, "c": 80}


@given(needs_of, st.integers(0, 4_000), st.integers(0, 4_000))
def test_lengthened_texts_take_what_is_given_and_never_more_than_they_need(
    needs: dict[str, int], characters: int, more: int
) -> None:
    before = text_lengths(needs, characters)
    after = lengthened(before, needs, more)
    assert all(before[each] <= after[each] <= needs[each] for each in before)
    wanted = sum(needs[each] - before[each] for each in before)
    assert sum(after.values()) - sum(before.values()) == min(more, wanted)


# ---- the largest that fits


@given(st.integers(-5, 500), st.integers(0, 400), st.integers(1, 20))
def test_the_largest_that_fits_is_found_to_a_step(limit: int, most: int, step: int) -> None:
    found = largest(lambda size: size, lambda size: size <= limit, most, step)
    if limit < 0:
        assert found is None
    else:
        assert found is not None
        assert min(limit, most) - step <= found <= min(limit, most)


# ---- profiles


def test_profiles_widen_and_a_context_leaves_room_around_it() -> None:
    assert [wider(profile) for profile in PROFILE_TOKENS] == ["balanced", "debug", "debug"]
    assert context_tokens("compact") < 300 < context_tokens("balanced") < 1_200 < context_tokens("debug")
