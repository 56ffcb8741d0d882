"""What should hold, from raw assertions alone. Imports nothing of weft: it must not repeat the fold's mistakes.

For one moment of valid time the assertions known by then are replayed in order: an explicit interval takes every
moment inside itself; an open-ended one every moment from its beginning on, except where an explicit interval holds or
another open-ended one that began later; ending leaves nothing of that id from its moment on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assertion:
    known: int
    id: str
    slot: str
    begin: int
    end: int | None
    content: int


@dataclass(frozen=True)
class Ending:
    known: int
    id: str
    at: int


class Oracle:
    def __init__(self) -> None:
        self.raw: list[Assertion | Ending] = []

    def boundaries(self) -> list[int]:
        """Every moment at which an answer may change, and the one before."""
        moments = set()
        for each in self.raw:
            ends = (each.begin, each.end) if isinstance(each, Assertion) else (each.at,)
            moments.update(end for end in ends if end is not None)
        return sorted(moments | {moment - 1 for moment in moments})

    def holding(self, known: int, valid: int) -> dict[str, int]:
        """id to content, for every slot where something holds."""
        holder: dict[str, Assertion] = {}
        for each in self.raw:
            if each.known > known:
                continue
            if isinstance(each, Ending):
                gone = [s for s, held in holder.items() if held.id == each.id and each.at <= valid]
                for slot in gone:
                    del holder[slot]
            elif self._takes(each, holder.get(each.slot), valid):
                holder[each.slot] = each
        return {held.id: held.content for held in holder.values()}

    @staticmethod
    def _takes(new: Assertion, held: Assertion | None, valid: int) -> bool:
        if valid < new.begin or (new.end is not None and valid >= new.end):
            return False
        if new.end is not None or held is None:
            return True
        return held.end is None and held.begin <= new.begin
