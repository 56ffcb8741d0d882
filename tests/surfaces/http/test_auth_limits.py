"""The gate in front of `weft serve`: how much may be sent, and how often one may ask."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.types import Message, Scope

from tests.surfaces.http.door import LIMIT, MOST, Answer, Door
from weft.access.tokens import mint
from weft.surfaces.http.auth import OPEN_BYTES
from weft.surfaces.http.rate import FAILURES

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
