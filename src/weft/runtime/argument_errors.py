"""Validation errors of arguments in plain words."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

_WHERE: Final = r"(?: - at (?P<key>`key` in )?`\$\.?(?P<where>[^`]*)`)?"
_MISSING: Final = re.compile(rf"Object missing required field `(\w+)`{_WHERE}")
_LENGTH: Final = re.compile(rf"Expected `(str|array|object)` of length (>=|<=) (\d+){_WHERE}")
_BOUND: Final = re.compile(rf"Expected `(?:int|float)` (>=|<=|>|<) (\S+){_WHERE}")
_PATTERN: Final = re.compile(rf"Expected `str` matching regex '(.*)'{_WHERE}")
_CHOICE: Final = re.compile(rf"Invalid enum value (.*?){_WHERE}")
_TYPE: Final = re.compile(rf"Expected `([^`]*)`, got `(\w+)`{_WHERE}")
# Patterns of arguments in words. A test checks that none is missing.
ALLOWED: Final = {
    r"^[A-Za-z0-9][A-Za-z0-9._:@+-]*$": "made of letters, digits and . _ : @ + -, and begin with a letter or digit",
    r"^[A-Za-z0-9][A-Za-z0-9._:-]*$": "made of letters, digits and . _ : -, and begin with a letter or digit",
    r"^[A-Za-z][A-Za-z0-9_]*$": "made of letters, digits and _, and begin with a letter",
    r"^[a-z0-9][a-z0-9-]*$": "made of small letters, digits and -, and begin with a letter or digit",
    r"^[0-9a-fA-F]{64}$": "64 hexadecimal digits",
}
TYPES: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_BEYOND: Final = {">=": "less than", ">": "not more than", "<=": "more than", "<": "not less than"}


def in_words(problem: str) -> str:
    """The error with the argument's name; the validator's own message if its form is unknown."""
    if found := _MISSING.fullmatch(problem):
        of = f" of {found['where']}" if found["where"] else ""
        return f"{found[1]}{of} is missing"
    if found := _LENGTH.fullmatch(problem):
        return f"{_named(found)} {_length(found[1], found[2], int(found[3]))}"
    if found := _BOUND.fullmatch(problem):
        return f"{_named(found)} is {_BEYOND[found[1]]} {found[2]}"
    if found := _PATTERN.fullmatch(problem):
        return f"{_named(found)} has to be {ALLOWED.get(found[1], f'as this pattern says: {found[1]}')}"
    if found := _CHOICE.fullmatch(problem):
        return f"{_named(found)} cannot be {found[1]}"
    if found := _TYPE.fullmatch(problem):
        wanted = [TYPES.get(each, each) for each in found[1].split(" | ") if each != "null"]
        return f"{_named(found)} is {TYPES.get(found[2], found[2])}, and not {' or '.join(wanted)}"
    return problem


def choices(given: type[Struct], problem: str) -> str:
    """The allowed values of an argument, for an error about a choice."""
    found = _CHOICE.fullmatch(problem)
    if found is None or not found["where"]:
        return ""
    held: list[Any] = [given]
    for name in re.sub(r"\[[^\]]*\]", "", found["where"]).split("."):
        held = [typing.get_type_hints(each)[name] for each in held if name in getattr(each, "__struct_fields__", ())]
        held = [part for each in held for part in _parts(each)]
    words = [str(word) for each in held if typing.get_origin(each) is Literal for word in typing.get_args(each)]
    return f"{_named(found)} is one of {', '.join(dict.fromkeys(words))}" if words else ""


def _named(found: re.Match[str]) -> str:
    where = found["where"] or "the input"
    return f"a key of {where}" if found["key"] else where


def _length(what: str, sign: str, bound: int) -> str:
    if sign == ">=" and bound == 1:
        return "is empty"
    unit = "character" if what == "str" else "item"
    return f"has {'fewer' if sign == '>=' else 'more'} than {bound:,} {unit}{'' if bound == 1 else 's'}"


def _parts(hint: Any) -> Iterator[Any]:
    """A type and all types inside it: members of a union, items of a list."""
    yield hint
    if typing.get_origin(hint) is not Literal:
        for each in typing.get_args(hint):
            yield from _parts(each)
