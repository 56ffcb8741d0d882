"""Answers that have no end of their own: brought to a proper one when their time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LISTENING: Final = "subscriptions/listen"  # the one request of MCP's newer era whose answer has no end
GONE: Final[Message] = {"type": "http.disconnect"}


def is_endless(scope: Scope) -> bool:
    """Whether the answer of MCP to this lasts until its reader goes."""
    return scope["method"] == "GET" or Headers(scope=scope).get("mcp-method") == LISTENING


async def stream_until(
    over: Callable[[], Awaitable[object]], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Lets `app` answer until its reader goes or `over` returns: then the answer is ended as it should."""
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
