"""Time: what the question names as when, how long ago things were said, and what lies after the asking."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from weft.extract.windows import Window
from weft.loom import Loom
from weft.retrieval.pipeline import Answer

DAY_US = 86_400_000_000
RECENT_DAYS = 30.0


class Times(Struct, frozen=True):
    """A window that the question names counts most; of sessions, newer ones count a little more."""

    name: str = "times"
    session_window: float = 1.0
    window: float = 0.2
    recent: float = 0.2
    future: float = 0.5

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        begins = [node.interval.valid_from for node in pool.nodes]
        sessions = pool.mask("session")
        windows = [window for window in answer.windows if window.kind != "recent"]
        if windows:
            inside = np.array([max(_fit(window, at, answer.asked_at) for window in windows) for at in begins])
            weight = np.where(sessions, self.session_window, self.window)
            pool = pool.with_part("when", inside, weight, lambda at: "within the time that is asked about")
        if sessions.any():
            ages = np.array([(answer.asked_at - at) / DAY_US for at in begins])
            newer = np.where(sessions, np.exp(-np.maximum(ages, 0.0) / RECENT_DAYS), 0.0)
            pool = pool.with_part("recent", newer, self.recent)
            later = np.where(sessions & (ages < 0), -1.0, 0.0)
            if later.any():
                pool = pool.with_part("later", later, self.future, lambda at: "after the question was asked")
        return replace(answer, pool=pool)


def _fit(window: Window, at: int, asked_at: int) -> float:
    """1 inside the window and as long after as people speak of it, falling off outside."""
    away = max(window.begin_us - at, at - window.told_us, 0) / DAY_US
    if not away:
        return 1.0
    known = window.end_us if window.kind == "until" else window.begin_us
    age = max(0.0, (asked_at - known) / DAY_US)
    return math.exp(-away / max(1.5, 0.15 * age))
