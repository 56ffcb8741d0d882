"""Figures of a run: percentiles and memory."""

from __future__ import annotations

import resource
import sys
from collections.abc import Collection


def percentile(values: Collection[float], share: float) -> float | None:
    """The value that `share` of them lie below; None of none."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2) if ordered else None


def peak_memory_mb() -> float:
    """The most memory this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024  # the unit differs
    return round(peak_bytes / 1e6, 1)
