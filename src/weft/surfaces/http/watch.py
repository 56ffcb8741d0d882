"""The outermost layer: counts and times every request, and ends what has no end when the server shuts down."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.surfaces.http.answers import draining
from weft.surfaces.http.health import Drain
from weft.surfaces.http.metrics import OTHER, Metrics
from weft.surfaces.http.streams import is_endless, stream_until
from weft.surfaces.toolsets import lines

API: Final = "/api/"
SITES: Final = "/sites"
MCP: Final = "/mcp"
ALWAYS: Final = ("/health", "/ready", "/metrics")  # answered while the server shuts down too
ROUTES: Final = frozenset(
    {*ALWAYS, "/", "/api", MCP, "/openapi.json", "/api/openapi.json"}
    | {"/.well-known/agent-card.json", "/.well-known/agent.json"}
)


class Watch:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, metrics: Metrics, drain: Drain) -> None:
        self._app, self._metrics, self._drain = app, metrics, drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route, operation = named(scope["path"])
        status, began_s = 500, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._choose(scope, route)(scope, receive, noting)
        finally:
            self._metrics.in_flight -= 1
            self._metrics.answered(route, operation, status, time.perf_counter() - began_s)

    def _choose(self, scope: Scope, route: str) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
        if self._drain.begun and route not in ALWAYS:
            return draining()
        return self._stream if route == MCP and is_endless(scope) else self._app

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An answer that lasts until its reader goes or the server shuts down."""
        await stream_until(self._drain.wait, self._app, scope, receive, send)


def named(path: str) -> tuple[str, str]:
    """The route and the operation of a path: names of ours only, whatever was asked for."""
    if path in ROUTES:
        return path, ""
    if path.startswith(API):
        name = path.removeprefix(API)
        return "/api/{operation}", name if name in lines() else OTHER
    return (SITES, "") if path.startswith(SITES) else (OTHER, "")
