"""What one caller cannot take from the others: sessions, threads, questions, room in answers."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from tests.surfaces.http.conftest import Answered, House, Server, answered
from tests.surfaces.http.test_protocol_over_http import ACCEPT, HELLO, post
from weft.surfaces.http.sessions import LOOK_SECONDS, MAX_SESSIONS_EACH
from weft.surfaces.mcp.dispatch import MAX_ASKED_EACH

LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
MODERN = "2026-07-28"


@pytest.fixture(scope="module")
def boss(house: House) -> str:
    return house.token("boss", role="operator")


def begin(server: Server, token: str, **capabilities: Any) -> str:
    """A session of the older era."""
    hello = HELLO | {"params": {**HELLO["params"], "capabilities": capabilities}}  # type: ignore[dict-item]
    begun = post(server, token, hello)
    assert begun.status == 200, begun
    session = begun.headers["mcp-session-id"]
    assert post(server, token, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status == 202
    return session


def listen(server: Server, token: str, session: str) -> socket.socket:
    """A stream that stays open, at its first byte."""
    raw = server.socket()
    head = f"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nMcp-Session-Id: {session}\r\n"
    raw.sendall(f"{head}Accept: text/event-stream\r\n\r\n".encode())
    assert raw.recv(4_096).startswith(b"HTTP/1.1 200")
    return raw


def modern(server: Server, token: str, method: str, params: dict[str, Any], **headers: str) -> Answered:
    """A request of the newer era, as it is on the wire."""
    name = "io.modelcontextprotocol/"
    about = {
        f"{name}protocolVersion": MODERN,
        f"{name}clientCapabilities": {},
        f"{name}clientInfo": {"name": "raw", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": about}}
    return server.send(
        "POST",
        "/mcp",
        json.dumps(body).encode(),
        content_type="application/json",
        accept=ACCEPT,
        authorization=f"Bearer {token}",
        mcp_protocol_version=MODERN,
        mcp_method=method,
        **headers,
    )


def figure(server: Server, boss: str, name: str) -> float:
    text = server.get("/metrics", boss).body.decode()
    return float(next(line for line in text.splitlines() if line.startswith(f"{name} ")).split()[1])


# ---- sessions


def test_a_token_has_so_many_sessions_and_then_its_oldest_idle_one_ends(house: House, server: Server) -> None:
    bearer = house.token("restless")
    first, *others = (begin(server, bearer) for _ in range(MAX_SESSIONS_EACH))
    kept = others.pop(0)
    assert post(server, bearer, LISTING, first).status == 200  # so the second has been idle longest
    last = begin(server, bearer)
    assert post(server, bearer, LISTING, kept).status == 404
    assert {post(server, bearer, LISTING, each).status for each in (first, *others, last)} == {200}


def test_where_all_sessions_of_a_token_are_in_use_it_is_told_and_others_are_served(
    house: House, server: Server
) -> None:
    bearer = house.token("listener")
    streams = [listen(server, bearer, begin(server, bearer)) for _ in range(MAX_SESSIONS_EACH)]
    try:
        refused = post(server, bearer, HELLO)
        assert (refused.status, refused.json["error_code"]) == (503, "overloaded")
        assert int(refused.headers["retry-after"]) > 0
        begin(server, house.token("neighbour"))
    finally:
        for raw in streams:
            raw.close()


def test_what_a_revoked_token_has_open_ends(house: House, server: Server, boss: str) -> None:
    bearer = house.token("leaver")
    raw = listen(server, bearer, begin(server, bearer))
    before = figure(server, boss, "weft_mcp_sessions")
    house.book.revoke(bearer.split("_")[1], 1_800_000_000_000_000)
    raw.settimeout(LOOK_SECONDS + 5)
    with raw:
        heard = b"-"
        while heard and not heard.endswith(b"0\r\n\r\n"):  # the end of a body in pieces
            heard = raw.recv(4_096)
    assert figure(server, boss, "weft_mcp_sessions") == before - 1


def test_a_session_that_somebody_invents_is_none(house: House, server: Server) -> None:
    bearer, chains = house.token("inventor"), set()
    for session in ("one", "another"):
        said = {"name": "remember", "arguments": {"text": f"Said in session {session}."}}
        saved = modern(server, bearer, "tools/call", said, mcp_name="remember", mcp_session_id=session)
        assert saved.status == 200, saved
        citation = saved.json["result"]["structuredContent"]["data"]["citation"]
        chains.add(citation.partition("/events/")[0])
    assert len(chains) == 1


# ---- questions


def test_who_waits_for_a_person_takes_no_place_and_a_token_asks_only_so_many(
    house: House, server: Server, boss: str
) -> None:
    bearer = house.token("asker", approves=True)
    session = begin(server, bearer, elicitation={})
    asked = []
    for n in range(MAX_ASKED_EACH + 1):
        connection = server.connect()
        words = {"name": "remember", "arguments": {"text": f"All clocks show {n}.", "level": "global"}}
        call = {"jsonrpc": "2.0", "id": 10 + n, "method": "tools/call", "params": words}
        headers = {"content-type": "application/json", "accept": ACCEPT, "authorization": f"Bearer {bearer}"}
        connection.request("POST", "/mcp", json.dumps(call).encode(), {**headers, "mcp-session-id": session})
        asked.append(connection)
        if n < MAX_ASKED_EACH:
            response = connection.getresponse()
            line = b""
            while b"elicitation/create" not in line:  # it waits for a person now
                line = response.readline()
    refused = answered(asked[-1])
    assert b"failed" in refused.body
    assert b"elicitation/create" not in refused.body
    assert figure(server, boss, "weft_mcp_calls_in_flight") == 0
    for connection in asked:
        connection.close()


# ---- what is told


def test_calls_that_a_token_may_not_make_are_on_record(house: House, server: Server, boss: str) -> None:
    server.call(boss, "remember", text="There is a store to keep an audit of.")
    bearer = house.token("curious-one", allow=("recall",))
    assert server.call(bearer, "erase", id="x").status == 404
    assert "error" in modern(server, bearer, "tools/call", {"name": "forget", "arguments": {}}, mcp_name="forget").json
    assert "error" in modern(server, bearer, "resources/read", {"uri": "weft://recent"}, mcp_name="weft://recent").json
    until = time.monotonic() + 10
    wanted = {("erase", "http"), ("forget", "mcp"), ("recent", "mcp")}
    found: set[tuple[str, str]] = set()
    while not wanted <= found and time.monotonic() < until:
        calls = server.call(boss, "tool_calls", agent="curious-one").json["calls"]
        found = {(each["operation"], each["surface"]) for each in calls if each.get("code") == "not_found"}
    assert wanted <= found, calls


@pytest.mark.parametrize("era", ["api", MODERN])
def test_of_many_unknown_names_a_few_are_told(server: Server, token: str, era: str) -> None:
    for count in (40, 5_000):
        sent = {"query": "why?"} | {f"name-{n}-{'x' * 200}": n for n in range(count)}
        if era == "api":
            answer = server.call(token, "recall", **sent)
            assert answer.status == 400
        else:
            call = {"name": "recall", "arguments": sent}
            answer = modern(server, token, "tools/call", call, mcp_name="recall")
            assert answer.json["result"]["isError"]
        assert len(answer.body) < 4_000


def test_a_value_that_is_refused_is_not_sent_back_whole(server: Server, token: str) -> None:
    answer = server.call(token, "recall", query="why?", mode="x" * 100_000)
    assert answer.status == 400
    assert len(answer.body) < 6_000


def test_half_a_character_is_refused_in_words(server: Server, token: str) -> None:
    for method, params, name in (
        ("tools/call", {"name": "recall", "arguments": {"\ud800": 1}}, "recall"),
        ("prompts/get", {"name": "checkout", "arguments": {"task": "a", "\ud800": "b"}}, "checkout"),
    ):
        answer = modern(server, token, method, params, mcp_name=name)
        assert "no argument" in answer.body.decode(), answer
        assert b"-32603" not in answer.body


def test_a_store_that_cannot_serve_does_not_tell_where_it_is(house: House, server: Server, boss: str) -> None:
    server.call(boss, "remember", text="There is a store.")
    broken = house.store / "accounts" / "broken.db"
    broken.write_bytes(b"this is no database" * 1_000)
    bearer = house.token("unlucky", account="broken")
    for answer in (
        server.call(bearer, "recall", query="anything?"),
        modern(server, bearer, "tools/call", {"name": "recall", "arguments": {"query": "any?"}}, mcp_name="recall"),
    ):
        assert b"not_a_store" in answer.body
        assert b"broken" not in answer.body
        assert str(house.scratch).encode() not in answer.body
    assert any("broken.db" in line for line in server.said), "its operator is told"


def test_figures_are_for_the_servers_own_operator(house: House, server: Server, boss: str) -> None:
    assert server.get("/metrics", boss).status == 200
    other = server.get("/metrics", house.token("boss", role="operator", account="elsewhere"))
    assert (other.status, other.json["error_code"]) == (403, "forbidden")


# ---- heads


def raw(server: Server, sent: bytes) -> bytes:
    with server.socket() as made:
        made.sendall(sent)
        return b"".join(iter(lambda: made.recv(65_536), b""))


def test_two_ways_to_say_how_long_a_body_is_are_refused_and_the_connection_ends(server: Server, token: str) -> None:
    second = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = (
        f"POST /api/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    answer = raw(server, head.encode() + second)
    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_head_that_is_too_large_is_refused_though_it_came_at_once(server: Server) -> None:
    head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"a" * 40_000 + b"\r\n\r\n"
    assert raw(server, head).startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))
