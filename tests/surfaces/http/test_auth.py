"""The gate in front of `weft serve`, called as a server calls it: who passes, and what those who do not are told."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from msgspec.structs import replace
from starlette.types import Message, Receive, Scope, Send

from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import to_iso
from weft.runtime.settings.load import Settings, load_settings
from weft.surfaces.http.auth import OPEN_BYTES, RequestGate
from weft.surfaces.http.rate import FAILURES
from weft.testing.clock import DAY_US, START_US, ManualClock

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


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


# ---- names


@pytest.mark.parametrize("host", [(), (b"evil.example.com",), (b"localhost", b"localhost"), (b"\xff\xfe",), (b"",)])
def test_a_request_for_another_name_is_misdirected(door: Door, host: tuple[bytes, ...]) -> None:
    _, bearer = door.token()
    for path in ("/api/recall", "/health"):
        answer = door.ask(bearer, host=host, path=path)
        assert (answer.status, answer.said["error_code"]) == (421, "wrong_host")
    assert door.behind.came == []
    assert door.refused == [("wrong_host", "")] * 2


def test_the_address_at_which_it_came_in_is_a_name(door: Door) -> None:
    _, bearer = door.token()
    assert door.ask(bearer, host=(b"192.168.1.7:8420",), server=("192.168.1.7", 8420)).status == 200
    assert door.ask(bearer, host=(b"192.168.1.8:8420",), server=("192.168.1.7", 8420)).status == 421
    assert door.ask(bearer, host=(b"192.168.1.7:8420",), server=None).status == 421


def test_a_page_of_another_origin_is_refused(door: Door) -> None:
    _, bearer = door.token()
    for origin in (b"https://evil.example.com", b"null", b"", b"\xff"):
        answer = door.ask(bearer, headers=[(b"origin", origin)])
        assert (answer.status, answer.said["error_code"]) == (403, "forbidden")
    twice = [(b"origin", b"http://localhost:8420")] * 2
    assert door.ask(bearer, headers=twice).status == 403
    assert door.ask(bearer, headers=twice[:1]).status == 200
    assert door.ask(bearer, headers=[(b"origin", b"https://memory.example.com")]).status == 200


@pytest.mark.parametrize(
    "path", ["/api/\0", "/api/\ufffd", "/api/\x1b[2J", "/api/" + chr(0xD800), "/api/" + "x" * 10_000]
)
def test_a_path_that_is_no_text_is_refused(door: Door, path: str) -> None:
    _, bearer = door.token()
    answer = door.ask(bearer, path=path)
    assert (answer.status, answer.said["error_code"]) == (400, "invalid")


# ---- tokens


def test_who_passes_is_known_behind_the_gate_and_its_secret_is_not(door: Door) -> None:
    token, bearer = door.token(scopes=("public",))
    answer = door.ask(bearer, headers=[(b"x-more", b"1")], chunks=[b'{"a"', b": 1}"])
    assert (answer.status, answer.body) == (200, b"through")
    ((scope, body),) = door.behind.came
    assert scope["weft.token"] == token
    assert body == b'{"a": 1}'
    assert (b"x-more", b"1") in scope["headers"]
    assert bearer.rpartition("_")[2] not in repr((scope, vars(scope["user"])))
    assert isinstance(scope["user"], AuthenticatedUser)
    other, shown = door.token()
    door.ask(shown)
    one, two = (authorization_context(each["user"]) for each, _ in door.behind.came)
    assert one != two, "a session of one token is not another's"
    assert (one["client_id"], two["client_id"]) == (token.id, other.id)


def test_all_that_is_no_valid_token_is_told_the_same(door: Door) -> None:
    door = Door(door.book.path.parent, accounts=("default", "other"))
    token, bearer = door.token()
    gone, revoked = door.token()
    door.book.revoke(gone.id, START_US)
    _, expired = door.token(expires=to_iso(START_US + DAY_US))
    _, foreign = door.token(account="elsewhere")
    door.clock.step(2 * DAY_US)
    _, unknown = mint(token)
    wrong = bearer[:-1] + ("0" if bearer[-1] != "0" else "1")
    auth = b"authorization"
    ways: list[Headers] = [
        *([(auth, f"Bearer {each}".encode())] for each in (revoked, expired, foreign, unknown, wrong, "", "x" * 9_000)),
        [],
        [(auth, b"")],
        [(auth, b"Basic dXNlcjpwYXNz")],
        [(auth, bearer.encode())],
        [(auth, f"Bearer{bearer}".encode())],
        [(auth, b"Bearer \xff\xfe")],
        [(auth, f"Bearer {bearer}".encode())] * 2,
        [(b"x-authorization", f"Bearer {bearer}".encode())],
    ]
    told = [door.ask(headers=each) for each in ways]
    assert {each.status for each in told} == {401}
    assert len({(each.body, tuple(sorted(each.headers.items()))) for each in told}) == 1
    assert told[0].headers["www-authenticate"].startswith("Bearer")
    assert told[0].said["error_code"] == "unauthorized"
    assert door.refused == [("unauthorized", "")] * len(ways)
    for lower in ("bearer", "BEARER"):
        assert door.ask(headers=[(auth, f"{lower} {bearer}".encode())]).status == 200


def test_a_token_that_is_revoked_is_refused_from_the_next_request_on(door: Door) -> None:
    token, bearer = door.token()
    assert door.ask(bearer).status == 200
    TokenBook(door.book.path).revoke(token.id, START_US)
    assert door.ask(bearer).status == 401


def test_a_file_of_tokens_that_is_damaged_admits_nobody_and_only_the_log_says_why(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    _, bearer = door.token()
    door.book.path.write_text("{")
    with caplog.at_level(logging.ERROR, "weft.http"):
        answers = [door.ask(bearer), door.ask(), door.ask("weft_nobody")]
    assert {each.status for each in answers[::2]} == {503}
    assert answers[0].said["error_code"] == "store_error"
    assert str(door.book.path.parent) not in answers[0].body.decode()
    assert [record.getMessage().count(str(door.book.path)) for record in caplog.records] == [1], "said once"
    assert door.ask(path="/health").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/health", "/ready", "/.well-known/agent-card.json", "/openapi.json", "/sites", "/sites/a/b.html"]
)
def test_open_paths_need_no_token(door: Door, path: str) -> None:
    assert door.ask(path=path).status == 200
    ((scope, _),) = door.behind.came
    assert scope["weft.token"] is None
    assert "user" not in scope


@pytest.mark.parametrize(
    "path",
    [
        "/metrics",
        "/mcp",
        "/api",
        "//health",
        "/health/",
        "/healthy",
        "/sites/../api/recall",
        "/sites/..",
        "/sites/a\\..\\..\\api",
        "/sites//api",
        "/.well-known",
        "/HEALTH",
        "",
    ],
)
def test_everything_else_does(door: Door, path: str) -> None:
    assert door.ask(path=path).status == 401
    assert door.behind.came == []


# ---- how much


def test_a_body_that_is_announced_as_too_large_is_refused_unread(door: Door) -> None:
    token, bearer = door.token()
    answer = door.ask(bearer, headers=[(b"content-length", str(MOST + 1).encode())], chunks=[b"x" * (MOST + 1)])
    assert (answer.status, answer.said["error_code"]) == (413, "too_large")
    assert answer.headers["connection"] == "close"
    assert f"{MOST:,}" in answer.said["error"]
    exact = [(b"content-length", str(MOST).encode())]
    assert door.ask(bearer, headers=exact, chunks=[b"x" * MOST]).status == 200
    assert door.refused == [("too_large", "")]
    assert token.id


def test_a_body_of_unknown_length_is_counted_as_it_comes(door: Door) -> None:
    token, bearer = door.token()
    chunked = [(b"transfer-encoding", b"chunked")]
    answer = door.ask(bearer, headers=chunked, chunks=[b"x" * 100] * (MOST // 100 + 1))
    assert (answer.status, answer.said["error_code"]) == (413, "too_large")
    assert answer.headers["connection"] == "close"
    assert door.behind.came == []
    assert door.refused == [("too_large", token.id)]
    assert door.ask(bearer, headers=chunked, chunks=[b"x" * 64] * (MOST // 64)).status == 200


@pytest.mark.parametrize("length", [b"-1", b"+5", b"1e3", b"0x10", b"", b"9" * 40, b"5, 5", b"\xb2"])
def test_a_length_that_is_no_number_is_refused(door: Door, length: bytes) -> None:
    _, bearer = door.token()
    assert door.ask(bearer, headers=[(b"content-length", length)]).status == 400


def test_two_lengths_are_refused(door: Door) -> None:
    _, bearer = door.token()
    assert door.ask(bearer, headers=[(b"content-length", b"1"), (b"content-length", b"9")]).status == 400


def test_who_has_no_token_sends_little(tmp_path: Path) -> None:
    door = Door(tmp_path, request_bytes=4 * OPEN_BYTES)
    chunks = [b"x" * OPEN_BYTES, b"x"]
    assert door.ask(path="/health", headers=[(b"transfer-encoding", b"chunked")], chunks=chunks).status == 413
    assert door.ask(chunks=chunks).status == 401, "and is not listened to elsewhere"
    _, bearer = door.token()
    assert door.ask(bearer, chunks=chunks).status == 200


def test_a_body_that_does_not_come_is_not_waited_for(door: Door) -> None:
    token, bearer = door.token()

    async def slowly() -> Answer:
        parts = [b'{"query": ', b'"tide"']
        sent: list[Message] = []

        async def receive() -> Message:
            if not parts:
                await asyncio.sleep(30)
            return {"type": "http.request", "body": parts.pop(0), "more_body": True}

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {bearer}".encode())]
        scope: Scope = {"type": "http", "path": "/api/recall", "headers": headers, "client": None, "server": None}
        await asyncio.wait_for(door.gate(scope, receive, send), 10)
        return Answer(sent)

    answer = asyncio.run(slowly())
    assert (answer.status, answer.said["error_code"]) == (408, "timeout")
    assert door.refused == [("timeout", token.id)]
    assert door.behind.came == []


def test_who_leaves_while_sending_is_not_answered(door: Door) -> None:
    _, bearer = door.token()

    async def leaving() -> list[Message]:
        sent: list[Message] = []
        came = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

        async def receive() -> Message:
            return next(came)

        async def send(message: Message) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {bearer}".encode())]
        await door.gate({"type": "http", "path": "/mcp", "headers": headers}, receive, send)
        return sent

    assert asyncio.run(leaving()) == []
    assert door.behind.came == []


# ---- how often


def test_a_token_comes_as_often_as_it_may_and_no_more(door: Door) -> None:
    token, bearer = door.token()
    _, other = door.token()
    assert [door.ask(bearer).status for _ in range(LIMIT + 2)] == [200] * LIMIT + [429] * 2
    door.now_s += 4.5
    answer = door.ask(bearer)
    assert (answer.status, answer.said["error_code"]) == (429, "rate_limited")
    assert answer.headers["retry-after"] == "6"
    assert door.refused == [("rate_limited", token.id)] * 3
    assert door.ask(other).status == 200, "each token has its own count"
    assert door.ask(path="/health").status == 200
    door.now_s += float(answer.headers["retry-after"])
    assert [door.ask(bearer).status for _ in range(LIMIT + 1)] == [200] * LIMIT + [429]


def test_who_guesses_is_slowed_down_and_shuts_nobody_out(door: Door) -> None:
    _, known = door.token()
    _, fresh = door.token()
    assert door.ask(known).status == 200
    guesses = [door.ask(mint(door.book.tokens()[0])[1]) for _ in range(FAILURES + 5)]
    assert [each.status for each in guesses] == [401] * FAILURES + [429] * 5
    assert 0 < int(guesses[-1].headers["retry-after"]) <= 60
    assert door.ask(fresh).status == 429, "nothing new is looked at"
    assert door.ask(known).status == 200, "who came from there before still does"
    assert door.ask(fresh, client=("10.0.0.10", 5)).status == 200, "nor does another address suffer"
    door.now_s += 61
    assert door.ask(fresh).status == 200


def test_one_network_of_ipv6_is_one_guesser(door: Door) -> None:
    for n in range(FAILURES):
        door.ask("weft_x", client=(f"2001:db8::{n:x}", 1))
    assert door.ask("weft_x", client=("2001:db8::ffff:1", 1)).status == 429
    assert door.ask("weft_x", client=("2001:db8:0:1::1", 1)).status == 401


def test_all_that_a_proxy_passes_on_as_a_client_and_is_no_address_is_one_guesser(door: Door) -> None:
    for n in range(FAILURES):
        assert door.ask("weft_x", client=(f"invented-{n}", 1)).status == 401
    assert door.ask("weft_x", client=("another", 1)).status == 429
    assert door.ask("weft_x").status == 401


# ---- what is no request


def test_what_is_no_request_passes_or_is_closed(door: Door) -> None:
    passed: list[Scope] = []

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope)

    async def nothing() -> Message:
        return {"type": "websocket.connect"}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    gate = RequestGate(behind, settings=door.settings, book=door.book)
    asyncio.run(gate({"type": "lifespan"}, nothing, send))
    asyncio.run(gate({"type": "websocket", "path": "/", "headers": []}, nothing, send))
    assert [each["type"] for each in passed] == ["lifespan"]
    assert sent == [{"type": "websocket.close", "code": 1008}]
