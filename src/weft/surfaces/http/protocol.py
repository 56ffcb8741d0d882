"""HTTP/1.1 with deadlines: uvicorn waits for ever for a head, for a body and for a reader; this does not.

A connection that sends nothing, or a byte now and then, is closed after a while; so is one that does not read its
answer. Over the limit of connections, a new one is told so and closed.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0  # from the first chance to send a head to its last byte
BODY_SECONDS: Final = 60.0  # from the head to the last byte of the body
READ_SECONDS: Final = 60.0  # how long an answer may wait for its reader to take more of it
KEEP_ALIVE_SECONDS: Final = 15
MAX_CONNECTIONS: Final = 4_096
SPARE_FILES: Final = 256  # files that the store, its audit and the process itself may need beside connections


def _raw(status: str, words: str, *headers: str) -> bytes:
    """A whole answer, for where there is no request to answer."""
    plain = ("content-type: text/plain; charset=utf-8", f"content-length: {len(words)}", "connection: close")
    return "\r\n".join((f"HTTP/1.1 {status}", *plain, *headers, "", words)).encode()


LATE: Final = _raw("408 Request Timeout", "the request took too long\n")
FULL: Final = _raw("503 Service Unavailable", "too many connections\n", "retry-after: 5")


class Deadlines(H11Protocol):
    """One connection. `most` connections are served at once; the rest are answered with 503."""

    most: int = MAX_CONNECTIONS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None  # for what is being sent to us: a head or a body
        self._awaiting: object = None
        self._unread: asyncio.TimerHandle | None = None  # for an answer that nobody reads

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(FULL)
            transport.close()
            return
        self._expect(h11.IDLE, HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        match self.conn.their_state:
            case h11.IDLE:
                self._expect(h11.IDLE, HEAD_SECONDS)
            case h11.SEND_BODY:
                self._expect(h11.SEND_BODY, BODY_SECONDS)
            case _:
                self._expect(None, 0.0)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # answered early, as what is too large is: the rest has its deadline
            return
        self._expect(None, 0.0)  # uvicorn's own keep-alive timer runs until the next byte
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect(h11.IDLE, HEAD_SECONDS)

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that sent all of a call and closed its half is still answered. A stream ends with its reader."""
        cycle = self.cycle
        waits = cycle is not None and not cycle.response_complete and not cycle.more_body
        if waits and self.scope["path"].startswith("/api"):
            cycle.keep_alive = False
            return True
        return None

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None, 0.0)
        super().connection_lost(exc)  # resumes writing too, for whoever waits for it

    def _expect(self, what: object, seconds: float) -> None:
        """Starts the clock when something else is awaited than before, and lets it run on when it is the same."""
        if what is self._awaiting and (what is None or self._deadline is not None):
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaiting = what
        self._deadline = None if what is None else self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        if self.transport.is_closing():
            return
        if self._awaiting is h11.IDLE or not self.cycle.response_started:
            self.transport.write(LATE)
        self.transport.close()
