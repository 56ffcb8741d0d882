"""The index of operations: a line about each, and its name on the command line. Imports nothing heavy.

`index.json` is written from the registry by `make reference`; a test sees to it that it says what the registry says.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

INDEX: Final = Path(__file__).with_name("index.json")
# Names that begin with one of these are commands of a group: `log_show` is `weft log show`.
FAMILIES: Final = ("log", "bench", "report", "hygiene", "token", "graph")
# Commands that are named otherwise than their operations.
RENAMED: Final = {"run_hygiene": ("hygiene", "run"), "memory_checkout": ("checkout",)}


class Listed(NamedTuple):
    """What is known of an operation without importing it."""

    name: str
    module: str
    effect: str
    toolset: str
    reach: str
    arguments: tuple[str, ...]
    summary: str


@cache
def read_index() -> dict[str, Listed]:
    """Every operation, by name and in the order of the registry.

    Benches come last, with a module of `weft.bench`: they are commands only, for whoever works on weft.
    """
    rows = json.loads(INDEX.read_text(encoding="utf-8"))
    return {row["name"]: Listed(**row | {"arguments": tuple(row["arguments"])}) for row in rows}


def command_words(name: str) -> tuple[str, ...]:
    """The words that name an operation's command: ("log", "show"), ("add-fact",)."""
    if name in RENAMED:
        return RENAMED[name]
    family, _, rest = name.partition("_")
    return (family, rest.replace("_", "-")) if family in FAMILIES and rest else (name.replace("_", "-"),)
