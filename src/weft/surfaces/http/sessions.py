"""`/mcp`: the SDK's transport, with limits for each token; streams and sessions of a revoked token are ended."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.access.tokens import TokenBook
from weft.core.clock import SystemClock
from weft.core.errors import WeftError
from weft.runtime.settings.load import Settings
from weft.surfaces.http import answers
from weft.surfaces.http.auth import TOKEN

LISTENING: Final = "subscriptions/listen"  # in newer MCP, the one request with an endless answer
GONE: Final[Message] = {"type": "http.disconnect"}


def is_endless(scope: Scope) -> bool:
    """Whether the answer is a stream that lasts until its reader disconnects."""
    return scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == LISTENING


async def stream_until(
    over: Callable[[], Awaitable[object]], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Lets `app` stream until its reader disconnects or `over` returns, then ends the response properly."""
    begun = ended = False

    async def noting(message: Message) -> None:
        nonlocal begun, ended
        begun = begun or message["type"] == "http.response.start"
        ended = message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    async def until_over() -> Message:
        reading, ending = asyncio.ensure_future(receive()), asyncio.ensure_future(over())
        try:
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else GONE
        finally:
            reading.cancel()
            ending.cancel()

    await app(scope, until_over, noting)
    if begun and not ended:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


MAX_SESSIONS: Final = 1_000
MAX_SESSIONS_EACH: Final = 32  # of one token; for one more, the longest idle one is ended
SESSION_IDLE_SECONDS: Final = 600.0
MAX_CALLS: Final = 256  # in flight, without open streams and calls that wait for a person
MAX_CALLS_EACH: Final = 64  # of one token
LOOK_SECONDS: Final = 2.0  # interval of checks for revoked tokens
BUSY_SECONDS: Final = 30  # Retry-After when every session is in use

Asking = Callable[[str], int]  # number of calls of a token that wait for a person


class McpEndpoint:
    """MCP over streamable HTTP for admitted requests."""

    def __init__(self, server: Server[Any], settings: Settings, book: TokenBook, asking: Asking) -> None:
        self._manager = StreamableHTTPSessionManager(
            server,
            max_request_body_size=settings.request_bytes,
            max_sessions=MAX_SESSIONS,
            session_idle_timeout=SESSION_IDLE_SECONDS,
        )
        self._book, self._asking, self._clock = book, asking, SystemClock()
        self._calls: Counter[str] = Counter()  # of each token that has any
        self._streams: dict[asyncio.Event, str] = {}  # the token of each open stream, by the event that ends it

    @property
    def sessions(self) -> int:
        """Number of open sessions."""
        return len(self._manager._server_instances)  # the SDK has no public counter

    @property
    def calls(self) -> int:
        """Calls in flight, without those that wait for a person."""
        return sum(map(self._busy, self._calls))

    def session_of(self, scope: Scope) -> str:
        """The id of the request's session if that exists, else an empty string."""
        session = Headers(scope=scope).get("mcp-session-id", "")
        return session if _has_sessions(scope) and session in self._manager._server_instances else ""

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Runs the session manager and the check for revoked tokens."""
        async with self._manager.run():
            sweeping = asyncio.create_task(self._sweep())
            try:
                yield
            finally:
                sweeping.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whose = scope[TOKEN].id
        if is_endless(scope):
            await self._stream(whose, scope, receive, send)
        elif self._busy(whose) >= MAX_CALLS_EACH or self.calls >= MAX_CALLS:
            await answers.overloaded()(scope, receive, send)
        else:
            self._calls[whose] += 1
            try:
                await self._answer(whose, scope, receive, send)
            finally:
                self._calls[whose] -= 1
                if not self._calls[whose]:
                    del self._calls[whose]

    def _busy(self, whose: str) -> int:
        return max(0, self._calls[whose] - self._asking(whose))

    async def _answer(self, whose: str, scope: Scope, receive: Receive, send: Send) -> None:
        begins = _has_sessions(scope) and "mcp-session-id" not in Headers(scope=scope)
        if begins and not await self._make_room(whose):
            full = answers.overloaded("too many MCP sessions are in use", BUSY_SECONDS)
            await full(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    async def _stream(self, whose: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams until the reader disconnects or the token is revoked."""
        over = asyncio.Event()
        self._streams[over] = whose
        try:
            await stream_until(over.wait, self._manager.handle_request, scope, receive, send)
        finally:
            del self._streams[over]

    async def _make_room(self, whose: str) -> bool:
        """Makes room for a new session of a token, ending its longest idle one at the limit. False if all are busy."""
        own = self._sessions_of(whose)
        if len(own) >= MAX_SESSIONS_EACH:
            until_s = {session: self._idle_until_s(session) for session in own}
            oldest = min(own, key=until_s.__getitem__)
            if until_s[oldest] == math.inf:
                return False
            await self._end(oldest)
        return self.sessions < MAX_SESSIONS

    def _sessions_of(self, whose: str) -> list[str]:
        return [session for session, owner in self._manager._session_owners.items() if owner["client_id"] == whose]

    def _idle_until_s(self, session: str) -> float:
        """When the session times out; infinity while it is in use."""
        idle = self._manager._server_instances[session].idle_scope
        return math.inf if idle is None else idle.deadline

    async def _end(self, session: str) -> None:
        if (transport := self._manager._server_instances.get(session)) is not None:
            await self._manager._discard_session(session, transport)

    async def _sweep(self) -> None:
        """Ends streams and sessions of tokens that were revoked or have expired."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            owners = {owner["client_id"] for owner in self._manager._session_owners.values()}
            for dead in filter(self._is_dead, owners.union(self._streams.values())):
                for over in [event for event, whose in self._streams.items() if whose == dead]:
                    over.set()
                for session in self._sessions_of(dead):
                    await self._end(session)

    def _is_dead(self, whose: str) -> bool:
        try:
            return not self._book.is_live(whose, self._clock.now_us())
        except WeftError:  # unknown for now: new requests are refused, open ones stay
            return False


def _has_sessions(scope: Scope) -> bool:
    """Whether the request's protocol version has sessions, as older ones do."""
    version = Headers(scope=scope).get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
