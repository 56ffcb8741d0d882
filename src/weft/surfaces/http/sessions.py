"""`/mcp`: the SDK's own transport, with bounds for each token and an end to what a revoked one has open."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from weft.config import Settings
from weft.errors import WeftError
from weft.instants import Clock, SystemClock
from weft.surfaces.http import answers
from weft.surfaces.http.gate import TOKEN
from weft.surfaces.http.streams import is_endless, stream_until
from weft.tokens import TokenBook

MAX_SESSIONS: Final = 1_000
MAX_SESSIONS_EACH: Final = 32  # of one token; of more, the one that has been idle longest is ended
SESSION_IDLE_SECONDS: Final = 600.0
MAX_CALLS: Final = 256  # answered at once; open streams are not among them, nor what waits for a person
MAX_CALLS_EACH: Final = 64  # of one token
LOOK_SECONDS: Final = 2.0  # how soon a revoked token's streams and sessions end
BUSY_SECONDS: Final = 30  # until a session may have become free

Asking = Callable[[str], int]  # how many calls of a token wait for a person


class Mcp:
    """MCP over HTTP, for whom the gate let in. Host and Origin are the gate's to check."""

    def __init__(
        self, server: Server[Any], settings: Settings, book: TokenBook, asking: Asking, clock: Clock | None = None
    ) -> None:
        self._manager = StreamableHTTPSessionManager(
            server,
            max_request_body_size=settings.request_bytes,
            max_sessions=MAX_SESSIONS,
            session_idle_timeout=SESSION_IDLE_SECONDS,
        )
        self._book, self._asking, self._clock = book, asking, clock or SystemClock()
        self._calls: Counter[str] = Counter()  # of each token that has any
        self._streams: dict[asyncio.Event, str] = {}  # what ends a stream, and of which token it is

    @property
    def sessions(self) -> int:
        """Open ones."""
        return len(self._manager._server_instances)  # the SDK has no other way to ask

    @property
    def calls(self) -> int:
        """Being answered now, but for those that wait for a person."""
        return sum(map(self._busy, self._calls))

    def session_of(self, scope: Scope) -> str:
        """The session that a request belongs to: one that there is, and not what anybody invents. Else nothing."""
        session = Headers(scope=scope).get("mcp-session-id", "")
        return session if _has_sessions(scope) and session in self._manager._server_instances else ""

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Sessions live as long as this."""
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
            full = answers.overloaded("there are too many sessions in use", BUSY_SECONDS)
            await full(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    async def _stream(self, whose: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Until its reader goes, or its token is no longer good."""
        over = asyncio.Event()
        self._streams[over] = whose
        try:
            await stream_until(over.wait, self._manager.handle_request, scope, receive, send)
        finally:
            del self._streams[over]

    async def _make_room(self, whose: str) -> bool:
        """For one more session of a token; where it has as many as it may, its longest idle one is ended for it."""
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
        """When it will end by itself; never while it is in use."""
        idle = self._manager._server_instances[session].idle_scope
        return math.inf if idle is None else idle.deadline

    async def _end(self, session: str) -> None:
        if (transport := self._manager._server_instances.get(session)) is not None:
            await self._manager._discard_session(session, transport)

    async def _sweep(self) -> None:
        """Ends what tokens have open that are no longer good."""
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
        except WeftError:  # nobody new is admitted; what is open waits until it can be told
            return False


def _has_sessions(scope: Scope) -> bool:
    """Whether it is of the protocol's older era, which has sessions."""
    version = Headers(scope=scope).get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
