"""A gate that tests knock at, and what comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from starlette.types import Message, Receive, Scope, Send

from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import to_iso
from weft.runtime.settings.load import Settings, load_settings
from weft.surfaces.http.auth import RequestGate
from weft.testing.clock import START_US, ManualClock

MOST = 2_048  # of a body


LIMIT = 5  # requests in SECONDS


SECONDS = 10


Headers = Sequence[tuple[bytes, bytes]]


class Answer:
    """What came back."""

    def __init__(self, sent: list[Message]) -> None:
        assert [each["type"] for each in sent[:1]] == ["http.response.start"], sent
        self.status: int = sent[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        self.body = b"".join(each.get("body", b"") for each in sent[1:])
        assert not sent[-1].get("more_body", False), "it has an end"

    @property
    def said(self) -> dict[str, Any]:
        """A refusal, as every one of them is."""
        said: dict[str, Any] = json.loads(self.body)
        assert list(said) == ["ok", "error_code", "error", "hint"]
        assert said["ok"] is False
        assert said["error"]
        assert said["hint"]
        assert self.headers["content-type"] == "application/json"
        assert self.headers["content-length"] == str(len(self.body))
        assert self.headers["cache-control"] == "no-store"
        assert self.headers["x-content-type-options"] == "nosniff"
        return said


class Behind:
    """What stands behind the gate: it keeps what came through."""

    def __init__(self) -> None:
        self.came: list[tuple[Scope, bytes]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.came.append((scope, body))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"through"})


class Door:
    """A gate, the tokens that it admits, and both of its clocks."""

    def __init__(self, scratch: Path, **changed: Any) -> None:
        environment = {
            "HOME": str(scratch),
            "WEFT_REQUEST_BYTES": str(MOST),
            "WEFT_RATE_LIMIT": str(LIMIT),
            "WEFT_RATE_SECONDS": str(SECONDS),
            "WEFT_HOSTS": "memory.example.com",
        }
        self.settings: Settings = replace(load_settings(scratch, environment), **changed)
        self.clock, self.now_s, self.refused = ManualClock(), 1_000.0, list[tuple[str, str]]()
        self.book, self.behind = TokenBook(scratch / "tokens.json"), Behind()
        self.gate = RequestGate(
            self.behind,
            settings=self.settings,
            book=self.book,
            clock=self.clock,
            on_refusal=lambda code, token: self.refused.append((code, token)),
            monotonic=lambda: self.now_s,
            body_seconds=0.2,
        )

    def token(self, **more: Any) -> tuple[Token, str]:
        who = Token(id="", hash="", account="default", agent="ann", created=to_iso(START_US))
        token, bearer = mint(replace(who, **more))
        self.book.add(token, self.clock.now_us())
        return token, bearer

    def ask(
        self,
        bearer: str = "",
        *,
        path: str = "/api/recall",
        headers: Headers = (),
        host: Sequence[bytes] = (b"localhost:8420",),
        chunks: Sequence[bytes] = (b"",),
        client: Any = ("10.0.0.9", 5),
        server: Any = ("127.0.0.1", 8420),
    ) -> Answer:
        """One request, of which the body comes in chunks; then the client waits for its answer."""
        shown = [(b"authorization", f"Bearer {bearer}".encode())] if bearer else []
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [*((b"host", each) for each in host), *shown, *headers],
            "client": client,
            "server": server,
        }
        return Answer(asyncio.run(self._asked(scope, list(chunks))))

    async def _asked(self, scope: Scope, chunks: list[bytes]) -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            if not chunks:
                await asyncio.sleep(30)
            return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.gate(scope, receive, send)
        return sent
