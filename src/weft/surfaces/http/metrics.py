"""Counters of the server as Prometheus text, and the outermost layer, which counts and times every request.

A dozen counters and one histogram, changed by the event loop's one thread, so no library. Values of labels come from
fixed lists (routes, operations, classes of statuses, codes), never from a request.
"""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.surfaces.http.answers import draining
from weft.surfaces.http.health import Drain
from weft.surfaces.http.sessions import is_endless, stream_until
from weft.surfaces.toolsets import lines
from weft.version import __version__

BUCKETS_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
OTHER: Final = "other"
# Reason of a refusal by its status.
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
    """Counters of one server. Only the event loop's thread changes them."""

    def __init__(self) -> None:
        self._requests: Counter[Labels] = Counter()
        self._refusals: Counter[Labels] = Counter()
        self._seconds: dict[str, _Histogram] = {}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self.in_flight = 0

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Adds a gauge, read at every scrape; `value` must be quick."""
        self._gauges[name] = (about, value)

    def answered(self, route: str, operation: str, status: int, seconds: float) -> None:
        """Counts a finished request. `route` and `operation` come from fixed lists; `operation` may be empty."""
        group = f"{status // 100}xx"
        self._requests[(("route", route), ("operation", operation), ("status", group))] += 1
        if status >= 400:
            self._refusals[(("code", REFUSED.get(status, OTHER)),)] += 1
        if route not in self._seconds:
            self._seconds[route] = _Histogram()
        self._seconds[route].add(seconds)

    def text(self, *, starts: int, started_s: float) -> bytes:
        """All metrics in the Prometheus text format 0.0.4."""
        return ("\n".join(self._lines(starts, started_s)) + "\n").encode()

    def _lines(self, starts: int, started_s: float) -> Iterator[str]:
        build = (("version", __version__), ("python", platform.python_version()))
        yield from _metric("weft_build_info", "gauge", "version of weft and Python", {build: 1.0})
        yield from _metric("weft_start_time_seconds", "gauge", "start time in seconds since 1970", {(): started_s})
        yield from _metric("weft_starts_total", "counter", "starts of a server on this store", {(): starts})
        restarts = max(0, starts - 1)
        yield from _metric("weft_restarts_total", "counter", "starts after the first one", {(): restarts})
        yield from _metric("weft_http_requests_in_flight", "gauge", "requests being served", {(): self.in_flight})
        for name, (about, value) in self._gauges.items():
            yield from _metric(name, "gauge", about, {(): value()})
        yield from _metric(
            "weft_http_requests_total", "counter", "requests by route, operation and class of status", self._requests
        )
        yield from _metric("weft_http_refusals_total", "counter", "refused requests by reason", self._refusals)
        yield from _head("weft_http_request_seconds", "histogram", "duration of requests")
        for route, histogram in self._seconds.items():
            yield from histogram.lines("weft_http_request_seconds", route)


class _Histogram:
    """Counts by upper bound of duration."""

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


API: Final = "/api/"
SITES: Final = "/sites"
MCP: Final = "/mcp"
ALWAYS: Final = ("/health", "/ready", "/metrics")  # also answered while the server shuts down
ROUTES: Final = frozenset(
    {*ALWAYS, "/", "/api", MCP, "/openapi.json", "/api/openapi.json"}
    | {"/.well-known/agent-card.json", "/.well-known/agent.json"}
)


class RequestMetrics:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics, drain: Drain) -> None:
        self._app, self._metrics, self._drain = app, metrics, drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route, operation = route_of(scope["path"])
        status, began_s = 500, time.perf_counter()

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._choose(scope, route)(scope, receive, note_status)
        finally:
            self._metrics.in_flight -= 1
            self._metrics.answered(route, operation, status, time.perf_counter() - began_s)

    def _choose(self, scope: Scope, route: str) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        if self._drain.begun and route not in ALWAYS:
            return draining()
        return self._stream if route == MCP and is_endless(scope) else self._app

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A stream that ends when its reader disconnects or the server shuts down."""
        await stream_until(self._drain.wait, self._app, scope, receive, send)


def is_route(path: str) -> bool:
    """Whether a route answers this path."""
    return route_of(path)[0] != OTHER


def route_of(path: str) -> tuple[str, str]:
    """The route and the operation of a path, as labels from fixed lists; OTHER for a path that does not exist."""
    if path in ROUTES:
        return path, ""
    if path.startswith(API):
        name = path.removeprefix(API)
        return "/api/{operation}", name if name in lines() else OTHER
    return (SITES, "") if path.startswith(SITES) else (OTHER, "")
