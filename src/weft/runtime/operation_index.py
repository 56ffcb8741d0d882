"""The index of operations: name, summary and command of each, without importing them.

`make reference` writes `operation_index.json` from the registry; a test compares them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

INDEX: Final = Path(__file__).with_name("operation_index.json")
# Names that begin with one of these are commands of a group: `log_show` is `weft log show`.
FAMILIES: Final = ("log", "bench", "report", "hygiene", "token", "graph")
# Commands whose name differs from the operation.
RENAMED: Final = {
    "run_hygiene": ("hygiene", "run"),
    "memory_checkout": ("checkout",),
    "coordination_overview": ("fleet", "overview"),
    "agent_status": ("fleet", "agent"),
    "progress_query": ("fleet", "progress"),
    "feature_status": ("fleet", "feature"),
    "blocking_issues": ("fleet", "blocked"),
}


class Listed(NamedTuple):
    """An operation's line in the index."""

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

    Benches come last, with a module of `weft.surfaces.bench`: they are commands only.
    """
    rows = json.loads(INDEX.read_text(encoding="utf-8"))
    return {row["name"]: Listed(**row | {"arguments": tuple(row["arguments"])}) for row in rows}


def command_words(name: str) -> tuple[str, ...]:
    """The words that name an operation's command: ("log", "show"), ("add-fact",)."""
    if name in RENAMED:
        return RENAMED[name]
    family, _, rest = name.partition("_")
    return (family, rest.replace("_", "-")) if family in FAMILIES and rest else (name.replace("_", "-"),)
