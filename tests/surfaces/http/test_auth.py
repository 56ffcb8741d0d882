"""The gate in front of `weft serve`, called as a server calls it: who passes, and what those who do not are told."""

from __future__ import annotations

import asyncio
import logging

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from starlette.types import Message, Receive, Scope, Send

from tests.surfaces.http.door import Door, Headers
from weft.access.tokens import TokenBook, mint
from weft.core.clock import to_iso
from weft.surfaces.http.auth import RequestGate
from weft.testing.clock import DAY_US, START_US

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
