"""Over the network a person's yes counts only where the token says so, and only for who was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult, InputRequiredResult

from tests.surfaces.http.conftest import House, Server

ERAS = ("legacy", "2026-07-28")
YES = ElicitResult(action="accept", content={"approve": True})


class Person:
    """Says yes to everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return YES


def tell(server: Server, token: str, era: str, person: Person, story: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(
                streamable_http_client(f"{server.url}/mcp", http_client=http),
                mode=era,
                elicitation_callback=person.answer,
            ) as client,
        ):
            await story(client)

    anyio.run(main)


async def write(client: Client, text: str) -> str:
    saved = await client.call_tool("remember", {"text": text, "level": "global"})
    assert saved.structured_content is not None
    status: str = saved.structured_content["data"]["status"]
    return status


@pytest.mark.parametrize("era", ERAS)
def test_a_yes_counts_where_the_token_says_so(house: House, server: Server, era: str) -> None:
    person, other = Person(), Person()

    async def approved(client: Client) -> None:
        assert await write(client, f"All harbours keep UTC, says {era}.") == "saved"
        assert f"> All harbours keep UTC, says {era}." in person.asked[0]
        assert "harbourmaster (agent)" in person.asked[0]

    async def refused(client: Client) -> None:
        assert await write(client, f"Nobody keeps any time, says {era}.") == "failed"

    tell(server, house.token("harbourmaster", approves=True), era, person, approved)
    tell(server, house.token("deckhand"), era, other, refused)
    assert other.asked == []


def test_a_yes_counts_only_from_who_was_asked(house: House, server: Server) -> None:
    words = {"text": "Every buoy is green.", "level": "global"}
    states: list[str] = []

    async def ask(client: Client) -> None:
        asked = await client.session.call_tool("remember", words, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult)
        assert asked.request_state is not None
        states.append(asked.request_state)

    async def steal(client: Client) -> None:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await reply(client)

    async def answer(client: Client) -> None:
        assert (await reply(client)).structured_content["data"]["status"] == "saved"

    async def reply(client: Client) -> Any:
        return await client.session.call_tool(
            "remember", words, input_responses={"approval": YES}, request_state=states[0]
        )

    ann, ben = (house.token(name, approves=True) for name in ("ann", "ben"))
    for token, story in ((ann, ask), (ben, steal), (ann, answer)):
        tell(server, token, ERAS[1], Person(), story)
