"""What an erasure leaves standing, or may have to be repeated for: told to who decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from weft.kinds import ERASED, UNSEARCHED_KINDS
from weft.lexical import stems
from weft.loom import Loom
from weft.projection.name_search import NameSearch
from weft.projection.tokens import KEPT_KINDS
from weft.types import NOW, Viewer

SHOWN: Final = 5  # of one sort
MIN_PART: Final = 3  # characters of a part of a name that is looked for by itself
MAX_PARTS: Final = 12
MAX_HOLDING: Final = 100  # texts that hold it
MARKS: Final = str.maketrans(dict.fromkeys("-._/:@", " "))  # what names in headers have between words


def left_over(loom: Loom, viewer: Viewer, names: Collection[str]) -> tuple[str, ...]:
    """Notes on where these names stay: in headers of the log, in the names of projects; and on changes still open."""
    open_now = [tx.id for tx in loom.store.transactions(viewer, limit=100) if tx.closed_pos is None]
    open_change = "a change is open ({}): when it is closed, run this again for what it brings"
    again = map(open_change.format, open_now[:1])
    if not names:
        return tuple(again)
    found = _Found(names)
    for sort, name in loom.store.header_names(viewer):
        found.look(sort.replace("_", " "), name)
    for row in loom.store.node_words(viewer, of_kind=KEPT_KINDS.__contains__):
        if not row.id.startswith(ERASED):
            found.look(row.kind.lower(), row.name or row.id)
    return (*found.notes(), *again)


def held_alone(loom: Loom, viewer: Viewer, names: Collection[str], going: Collection[str]) -> tuple[str, ...]:
    """A note on texts that hold a part of a name and not the whole: they may speak of the same, and they stay."""
    parts = dict.fromkeys(word for name in names for word in _parts(name))
    whole = {name.casefold() for name in names}
    found: dict[str, None] = {}
    held, more = [], False
    for word in [each for each in parts if each.casefold() not in whole][:MAX_PARTS]:
        (holding,) = loom.store.holding(viewer, NOW, [" ".join(stems(word))], limit=MAX_HOLDING)
        texts = (lead.id for lead in holding.nodes if lead.kind not in UNSEARCHED_KINDS)
        left = [each for each in texts if each not in going]
        held += [word] if left else []
        more = more or holding.more
        found |= dict.fromkeys(left)
    if not found:
        return ()
    some = f"{len(found)}{' or more' if more else ''} texts that stay hold {' or '.join(map(repr, held))}"
    such = next(iter(found))
    return (f"{some} without the rest of the name, such as {such}: look at them, and erase by id what is meant",)


def _parts(name: str) -> list[str]:
    """The words of a name of several, long enough to mean somebody."""
    words = [word.strip(".,;:()'’") for word in name.split()]
    return [word for word in words if len(word) >= MIN_PART and stems(word)] if len(words) > 1 else []


class _Found:
    """Looks for names in what an erasure never changes."""

    def __init__(self, names: Collection[str]) -> None:
        self._search = NameSearch(names)
        self._seen: set[tuple[str, str]] = set()
        self._held: dict[str, list[str]] = {}  # by sort

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
