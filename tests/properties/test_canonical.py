"""Canonical JSON: the fast path writes the same bytes as the reference encoder, for every value JSON can carry."""

from __future__ import annotations

import math
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.core.errors import Invalid
from weft.log.canonical import MAX_SAFE_INTEGER, canonical, decode

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
INTEGERS = st.integers(min_value=-MAX_SAFE_INTEGER, max_value=MAX_SAFE_INTEGER)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not MAX_SAFE_INTEGER < abs(x) < 1e21)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
WITHOUT_FLOATS = st.recursive(
    st.none() | st.booleans() | INTEGERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100)
@given(VALUES)
@example({"\ufffd": 1, "\U00010000": 2})  # UTF-16 orders these the other way round than code points
@example({"a": '\x7f\x1f\u2028\\"/', "b": -0.0, "c": 1e21, "d": 5e-324})
def test_equals_the_reference_encoder(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@settings(max_examples=100)
@given(WITHOUT_FLOATS)
def test_the_fast_path_equals_the_reference_encoder(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_reading_and_writing_again_changes_nothing(value: Any) -> None:
    written = canonical(value)
    assert canonical(decode(written)) == written


@given(st.dictionaries(TEXT, INTEGERS, min_size=2), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, int], random: Any) -> None:
    keys = list(value)
    random.shuffle(keys)
    assert canonical({key: value[key] for key in keys}) == canonical(value)


@given(
    st.floats(min_value=MAX_SAFE_INTEGER + 1, max_value=1e21, exclude_max=True)
    | st.integers(min_value=MAX_SAFE_INTEGER + 1)
    | st.sampled_from([math.nan, math.inf, -math.inf, "\x00", "a\ud800", b"bytes", {1: 2}, {"\x00": 1}, {1, 2}])
)
def test_refuses_what_readers_would_disagree_about(value: Any) -> None:
    for each in (value, [value], {"k": value}):
        with pytest.raises(Invalid):
            canonical(each)
