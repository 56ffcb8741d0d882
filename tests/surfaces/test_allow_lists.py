"""Which tools a server offers: by allow-list, by what is excluded, by how it is reached; and what stops it at start."""

from __future__ import annotations

import pytest
from mcp import ClientSession, MCPError

from tests.surfaces.conftest import Cli
from tests.surfaces.mcp.clients import Bench, bench
from weft.core.errors import Misconfigured
from weft.operations import OPERATIONS
from weft.surfaces.toolsets import PUBLIC_TOOLS, offer, unknown_tool, within

__all__ = ["bench"]  # a fixture

BY_NAME = {each.name: each for each in OPERATIONS}


async def listed(session: ClientSession) -> set[str]:
    return {tool.name for tool in (await session.list_tools()).tools}


def test_everything_may_be_called_by_default_but_commands_and_only_core_is_listed() -> None:
    here = offer(("core",), network=False)
    assert set(here.listed) == {each.name for each in OPERATIONS if each.toolset == "core"}
    assert set(here.callable) == {each.name for each in OPERATIONS if each.reach != "terminal"}
    assert here.finds
    for name, operation in here.callable.items():
        assert operation is BY_NAME[name]


def test_over_the_network_nothing_touches_the_files_of_the_machine() -> None:
    far = offer(("all",), network=True)
    assert set(far.callable) == {each.name for each in OPERATIONS if each.reach == "anywhere"}
    assert {"ingest", "config", "backup", "log_export", "init"}.isdisjoint(far.callable)


def test_the_public_may_only_read_and_only_memories() -> None:
    allowed = offer(("all",), allow=("public",), network=True)
    assert set(allowed.callable) == set(PUBLIC_TOOLS)
    assert {(each.effect, each.reach) for each in allowed.callable.values()} == {("read", "anywhere")}
    assert not {each.toolset for each in allowed.callable.values()} & {"admin", "governance", "hygiene", "work"}
    assert {"tool_calls", "log_show", "config", "doctor", "approval_list", "deletion_list"}.isdisjoint(allowed.callable)


def test_lists_and_names_are_joined_and_what_is_excluded_goes() -> None:
    mixed = offer(("core",), allow=("public", "remember", "add_fact"), exclude=("cite", "show"), network=False)
    assert set(mixed.callable) == PUBLIC_TOOLS - {"cite", "show"} | {"remember", "add_fact"}
    assert set(mixed.listed) == {"remember", "recall"}
    assert set(mixed.stripped) == {"cite", "show"}


def test_who_names_a_few_tools_that_are_all_listed_gets_those_alone() -> None:
    alone = offer(("core",), allow=("recall",), network=False)
    assert (set(alone.listed), alone.finds) == ({"recall"}, False)
    more = offer(("core",), allow=("recall", "show"), network=False)
    assert (set(more.listed), set(more.callable), more.finds) == ({"recall"}, {"recall", "show"}, True)
    without = offer(("core",), exclude=("find_tool",), network=False)
    assert (without.finds, without.stripped) == (False, ("find_tool",))
    assert "toolset memory" in unknown_tool("show", without)
    assert "excluded" in unknown_tool("find_tool", without)


def test_every_name_that_there_is_not_is_told_on_a_line_of_its_own() -> None:
    with pytest.raises(Misconfigured) as wrong:
        offer(("cor", "memory"), allow=("publik", "recal", "admin"), exclude=("reports", "key_new"), network=False)
    told = wrong.value.message.splitlines()
    assert told == [
        "there is no toolset 'cor'; did you mean core?",
        "allow: there is no tool 'publik'; did you mean public?",
        "allow: there is no tool 'recal'; did you mean recall?",
        "exclude: 'reports' is a toolset, not a tool; name its tools",
        "exclude: 'key_new' is a command, not a tool",
    ]
    assert "all" in wrong.value.hint


def test_a_server_serves_what_is_allowed_and_says_what_is_left_out(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        assert await listed(session) == {"recall", "find_tool"}
        with pytest.raises(MCPError, match="excluded by the settings"):
            await session.call_tool("cite", {"citation": "x"})
        with pytest.raises(MCPError, match="Unknown tool"):
            await session.call_tool("remember", {"text": "x"})
        assert not (await session.call_tool("recall", {"query": "x"})).is_error

    bench.run(story, allow="public", exclude="cite,erase")
    (line,) = [line for line in bench.errors.read_text().splitlines() if "excluded tools" in line]
    assert line == "weft mcp: excluded tools (setting exclude): erase, cite"


def test_a_server_that_is_told_of_tools_that_there_are_not_stops_with_a_line_for_each(cli: Cli) -> None:
    done = cli.real("mcp", WEFT_ALLOW="recal,admin", WEFT_EXCLUDE="erse", WEFT_TOOLSETS="kitchen")
    assert (done.code, done.out) == (1, b"")
    assert "there is no toolset 'kitchen'" in done.err
    assert "\nallow: there is no tool 'recal'; did you mean recall?\n" in done.err
    assert "\nexclude: there is no tool 'erse'; did you mean erase?\n" in done.err
    assert "Traceback" not in done.err


def test_the_hint_is_about_what_was_wrong(cli: Cli) -> None:
    tools = cli.real("mcp", WEFT_ALLOW="recal").err
    assert "allow takes admin, public or names of tools" in tools
    assert "toolsets are" not in tools
    assert "toolsets are core, " in cli.real("mcp", WEFT_TOOLSETS="kitchen").err


def test_a_token_gets_no_more_than_its_server_allows() -> None:
    assert within(("admin",), ("recall", "remember")) == ("recall", "remember")
    assert within(("public",), ("admin",)) == ("public",)
    assert within(("public",), ("recall", "remember")) == ("recall",)
    assert within(("cite",), ("recall",)) == ()
    assert dict(offer(("all",), allow=within(("cite",), ("recall",)), network=True).callable) == {}
