"""Categories of attempts to steer an assistant, named by one word in answers and flags, and the phrase format."""

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
# Not attempts to steer an assistant: ignored in memories.
UNSTEERING: Final[frozenset[Category]] = frozenset({"spam", "abuse"})


class Phrase(Struct, frozen=True, kw_only=True):
    """A sequence of words that indicates an attempt.

    `words` is read from left to right: a word in lower case matches itself, `a|b` either, a name in capitals any word
    of that list, `~3` up to three other words; a final `?` makes it optional; `!not` says that the word before is
    not this one. A match never crosses a sentence end.
    `reason` is shown to users. Phrases not `everywhere` are checked only in messages, as manuals often contain them.
    """

    category: Category
    words: str
    reason: str
    everywhere: bool = True


def read_phrases(*tables: Mapping[Category, str]) -> tuple[Phrase, ...]:
    """The phrases of tables with a line each, `words = reason`; those for messages only begin with `*`."""
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
