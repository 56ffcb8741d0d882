"""Statistics of one call: events written, sensitivity, milliseconds by stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from weft.log.draft import Draft

MAX_WRITTEN: Final = 256  # ids recorded per call


class CallStats:
    """Counters of one call, for its record only; no decision depends on them."""

    __slots__ = ("events", "sensitive", "stages", "written")

    def __init__(self) -> None:
        self.events = 0
        self.written: dict[str, None] = {}  # ids of what it wrote, in order
        self.sensitive = False
        self.stages: dict[str, float] = {}

    def writes(self, drafts: Sequence[Draft]) -> None:
        """Before a write, so that failed and queued writes count as sensitive too."""
        self.sensitive = self.sensitive or any(is_sensitive(draft.payload) for draft in drafts)
        for draft in drafts if len(self.written) < MAX_WRITTEN else ():
            self.written |= dict.fromkeys(_ids(draft.payload))

    def wrote(self, events: int) -> None:
        """Counts written events."""
        self.events += events

    def took(self, stages: Iterable[tuple[str, float]]) -> None:
        """Adds milliseconds by stage."""
        for name, milliseconds in stages:
            self.stages[name] = round(self.stages.get(name, 0.0) + milliseconds, 3)


def _ids(payload: Any) -> Iterator[str]:
    """The ids of the nodes in a payload."""
    if isinstance(own := getattr(payload, "id", None), str):
        yield own
    for each in getattr(payload, "nodes", ()):
        yield each if isinstance(each, str) else each.id


def is_sensitive(payload: Any) -> bool:
    """Whether a payload, or a node or edge in it, is marked sensitive."""
    parts = (each for name in ("nodes", "edges", "entities") for each in getattr(payload, name, ()))
    return getattr(payload, "sensitive", False) is True or any(getattr(each, "sensitive", False) for each in parts)
