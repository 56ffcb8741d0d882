"""So many in any stretch of so many seconds: as many as are allowed, and never one more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.surfaces.http.rate import RateWindow


def test_all_that_are_allowed_come_in_and_the_next_one_when_the_first_is_old() -> None:
    window = RateWindow(120, 60.0)
    assert [window.take("ann", 100.0 + n / 10) for n in range(120)] == [0.0] * 120
    assert round(window.take("ann", 112.0), 6) == 48.0
    assert window.take("ann", 159.9) > 0
    assert window.take("ann", 160.0) == 0.0
    assert round(window.take("ann", 160.0), 6) == 0.1
    assert window.take("bob", 160.0) == 0.0, "each has a window of their own"


def test_who_keeps_the_pace_is_never_refused() -> None:
    window = RateWindow(120, 60.0)
    assert all(window.take("ann", n * 0.5) == 0.0 for n in range(1_000))


@given(
    st.integers(1, 6),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), max_size=80),
)
def test_it_is_a_count_of_who_came_within_the_time(limit: int, visits: list[tuple[str, int]]) -> None:
    """Against a list of all that came in, for a window of ten seconds; times are whole, so that nothing is rounded."""
    window, now_s = RateWindow(limit, 10.0), 0.0
    came: dict[str, list[float]] = {"a": [], "b": []}
    for who, later_s in visits:
        now_s += later_s
        within = [each for each in came[who] if each > now_s - 10.0]
        wait_s = window.take(who, now_s)
        if len(within) < limit:
            assert wait_s == 0.0
            came[who].append(now_s)
        else:
            assert wait_s == within[-limit] + 10.0 - now_s > 0


def test_who_has_gone_is_forgotten_and_nobody_fills_the_memory() -> None:
    window = RateWindow(5, 10.0, most=100)
    for n in range(1_000):
        window.take(f"caller-{n}", n / 1_000)
    assert len(window) == 100
    window.take("ann", 12.0)
    assert len(window) == 1
