"""What is wrong with an argument is said in words, and what it may be instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from weft.core.clock import parse_instant
from weft.core.errors import Invalid
from weft.operations import OPERATIONS, operation
from weft.runtime.argument_errors import ALLOWED, choices, in_words
from weft.runtime.operation import read_input
from weft.surfaces.bench import OPERATIONS as BENCHES

Colour = Literal["red", "blue"]


class Part(Struct, frozen=True):
    colour: Colour | None = None


class Whole(Struct, frozen=True):
    name: Annotated[str, Meta(max_length=3, pattern="^[a-z0-9][a-z0-9-]*$")] | None = None
    size: Annotated[int, Meta(ge=1, le=9)] = 1
    colour: Annotated[Colour, Meta(description="any")] | None = None
    parts: tuple[Part, ...] = ()
    tags: Annotated[tuple[str, ...], Meta(max_length=1)] = ()
    cues: dict[Colour, str] | None = None


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({"name": "A"}, "name has to be made of small letters, digits and -, and begin with a letter or digit", ""),
        ({"name": "abcd"}, "name has more than 3 characters", ""),
        ({"size": 0}, "size is less than 1", ""),
        ({"size": 10}, "size is more than 9", ""),
        ({"size": "x"}, "size is text, and not a whole number", ""),
        ({"tags": ["a", "b"]}, "tags has more than 1 item", ""),
        ({"colour": "green"}, "colour cannot be 'green'", "colour is one of red, blue"),
        ({"parts": [{"colour": "green"}]}, "parts[0].colour cannot be 'green'", "parts[0].colour is one of red, blue"),
        ({"cues": {"green": "x"}}, "a key of cues cannot be 'green'", "a key of cues is one of red, blue"),
    ],
    ids=str,
)
def test_mistakes_are_told_in_words(given: dict[str, Any], said: str, hint: str) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(given, Whole)
    assert in_words(str(raised.value)) == said
    assert choices(Whole, str(raised.value)) == hint


def test_every_pattern_of_an_argument_has_words() -> None:
    _, parts = msgspec.json.schema_components([each.input for each in (*OPERATIONS, *BENCHES)])
    assert set(patterns(parts)) <= set(ALLOWED)


def patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(found := schema.get("pattern"), str):
            yield found
        for each in schema.values():
            yield from patterns(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from patterns(each)


def test_an_operation_says_so() -> None:
    with pytest.raises(Invalid) as raised:
        read_input(operation("remember"), {"text": "x", "scope": "secret"})
    assert raised.value.message == "remember: scope cannot be 'secret'"
    assert raised.value.hint.startswith("scope is one of public, ")


def test_what_is_no_date_is_not_told_in_pythons_terms() -> None:
    with pytest.raises(Invalid) as raised:
        parse_instant("someday", field="as_of")
    assert raised.value.message == "as_of is not a moment in time: 'someday'"
    with pytest.raises(Invalid) as raised:
        parse_instant("2026-02-30", field="as_of")
    assert "day" in raised.value.message
