"""Admission of requests: host, origin, size, token and rate, checked before anything is served.

Cheap checks come first, and no body is read before its sender is known:

1. Host and Origin: names of this machine and of the setting `hosts`, which stops DNS rebinding
2. the size of the head, and a path that is text
3. the announced size of the body, given once and in one way
4. the token, except for open paths; failures are counted by address
5. the rate of the token
6. the size and the pace of the body as it arrives

The refusal is the same for a missing, unknown, wrong, revoked or expired token and for one of another account.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.access.tokens import Token, TokenBook
from weft.core.clock import Clock, SystemClock
from weft.core.errors import WeftError
from weft.runtime.settings.load import Settings
from weft.surfaces.http import answers
from weft.surfaces.http.body import Gone, TooMuch, TooSlow, announced, brings_body, linger, once_more, take_in
from weft.surfaces.http.hosts import Hosts
from weft.surfaces.http.rate import Failures, RateWindow

# Paths that need no token; one that ends in a slash covers all below it, except the first. /metrics needs one, even
# from this machine: behind a proxy every request comes from it.
OPEN: Final = ("/", "/health", "/ready", "/.well-known/", "/sites", "/sites/", "/openapi.json", "/api/openapi.json")
OPEN_BYTES: Final = 65_536  # of a body that comes without a token
BODY_SECONDS: Final = 30.0  # for the whole body to arrive
MAX_PATH_CHARACTERS: Final = 8_192
MAX_HEAD_BYTES: Final = 32_768
TOKEN: Final = "weft.token"  # noqa: S105 - the key of the token in a request's scope
OnRefusal = Callable[[str, str], None]
_log = logging.getLogger("weft.http")


def untold(code: str, token_id: str) -> None:
    """Ignores a refusal."""


class RequestGate:
    """Lets requests through to `app`, with their Token in `scope["weft.token"]` (None on open paths).

    `exempt` are paths that need no token; neither do paths that `exists` denies, which are answered with 404 inside.
    `on_refusal` gets the code of every refusal, and the token's id if known. `monotonic` is the clock of rates.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        book: TokenBook,
        clock: Clock | None = None,
        exempt: Collection[str] = OPEN,
        exists: Callable[[str], bool] = lambda path: True,
        on_refusal: OnRefusal = untold,
        monotonic: Callable[[], float] = time.monotonic,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app, self._book, self._clock, self._on_refusal = app, book, clock or SystemClock(), on_refusal
        self._accounts, self._most = frozenset(settings.accounts), settings.request_bytes
        self._exists = exists
        self._hosts = Hosts(settings.host, settings.hosts)
        self._open = frozenset(path for path in exempt if not path.endswith("/") or path == "/")
        self._open_below = tuple(path for path in exempt if path.endswith("/") and path != "/")
        self._monotonic, self._body_seconds = monotonic, body_seconds
        self._rate = RateWindow(settings.rate_limit, settings.rate_seconds)
        self._failures = Failures(monotonic)
        self._told = ""  # the problem of the file of tokens that was logged last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Refusals are answered here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        token: Token | None = None
        is_open = self._is_open(scope["path"])
        most = min(OPEN_BYTES, self._most) if is_open else self._most
        try:
            self._check_head(scope, most)
            if not is_open:
                token = self._admitted(scope)
                self._check_rate(token)
            body = await self._body(receive, most)
        except Gone:
            return  # the client has gone
        except RefusedRequest as refused:
            self._on_refusal(refused.code, token.id if token else "")
            await refused.send(scope, receive, send)
            return
        await self._app(_passed(scope, token), once_more(body, receive), send)

    def _is_open(self, path: str) -> bool:
        """Whether it needs no token. A path that another server could normalise to a protected one needs one."""
        crooked = ".." in path or "\\" in path or "//" in path
        is_open = path in self._open or path.startswith(self._open_below) or not self._exists(path)
        return is_open and not crooked

    def _check_head(self, scope: Scope, most: int) -> None:
        address = (scope.get("server") or ("",))[0] or ""
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or not self._hosts.admits(hosts[0], address=address):
            raise RefusedRequest(
                421,
                "wrong_host",
                "the Host header names another server",
                "call it as localhost, or ask its operator to add the name to the setting hosts",
            )
        if origins and not (len(origins) == 1 and self._hosts.admits_origin(origins[0], address=address)):
            raise RefusedRequest(
                403,
                "forbidden",
                "web pages of this origin may not call the server",
                "ask its operator to add the page's host to the setting hosts",
            )
        if _head_bytes(scope) > MAX_HEAD_BYTES:
            raise RefusedRequest(
                431, "too_large", f"the head is larger than {MAX_HEAD_BYTES:,} bytes", "send fewer headers"
            )
        path = scope["path"]
        if len(path) > MAX_PATH_CHARACTERS or not path.isprintable() or "\ufffd" in path:
            raise RefusedRequest(400, "invalid", "the path is not text", "GET /openapi.json lists the paths")
        try:
            length = announced(scope)
        except ValueError:
            raise RefusedRequest(
                400, "invalid", "Content-Length is not a number", "send the size of the body in bytes"
            ) from None
        if length is not None and _values(scope, b"transfer-encoding"):
            # Request smuggling: two servers could read two different bodies.
            error = "Content-Length and Transfer-Encoding cannot both be given"
            raise RefusedRequest(400, "invalid", error, "send one of the two")
        if length is not None and length > most:
            raise _too_large(most)

    def _admitted(self, scope: Scope) -> Token:
        client = _client(scope)
        bearer = _bearer(scope)
        if (wait_s := self._failures.wait(client, bearer)) > 0:
            raise _too_often(wait_s, "too many requests without a valid token")
        try:
            token = self._book.admit(bearer, self._clock.now_us()) if bearer else None
        except WeftError as problem:
            if problem.message != self._told:
                self._told = problem.message
                _log.error("tokens cannot be checked, so no request is admitted: %s", problem)
            raise RefusedRequest(
                503,
                "store_error",
                "the server cannot check tokens now",
                "retry later; the server's standard error has the reason",
            ) from problem
        if token is None or (self._accounts and token.account not in self._accounts):
            self._failures.failed(client)
            raise RefusedRequest(
                401,
                "unauthorized",
                "a valid token is needed",
                "send Authorization: Bearer …, with a token from the server's operator",
                www_authenticate='Bearer realm="weft"',
            )
        self._failures.succeeded(client, bearer)
        return token

    def _check_rate(self, token: Token) -> None:
        if (wait_s := self._rate.take(token.id, self._monotonic())) > 0:
            raise _too_often(wait_s, "too many requests with this token")

    async def _body(self, receive: Receive, most: int) -> bytes:
        try:
            return await take_in(receive, most=most, seconds=self._body_seconds)
        except TooMuch as problem:
            refused = _too_large(most)
            refused.lingers = not problem.ended
            raise refused from problem
        except TooSlow as problem:
            hint = f"send the whole body within {self._body_seconds:g} seconds"
            late = RefusedRequest(408, "timeout", "the body did not arrive in time", hint)
            late.lingers = False
            raise late from problem


