"""In front of everything that `weft serve` answers: who may come in, how often, and with how much.

Looked at in this order, the cheap before the dear, and nothing of a body before its sender is known:

1. Host and Origin: names of this machine and of the setting `hosts`, so that no page of a browser reaches it otherwise
2. the head itself and its path: not too large, and text
3. the size that the head announces: once, and in one way
4. the token, but for paths that are open to all; failures are counted by the address they come from
5. how often the token has come
6. the body itself, as it comes: its size and its pace

What a refusal says is the same whether a token is missing, unknown, wrong, revoked, expired or of another account.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from weft.config import Settings
from weft.errors import WeftError
from weft.instants import Clock, SystemClock
from weft.surfaces.http import answers
from weft.surfaces.http.hosts import Hosts
from weft.surfaces.http.intake import Gone, TooMuch, TooSlow, announced, brings_body, linger, once_more, take_in
from weft.surfaces.http.rate import MAX_KEPT, Window
from weft.tokens import Token, TokenBook, id_in

# Paths that need no token; one that ends in a slash stands for all below it, but for the first. Counts of what is
# served (metrics) are not among them, not even for this machine: behind a proxy, everybody comes from it.
OPEN: Final = ("/", "/health", "/ready", "/.well-known/", "/sites", "/sites/", "/openapi.json", "/api/openapi.json")
OPEN_BYTES: Final = 65_536  # of a body that comes without a token
BODY_SECONDS: Final = 30.0
FAILURES: Final = 60  # of one address within FAILURE_SECONDS
FAILURE_SECONDS: Final = 60.0
MAX_PATH_CHARACTERS: Final = 8_192
MAX_HEAD_BYTES: Final = 32_768
TOKEN: Final = "weft.token"  # noqa: S105 - where in a request's scope its token stands
OnRefusal = Callable[[str, str], None]
_log = logging.getLogger("weft.http")


def untold(code: str, token_id: str) -> None:
    """Tells nobody."""


class Gate:
    """Lets requests through to `app`, with their Token in `scope["weft.token"]` (None on open paths).

    `exempt` are paths that need no token. `on_refusal` is told the code of every refusal, and of which token it was if
    that is known. `monotonic` is the clock of rates.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: Settings,
        book: TokenBook,
        clock: Clock | None = None,
        exempt: Collection[str] = OPEN,
        on_refusal: OnRefusal = untold,
        monotonic: Callable[[], float] = time.monotonic,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._app, self._book, self._clock, self._on_refusal = app, book, clock or SystemClock(), on_refusal
        self._accounts, self._most = frozenset(settings.accounts), settings.request_bytes
        self._hosts = Hosts(settings.host, settings.hosts)
        self._open = frozenset(path for path in exempt if not path.endswith("/") or path == "/")
        self._open_below = tuple(path for path in exempt if path.endswith("/") and path != "/")
        self._monotonic, self._body_seconds = monotonic, body_seconds
        self._rate = Window(settings.rate_limit, settings.rate_seconds)
        self._failures = Failures(monotonic)
        self._told = ""  # the problem of the file of tokens that was logged last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Answers by itself what may not pass."""
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
            return  # there is nobody to answer
        except Refused as refused:
            self._on_refusal(refused.code, token.id if token else "")
            await refused.send(scope, receive, send)
            return
        await self._app(_passed(scope, token), once_more(body, receive), send)

    def _is_open(self, path: str) -> bool:
        """Whether it needs no token. What could be read as another path does."""
        crooked = ".." in path or "\\" in path or "//" in path
        return not crooked and (path in self._open or path.startswith(self._open_below))

    def _check_head(self, scope: Scope, most: int) -> None:
        address = (scope.get("server") or ("",))[0] or ""
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or not self._hosts.admits(hosts[0], address=address):
            raise Refused(
                421,
                "wrong_host",
                "the server does not go by this name",
                "call it as localhost, or have its operator add the name to the setting hosts",
            )
        if origins and not (len(origins) == 1 and self._hosts.admits_origin(origins[0], address=address)):
            raise Refused(
                403,
                "forbidden",
                "pages of this origin may not call the server",
                "have its operator add the page's host to the setting hosts",
            )
        if _head_bytes(scope) > MAX_HEAD_BYTES:
            raise Refused(431, "too_large", f"the head is larger than {MAX_HEAD_BYTES:,} bytes", "send fewer headers")
        path = scope["path"]
        if len(path) > MAX_PATH_CHARACTERS or not path.isprintable() or "\ufffd" in path:
            raise Refused(400, "invalid", "the path is no text", "see GET /openapi.json for the paths there are")
        try:
            length = announced(scope)
        except ValueError:
            raise Refused(400, "invalid", "Content-Length is no number", "send how many bytes the body has") from None
        if length is not None and _values(scope, b"transfer-encoding"):
            # Two servers could read two different bodies in it.
            error = "Content-Length and Transfer-Encoding exclude each other"
            raise Refused(400, "invalid", error, "send one of the two")
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
                _log.error("no token is admitted: %s", problem)
            raise Refused(
                503, "store_error", "tokens cannot be checked now", "the server's standard error says why"
            ) from problem
        if token is None or (self._accounts and token.account not in self._accounts):
            self._failures.failed(client)
            raise Refused(
                401,
                "unauthorized",
                "a valid token is needed",
                "send Authorization: Bearer …, with a token that the operator made",
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
            hint = f"send it within {self._body_seconds:g} seconds"
            late = Refused(408, "timeout", "the body did not come in time", hint)
            late.lingers = False
            raise late from problem


class Failures:
    """Who fails to show a valid token, by address: after FAILURES of them, what comes from there is not looked at.

    But for tokens that came from there before: one agent with an old token must not shut out its neighbours.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._window = Window(FAILURES, FAILURE_SECONDS)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def wait(self, client: str, bearer: str) -> float:
        """After how many seconds this may be tried; 0 for at once."""
        wait_s = self._window.wait(client, self._monotonic())
        return wait_s if wait_s > 0 and (client, id_in(bearer)) not in self._known else 0.0

    def failed(self, client: str) -> None:
        """Counts one."""
        self._window.take(client, self._monotonic())

    def succeeded(self, client: str, bearer: str) -> None:
        """Remembers where a token comes from; of at most MAX_KEPT."""
        key = (client, id_in(bearer))
        self._known[key] = None
        self._known.move_to_end(key)
        if len(self._known) > MAX_KEPT:
            self._known.popitem(last=False)


class Refused(Exception):
    """A request that may not pass, and what it is told."""

    def __init__(self, status: int, code: str, error: str, hint: str, **headers: str) -> None:
        super().__init__(error)
        self.code = code
        self.lingers = True  # whether more of the body may still come
        self._make: Callable[[bool], Response] = lambda close: answers.refusal(
            status, code, error, hint, **headers, **({"connection": "close"} if close else {})
        )

    async def send(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers. What was not read of the request is dropped, and its connection closed."""
        unread = brings_body(scope)
        response, lingers = self._make(unread), unread and self.lingers
        await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
        await send({"type": "http.response.body", "body": response.body, "more_body": lingers})
        if lingers:
            await linger(receive)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", f"the body is larger than {most:,} bytes", "send less at a time")


def _too_often(wait_s: float, error: str) -> Refused:
    seconds = str(max(1, math.ceil(wait_s)))
    hint = "repeat it after the seconds that Retry-After says; before that it is refused again"
    return Refused(429, "rate_limited", error, hint, retry_after=seconds)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for each, value in scope["headers"] if each == name]


def _head_bytes(scope: Scope) -> int:
    line = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _bearer(scope: Scope) -> str:
    """What is shown as a token; nothing where there is none, or more than one."""
    shown = _values(scope, b"authorization")
    scheme, _, rest = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
    return rest.strip() if scheme.lower() == "bearer" else ""


def _client(scope: Scope) -> str:
    """Where a request comes from."""
    return _network((scope.get("client") or ("",))[0] or "")


@lru_cache(maxsize=1_024)
def _network(host: str) -> str:
    """An address; of IPv6 its network, of which one household has a whole one."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # a proxy passes on what it is told: an invented one is not counted by itself
        return ""
    return host if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


def _passed(scope: Scope, token: Token | None) -> Scope:
    """The request as it goes on: with who asks, and without what it showed, which nobody needs any more."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
    passed: Scope = {**scope, "headers": headers, TOKEN: token}
    if token is not None:
        passed["user"] = _user(token)
    return passed


@lru_cache(maxsize=1_024)
def _user(token: Token) -> AuthenticatedUser:
    """Who asks, for the MCP SDK: a session can only be used with the token that began it."""
    known = AccessToken(token=token.id, client_id=token.id, scopes=list(token.scopes), subject=token.agent)
    return AuthenticatedUser(known)
