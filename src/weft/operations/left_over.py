"""What an erasure leaves standing, or may have to be repeated for: told to who decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from weft.kinds import ERASED
from weft.log.verify import read_commits
from weft.loom import Loom
from weft.projection.name_search import NameSearch
from weft.projection.tokens import KEPT_KINDS
from weft.types import Event, Viewer

SHOWN: Final = 5  # of one sort
MARKS: Final = str.maketrans(dict.fromkeys("-._/:@", " "))  # what names in headers have between words


def left_over(loom: Loom, viewer: Viewer, names: Collection[str]) -> tuple[str, ...]:
    """Notes on where these names stay: in headers of the log, in the names of projects; and on changes still open."""
    open_now = [tx.id for tx in loom.store.transactions(viewer, limit=100) if tx.closed_pos is None]
    open_change = "a change is open ({}): when it is closed, run this again for what it brings"
    again = map(open_change.format, open_now[:1])
    if not names:
        return tuple(again)
    found = _Found(names)
    for _, events in read_commits(loom.store, viewer):
        for event in events:
            found.look_at(event)
    for row in loom.store.node_words(viewer, of_kind=KEPT_KINDS.__contains__):
        if not row.id.startswith(ERASED):
            found.look(row.kind.lower(), row.name or row.id)
    return (*found.notes(), *again)


class _Found:
    """Looks for names in what an erasure never changes."""

    def __init__(self, names: Collection[str]) -> None:
        self._search = NameSearch(names)
        self._seen: set[tuple[str, str]] = set()
        self._held: dict[str, list[str]] = {}  # by sort

    def look_at(self, event: Event) -> None:
        """At a header."""
        for sort, value in (
            ("session", event.session),
            ("agent", event.actor.agent),
            ("role", event.actor.role),
            ("request id", event.request_id),
            ("conversation", event.conversation),
            ("task", event.task),
        ):
            if value and (sort, value) not in self._seen:
                self.look(sort, value)

    def look(self, sort: str, value: str) -> None:
        if (sort, value) in self._seen:
            return
        self._seen.add((sort, value))
        if self._search.holds(value) or self._search.holds(value.translate(MARKS)):
            self._held.setdefault(sort, []).append(value)

    def notes(self) -> Iterator[str]:
        for sort, values in self._held.items():
            shown = ", ".join(values[:SHOWN]) + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
            if sort in {kind.lower() for kind in KEPT_KINDS}:
                yield f"the name of the {sort} {shown} holds it, and stays: what belongs to it is found by it"
            else:
                yield f"the name of the {sort} {shown} holds it, and stays: headers are never changed"
