"""What one call does on its way: how many events it wrote, whether they were sensitive, how long each stage took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from weft.log.draft import Draft

MAX_WRITTEN: Final = 256  # ids that are kept; more than the words have room for that are kept of a call


class Tally:
    """Counts for one call. Whoever does the work tells it here; nothing that is decided depends on it."""

    __slots__ = ("events", "sensitive", "stages", "written")

    def __init__(self) -> None:
        self.events = 0
        self.written: dict[str, None] = {}  # ids of what it wrote, in order
        self.sensitive = False
        self.stages: dict[str, float] = {}

    def writes(self, drafts: Sequence[Draft]) -> None:
        """Before a write: what fails on the way, or waits in the outbox, is as sensitive as what is written."""
        self.sensitive = self.sensitive or any(is_sensitive(draft.payload) for draft in drafts)
        for draft in drafts if len(self.written) < MAX_WRITTEN else ():
            self.written |= dict.fromkeys(_ids(draft.payload))

    def wrote(self, events: int) -> None:
        """After a write."""
        self.events += events

    def took(self, stages: Iterable[tuple[str, float]]) -> None:
        """Milliseconds by stage; those of the same name add up."""
        for name, milliseconds in stages:
            self.stages[name] = round(self.stages.get(name, 0.0) + milliseconds, 3)


def _ids(payload: Any) -> Iterator[str]:
    """The nodes that a payload is about."""
    if isinstance(own := getattr(payload, "id", None), str):
        yield own
    for each in getattr(payload, "nodes", ()):
        yield each if isinstance(each, str) else each.id


def is_sensitive(payload: Any) -> bool:
    """Whether a payload, or anything that it asserts, is marked so."""
    parts = (each for name in ("nodes", "edges", "entities") for each in getattr(payload, name, ()))
    return getattr(payload, "sensitive", False) is True or any(getattr(each, "sensitive", False) for each in parts)
