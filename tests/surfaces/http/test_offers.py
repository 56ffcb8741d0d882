"""What a token may call is what it and the server both allow: the same over `/api` and over `/mcp`, and on record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcp import Client, MCPError

from tests.surfaces.http.conftest import House, Server
from tests.surfaces.http.test_protocol_over_http import ERAS, with_client

BEYOND = "remember"  # no tool for the public


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, Server]]:
    """A server for the public."""
    house = House(tmp_path_factory.mktemp("bounded"))
    yield house, house.serve(allow="public")
    house.close()


def test_over_the_api_a_token_is_bound_by_the_server(bounded: tuple[House, Server]) -> None:
    house, server = bounded
    bearer = house.token("wide", toolsets=("all",))
    listed = {each["name"] for each in server.get("/api", bearer).json["operations"]}
    assert BEYOND not in listed
    assert "recall" in listed
    assert server.call(bearer, BEYOND, text="Nobody may write here.").status == 404
    assert server.call(bearer, "recall", query="who may write?").status == 200


@pytest.mark.parametrize("era", ERAS)
def test_over_mcp_a_token_is_bound_by_the_server(bounded: tuple[House, Server], era: str) -> None:
    house, server = bounded

    async def story(made: Client) -> None:
        listed = {tool.name for tool in (await made.list_tools()).tools}
        assert {BEYOND, "erase", "add_fact"}.isdisjoint(listed)
        assert "recall" in listed
        with pytest.raises(MCPError, match="Unknown tool"):
            await made.call_tool(BEYOND, {"text": "Nobody may write here."})
        found = await made.call_tool("find_tool", {"tool": BEYOND, "arguments": {"text": "Nobody may write here."}})
        assert found.is_error
        assert "weft://recent" not in {str(each.uri) for each in (await made.list_resources()).resources}
        with pytest.raises(MCPError, match="not found"):
            await made.read_resource("weft://recent")
        assert "not visible to this caller" in str(await made.get_prompt("review_memory"))

    with_client(server, house.token("wide", toolsets=("all",)), era, story)


def test_a_token_may_be_narrower_than_its_server(bounded: tuple[House, Server]) -> None:
    house, server = bounded
    bearer = house.token("narrow", allow=("recall", "remember"))
    assert {each["name"] for each in server.get("/api", bearer).json["operations"]} == {"recall"}
