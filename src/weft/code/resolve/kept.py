"""A bounded cache by path: what was used longest ago leaves first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, TypeVar

from weft.code.parse.facts import FileFacts

MAX_WEIGHT: Final = 300_000  # of what is kept of a project's files: some 100 MB, a large package with its tables
OVERHEAD: Final = 16  # of a file that says nothing

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by path, each with a weight; at least the last one is kept."""

    def __init__(self) -> None:
        self._weight = 0
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()

    def get(self, path: str) -> Value | None:
        found = self._values.get(path)
        if found is None:
            return None
        self._values.move_to_end(path)
        return found[0]

    def put(self, path: str, value: Value, weight: int) -> None:
        if (before := self._values.pop(path, None)) is not None:
            self._weight -= before[1]
        self._values[path] = value, weight
        self._weight += weight
        while self._weight > MAX_WEIGHT and len(self._values) > 1:
            self._weight -= self._values.popitem(last=False)[1][1]


def weight_of(facts: FileFacts) -> int:
    """About how many objects the facts of a file are."""
    return OVERHEAD + len(facts.definitions) + len(facts.imports) + len(facts.references) + len(facts.bindings)
