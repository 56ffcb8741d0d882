"""What a text can be caught at. One word each, as answers and flags name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Category = Literal[
    "override",
    "role_play",
    "prompt_extraction",
    "exfiltration",
    "tool_misuse",
    "markup",
    "credentials",
    "encoded",
    "spam",
    "abuse",
]
# These are no attempts to steer an assistant: of a memory they say nothing.
UNSTEERING: Final[frozenset[Category]] = frozenset({"spam", "abuse"})


class Phrase(Struct, frozen=True, kw_only=True):
    """A sequence of words that gives something away.

    `words` is read from left to right: a word in small letters stands for itself, `a|b` for either, a name in capitals
    for any word of that list, `~3` for at most three other words; a `?` behind makes it optional. A sentence's end is
    never passed. `reason` says what it means, to whoever asks why. One that is told `everywhere` gives away memories
    too; others only messages, as they stand in many a manual.
    """

    category: Category
    words: str
    reason: str
    everywhere: bool = True


def read_phrases(*tables: Mapping[Category, str]) -> tuple[Phrase, ...]:
    """The phrases of tables: a line each, `words = reason`; one of messages only begins with `*`."""
    return tuple(
        Phrase(
            category=category,
            words=line.partition(" = ")[0].removeprefix("* "),
            reason=line.partition(" = ")[2],
            everywhere=not line.startswith("* "),
        )
        for table in tables
        for category, lines in table.items()
        for line in lines.strip().split("\n")
    )
