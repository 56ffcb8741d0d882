"""Interval rules of one slot: at any valid time, at most one version holds.

A new assertion takes over a point in time unless the version there has precedence:

- an explicit interval takes every point inside itself;
- an open-ended assertion takes every point from its start on, except where an explicit interval holds or where another
  open-ended assertion holds that starts later.

So an open-ended assertion lasts until the next known start; an explicit one overrides inside itself, and what it
covered continues behind it; ties go to the later position (the log is applied in order, so the newcomer is the later
one); a backdated assertion fills the gap before the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from weft.core.types import Interval


class HasInterval(Protocol):
    """Anything with an interval: a node version or an edge version."""

    @property
    def interval(self) -> Interval: ...


R = TypeVar("R", bound=HasInterval)


class Span(NamedTuple):
    """A stretch of valid time; None is unbounded."""

    start: int
    end: int | None


class Cut(NamedTuple, Generic[R]):
    """A version that loses time, and the spans it keeps."""

    row: R
    rest: tuple[Span, ...]


class Takeover(NamedTuple, Generic[R]):
    """The effect of an assertion on a slot: the versions it cuts, and the spans it takes."""

    cuts: tuple[Cut[R], ...]
    taken: tuple[Span, ...]


def take(live: Sequence[R], valid_from: int, valid_to: int | None) -> Takeover[R]:
    """The effect of a new assertion of [valid_from, valid_to) on the slot's live versions (disjoint, in order)."""
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
    """The versions cut when everything here stops holding at `at`; versions from `until` on stay."""
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
    """[start, ∞) without the given intervals, which are disjoint and in order."""
    gaps, at = [], start
    for interval in standing:
        if interval.valid_from > at:
            gaps.append(Span(at, interval.valid_from))
        if interval.valid_to is None:
            return tuple(gaps)
        at = max(at, interval.valid_to)
    gaps.append(Span(at, None))
    return tuple(gaps)
