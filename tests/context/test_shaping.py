"""What goes first when an answer is too long, and what never goes."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from weft.context.shaping import Shaped, refilled, remark, shape, steps_of
from weft.runtime.priorities import USUAL, priority_of

LONG = "Tides turn twice a day. " * 60


def size(shaped: Shaped) -> int:
    return len(msgspec.json.encode(shaped.data))


def node(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"n{number}",
        "kind": "Memory",
        "text": f"Words of number {number}.",
        "citation": f"weft://s/events/{number}#ab",
        "summary": "a summary of it",
        "valid_from": "2026-01-01",
        "props": {"colour": "blue", "size": "large"},
        **more,
    }


def rows(count: int) -> dict[str, Any]:
    return {"nodes": [node(number) for number in range(count)], "total": count}


def test_whole_if_there_is_room() -> None:
    shaped = shape(rows(3), {}, size, 10_000)
    assert shaped is not None
    assert shaped.data == rows(3)
    assert remark(rows(3), shaped) == ""


def test_low_fields_go_first_and_from_the_last_row_up() -> None:
    whole = rows(3)
    shaped = shape(whole, {}, size, size(Shaped(data=whole)) - 30)
    assert shaped is not None
    assert ["props" in each for each in shaped.data["nodes"]] == [True, True, False]
    assert all("valid_from" in each and "summary" in each for each in shaped.data["nodes"])
    assert remark(whole, shaped) == "props"


def test_then_medium_then_high_then_rows_from_the_end_and_never_what_is_required() -> None:
    whole = rows(5)
    seen: list[tuple[bool, bool, bool, int]] = []
    for budget in range(size(Shaped(data=whole)), 90, -5):
        shaped = shape(whole, {}, size, budget)
        if shaped is None:
            break
        assert size(shaped) <= budget
        kept = shaped.data["nodes"]
        assert [each["id"] for each in kept] == [f"n{number}" for number in range(len(kept))]
        assert all({"id", "kind", "text", "citation"} <= set(each) for each in kept)
        first = kept[0]
        seen.append(("props" in first, "valid_from" in first, "summary" in first, len(kept)))
    order = list(dict.fromkeys(seen))
    assert order == sorted(order, reverse=True)  # nothing comes back, and rows go when fields are gone
    assert order[0] == (True, True, True, 5)
    assert order[-1] == (False, False, False, 1)
    assert all(count == 5 for _, _, high, count in order if high)


def test_what_is_declared_wins_over_what_is_usual() -> None:
    declared = {"nodes.props": "required", "nodes.text": "low"}
    shaped = shape(rows(3), declared, size, 500)  # type: ignore[arg-type]
    assert shaped is not None
    assert all("props" in each and "text" not in each for each in shaped.data["nodes"])


def test_an_object_that_is_declared_required_stays_whole() -> None:
    whole = {"described": {"input_schema": {"properties": {"props": {"why": "x" * 50}, "stages": {}}}, "why": "y" * 50}}
    shaped = shape(whole, {"described.input_schema": "required"}, size, 130)
    assert shaped is not None
    assert shaped.data == {"described": {"input_schema": whole["described"]["input_schema"]}}


def test_a_level_that_saves_nothing_is_passed_over() -> None:
    """As where the words do not show what the data holds."""
    whole = rows(4)
    shown = shape(whole, {}, lambda made: 10 * len(made.data["nodes"]), 25)
    assert shown is not None
    assert shown.data["nodes"] == whole["nodes"][:2]
    assert remark(whole, shown, fields=False) == "2 of 4 nodes"


def test_a_text_is_cut_only_where_nothing_else_helps_and_says_how_much_is_missing() -> None:
    whole = {"nodes": [node(0, text=LONG), node(1)]}
    shaped = shape(whole, {}, size, 600)
    assert shaped is not None
    (only,) = shaped.data["nodes"]
    words, _, rest = only["text"].partition(" … (")
    assert LONG.startswith(words)
    assert words.endswith(".")
    missing = int(rest.removesuffix(" more characters)").replace(",", ""))
    assert len(words) + missing == len(LONG)
    assert f"{missing:,} characters of long texts" in remark(whole, shaped)


def test_ids_and_citations_are_never_cut() -> None:
    whole = {"nodes": [node(0, id="i d " * 400)]}
    assert shape(whole, {}, size, 600) is None


def test_what_went_is_empty_again_so_that_the_type_can_be_made() -> None:
    whole = {
        "nodes": [node(0), node(1)],
        "status": "succeeded",
        "score": 0.5,
        "why": "because of a long story, you know",
    }
    shaped = {"nodes": [{"id": "n0"}]}
    filled = refilled(shaped, whole)
    assert filled["nodes"] == [
        {"id": "n0", "kind": "Memory", "text": "", "citation": "weft://s/events/0#ab", "summary": ""}
        | {"valid_from": "2026-01-01", "props": {}}
    ]
    assert (filled["status"], filled["score"], filled["why"]) == ("succeeded", 0.5, "")


plain = st.one_of(st.integers(-9, 9), st.text(max_size=30), st.booleans(), st.none())
names = st.sampled_from([*sorted(USUAL), "other", "more", "words of it"])
values = st.recursive(
    plain,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=5)),
    max_leaves=25,
)


def least(value: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Only what must stay, by reading the rules again: required fields, and the first of required lists."""
    kept: dict[str, Any] = {}
    lists = [name for name, held in value.items() if isinstance(held, list)]
    for name, held in value.items():
        own = f"{path}.{name}" if path else name
        if priority_of(own, held, {}, is_first_list=not path and name in lists[:1]) != "required":
            continue
        if isinstance(held, list):
            kept[name] = [least(each, own) if isinstance(each, dict) else each for each in held[:1]]
        else:
            kept[name] = least(held, own) if isinstance(held, dict) else held
    return kept


@given(st.dictionaries(names, values, max_size=6), st.integers(0, 600))
def test_whatever_the_data_it_fits_or_it_is_said_that_it_cannot(whole: dict[str, Any], budget: int) -> None:
    before = msgspec.json.encode(whole)
    shaped = shape(whole, {}, size, budget)
    assert msgspec.json.encode(whole) == before
    if shaped is None:
        assert size(Shaped(data=least(whole))) > budget
    else:
        assert size(shaped) <= budget
        assert set(shaped.data) <= set(whole)
        assert set(refilled(shaped.data, whole)) == set(whole)
        for name, held in whole.items():
            if priority_of(name, held, {}) == "required" and not isinstance(held, dict | list) and not shaped.cut:
                assert shaped.data[name] == held


@given(st.dictionaries(names, values, max_size=6))
def test_steps_go_from_low_to_required(whole: dict[str, Any]) -> None:
    levels = [step.level for step in steps_of(whole, {})]
    assert levels == sorted(levels, key=["low", "medium", "high", "required"].index)
