"""An agent without live memory has no tools at all: over standard input, over the network, and at a terminal."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from mcp import ClientSession, MCPError

from tests.checkout.agent_files.test_profiles import written
from tests.surfaces.http.conftest import WEFT, House
from tests.surfaces.mcp.clients import Bench, bench

__all__ = ["bench"]  # a fixture


def test_its_server_lists_nothing_and_refuses_every_call(bench: Bench) -> None:
    written(bench.root, "desk", "live_memory = false\n")
    with bench.open() as memory:
        memory.remember("Tickets cost four crowns.", scope="public")

    async def story(session: ClientSession) -> None:
        assert (await session.list_tools()).tools == []
        for name in ("recall", "remember", "find_tool", "cite", "erase"):
            with pytest.raises(MCPError, match="without live memory"):
                await session.call_tool(name, {"query": "tickets"})
        assert not [each for each in (await session.list_resources()).resources if "recent" in str(each.uri)]
        assert (await session.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="without live memory"):
            await session.get_prompt("checkout", {"task": "sell tickets"})
        told = session.initialize_result
        assert told is not None
        assert "no live memory" in (told.instructions or "")
        assert "recall what is known" not in (told.instructions or "")

    bench.run(story, agent="desk")
    assert "no tools: this agent works without live memory" in bench.errors.read_text()


def test_another_agent_of_the_project_has_its_tools(bench: Bench) -> None:
    written(bench.root, "desk", "live_memory = false\n")

    async def story(session: ClientSession) -> None:
        assert {"recall", "remember"} <= {tool.name for tool in (await session.list_tools()).tools}

    bench.run(story, agent="pilot")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("live"))
    written(made.root, "desk", "live_memory = false\n")
    written(made.root, "pilot", 'scopes = ["public"]\nkeywords = ["tides"]\n')
    written(made.root, "broken", "colour = 1\n")
    yield made
    made.close()


def test_a_token_of_such_an_agent_may_call_nothing_and_a_narrowed_one_sees_less(house: House) -> None:
    server = house.serve()
    boss = house.token("boss", scopes=("public", "shared", "admin"))
    server.call(boss, "remember", text="The vault is under the bridge.", scope="admin")
    server.call(boss, "remember", text="The bridge opens at nine.", scope="public")
    desk, pilot, broken = house.token("desk"), house.token("pilot"), house.token("broken")
    assert server.get("/api", desk).json["operations"] == []
    assert server.call(desk, "recall", query="bridge").status == 404
    found = server.call(pilot, "recall", query="bridge").json
    assert "opens at nine" in json.dumps(found)
    assert "vault" not in json.dumps(found)
    assert server.call(broken, "recall", query="bridge").status >= 400


def test_at_a_terminal_it_gets_what_was_baked_and_nothing_else(house: House) -> None:
    def weft(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = house.environment(**settings)
        return subprocess.run(
            [WEFT, *words], cwd=house.root, env=environment, capture_output=True, text=True, check=False
        )

    weft("remember", "The desk closes at six.", "--scope", "public", "--agents", "desk")
    assert weft("bake", "desk").returncode == 0
    refused = weft("recall", "desk", agent="desk")
    assert (refused.returncode, "without live memory" in refused.stderr) == (1, True)
    context = weft("context", agent="desk").stdout
    assert "closes at six" in context
    assert "no live memory: it cannot ask for more" in context
    assert "with the tools of weft" not in context
    assert "closes at six" in weft("agent-knowledge", agent="desk").stdout
