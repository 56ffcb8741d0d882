"""Transport over standard input and output for the SDK's server.

The SDK's own transport drops a malformed line, cannot tell when an answer has left, and waits forever for a client that
stopped reading. This one answers a malformed line with a JSON-RPC error, answers open calls before the server ends, and
waits for nothing forever: reading and writing each have a thread, which may be left behind in read(2) or write(2) when
the process ends.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from weft.core.errors import Misconfigured
from weft.surfaces.mcp.jsonrpc import is_over, lines_of, read_line, refuse, too_busy

SETTLE_SECONDS: Final = 15.0  # for a client that reads nothing
PATIENCE_SECONDS: Final = 60.0  # for the next answer once the input has ended: the first call loads the store
FLUSH_SECONDS: Final = 2.0
MAX_OPEN: Final = 256  # requests that wait for their answers at a time

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Answers = MemoryObjectSendStream[SessionMessage]
Outbox = MemoryObjectReceiveStream[SessionMessage]


@contextmanager
def standard_streams() -> Iterator[tuple[int, int]]:
    """Descriptors of the client's pipes. Meanwhile standard input is empty, and prints go to standard error.

    Raises Misconfigured if the process was started without them.
    """
    try:
        if sys.__stdin__ is None or sys.__stdout__ is None:  # the command line has put others in their place
            raise OSError("closed")
        source, target = os.dup(0), os.dup(1)
    except OSError as problem:
        raise Misconfigured(
            "weft mcp has no standard input and output to speak on", hint="let an agent's program start it"
        ) from problem
    sys.stdout.flush()
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        os.dup2(2, 1)
    except OSError:  # it was started without a standard error: nobody is to read what is printed
        os.dup2(0, 1)
    try:
        yield source, target
    finally:  # the copies stay open: a thread may sit in one
        os.dup2(source, 0)
        os.dup2(target, 1)


class StdioTransport:
    """Carries messages both ways and tracks open requests. Made in the event loop that runs it."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self._loop = asyncio.get_running_loop()
        self._open: set[str] = set()
        self._asking: dict[str, str] = {}  # what we ask the client, and the open request that each belongs to
        self._changed, self._stopped = asyncio.Event(), asyncio.Event()
        self._written, self._over = asyncio.Event(), asyncio.Event()
        self._written.set()
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._heard = True  # whether the client still reads
        self._stopping, self._stop_reading = os.pipe()

    def drain(self) -> None:
        """Takes only what has already arrived, as if the input ended now; for a short while, if more keeps arriving."""
        os.write(self._stop_reading, b"x")
        self._loop.call_later(FLUSH_SECONDS, self.stop)

    def stop(self) -> None:
        """Takes no more requests, as if the input had ended."""
        self._stopped.set()
        self._changed.set()

    async def carry_in(self, inbox: Inbox, answers: Answers) -> None:
        """Reads until the input ends or it is stopped, then until every request has its answer."""
        threading.Thread(target=self._read, args=(inbox, answers), name="weft-read", daemon=True).start()
        async with inbox, answers:
            await self._stopped.wait()
            await self._settle()

    def _read(self, inbox: Inbox, answers: Answers) -> None:
        """Runs on its own thread. Reads the next line when this one was taken, so memory does not grow.

        The loop may end at any moment.
        """
        with suppress(RuntimeError):
            with suppress(OSError):
                for line in lines_of(self._source, self._stopping if os.name == "posix" else None):
                    taking = self._take(read_line(line), inbox, answers)
                    try:
                        asyncio.run_coroutine_threadsafe(taking, self._loop).result()
                    except RuntimeError:
                        taking.close()
                        raise
            self._loop.call_soon_threadsafe(self.stop)

    async def _take(self, item: JSONRPCMessage | Exception, inbox: Inbox, answers: Answers) -> None:
        if self._stopped.is_set():
            return
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # it was stopped meanwhile
            if isinstance(item, Exception):
                if (refusal := refuse(item)) is not None:
                    await answers.send(SessionMessage(message=refusal))
                return
            match item:
                case JSONRPCRequest(id=request) if len(self._open) >= MAX_OPEN:
                    await answers.send(SessionMessage(message=too_busy(request, MAX_OPEN)))
                    return
                case JSONRPCRequest(id=request):
                    self._open.add(str(request))
                case JSONRPCNotification(method="notifications/cancelled", params={"requestId": request}):
                    self._close(request)  # never answered
                case JSONRPCResponse(id=request) | JSONRPCError(id=request):
                    self._asking.pop(str(request), None)
            await inbox.send(SessionMessage(message=item))

    async def carry_out(self, outbox: Outbox) -> None:
        """Writes until the server has nothing more to send."""
        threading.Thread(target=self._write, name="weft-write", daemon=True).start()
        async with outbox:
            async for item in outbox:
                message, metadata = item.message, item.metadata
                if isinstance(message, JSONRPCRequest) and isinstance(metadata, ServerMessageMetadata):
                    self._asking[str(message.id)] = str(metadata.related_request_id)
                    self._changed.set()
                self._written.clear()
                self._lines.put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await self._until_written()
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._close(message.id)
        self._over.set()

    async def _until_written(self) -> None:
        """Waits for a client that does not read while its input is open; then SETTLE_SECONDS, and it counts as gone."""
        while self._heard and not self._written.is_set():
            with anyio.move_on_after(SETTLE_SECONDS):
                await self._written.wait()
                return
            if is_over(self._source):
                self._heard = False
                self.stop()

    async def flush(self) -> None:
        """Waits until the last message has left, FLUSH_SECONDS at most."""
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._over.wait()

    def _write(self) -> None:
        """Runs on its own thread, so a client that does not read delays nothing else. One that is gone ends the
        serving.
        """
        with suppress(RuntimeError):  # the loop is over
            while True:
                line = memoryview(self._lines.get())
                try:
                    while self._heard and line:
                        line = line[os.write(self._target, line) :]
                except OSError:
                    self._heard = False
                    self._loop.call_soon_threadsafe(self.stop)
                self._loop.call_soon_threadsafe(self._written.set)

    async def _settle(self) -> None:
        """Waits until every open request has its answer, except those that wait for the client itself.

        Gives up when no answer has come for PATIENCE_SECONDS, and sooner on a client that does not read.
        """
        last_change = self._loop.time()
        while self._heard and self._open.difference(self._asking.values()):
            self._changed.clear()
            with anyio.move_on_after(FLUSH_SECONDS) as waiting:
                await self._changed.wait()
            if not waiting.cancelled_caught:
                last_change = self._loop.time()
            elif not self._written.is_set() or self._loop.time() - last_change > PATIENCE_SECONDS:
                return

    def _close(self, request: RequestId | None) -> None:
        self._open.discard(str(request))
        self._changed.set()
