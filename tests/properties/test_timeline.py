"""The interval rules on bare intervals: slots stay disjoint, and every moment goes to whom the rules give it."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.oracle import Assertion, Ending, Oracle
from weft.core.types import Interval
from weft.graph import timeline

MOMENTS = range(-1, 26)
BEGINS = st.integers(min_value=0, max_value=20)
TAKES = st.tuples(BEGINS, st.none() | st.integers(min_value=1, max_value=8))
STEPS = st.lists(TAKES | BEGINS, max_size=12)


class Held(NamedTuple):
    interval: Interval
    content: int


def _spread(held: Held, spans: tuple[timeline.Span, ...]) -> list[Held]:
    given = held.interval
    return [
        Held(
            Interval(
                valid_from=span.start,
                valid_to=span.end,
                asserted_from=given.asserted_from,
                asserted_to=given.asserted_to,
            ),
            held.content,
        )
        for span in spans
    ]


def _cut(live: list[Held], cuts: tuple[timeline.Cut[Held], ...]) -> list[Held]:
    gone = [cut.row for cut in cuts]
    kept = [held for held in live if not any(held is each for each in gone)]
    return kept + [piece for row, rest in cuts for piece in _spread(row, rest)]


def _holds(interval: Interval, at: int) -> bool:
    return interval.valid_from <= at and (interval.valid_to is None or at < interval.valid_to)


@settings(max_examples=100)
@given(STEPS)
def test_a_slot_stays_disjoint_and_follows_the_rules(steps: list[tuple[int, int | None] | int]) -> None:
    live: list[Held] = []
    oracle = Oracle()
    for number, step in enumerate(steps):
        if isinstance(step, int):
            oracle.raw.append(Ending(known=0, id="one", at=step))
            live = _cut(live, timeline.end(live, step))
        else:
            begin, end = step[0], None if step[1] is None else step[0] + step[1]
            oracle.raw.append(Assertion(known=0, id="one", slot="s", begin=begin, end=end, content=number))
            takeover = timeline.take(live, begin, end)
            new = Held(Interval(valid_from=begin, valid_to=end, asserted_from=begin, asserted_to=end), number)
            live = _cut(live, takeover.cuts) + _spread(new, takeover.taken)
        live.sort(key=lambda held: held.interval.valid_from)
        assert all(held.interval.valid_to is None or held.interval.valid_from < held.interval.valid_to for held in live)
        for moment in MOMENTS:
            holding = [held.content for held in live if _holds(held.interval, moment)]
            assert len(holding) <= 1
            assert holding == list(oracle.holding(0, moment).values())


@given(STEPS, TAKES)
def test_what_is_cut_loses_only_what_is_taken(
    steps: list[tuple[int, int | None] | int], last: tuple[int, int | None]
) -> None:
    live: list[Held] = []
    for step in (*(each for each in steps if not isinstance(each, int)), last):
        before = list(live)
        begin, end = step[0], None if step[1] is None else step[0] + step[1]
        takeover = timeline.take(live, begin, end)
        new = Held(Interval(valid_from=begin, valid_to=end, asserted_from=begin, asserted_to=end), len(live))
        live = sorted(
            _cut(live, takeover.cuts) + _spread(new, takeover.taken), key=lambda held: held.interval.valid_from
        )
        for moment in MOMENTS:
            covered = any(_holds(held.interval, moment) for held in before)
            taken = any(span.start <= moment and (span.end is None or moment < span.end) for span in takeover.taken)
            assert any(_holds(held.interval, moment) for held in live) == (covered or taken)
            assert not taken or (begin <= moment and (end is None or moment < end))
