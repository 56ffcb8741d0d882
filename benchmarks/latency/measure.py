"""Timing: percentiles of many calls, rates of bulk work, and one dated result file."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from weft.core.clock import SystemClock, to_iso

RESULTS = Path(__file__).parents[1] / "results"


def percentiles(calls: Iterable[Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of each call: p50, p95, p99."""
    times = []
    for call in calls:
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)

    return {
        "calls": len(ordered),
        "p50_ms": round(statistics.median(ordered), 3),
        "p95_ms": at(0.95),
        "p99_ms": at(0.99),
    }


def rate(count: int, work: Callable[[], object]) -> dict[str, float]:
    """How many a second."""
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    return {"count": count, "seconds": round(seconds, 3), "per_second": round(count / seconds, 1)}


def save(name: str, result: dict[str, Any]) -> Path:
    """Writes a dated result."""
    RESULTS.mkdir(exist_ok=True)
    today = to_iso(SystemClock().now_us())[:10]
    result = {
        "name": name,
        "date": today,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        **result,
    }
    path = RESULTS / f"{today}-{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return path
