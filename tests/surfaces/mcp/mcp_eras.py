"""Clients of both ages of the protocol, on real pipes: with a handshake, and with every request by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import Implementation

from tests.surfaces.mcp.clients import WEFT, Bench

ERAS = ("legacy", "2026-07-28")
Story = Callable[[Client], Awaitable[None]]


def run(
    bench: Bench, mode: str, story: Story, *, arguments: tuple[str, ...] = (), client: Any = None, **settings: str
) -> None:
    """Tells a story to a server that is started for it. `client` are more arguments of the SDK's client."""

    async def main() -> None:
        parameters = StdioServerParameters(
            command=WEFT, args=["mcp", *arguments], env=bench.environment(**settings), cwd=bench.root
        )
        with bench.errors.open("a") as errlog:
            info = Implementation(name="Test Client", version="1")
            transport = stdio_client(parameters, errlog=errlog)
            async with Client(transport, mode=mode, client_info=info, **(client or {})) as connected:
                await connected.list_tools()  # from here on the client checks answers against the schemas
                await story(connected)

    anyio.run(main)