class RefusedRequest(Exception):
    """A request that is not admitted, with its response."""

    def __init__(self, status: int, code: str, error: str, hint: str, **headers: str) -> None:
        super().__init__(error)
        self.code = code
        self.lingers = True  # whether more of the body may arrive
        self._make: Callable[[bool], Response] = lambda close: answers.refusal(
            status, code, error, hint, **headers, **({"connection": "close"} if close else {})
        )

    async def send(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the response. With an unread body the connection is closed."""
        unread = brings_body(scope)
        response, lingers = self._make(unread), unread and self.lingers
        await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": lingers})
        if lingers:
            await linger(receive)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _too_large(most: int) -> RefusedRequest:
    return RefusedRequest(413, "too_large", f"the body is larger than {most:,} bytes", "send smaller requests")


def _too_often(wait_s: float, error: str) -> RefusedRequest:
    seconds = str(max(1, math.ceil(wait_s)))
    hint = "retry after the seconds in Retry-After; earlier requests are refused again"
    return RefusedRequest(429, "rate_limited", error, hint, retry_after=seconds)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for each, value in scope["headers"] if each == name]


def _head_bytes(scope: Scope) -> int:
    line = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _bearer(scope: Scope) -> str:
    """The bearer token; empty where there is none, or more than one."""
    shown = _values(scope, b"authorization")
    scheme, _, rest = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
    return rest.strip() if scheme.lower() == "bearer" else ""


def _client(scope: Scope) -> str:
    """The network that a request comes from."""
    return _network((scope.get("client") or ("",))[0] or "")


@lru_cache(maxsize=1_024)
def _network(host: str) -> str:
    """An IPv4 address, or the /64 network of an IPv6 address: one household has a whole one."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a proxy may forward an invented one: those count together
        return ""
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


def _passed(scope: Scope, token: Token | None) -> Scope:
    """The request with its token in the scope and without the Authorization header."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    passed: Scope = {**scope, "headers": headers, TOKEN: token}
    if token is not None:
        passed["user"] = _user(token)
    return passed


@lru_cache(maxsize=1_024)
def _user(token: Token) -> AuthenticatedUser:
    """The caller for the MCP SDK: a session belongs to the token that began it."""
    known = AccessToken(token=token.id, client_id=token.id, scopes=list(token.scopes), subject=token.agent)
    return AuthenticatedUser(known)
