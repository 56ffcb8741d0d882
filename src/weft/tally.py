"""What one call does on its way: how many events it wrote, whether they were sensitive, how long each stage took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from weft.log.draft import Draft


class Tally:
    """Counts for one call. Whoever does the work tells it here; nothing that is decided depends on it."""

    __slots__ = ("events", "sensitive", "stages")

    def __init__(self) -> None:
        self.events = 0
        self.sensitive = False
        self.stages: dict[str, float] = {}

    def writes(self, drafts: Sequence[Draft]) -> None:
        """Before a write: what fails on the way, or waits in the outbox, is as sensitive as what is written."""
        self.sensitive = self.sensitive or any(_is_sensitive(draft.payload) for draft in drafts)

    def wrote(self, events: int) -> None:
        """After a write."""
        self.events += events

    def took(self, stages: Iterable[tuple[str, float]]) -> None:
        """Milliseconds by stage; those of the same name add up."""
        for name, milliseconds in stages:
            self.stages[name] = round(self.stages.get(name, 0.0) + milliseconds, 3)


def _is_sensitive(payload: Any) -> bool:
    """Whether a payload, or anything that it asserts, is marked so."""
    parts = (each for name in ("nodes", "edges", "entities") for each in getattr(payload, name, ()))
    return getattr(payload, "sensitive", False) is True or any(getattr(each, "sensitive", False) for each in parts)
