"""HTTP/1.1 connections with deadlines, which uvicorn lacks, for the head, the body and the reading of the answer.

Idle and slow connections are closed. Beyond the limit of connections, a new one gets 503 and is closed.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS: Final = 10.0  # from the connection, or the previous answer, to the last byte of the head
BODY_SECONDS: Final = 60.0  # from the head to the last byte of the body
READ_SECONDS: Final = 60.0  # of no progress while the client reads its answer
KEEP_ALIVE_SECONDS: Final = 15
MAX_CONNECTIONS: Final = 4_096
SPARE_FILES: Final = 256  # open files kept for the store, the audit and the process


def _raw(status: str, words: str, *headers: str) -> bytes:
    """A complete response for a connection without a request."""
    plain = ("content-type: text/plain; charset=utf-8", f"content-length: {len(words)}", "connection: close")
    return "\r\n".join((f"HTTP/1.1 {status}", *plain, *headers, "", words)).encode()


LATE: Final = _raw("408 Request Timeout", "the request took too long\n")
FULL: Final = _raw("503 Service Unavailable", "too many connections\n", "retry-after: 5")


class Deadlines(H11Protocol):
    """One connection. At most `most` are served at once."""

    most: int = MAX_CONNECTIONS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None  # for the head or the body being received
        self._awaiting: object = None
        self._unread: asyncio.TimerHandle | None = None  # for an answer that is not read

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
        if self.conn.their_state is h11.SEND_BODY:  # refused early: the rest of the body has its deadline
            return
        self._expect(None, 0.0)  # uvicorn's own keep-alive timer runs until the next byte
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect(h11.IDLE, HEAD_SECONDS)

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that closed its half after a whole call is still answered; a stream ends."""
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
        """Starts a deadline for another state; lets it run on for the same one."""
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
