"""The body of a request, taken in before anything is done with it: not too large, and not too slow."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final

from starlette.types import Message, Receive, Scope

LINGER_SECONDS: Final = 2.0  # how long what is still sent is read after a refusal, so that its sender sees the answer
LINGER_BYTES: Final = 67_108_864


class TooMuch(Exception):
    """More came than may. `ended` if that was all of it."""

    def __init__(self, *, ended: bool) -> None:
        super().__init__()
        self.ended = ended


class TooSlow(Exception):
    """It had not come to its end in time."""


class Gone(Exception):
    """Whoever sent it has gone."""


def announced(scope: Scope) -> int | None:
    """How many bytes its head says will come; None where it does not say. Raises ValueError for no number.

    A server checks the head before this; here it is read again, because another server may not.
    """
    lengths = {value for name, value in scope["headers"] if name == b"content-length"}
    if not lengths:
        return None
    (length,) = lengths
    if not length.isdigit() or len(length) > 20:
        raise ValueError("content-length is no number")
    return int(length)


def brings_body(scope: Scope) -> bool:
    """Whether bytes follow the head."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in scope["headers"]
    )


async def take_in(receive: Receive, *, most: int, seconds: float) -> bytes:
    """All of a body. Raises TooMuch as soon as it is longer than `most`, TooSlow after `seconds`, Gone."""
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
    """Gives a body that was taken in to who asks for it, and then what comes after it."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return first.pop() if first else await receive()

    return again


async def linger(receive: Receive) -> None:
    """Reads on for a moment and drops it: to close on bytes that nobody read takes the answer away with them."""
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
