"""The body of a call, read strictly: nothing passes that two readers could read in two ways."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

from weft.errors import Invalid

MAX_DEPTH: Final = 64
_EXAMPLE: Final = 'send a JSON object of arguments, such as {"query": "why redis?"}, or {} for none'


def read_body(body: bytes) -> dict[str, Any]:
    """The arguments of a call. Raises Invalid, in words, for anything but one JSON object.

    Refused too are a key given twice, numbers that JSON does not have, nesting beyond MAX_DEPTH and half a character.
    """
    if not body.strip():
        raise Invalid("the body is empty", hint=_EXAMPLE)
    try:
        text = body.decode("utf-8")
        sent = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as problem:
        raise Invalid("the body is not UTF-8", hint="JSON is sent in UTF-8, without a byte order mark") from problem
    except RecursionError as problem:
        raise Invalid("the body is nested too deeply", hint=f"at most {MAX_DEPTH} levels are read") from problem
    except ValueError as problem:  # of json too, and of a number with more digits than Python reads
        raise Invalid(f"the body is not JSON: {problem}", hint=_EXAMPLE) from problem
    if not isinstance(sent, dict):
        raise Invalid("the body is not a JSON object", hint=_EXAMPLE)
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deep(sent):
        raise Invalid("the body is nested too deeply", hint=f"at most {MAX_DEPTH} levels are read")
    if "\\u" in text:
        _check_whole(sent)
    return sent


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Invalid(f"{_plain(twice)} is given twice", hint="send it once")
    return made


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number of JSON")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _is_deep(value: Any) -> bool:
    """Level by level, so that it needs no depth of its own."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    match value:
        case dict():
            return [each for each in value.values() if isinstance(each, dict | list)]
        case list():
            return [each for each in value if isinstance(each, dict | list)]
        case _:
            return []


def _check_whole(sent: dict[str, Any]) -> None:
    try:
        json.dumps(sent, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as problem:
        raise Invalid(
            "the body holds a lone surrogate (such as \\ud800), which is half a character and not text",
            hint="decode the source with errors='replace' before sending it",
        ) from problem


def _plain(name: str) -> str:
    return name[:80].encode("utf-8", "replace").decode()
