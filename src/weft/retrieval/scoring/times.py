"""Time: the times that the question names, the age of sessions, and turns after the question."""

from __future__ import annotations

import math
import re

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.runtime.call_context import CallContext
from weft.text.extract.time.windows import TimeWindow

DAY_US = 86_400_000_000
YEAR_US = int(365.2425 * DAY_US)
YEARLY = frozenset({"day", "month", "season", "holiday"})
_YEAR = re.compile(r"\d{4}")
RECENT_DAYS = 15.0


class Times(Struct, frozen=True):
    """A window that the question names counts most; of sessions, newer ones count a little more."""

    name: str = "times"
    session_window: float = 1.0
    window: float = 0.2
    turn_window: float = 1.0
    recent: float = 0.4
    future: float = 1.0

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        begins = [node.interval.valid_from for node in pool.nodes]
        sessions = pool.mask("session")
        windows = [window for window in answer.windows if window.kind != "recent"]
        if windows:
            turns = pool.mask("turn")
            inside = np.array(
                [
                    max(_near(window, at, answer) if turn else _fit(window, at, answer.asked_at) for window in windows)
                    for at, turn in zip(begins, turns, strict=True)
                ]
            )
            weight = np.where(sessions, self.session_window, np.where(turns, self.turn_window, self.window))
            pool = pool.with_part("when", inside, weight, lambda at: "within the time that is asked about")
        # By the day: the hour of a turn carries no information.
        ages = np.array([float(answer.asked_at // DAY_US - at // DAY_US) for at in begins])
        if sessions.any():
            newer = np.where(sessions, np.exp(-np.maximum(ages, 0.0) / RECENT_DAYS), 0.0)
            pool = pool.with_part("recent", newer, self.recent)
        told = sessions if answer.ask.asked_at is None else sessions | pool.mask("turn")
        later = np.where(told & (ages < 0), -1.0, 0.0)
        if later.any():
            pool = pool.with_part("later", later, self.future, lambda at: "after the question was asked")
        return replace(answer, pool=pool)


def _near(window: TimeWindow, at: int, answer: Answer) -> float:
    """1 inside the window, falling off by the week after it and by the day before: people report past events.

    Where the question names no year and its own time is unknown, any year may be meant.
    """
    fit = _outside(window, at)
    year = answer.query[window.start : window.stop]
    if answer.ask.asked_at is None and window.kind in YEARLY and not _YEAR.search(year):
        years = round((at - window.begin_us) / YEAR_US)
        moved = replace(window, begin_us=window.begin_us + years * YEAR_US, end_us=window.end_us + years * YEAR_US)
        fit = max(fit, _outside(moved, at))
    return fit


def _outside(window: TimeWindow, at: int) -> float:
    if at < window.begin_us:
        return math.exp((at - window.begin_us) / DAY_US)
    return math.exp(-max(0, at - window.end_us) / DAY_US / 7.0)


def _fit(window: TimeWindow, at: int, asked_at: int) -> float:
    """1 inside the window and as long after as people speak of it, falling off outside."""
    away = max(window.begin_us - at, at - window.told_us, 0) / DAY_US
    if not away:
        return 1.0
    known = window.end_us if window.kind == "until" else window.begin_us
    age = max(0.0, (asked_at - known) / DAY_US)
    return math.exp(-away / max(1.5, 0.15 * age))
