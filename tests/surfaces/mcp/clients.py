"""Clients of `weft mcp`: the SDK's own, and one that may send anything. Both start a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, Implementation

import weft

WEFT = str(Path(sys.executable).with_name("weft"))
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "Raw Client!", "version": "1"}}


class Bench:
    """A project, a store beside it, and servers on them."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.root = scratch / "ferry"
        self.root.mkdir()
        self.errors = scratch / "stderr"

    def environment(self, **settings: str) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "HOME": str(self.scratch), "XDG_DATA_HOME": str(self.scratch / "data")}
        given = {"embedder": "none"} | settings  # found by words alone: exact answers, quick starts
        return base | {f"WEFT_{name.upper()}": value for name, value in given.items()}

    def parameters(self, **settings: str) -> StdioServerParameters:
        return StdioServerParameters(command=WEFT, args=["mcp"], env=self.environment(**settings), cwd=self.root)

    @asynccontextmanager
    async def connect(self, **settings: str) -> AsyncIterator[ClientSession]:
        with self.errors.open("a") as errlog:
            async with (
                stdio_client(self.parameters(**settings), errlog=errlog) as (read, write),
                ClientSession(read, write, client_info=Implementation(name="Test Client", version="1")) as session,
            ):
                await session.initialize()
                await session.list_tools()  # from here on the client checks answers against the schemas
                yield session

    def run(self, story: Callable[[ClientSession], Awaitable[None]], **settings: str) -> None:
        async def main() -> None:
            async with self.connect(**settings) as session:
                await story(session)

        anyio.run(main)

    def open(self) -> weft.Memory:
        return weft.open(directory=self.root, environment=self.environment())


class Raw:
    """A client that may send anything, and knows its server's process."""

    def __init__(self, bench: Bench, **settings: str) -> None:
        self.process = subprocess.Popen(
            [WEFT, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=bench.environment(**settings),
            cwd=bench.root,
        )
        self._next = 0

    def line(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def send(self, method: str, params: dict[str, Any]) -> int:
        self._next += 1
        self.line(json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}).encode())
        return self._next

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        sent = self.send(method, params)
        answer = self.read()
        assert answer["id"] == sent
        return answer

    def greet(self) -> Raw:
        self.ask("initialize", HELLO)
        self.line(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return self

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return answer

    def end(self) -> tuple[bytes, bytes]:
        return self.process.communicate(timeout=100)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


Start = Callable[..., Raw]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def start(bench: Bench) -> Iterator[Start]:
    made: list[Raw] = []

    def make(**settings: str) -> Raw:
        made.append(Raw(bench, **settings))
        return made[-1]

    yield make
    for raw in made:
        raw.kill()


def quiet(errors: bytes) -> list[bytes]:
    """What a server said on standard error, but for which project it serves."""
    return [line for line in errors.splitlines() if not line.startswith(b"weft mcp: project ")]


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


async def refused(session: ClientSession, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await session.call_tool(name, arguments)
    assert result.is_error
    envelope: dict[str, Any] = result.structured_content
    assert envelope["ok"] is False
    assert envelope["hint"]
    assert "Traceback" not in text_of(result)
    assert envelope["summary"] in text_of(result)
    assert envelope["hint"] in text_of(result)
    assert envelope["error_code"] in text_of(result)
    return envelope
