"""Percentiles and peak memory of a run."""

from __future__ import annotations

import resource
import sys
from collections.abc import Collection


def percentile(values: Collection[float], share: float) -> float | None:
    """The quantile `share` of the values; None for no values."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2) if ordered else None


def peak_memory_mb() -> float:
    """Peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024  # the unit differs
    return round(peak_bytes / 1e6, 1)
