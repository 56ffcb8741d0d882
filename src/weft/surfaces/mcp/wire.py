"""What the SDK leaves to its user between standard input and output and its server.

A malformed line is answered with the error of JSON-RPC, where the SDK only drops it; and what was asked before the
input ended is answered before the server ends.
"""

from __future__ import annotations

import json
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

SETTLE_SECONDS: Final = 10.0
HALF: Final = "Invalid params: a text in it holds a lone surrogate (such as \\ud800), which is half a character"

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]


class Wire:
    """Carries messages both ways and knows which requests are still open."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._changed = anyio.Event()

    async def carry_in(self, source: Any, inbox: Inbox, answers: MemoryObjectSendStream[SessionMessage]) -> None:
        """Until the input ends and every request has its answer."""
        async with inbox, answers:
            async for item in source:
                if isinstance(item, Exception):
                    if (refusal := refuse(item)) is not None:
                        await answers.send(SessionMessage(message=refusal))
                    continue
                match item.message:
                    case JSONRPCRequest(id=request):
                        self._open.add(str(request))
                    case JSONRPCNotification(method="notifications/cancelled", params={"requestId": request}):
                        self._close(request)  # never answered
                await inbox.send(item)
            await self.settle()

    async def carry_out(self, outbox: Outbox, target: Any) -> None:
        """Until the server has nothing more to say."""
        async with outbox, target:
            async for item in outbox:
                await target.send(item)
                if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                    self._close(item.message.id)

    async def settle(self) -> None:
        """Waits until no request is open, but not for ever."""
        with anyio.move_on_after(SETTLE_SECONDS):
            while self._open:
                self._changed = anyio.Event()
                await self._changed.wait()

    def _close(self, request: RequestId | None) -> None:
        self._open.discard(str(request))
        self._changed.set()


def refuse(problem: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; None to an empty one, and to what looks like an answer itself."""
    inputs = [each["input"] for each in problem.errors()] if isinstance(problem, ValidationError) else []
    if any(isinstance(line, str | bytes) and not line.strip() for line in inputs):
        return None
    objects = [each for each in inputs if isinstance(each, dict)]
    if any("result" in each or "error" in each for each in objects):
        return None
    if isinstance(problem, ValidationError) and any(each["type"] == "json_invalid" for each in problem.errors()):
        request = next((each for each in map(_half_read, inputs) if each is not None), None)
        if request is not None:
            return _error(request, INVALID_PARAMS, HALF)
        return _error(None, PARSE_ERROR, "Parse error: the line is not JSON")
    ids = (each["id"] for each in objects if isinstance(each.get("id"), str | int))
    return _error(next(ids, None), INVALID_REQUEST, "Invalid Request: the line is not a JSON-RPC message")


def _half_read(line: Any) -> RequestId | None:
    """The id of a request that is JSON but for half a character in it, which no text can hold; None of any other."""
    try:
        read = json.loads(line)
        json.dumps(read, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        request = read.get("id") if isinstance(read, dict) else None
        return request if isinstance(request, str | int) and _is_text(request) else None
    except (ValueError, TypeError, RecursionError):
        return None
    return None


def _is_text(request: RequestId) -> bool:
    return not isinstance(request, str) or request.isascii()


def _error(request: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))
