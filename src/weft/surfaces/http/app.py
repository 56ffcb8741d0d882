"""The ASGI application of everything that is served over HTTP.

From the outside in: request metrics, the gate (host, origin, size, token, rate), the routes.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from weft.access.tokens import TokenBook
from weft.core.clock import SystemClock
from weft.memory.facade import Memory
from weft.runtime.settings.load import Settings
from weft.surfaces.callers import Callers
from weft.surfaces.http import answers, descriptions
from weft.surfaces.http.api import Api
from weft.surfaces.http.auth import OPEN as OPEN_PATHS
from weft.surfaces.http.auth import TOKEN, RequestGate
from weft.surfaces.http.health import Drain, Health
from weft.surfaces.http.metrics import Metrics, RequestMetrics, is_route
from weft.surfaces.http.sessions import McpEndpoint
from weft.surfaces.http.start_record import Start
from weft.surfaces.http.threads import CallThreads, TooManyCalls
from weft.surfaces.http.workers.pool import WorkerPool
from weft.surfaces.mcp.server import Context, Dispatcher, build_server
from weft.version import __version__

CLOSE_SECONDS: Final = 1.0
OPEN: Final = (*OPEN_PATHS, "/", "/api/openapi.json")
ROOT: Final = f"""weft {__version__}: long-term memory for agents.

/mcp           MCP over streamable HTTP
/api           the same operations: POST /api/<operation> with a JSON object of arguments
/openapi.json  the description of all operations
/health        whether the server runs
/ready         whether it can serve calls

The first two need a token: Authorization: Bearer weft_…
"""


class App:
    """The application and its threads, which live until `close`. Whoever opened the store closes it."""

    def __init__(
        self, settings: Settings, callers: Callers, book: TokenBook, start: Start, workers: WorkerPool | None = None
    ) -> None:
        self.drain, self.metrics, self.crew = Drain(), Metrics(), CallThreads()
        self._callers, self._start, self._account = callers, start, settings.account
        self.workers = workers
        self._dispatcher = Dispatcher(self._whose, network=True, settings=settings)
        self._mcp = McpEndpoint(build_server(self._dispatcher), settings, book, self._dispatcher.open_questions)
        api, health = Api(settings, callers, self.crew, workers), Health(callers, book, self.crew, self.drain)
        self._health = health
        routes = [
            Route("/", _root),
            Route("/health", health.health),
            Route("/ready", health.ready),
            Route("/metrics", self._metrics),
            Route("/openapi.json", descriptions.serve_document),
            Route("/api/openapi.json", descriptions.serve_document),
            Route("/.well-known/agent-card.json", descriptions.serve_card),
            Route("/.well-known/agent.json", descriptions.serve_card),
            Route("/api", api.index),
            Route("/api/{operation}", api.call, methods=["POST"]),
            Route("/mcp", self._mcp),
            *_sites(settings),
        ]
        handlers: dict[Any, Any] = {HTTPException: _refused, Exception: _failed}
        inside = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._mcp.lifespan)
        inside.router.redirect_slashes = False
        gate = RequestGate(inside, settings=settings, book=book, clock=SystemClock(), exempt=OPEN, exists=is_route)
        self._app = RequestMetrics(gate, self.metrics, self.drain)
        self._figures(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def close(self) -> bool:
        """Refuses new calls and waits shortly for running ones; returns whether all have ended."""
        closing = (self.crew.close, self._dispatcher.close, self._health.close)
        ending = [threading.Thread(target=each, daemon=True) for each in closing]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join(CLOSE_SECONDS)
        ended = not any(thread.is_alive() for thread in ending)
        return ended and (self.workers is None or self.workers.close())

    def _whose(self, context: Context) -> Memory:
        request = context.request
        assert request is not None, "a request over HTTP comes with its request"
        return self._callers.bearer(request.scope[TOKEN], self._mcp.session_of(request.scope))

    def _figures(self, settings: Settings) -> None:
        self.metrics.gauge("weft_mcp_sessions", "open MCP sessions", lambda: self._mcp.sessions)
        self.metrics.gauge("weft_mcp_calls_in_flight", "MCP requests in flight", lambda: self._mcp.calls)
        self.metrics.gauge("weft_threads_busy", "calls that run or wait for a thread", lambda: self.crew.taken)
        self.metrics.gauge("weft_threads_waiting", "calls that wait for a thread", lambda: self.crew.waiting)
        pool = self.workers
        self.metrics.gauge("weft_workers", "processes ready for calls", lambda: pool.ready if pool else 0)
        self.metrics.gauge("weft_draining", "1 while the server shuts down", lambda: int(self.drain.begun))

    async def _metrics(self, request: Request) -> Response:
        """Prometheus metrics, for operator tokens of the server's own account."""
        token = request.scope[TOKEN]
        if token.role != "operator" or token.account != self._account:
            hint = "use a token with role operator of the server's own account"
            return answers.refusal(403, "forbidden", "only the server's operator may read metrics", hint)
        try:
            position = await self.crew.run(token.id, self._position)
        except TooManyCalls:
            position = -1
        self.metrics.gauge("weft_log_position", "log position of the server's own account", lambda: position)
        text = self.metrics.text(starts=self._start.count, started_s=self._start.at_s)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    def _position(self) -> int:
        memory = self._callers.operator()
        return memory.ctx.store.head(memory.ctx.viewer).pos


def build_app(
    settings: Settings,
    callers: Callers,
    book: TokenBook,
    start: Start | None = None,
    workers: WorkerPool | None = None,
) -> App:
    """The application for these settings. Raises Misconfigured if they name tools that do not exist."""
    return App(settings, callers, book, start or Start(), workers)


def _sites(settings: Settings) -> list[BaseRoute]:
    if not settings.sites:
        return []
    files = sites_app(Path(settings.sites).expanduser().absolute())
    return [Route("/sites", _to_sites), Mount("/sites", app=files)]


async def _to_sites(request: Request) -> Response:
    return RedirectResponse("/sites/", status_code=308)


async def _root(request: Request) -> Response:
    return PlainTextResponse(ROOT)


async def _refused(request: Request, problem: HTTPException) -> Response:
    """Errors of routing: unknown path, wrong method."""
    if problem.status_code == 405:
        allowed = (problem.headers or {}).get("Allow", "POST")
        return answers.refusal(
            405, "wrong_method", "this path does not support the method", f"use {allowed}", allow=allowed
        )
    if problem.status_code == 404:
        return answers.refusal(404, "not_found", "no such path", "GET / lists the paths")
    return answers.refusal(problem.status_code, "invalid", str(problem.detail))


async def _failed(request: Request, problem: Exception) -> Response:
    return answers.internal()


# Published pages set the same policy in HTML; other files in the directory need it too.
SITE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Sites(StaticFiles):
    """Static files below a directory, without hidden files and links that lead outside."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = path.replace("\\", "/").split("/")
        if "\0" in path or any(part.startswith(".") and part != "." for part in parts):
            raise HTTPException(status_code=404)
        response = await super().get_response(path, scope)
        response.headers.update(SITE_HEADERS)
        return response

    async def check_config(self) -> None:
        """Allows a directory that does not exist yet."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        try:
            return super().lookup_path(path)
        except (OSError, ValueError):  # name too long, or a loop of links
            return "", None


def sites_app(directory: Path) -> Sites:
    """The published sites below this directory, which may not exist yet."""
    return Sites(directory=directory, html=True, check_dir=False, follow_symlink=False)
