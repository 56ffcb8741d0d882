"""Canonical JSON: one byte string for one value, and a clear refusal of what JSON cannot carry exactly."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from weft.core.errors import Invalid, TooLarge
from weft.log.canonical import MAX_DEPTH, canonical, canonical_struct, check_text, decode
from weft.log.kinds import code, graph


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        2**53,
        -(2**53),
        10**400,
        1e16,
        "a\x00b",
        "lone \ud800 surrogate",
        {1: "a"},
        {None: "a"},
        {b"k": "a"},
        {"k\x00": 1},
        {"\udfff": 1},
        b"bytes",
        pytest.param({"a", "b"}, id="a set"),
        pytest.param(object(), id="an object"),
        datetime(2026, 1, 1, tzinfo=UTC),
        1j,
    ],
    ids=repr,
)
def test_what_json_cannot_carry_is_refused_wherever_it_hides(value: Any) -> None:
    for holder in (value, [value], {"k": value}, {"deep": [{"er": (value,)}]}):
        with pytest.raises(Invalid) as caught:
            canonical(holder)
        assert caught.value.hint


def test_the_refusal_names_the_place() -> None:
    with pytest.raises(Invalid, match=r"payload\.a\[1\]\.b is nan"):
        canonical({"a": [0, {"b": math.nan}]})


def test_depth_is_bounded() -> None:
    assert decode(canonical(nested(MAX_DEPTH - 1))) == nested(MAX_DEPTH - 1)
    with pytest.raises(TooLarge, match="deep"):
        canonical(nested(MAX_DEPTH + 1))
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TooLarge):
        canonical(endless)


def test_order_of_keys_does_not_show() -> None:
    assert canonical({"b": 1, "a": {"d": 2, "c": 3}}) == canonical({"a": {"c": 3, "d": 2}, "b": 1})
    assert canonical({"b": 1, "a": 2}) == b'{"a":2,"b":1}'


def test_keys_sort_by_utf16_as_the_standard_says() -> None:
    # U+1F600 is D83D DE00 in UTF-16, before U+FB33; by code point it would come after.
    assert canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, b"1"),
        (-0.0, b"0"),
        (0.1, b"0.1"),
        (1e21, b"1e+21"),
        (1e-7, b"1e-7"),
        (2**53 - 1, b"9007199254740991"),
        (True, b"true"),
        (None, b"null"),
        ('a"\\\n\u2028é', '"a\\"\\\\\\n\u2028é"'.encode()),
        ((1, [2]), b"[1,[2]]"),
        ({}, b"{}"),
    ],
    ids=repr,
)
def test_written_as_the_standard_says(value: Any, written: bytes) -> None:
    assert canonical(value) == written


@pytest.mark.parametrize("number", [1.5, 1e21, -2.5e-300, 1.7976931348623157e308, 4503599627370497.0])
def test_numbers_come_back_equal_and_can_be_written_again(number: float) -> None:
    again = decode(canonical({"n": number}))
    assert again == {"n": number}
    assert canonical(again) == canonical({"n": number})


def test_check_text_names_its_field() -> None:
    check_text("naïve 東京 😀", field="title")
    with pytest.raises(Invalid, match="title holds a NUL"):
        check_text("\x00", field="title")
    with pytest.raises(Invalid, match="title holds a lone surrogate at character 2"):
        check_text("ab\udc80", field="title")


@pytest.mark.parametrize(
    "payload",
    [
        code.Linked(
            id="a", path="é\u2028\U00010000", joined=(code.Joined("k", "CALLS", '\x7f\x1f"\\/', 3),), project=None
        ),
        code.Linked(id="backslash, not NUL: \\u0000", path=""),
        graph.Asserted(edges=(graph.EdgeAssertion(src="a", rel="R", dst="b", weight=1e-7, props={"é": 1.0}),)),
    ],
    ids=["plain", "what looks like NUL", "floats and keys beyond ASCII"],
)
def test_a_struct_is_written_as_its_fields_are(payload: msgspec.Struct) -> None:
    assert canonical_struct(payload) == canonical(msgspec.to_builtins(payload))


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        (code.Linked(id="a\x00", path=""), "payload.id holds a NUL character"),
        (code.Linked(id="", path="a\ud800"), "payload.path holds a lone surrogate"),
        (code.Linked(id="", path="", unresolved=2**53), "payload.unresolved is an integer beyond"),
    ],
)
def test_a_struct_is_refused_as_its_fields_are(payload: msgspec.Struct, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        canonical_struct(payload)
