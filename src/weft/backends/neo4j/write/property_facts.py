"""Properties as a query compares them: one string for each, equal for equal JSON."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from weft.backends.neo4j.cypher_guards import NONE

MAX_FACT: Final = 300  # characters; a longer one is kept as its hash
_LEADS: Final = ("part_of", "conversation", "role")


def fact(key: str, value: Any) -> str:
    """A property and its value. 1 and 1.0 are the same number; 1 and "1", true and 1 differ."""
    written = orjson.dumps([key, _whole_numbers(value)], option=orjson.OPT_SORT_KEYS).decode()
    return written if len(written) <= MAX_FACT else sha256(written.encode()).hexdigest()


def facts_of(props: Mapping[str, Any]) -> list[str]:
    """All properties."""
    return [fact(key, value) for key, value in props.items()]


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def lower(word: str) -> str:
    """Small letters, of ASCII only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)


def keywords_of(props: Mapping[str, Any]) -> list[str] | None:
    """The listed keywords; a single word counts as a list of one."""
    listed = props.get("keywords")
    words = listed if isinstance(listed, list | tuple) else (listed,)
    return [lower(word) for word in words if isinstance(word, str)] or None


def leads_of(props: Mapping[str, Any]) -> list[str] | None:
    """What a lead tells of the whole, the conversation and the speaker."""
    told = [props.get(name) for name in _LEADS]
    kept = [value if isinstance(value, str) else NONE for value in told]
    return kept if kept != [NONE] * len(kept) else None
