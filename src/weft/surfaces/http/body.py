"""The body of a request: received within limits of size and time, and read as strict JSON."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import MutableMapping
from typing import Any, Final, NoReturn

from starlette.types import Message, Receive, Scope

from weft.core.errors import Invalid

LINGER_SECONDS: Final = 2.0  # reading on after a refusal, so that the sender sees the answer
LINGER_BYTES: Final = 67_108_864


class TooMuch(Exception):
    """The body is larger than allowed. `ended` if all of it has arrived."""

    def __init__(self, *, ended: bool) -> None:
        super().__init__()
        self.ended = ended


class TooSlow(Exception):
    """The body did not arrive in time."""


class Gone(Exception):
    """The client has disconnected."""


def announced(scope: Scope) -> int | None:
    """Content-Length in bytes; None if there is none. Raises ValueError for one that is not a number.

    uvicorn checks it too; another ASGI server may not.
    """
    lengths = {value for name, value in scope["headers"] if name == b"content-length"}
    if not lengths:
        return None
    (length,) = lengths
    if not length.isdigit() or len(length) > 20:
        raise ValueError("Content-Length is not a number")
    return int(length)


def brings_body(scope: Scope) -> bool:
    """Whether the request has a body."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in scope["headers"]
    )


async def take_in(receive: Receive, *, most: int, seconds: float) -> bytes:
    """The whole body. Raises TooMuch as soon as it exceeds `most` bytes, TooSlow after `seconds`, Gone."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Gone
                part: bytes = message.get("body", b"")
                size += len(part)
                ended = not message.get("more_body", False)
                if size > most:
                    raise TooMuch(ended=ended)
                parts.append(part)
                if ended:
                    return b"".join(parts)
    except TimeoutError as problem:
        raise TooSlow from problem


def once_more(body: bytes, receive: Receive) -> Receive:
    """A receive channel that repeats a body already received, then continues."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return first.pop() if first else await receive()

    return again


async def linger(receive: Receive) -> None:
    """Reads and drops the rest for a moment: closing on unread bytes resets the connection and loses the answer."""
    size = 0
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while size < LINGER_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return


MAX_DEPTH: Final = 64
_EXAMPLE: Final = 'send a JSON object of arguments, such as {"query": "why redis?"}, or {} for none'


def read_body(body: bytes) -> dict[str, Any]:
    """The arguments of a call. Raises Invalid for anything but one JSON object.

    Duplicate keys, NaN and infinity, nesting deeper than MAX_DEPTH and lone surrogates are refused too.
    """
    if not body.strip():
        raise Invalid("the body is empty", hint=_EXAMPLE)
    try:
        text = body.decode("utf-8")
        sent = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as problem:
        raise Invalid("the body is not UTF-8", hint="JSON is sent in UTF-8, without a byte order mark") from problem
    except RecursionError as problem:
        raise Invalid("the body is nested too deeply", hint=f"nest at most {MAX_DEPTH} levels") from problem
    except ValueError as problem:  # of json too, and of a number with more digits than Python reads
        raise Invalid(f"the body is not JSON: {problem}", hint=_EXAMPLE) from problem
    if not isinstance(sent, dict):
        raise Invalid("the body is not a JSON object", hint=_EXAMPLE)
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deep(sent):
        raise Invalid("the body is nested too deeply", hint=f"nest at most {MAX_DEPTH} levels")
    if "\\u" in text:
        _check_whole(sent)
    return sent


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Invalid(f"{_plain(twice)} is given twice", hint="send it once")
    return made


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _is_deep(value: Any) -> bool:
    """Breadth first, so that the check itself cannot overflow the stack."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    match value:
        case dict():
            return [each for each in value.values() if isinstance(each, dict | list)]
        case list():
            return [each for each in value if isinstance(each, dict | list)]
        case _:
            return []


def _check_whole(sent: dict[str, Any]) -> None:
    try:
        json.dumps(sent, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as problem:
        raise Invalid(
            "the body contains a lone surrogate (such as \\ud800), which is not valid text",
            hint="decode the source with errors='replace' before sending it",
        ) from problem


def _plain(name: str) -> str:
    return name[:80].encode("utf-8", "replace").decode()
