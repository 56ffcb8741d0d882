"""The flags of what is recalled: the kinds of instructions that the words of a node look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from weft.gateway.finding import looks_like_instructions

MAX_READ_CHARACTERS: Final = 200_000  # of one node; no answer shows more of it
MAX_DEPTH: Final = 4  # of properties inside properties


def flags_of(*words: str, props: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The kinds of instructions that a node's name, text, summary or properties look like; mostly none.

    Words of different fields are never read as one phrase. Source code counts as any text does: who reads it is an
    agent all the same.
    """
    told = [*words, *(_texts(props, MAX_DEPTH) if props else ())]
    return looks_like_instructions("\n\n".join(filter(None, told))[:MAX_READ_CHARACTERS])


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for name, held in value.items():
            yield str(name)
            yield from _texts(held, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for held in value:
            yield from _texts(held, depth - 1)
