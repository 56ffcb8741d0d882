"""`/mcp` as clients meet it: the SDK's own client over a real socket, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextResourceContents

from tests.surfaces.http.conftest import Answered, House, Server

ERAS = ("legacy", "2026-07-28")
ACCEPT = "application/json, text/event-stream"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


@asynccontextmanager
async def client(server: Server, token: str, era: str) -> AsyncIterator[Client]:
    shown = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=shown, timeout=30) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=era) as made,
    ):
        yield made


def with_client(server: Server, token: str, era: str, story: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with client(server, token, era) as made:
            await story(made)

    anyio.run(main)


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_listed_and_called(house: House, server: Server, era: str) -> None:
    async def story(made: Client) -> None:
        tools = {tool.name for tool in (await made.list_tools()).tools}
        assert {"remember", "recall", "cite"} <= tools
        said = f"The ferry to Vis leaves at {era}."
        saved = await made.call_tool("remember", {"text": said})
        assert not saved.is_error
        assert saved.structured_content is not None
        found = await made.call_tool("recall", {"query": "when does the ferry to Vis leave?"})
        assert found.structured_content is not None
        assert said in json.dumps(found.structured_content)
        wrong = await made.call_tool("recall", {"query": 7})
        assert wrong.is_error

    with_client(server, house.token("sailor"), era, story)


@pytest.mark.parametrize("era", ERAS)
def test_a_token_lists_what_it_is_for(house: House, server: Server, era: str) -> None:
    async def story(made: Client) -> None:
        tools = {tool.name for tool in (await made.list_tools()).tools}
        assert "find_similar" in tools
        assert "ingest" not in tools, "it reads files of the server's machine"

    with_client(server, house.token("wide", toolsets=("memory",)), era, story)


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_the_protocols_error(house: House, server: Server, era: str) -> None:
    async def story(made: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool"):
            await made.call_tool("launch_rockets", {})

    with_client(server, house.token("curious"), era, story)


@pytest.mark.parametrize("era", ERAS)
def test_accounts_are_apart(house: House, server: Server, era: str) -> None:
    told = f"Our password hint is marzipan {era}."
    answers: list[str] = []

    async def tell(made: Client) -> None:
        assert not (await made.call_tool("remember", {"text": told})).is_error

    async def ask(made: Client) -> None:
        found = await made.call_tool("recall", {"query": "password hint marzipan"})
        assert not found.is_error
        answers.append(str(found.content))

    with_client(server, house.token("ann", account="bakers"), era, tell)
    for name, account in (("ann", "bakers"), ("ben", "grocers")):
        with_client(server, house.token(name, account=account), era, ask)
    writer, other = answers
    assert told in writer
    assert told not in other


def test_the_agent_of_a_token_is_who_wrote(house: House, server: Server) -> None:
    async def story(made: Client) -> None:
        saved = await made.call_tool("remember", {"text": "Tokens say who writes."})
        cited = await made.call_tool("cite", {"citation": (saved.structured_content or {})["data"]["citation"]})
        assert "scribe-of-tokens" in str(cited.structured_content)

    with_client(server, house.token("scribe-of-tokens"), "legacy", story)


def test_a_session_belongs_to_its_token(house: House, server: Server) -> None:
    ann, ben = house.token("ann"), house.token("ben")
    begun = post(server, ann, HELLO)
    assert begun.status == 200
    session = begun.headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    theirs, unknown = post(server, ben, listing, session), post(server, ben, listing, "0" * 32)
    assert theirs.status == unknown.status == 404
    assert theirs.body == unknown.body
    assert post(server, ann, listing, session).status == 200
    house.book.revoke(ann.split("_")[1], 1_800_000_000_000_000)
    assert post(server, ann, listing, session).status == 401


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
        b'{"id": 1}',
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused(house: House, server: Server, token: str, body: bytes) -> None:
    answer = server.send(
        "POST", "/mcp", body, content_type="application/json", accept=ACCEPT, authorization=f"Bearer {token}"
    )
    assert 400 <= answer.status < 500
    assert "error" in answer.json
    assert server.get("/health").status == 200


@pytest.mark.parametrize("era", ERAS)
def test_progress_of_long_work_is_told(house: House, server: Server, era: str) -> None:
    heard: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async def story(made: Client) -> None:
        items = [{"text": f"Fact number {n} of many."} for n in range(60)]
        done = await made.call_tool("remember_many", {"items": items}, progress_callback=hear)
        assert not done.is_error, done.content

    with_client(server, house.token("keeper", toolsets=("all",)), era, story)
    assert {total for _, total in heard} == {60}
    assert all(0 < progress <= 60 for progress, _ in heard)


@pytest.mark.parametrize("era", ERAS)
def test_resources_can_be_read(house: House, server: Server, era: str) -> None:
    async def story(made: Client) -> None:
        listed = {str(each.uri) for each in (await made.list_resources()).resources}
        assert "weft://recent" in listed
        await made.call_tool("remember", {"text": f"Ferries leave at nine, {era}."})
        (content,) = (await made.read_resource("weft://recent")).contents
        assert isinstance(content, TextResourceContents)
        assert f"> Ferries leave at nine, {era}." in content.text

    with_client(server, house.token("reader"), era, story)


def post(server: Server, token: str, message: dict[str, Any], session: str = "") -> Answered:
    more = {"mcp_session_id": session} if session else {}
    return server.send(
        "POST",
        "/mcp",
        json.dumps(message).encode(),
        content_type="application/json",
        accept=ACCEPT,
        authorization=f"Bearer {token}",
        **more,
    )


def test_each_session_writes_into_a_chain_of_its_own(house: House, server: Server) -> None:
    bearer, chains = house.token("twice"), []

    async def story(made: Client) -> None:
        for n in range(2):
            saved = await made.call_tool("remember", {"text": f"Sentence {n} of session {len(chains)}."})
            citation = (saved.structured_content or {})["data"]["citation"]
            chains.append(citation.partition("/events/")[0])

    for _ in range(2):
        with_client(server, bearer, "legacy", story)
    assert chains[0] == chains[1]
    assert chains[2] == chains[3]
    assert chains[0] != chains[2]
