"""Everything that is served over HTTP, as one ASGI application.

From the outside in: what watches every request, the gate (host, origin, size, token, rate), the routes.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from weft.config import Settings
from weft.instants import SystemClock
from weft.memory import Memory
from weft.surfaces.callers import Callers
from weft.surfaces.http import answers, openapi, well_known
from weft.surfaces.http.api import Api
from weft.surfaces.http.crew import Crew, Crowded
from weft.surfaces.http.gate import OPEN as OPEN_PATHS
from weft.surfaces.http.gate import Gate
from weft.surfaces.http.health import Drain, Health
from weft.surfaces.http.metrics import Metrics
from weft.surfaces.http.sessions import Mcp
from weft.surfaces.http.sites import sites_app
from weft.surfaces.http.starts import Start
from weft.surfaces.http.watch import Watch
from weft.surfaces.mcp.server import Context, Desk, build_server
from weft.tokens import TokenBook
from weft.version import __version__

CLOSE_SECONDS: Final = 1.0
OPEN: Final = (*OPEN_PATHS, "/", "/api/openapi.json")
TOKEN: Final = "weft.token"  # noqa: S105 - where the gate puts who is asking
ROOT: Final = f"""weft {__version__}: long-term memory for agents.

/mcp           MCP over streamable HTTP
/api           the same operations: POST /api/<operation> with arguments as JSON
/openapi.json  all of them, described
/health        whether it runs
/ready         whether it can serve

The first two need a token: Authorization: Bearer weft_…
"""


class App:
    """The application. It has threads, which live until `close`; the store is its opener's to close."""

    def __init__(self, settings: Settings, callers: Callers, book: TokenBook, start: Start) -> None:
        self.drain, self.metrics, self.crew = Drain(), Metrics(), Crew()
        self._callers, self._start, self._account = callers, start, settings.account
        self._desk = Desk(self._whose, network=True, settings=settings)
        self._mcp = Mcp(build_server(self._desk), settings, book, self._desk.open_questions)
        api, health = Api(settings, callers, self.crew), Health(callers, book, self.crew, self.drain)
        self._health = health
        routes = [
            Route("/", _root),
            Route("/health", health.health),
            Route("/ready", health.ready),
            Route("/metrics", self._metrics),
            Route("/openapi.json", openapi.serve_document),
            Route("/api/openapi.json", openapi.serve_document),
            Route("/.well-known/agent-card.json", well_known.serve_card),
            Route("/.well-known/agent.json", well_known.serve_card),
            Route("/api", api.index),
            Route("/api/{operation}", api.call, methods=["POST"]),
            Route("/mcp", self._mcp),
            *_sites(settings),
        ]
        handlers: dict[Any, Any] = {HTTPException: _refused, Exception: _failed}
        inside = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._mcp.lifespan)
        inside.router.redirect_slashes = False
        gate = Gate(inside, settings=settings, book=book, clock=SystemClock(), exempt=OPEN)
        self._app = Watch(gate, self.metrics, self.drain)
        self._figures(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def close(self) -> bool:
        """Takes no more calls; says whether none is running any more, after a short wait for those that are."""
        closing = (self.crew.close, self._desk.close, self._health.close)
        ending = [threading.Thread(target=each, daemon=True) for each in closing]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join(CLOSE_SECONDS)
        return not any(thread.is_alive() for thread in ending)

    def _whose(self, context: Context) -> Memory:
        request = context.request
        assert request is not None, "a request over HTTP comes with its request"
        return self._callers.bearer(request.scope[TOKEN], self._mcp.session_of(request.scope))

    def _figures(self, settings: Settings) -> None:
        self.metrics.gauge("weft_mcp_sessions", "open sessions of MCP", lambda: self._mcp.sessions)
        self.metrics.gauge("weft_mcp_calls_in_flight", "requests of MCP being answered", lambda: self._mcp.calls)
        self.metrics.gauge("weft_threads_busy", "calls that run or wait for a thread", lambda: self.crew.taken)
        self.metrics.gauge("weft_threads_waiting", "calls that wait for a thread", lambda: self.crew.waiting)
        self.metrics.gauge("weft_draining", "1 while the server shuts down", lambda: int(self.drain.begun))

    async def _metrics(self, request: Request) -> Response:
        """For the tokens of the server's own operator: how much others call is not everybody's to know."""
        token = request.scope[TOKEN]
        if token.role != "operator" or token.account != self._account:
            hint = "use a token of role operator, of the account that the server itself has"
            return answers.refusal(403, "forbidden", "only the server's operator may see this", hint)
        try:
            position = await self.crew.run(token.id, self._position)
        except Crowded:
            position = -1
        self.metrics.gauge("weft_log_position", "where the log of the server's own account stands", lambda: position)
        text = self.metrics.text(starts=self._start.count, started_s=self._start.at_s)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    def _position(self) -> int:
        memory = self._callers.operator()
        return memory.loom.store.head(memory.loom.viewer).pos


def build_app(settings: Settings, callers: Callers, book: TokenBook, start: Start | None = None) -> App:
    """The application of these settings. Raises Misconfigured where they offer what there is not."""
    return App(settings, callers, book, start or Start())


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
    """What the routes themselves refuse: nothing there, or not this way."""
    if problem.status_code == 405:
        allowed = (problem.headers or {}).get("Allow", "POST")
        return answers.refusal(405, "wrong_method", "not with this method", f"use {allowed}", allow=allowed)
    if problem.status_code == 404:
        return answers.refusal(404, "not_found", "there is nothing here", "GET / says what there is")
    return answers.refusal(problem.status_code, "invalid", str(problem.detail))


async def _failed(request: Request, problem: Exception) -> Response:
    return answers.internal()
