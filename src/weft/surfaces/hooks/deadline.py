"""Time limits of hooks, as they are written on a command line."""

from __future__ import annotations

import re
import time
from typing import Final

DEADLINE: Final = "8s"
MAX_DEADLINE_S: Final = 600.0
_WRITTEN: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}


def seconds_of(written: str) -> float | None:
    """`8s`, `500ms`, `2m` or `8` as seconds; None for anything else."""
    found = _WRITTEN.fullmatch(written.strip())
    value = float(found[1]) * _UNITS[found[2]] if found else 0.0
    return value if 0.0 < value <= MAX_DEADLINE_S else None


_began: list[float] = []


def give_up_at(deadline_s: float) -> float:
    """The moment, by the monotonic clock, at which this process gives up: counted from when it first asked for it."""
    if not _began:
        _began.append(time.monotonic())
    return _began[0] + deadline_s
