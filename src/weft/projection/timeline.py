"""The interval rules of one slot: at any moment of valid time at most one version holds.

Point by point, a new assertion takes over a moment unless what holds there goes before it:

- an explicit interval takes every moment inside itself;
- an open-ended assertion takes every moment from its beginning on, except where an explicit interval holds or
  where another open-ended assertion holds that began later.

So an open-ended assertion lasts until the next known beginning, an explicit one overrides inside itself and what
it covered goes on behind it, ties go to the later position (the log is folded in order, so the newcomer is the
later one), and a backdated assertion slips in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from weft.types import Interval


class Row(Protocol):
    """Anything with an interval: a node version or an edge version."""

    @property
    def interval(self) -> Interval: ...


R = TypeVar("R", bound=Row)


class Span(NamedTuple):
    """A stretch of valid time; None never ends."""

    start: int
    end: int | None


class Cut(NamedTuple, Generic[R]):
    """A version that loses moments, and the stretches that are left to it."""

    row: R
    rest: tuple[Span, ...]


class Takeover(NamedTuple, Generic[R]):
    """What an assertion does to a slot: the versions it cuts, and the stretches it takes."""

    cuts: tuple[Cut[R], ...]
    taken: tuple[Span, ...]


def take(live: Sequence[R], valid_from: int, valid_to: int | None) -> Takeover[R]:
    """What a new assertion of [valid_from, valid_to) does to the slot's live versions (disjoint, in order)."""
    if not live:
        return Takeover((), (Span(valid_from, valid_to),))
    if valid_to is not None:
        claim = Span(valid_from, valid_to)
        cuts = tuple(Cut(row, _outside(row.interval, claim)) for row in live if _overlaps(row.interval, claim))
        return Takeover(cuts, (claim,))
    claim = Span(valid_from, None)
    touched = [row for row in live if _overlaps(row.interval, claim)]
    yielding = [row for row in touched if _yields(row.interval, valid_from)]
    standing = [row.interval for row in touched if not _yields(row.interval, valid_from)]
    cuts = tuple(Cut(row, _outside(row.interval, claim)) for row in yielding)
    return Takeover(cuts, _gaps(valid_from, standing))


def end(live: Sequence[R], at: int, until: int | None = None) -> tuple[Cut[R], ...]:
    """The versions that lose moments when everything here stops holding at `at`; what is told from `until` on stays."""
    over = Span(at, until)
    return tuple(Cut(row, _outside(row.interval, over)) for row in live if _overlaps(row.interval, over))


def _yields(standing: Interval, valid_from: int) -> bool:
    return standing.asserted_to is None and standing.asserted_from <= valid_from


def _overlaps(held: Interval, claim: Span) -> bool:
    begins_before_end = claim.end is None or held.valid_from < claim.end
    return begins_before_end and (held.valid_to is None or held.valid_to > claim.start)


def _outside(held: Interval, claim: Span) -> tuple[Span, ...]:
    rest = []
    if held.valid_from < claim.start:
        rest.append(Span(held.valid_from, claim.start))
    if claim.end is not None and (held.valid_to is None or held.valid_to > claim.end):
        rest.append(Span(claim.end, held.valid_to))
    return tuple(rest)


def _gaps(start: int, standing: Sequence[Interval]) -> tuple[Span, ...]:
    """[start, ∞) without the standing intervals, which are disjoint and in order."""
    gaps, at = [], start
    for interval in standing:
        if interval.valid_from > at:
            gaps.append(Span(at, interval.valid_from))
        if interval.valid_to is None:
            return tuple(gaps)
        at = max(at, interval.valid_to)
    gaps.append(Span(at, None))
    return tuple(gaps)
