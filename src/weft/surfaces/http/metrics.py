"""What the server counts, as text for Prometheus.

Written here rather than with a library: a dozen counters and one histogram, all changed by the loop's one thread. The
values of labels come from fixed lists (routes, operations, classes of statuses, codes), never from what is sent.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from weft.version import __version__

BUCKETS_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
OTHER: Final = "other"
# Why something was refused, by its status.
REFUSED: Final = {
    400: "invalid",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "wrong_method",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "wrong_type",
    421: "wrong_host",
    429: "rate_limited",
    431: "too_large",
    500: "internal",
    503: "unavailable",
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters of one server. Only the loop changes them."""

    def __init__(self) -> None:
        self._requests: Counter[Labels] = Counter()
        self._refusals: Counter[Labels] = Counter()
        self._seconds: dict[str, _Histogram] = {}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self.in_flight = 0

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A figure that is asked for whenever it is read; `value` must be quick."""
        self._gauges[name] = (about, value)

    def answered(self, route: str, operation: str, status: int, seconds: float) -> None:
        """One request is over. `route` and `operation` are from fixed lists; `operation` may be empty."""
        group = f"{status // 100}xx"
        self._requests[(("route", route), ("operation", operation), ("status", group))] += 1
        if status >= 400:
            self._refusals[(("code", REFUSED.get(status, OTHER)),)] += 1
        if route not in self._seconds:
            self._seconds[route] = _Histogram()
        self._seconds[route].add(seconds)

    def text(self, *, starts: int, started_s: float) -> bytes:
        """Everything, in the text format 0.0.4."""
        return ("\n".join(self._lines(starts, started_s)) + "\n").encode()

    def _lines(self, starts: int, started_s: float) -> Iterator[str]:
        build = (("version", __version__), ("python", platform.python_version()))
        yield from _metric("weft_build_info", "gauge", "what is running", {build: 1.0})
        yield from _metric("weft_start_time_seconds", "gauge", "when it started, since 1970", {(): started_s})
        yield from _metric("weft_starts_total", "counter", "how often a server was started on this store", {(): starts})
        restarts = max(0, starts - 1)
        yield from _metric("weft_restarts_total", "counter", "starts after the first one", {(): restarts})
        yield from _metric("weft_http_requests_in_flight", "gauge", "requests being served", {(): self.in_flight})
        for name, (about, value) in self._gauges.items():
            yield from _metric(name, "gauge", about, {(): value()})
        yield from _metric("weft_http_requests_total", "counter", "requests, by what became of them", self._requests)
        yield from _metric("weft_http_refusals_total", "counter", "requests that were refused, by why", self._refusals)
        yield from _head("weft_http_request_seconds", "histogram", "how long requests took")
        for route, histogram in self._seconds.items():
            yield from histogram.lines("weft_http_request_seconds", route)


class _Histogram:
    """How many took at most so long."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS_SECONDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        index = next((n for n, bound in enumerate(BUCKETS_SECONDS) if seconds <= bound), len(BUCKETS_SECONDS))
        self._counts[index] += 1
        self._sum += seconds

    def lines(self, name: str, route: str) -> Iterator[str]:
        total = 0
        for bound, count in zip((*map(str, BUCKETS_SECONDS), "+Inf"), self._counts, strict=True):
            total += count
            yield _line(f"{name}_bucket", (("route", route), ("le", bound)), total)
        yield _line(f"{name}_sum", (("route", route),), self._sum)
        yield _line(f"{name}_count", (("route", route),), total)


def _metric(name: str, kind: str, about: str, values: Mapping[Labels, float]) -> Iterator[str]:
    yield from _head(name, kind, about)
    for labels, value in values.items():
        yield _line(name, labels, value)


def _head(name: str, kind: str, about: str) -> Iterable[str]:
    return (f"# HELP {name} {about}", f"# TYPE {name} {kind}")


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{said}"' for key, said in labels)
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"
