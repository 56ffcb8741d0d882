"""Lines of JSON-RPC: read from a descriptor, parsed as messages, and answered with an error where they are not."""

from __future__ import annotations

import json
import os
import select
import stat
from collections.abc import Iterator
from typing import Any, Final

from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

MAX_LINE_BYTES: Final = 33_554_432  # far above what any operation takes: those refuse with better words
CHUNK_BYTES: Final = 65_536
BUSY: Final = -32_000  # the server's own, as JSON-RPC leaves room for
HALF: Final = "Invalid params: a text in it holds a lone surrogate (such as \\ud800), which is half a character"


class TooLong(Exception):
    """A line longer than MAX_LINE_BYTES; it was skipped."""


class NoId(Exception):
    """A request whose id is neither a text nor a whole number. The SDK takes it for a notification."""


def lines_of(descriptor: int, stop: int | None = None) -> Iterator[bytes | TooLong]:
    """Lines without their line ends, until the input ends. Text after the last line end is a line, too.

    When the descriptor `stop` can be read, the input ends with the last whole line that has arrived.
    """
    parts: list[bytes] = []
    size = 0
    while chunk := _chunk(descriptor, stop):
        for number, part in enumerate(chunk.split(b"\n")):
            if number:
                yield _whole(parts, size)
                parts, size = [], 0
            size += len(part)
            if size <= MAX_LINE_BYTES:
                parts.append(part)
    if size and chunk is not None:
        yield _whole(parts, size)


def _chunk(descriptor: int, stop: int | None) -> bytes | None:
    """Bytes that have arrived; empty at the end of the input, None when it is to stop and nothing more is there."""
    if stop is not None:
        ready, _, _ = select.select([descriptor, stop], [], [])
        if stop in ready and not select.select([descriptor], [], [], 0)[0]:
            return None
    return os.read(descriptor, CHUNK_BYTES)


def is_over(descriptor: int) -> bool:
    """Whether its writer has closed it, even if unread bytes are left. False where the system cannot tell."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return True
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, getattr(select, "POLLRDHUP", 0))
    return any(event & (select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)) for _, event in poll.poll(0))


def _whole(parts: list[bytes], size: int) -> bytes | TooLong:
    return b"".join(parts) if size <= MAX_LINE_BYTES else TooLong()


def read_line(line: bytes | TooLong) -> JSONRPCMessage | Exception:
    """The message of a line, or the exception that `refuse` answers."""
    if isinstance(line, TooLong):
        return line
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as problem:
        return problem
    if isinstance(message, JSONRPCNotification) and "id" in json.loads(line):
        return NoId()
    return message


def refuse(problem: Exception) -> JSONRPCError | None:
    """The error for a line that is no message; None for an empty line, and for one that looks like an answer."""
    if isinstance(problem, TooLong):
        return _error(None, INVALID_REQUEST, f"Invalid Request: the line is longer than {MAX_LINE_BYTES:,} bytes")
    if isinstance(problem, NoId):
        return _error(None, INVALID_REQUEST, "Invalid Request: the id of a request is a string or a whole number")
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


def too_busy(request: RequestId, most: int) -> JSONRPCError:
    """The error for a request beyond the number that may wait."""
    return _error(request, BUSY, f"Server busy: {most} requests wait already; send it again when one is answered")


def _half_read(line: Any) -> RequestId | None:
    """The id of a request that is JSON but for a lone surrogate, which no text can hold; None for any other."""
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
