"""Which tools `weft mcp` serves: core always, the rest by toolset. Real processes, real pipes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, MCPError, StdioServerParameters

from tests.surfaces.conftest import Cli
from tests.surfaces.mcp.clients import WEFT, Bench, refused, text_of
from weft.operations import OPERATIONS

# Four characters are about a token. What every agent carries along, whether it calls it or not, is bounded; and of that
# the first four leave room for the others.
MAX_CORE_TOOLS = 8
MAX_CORE_CHARACTERS = 12_000
MAX_FIRST_CHARACTERS = 8_000
FIRST = ("remember", "recall", "cite", "find_tool")


class Servers(Bench):
    """Servers started with arguments of the command line."""

    arguments: tuple[str, ...] = ()

    def parameters(self, **settings: str) -> StdioServerParameters:
        arguments = ["mcp", *self.arguments]
        return StdioServerParameters(command=WEFT, args=arguments, env=self.environment(**settings), cwd=self.root)


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(tmp_path)


def names(toolset: str) -> set[str]:
    """Its tools; commands that say who may call are none."""
    return {each.name for each in OPERATIONS if each.toolset == toolset and each.reach != "terminal"}


async def listed(session: ClientSession) -> dict[str, dict[str, Any]]:
    tools = (await session.list_tools()).tools
    return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools}


def size(tools: list[dict[str, Any]]) -> int:
    return len(json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False))


def test_core_is_what_is_served_unless_more_is_asked_for_and_it_stays_small(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        found = await listed(session)
        assert set(found) == names("core") | {"find_tool"}
        assert len(found) <= MAX_CORE_TOOLS
        assert size(list(found.values())) <= MAX_CORE_CHARACTERS
        assert size([found[name] for name in FIRST]) <= MAX_FIRST_CHARACTERS

    servers.run(story)


@pytest.mark.parametrize(
    ("asked", "served"),
    [("memory", {"core", "memory"}), ("core, memory", {"core", "memory"}), ("", {"core"}), ("all", None)],
)
def test_toolsets_of_the_settings_are_served_beside_core(
    servers: Servers,
    asked: str,
    served: set[str] | None,
) -> None:
    async def story(session: ClientSession) -> None:
        found = await listed(session)
        toolsets = {operation.toolset for operation in OPERATIONS} if served is None else served
        assert set(found) == set().union({"find_tool"}, *map(names, toolsets))
        assert not [name for name in found if name.startswith("bench")]
        assert found.pop("find_tool")["_meta"] == {"anthropic/alwaysLoad": True}
        for name, tool in found.items():
            operation = next(each for each in OPERATIONS if each.name == name)
            hints = tool["annotations"]
            assert hints["readOnlyHint"] == (operation.effect == "read"), name
            assert hints["destructiveHint"] == (operation.effect == "destructive"), name
            assert ("_meta" in tool) == operation.eager, name
            taken = {*operation.input.__struct_fields__, "profile"} - set(operation.rare)
            assert set(tool["inputSchema"]["properties"]) == taken, name
            assert "$ref" not in json.dumps(tool), name

    servers.run(story, toolsets=asked)


def test_the_command_line_wins_over_the_settings(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        assert set(await listed(session)) == names("core") | names("admin") | {"find_tool"}

    servers.arguments = ("--toolsets", "admin, core")
    servers.run(story, toolsets="memory")


def test_a_tool_that_is_not_listed_is_named_with_the_way_to_it(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        with pytest.raises(MCPError, match="Unknown tool") as missing:
            await session.call_tool("conversation_search", {"query": "x"})
        assert "call it through find_tool" in missing.value.error.message
        with pytest.raises(MCPError, match="Unknown tool") as unknown:
            await session.call_tool("no_such_tool", {})
        assert "recall" in unknown.value.error.message
        assert not (await session.call_tool("recall", {"query": "still there?"})).is_error

    servers.run(story)


@pytest.mark.parametrize("arguments", [("--toolsets", "core,kitchen"), ()])
def test_an_unknown_toolset_stops_it_and_says_what_there_is(cli: Cli, arguments: tuple[str, ...]) -> None:
    setting = {} if arguments else {"WEFT_TOOLSETS": "kitchen"}
    done = cli.real("mcp", *arguments, **setting)
    assert (done.code, done.out) == (1, b"")
    assert "kitchen" in done.err
    for name in ("core", "memory", "admin", "all"):
        assert name in done.err.split("hint:")[1]
    assert "bench" not in done.err
    assert "Traceback" not in done.err


def test_the_setting_is_shown_with_where_it_came_from(cli: Cli) -> None:
    assert '"core"' in cli("config", "--json").stdout
    shown = json.loads(cli.real("config", "--json", WEFT_TOOLSETS="magma,memory").out)
    (setting,) = [each for each in shown["settings"] if each["name"] == "toolsets"]
    assert (setting["value"], setting["origin"]) == (["magma", "memory"], "WEFT_TOOLSETS")


def test_memory_tools_answer_over_the_wire(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        turns = ["Mira: the tide gauge is broken", "Jon: who repairs it?"]
        await session.call_tool("record_turns", {"session": "standup", "turns": turns})
        saved = await session.call_tool("remember", {"text": "The tide gauge stands at the north quay."})
        node = saved.structured_content["data"]["id"]

        found = await session.call_tool("conversation_search", {"query": "tide gauge", "session": "standup"})
        (message, *_) = found.structured_content["data"]["messages"]
        assert message["message"]["text"] == turns[0]
        assert "> Mira: the tide gauge is broken" in text_of(found)
        assert message["message"]["citation"] in text_of(found)

        like = await session.call_tool("find_similar", {"id": node})
        assert turns[0] in [hit["node"]["text"] for hit in like.structured_content["data"]["hits"]]
        assert f"> {turns[0]}" in text_of(like)

        why = await session.call_tool("explain", {"query": "tide gauge quay", "id": node})
        assert why.structured_content["data"]["verdict"] == "answered"
        assert "rank 1 of" in text_of(why)
        assert re.search(r"stages: .*\bunderstand \d", text_of(why))

        for name, arguments in (
            ("conversation_search", {"query": "x", "neighbours": 9}),
            ("conversation_search", {"query": "x", "session": "nowhere"}),
            ("find_similar", {}),
            ("explain", {"query": "x", "id": "nobody"}),
            ("answer", {"id": "receipt:none"}),
        ):
            assert (await refused(session, name, arguments))["error_code"] in ("invalid", "not_found")

    servers.run(story, toolsets="memory")


def test_a_public_agent_cannot_leave_its_session_over_the_wire(servers: Servers) -> None:
    with servers.open() as memory:
        memory.record_turns("visit-1", ["user: my locker is number nine"], scope="public", agents=["kiosk"])

    async def story(session: ClientSession) -> None:
        await session.call_tool("record_turns", {"session": "visit-2", "turns": ["user: my locker is number four"]})
        own = await session.call_tool("conversation_search", {"query": "which locker?"})
        assert "number four" in text_of(own)
        assert "number nine" not in text_of(own)
        other = await refused(session, "conversation_search", {"query": "which locker?", "session": "visit-1"})
        assert other["error_code"] == "forbidden"

    kiosk = {"audience": "public", "agent": "kiosk", "scopes": "public", "session": "visit-2", "role": "agent"}
    servers.run(story, toolsets="memory", allow="public,record_turns", **kiosk)


def test_a_public_agent_may_only_read_unless_more_is_allowed(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        assert set(await listed(session)) == {"recall", "cite", "find_tool"}
        with pytest.raises(MCPError, match="Unknown tool"):
            await session.call_tool("remember", {"text": "x"})
        found = await refused(session, "find_tool", {"tool": "forget", "arguments": {"id": "x"}})
        assert found["error_code"] in ("invalid", "not_found", "forbidden")

    servers.run(story, audience="public", agent="kiosk")

    async def allowed(session: ClientSession) -> None:
        assert "remember" in await listed(session)

    servers.run(allowed, audience="public", agent="kiosk", allow="admin")


def test_words_of_commands_become_words_of_the_tools_that_are_served(servers: Servers) -> None:
    async def story(session: ClientSession) -> None:
        hint = (await refused(session, "find_similar", {"id": "nobody"}))["hint"]
        assert hint == "`recall` finds nodes by their words"
        wrong = await refused(session, "find_similar", {"text": "x", "limit": 0})
        assert wrong["hint"] == "see the input schema of `find_similar`"
        tools = await listed(session)
        assert not [name for name, tool in tools.items() if "weft recall" in tool["description"]]

    servers.run(story, toolsets="memory")


def test_the_command_lists_the_option(cli: Cli) -> None:
    assert "--toolsets" in cli("mcp", "--help").stdout


def test_the_guide_tells_of_every_toolset_and_of_no_other() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    table = guide.split("| toolset |")[1].split("\n\n")[0]
    told = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert set(told) == {operation.toolset for operation in OPERATIONS} | {"all"}
    for row in table.splitlines():
        toolset, *tools = re.findall(r"`(\w+)`", row.replace("WEFT_ROLE=operator", "")) or [""]
        assert set(tools) - {"find_tool"} <= names(toolset), row
        assert set(tools) == names(toolset) or toolset not in ("code", "magma", "work", "reports"), row
