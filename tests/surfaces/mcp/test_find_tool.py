"""`find_tool`: a small list of tools loses nothing. Through the real server, with the SDK's own client."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, MCPError

from tests.surfaces.mcp.clients import Bench, Raw, refused, text_of
from weft.core.errors import Invalid, NotFound
from weft.operations import OPERATIONS, operation
from weft.surfaces.mcp.find_tool import ABOUT, find_tool, search, settle
from weft.surfaces.toolsets import offer, toolset_names

CORE = offer(("core",), network=False)


async def call(session: ClientSession, tool: str, arguments: Any) -> dict[str, Any]:
    """What a tool answers that is called through find_tool."""
    answer = await session.call_tool("find_tool", {"tool": tool, "arguments": arguments})
    assert not answer.is_error, text_of(answer)
    envelope: dict[str, Any] = answer.structured_content
    return envelope


def test_it_finds_describes_and_calls_what_is_not_listed(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        found = await session.call_tool("find_tool", {"query": "look through old conversations"})
        tools = found.structured_content["data"]["found"]
        assert tools[0]["name"] == "conversation_search"
        assert (tools[0]["toolset"], tools[0]["effect"]) == ("memory", "read")
        assert len(tools) <= 5
        assert f"conversation_search (toolset memory, read): {tools[0]['does']}" in text_of(found)

        told = await session.call_tool("find_tool", {"tool": "record_turns"})
        described = told.structured_content["data"]["described"]
        taken = {*operation("record_turns").input.__struct_fields__, "profile"}
        assert set(described["input_schema"]["properties"]) == taken
        assert described["effect"] == "write"
        assert '"turns"' in text_of(told)
        assert described["description"] in text_of(told)

        turns = ["Mira: the tide gauge is broken", "Jon: who repairs it?"]
        await call(session, "record_turns", {"session": "standup", "turns": turns})
        through = await session.call_tool(
            "find_tool", {"tool": "conversation_search", "arguments": {"query": "tide gauge"}}
        )
        assert "> Mira: the tide gauge is broken" in text_of(through)
        assert through.structured_content["data"]["messages"][0]["message"]["text"] == turns[0]

    bench.run(story)


def test_a_call_through_it_is_answered_as_a_direct_one(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        await session.call_tool("remember", {"text": "The north quay has eleven bollards."})
        for name, arguments in (("recall", {"query": "bollards"}), ("recall", {"query": "x", "limit": "many"})):
            direct = await session.call_tool(name, arguments)
            through = await session.call_tool("find_tool", {"tool": name, "arguments": arguments})
            assert through.is_error == direct.is_error
            assert _timeless(through.structured_content) == _timeless(direct.structured_content)

    bench.run(story)


def _timeless(envelope: dict[str, Any]) -> dict[str, Any]:
    data = envelope.get("data") or {}
    return envelope | {"data": {name: value for name, value in data.items() if name not in ("valid_at", "known_at")}}


def test_a_call_through_it_is_recorded_under_the_name_of_the_tool(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        await call(session, "add_fact", {"subject": "Mira", "predicate": "works_at", "object": "the harbour"})
        await session.call_tool("find_tool", {"query": "facts"})
        claim = {"tool": "recall", "arguments": {"query": "x", "account": "other"}}
        assert (await refused(session, "find_tool", claim))["error_code"] == "forbidden"
        await refused(session, "find_tool", {"tool": "no_such", "arguments": {}})
        calls = (await call(session, "tool_calls", {}))["data"]["calls"]
        told = {(each["operation"], each["status"]) for each in calls}
        assert told >= {("add_fact", "saved"), ("find_tool", "ok"), ("recall", "error"), ("find_tool", "error")}
        assert all(each["surface"] == "mcp" for each in calls)

    bench.run(story)


def test_wrong_calls_say_how_to_go_on(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        near = await refused(session, "find_tool", {"tool": "conversation_serch", "arguments": {"query": "x"}})
        assert near["error_code"] == "not_found"
        assert "did you mean conversation_search?" in near["summary"]
        itself = await refused(session, "find_tool", {"tool": "find_tool", "arguments": {"query": "x"}})
        assert "itself" in itself["summary"]
        beside = await refused(session, "find_tool", {"tool": "show", "id": "x", "arguments": {}})
        assert "arguments" in beside["hint"]
        none = await refused(session, "find_tool", {"arguments": {"query": "x"}})
        assert "without a tool" in none["summary"]
        claim = await refused(session, "find_tool", {"query": "x", "account": "other"})
        assert claim["error_code"] == "forbidden"
        wrong = await refused(session, "find_tool", {"tool": "show", "arguments": {"id": 7}})
        assert wrong["hint"] == "see `find_tool` with tool=show"
        assert (await refused(session, "find_tool", {"tool": "show", "arguments": [1]}))["error_code"] == "invalid"
        with pytest.raises(MCPError, match="Unknown tool") as direct:
            await session.call_tool("show", {"id": "x"})
        assert "call it through find_tool" in direct.value.error.message
        assert not (await session.call_tool("find_tool", {"query": "zzzz"})).is_error

    bench.run(story)


def test_arguments_written_as_text_are_understood(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        written = json.dumps({"subject": "Jon", "predicate": "likes", "object": "rope"})
        assert (await call(session, "mcp__weft__add-fact", written))["data"]["status"] == "saved"
        assert (await call(session, "project_list", ""))["ok"]
        broken = await refused(session, "find_tool", {"tool": "add_fact", "arguments": '{"subject": '})
        assert "not an object" in broken["summary"]

    bench.run(story)


def test_without_anything_it_names_every_tool(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        answer = await session.call_tool("find_tool", {})
        names = answer.structured_content["data"]["names"]
        told = {name for held in names.values() for name in held}
        assert told == {each.name for each in OPERATIONS if each.reach != "terminal"}
        assert all(name in text_of(answer) for name in told)

    bench.run(story)


def test_what_is_excluded_or_not_allowed_is_neither_found_nor_called(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {"recall", "cite", "find_tool"}
        excluded = await refused(session, "find_tool", {"tool": "show", "arguments": {"id": "x"}})
        assert "is excluded on this server" in excluded["summary"]
        for name in ("add_fact", "erase", "log_show", "tool_calls", "config"):
            assert (await refused(session, "find_tool", {"tool": name, "arguments": {}}))["error_code"] == "not_found"
            assert (await refused(session, "find_tool", {"tool": name}))["error_code"] == "not_found"
        found = await session.call_tool("find_tool", {"query": "add a fact, erase, show a memory"})
        assert not {each["name"] for each in found.structured_content["data"].get("found", ())} & {"add_fact", "show"}

    bench.run(story, allow="public", exclude="show")


def test_it_says_of_itself_that_it_may_change_anything_and_is_always_loaded(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        (tool,) = [each for each in (await session.list_tools()).tools if each.name == "find_tool"]
        hints = tool.annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint) == (False, True)
        assert tool.meta == {"anthropic/alwaysLoad": True}

    bench.run(story)


def test_progress_of_long_work_is_told_through_it_too(bench: Bench, start: Callable[..., Raw]) -> None:
    notes = bench.root / "notes"
    notes.mkdir()
    for number in range(30):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nBuoy {number} is lit.\n" * 20, encoding="utf-8")
    server = start().greet()
    params = {
        "name": "find_tool",
        "arguments": {"tool": "ingest", "arguments": {"path": str(notes)}},
        "_meta": {"progressToken": "p"},
    }
    asked = server.send("tools/call", params)
    said = []
    while (message := server.read()).get("id") != asked:
        said.append(message)
    assert not message["result"]["isError"], message
    assert said
    assert {each["method"] for each in said} == {"notifications/progress"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("delete a memory", "delete"),
        ("record a fact", "add_fact"),
        ("conversation_search", "conversation_search"),
        ("begin a task", "task_create"),
        ("write a report", "report_write"),
        ("verify the log", "log_verify"),
        ("which tools were called", "tool_calls"),
        ("what caused this", "causal_expand"),
        ("split entities", "split_entities"),
        ("backup the store", "backup"),
    ],
)
def test_words_lead_to_the_tool_that_does_it(words: str, name: str) -> None:
    assert name in [each.name for each in search(words, CORE)][:2]


def test_what_people_say_finds_the_tool_among_the_first_three() -> None:
    wishes = tomllib.loads((Path(__file__).parent / "wishes.toml").read_text(encoding="utf-8"))
    missed = {
        half: [wish for wish, tools in rows if not {each.name for each in search(wish, CORE)[:3]} & set(tools)]
        for half, rows in wishes.items()
    }
    assert missed["tried"] == []
    assert len(missed["apart"]) <= 2, missed["apart"]


def test_a_call_is_settled_before_anything_runs() -> None:
    finder = find_tool(CORE)
    assert settle(finder, {"query": "facts"}, CORE) == (finder, {"query": "facts"})
    assert settle(finder, {"tool": "show", "arguments": None}, CORE) == (finder, {"tool": "show"})
    called, given = settle(finder, {"tool": "show", "arguments": {"id": "x"}}, CORE)
    assert (called.name, given) == ("show", {"id": "x"})
    for wrong in ({"tool": "key_new", "arguments": {}}, {"tool": "bench_latency", "arguments": {}}):
        with pytest.raises(NotFound):
            settle(finder, wrong, CORE)
    for wrong in ({"tool": 7, "arguments": {}}, {"tool": "show", "arguments": "[" * 100_000}):
        with pytest.raises(Invalid):
            settle(finder, wrong, CORE)


def test_it_says_what_the_tools_of_every_toolset_are_for() -> None:
    assert set(toolset_names()) - {"core"} <= set(ABOUT)


def test_machine_tools_are_not_found_over_the_network(tmp_path: Path) -> None:
    far = offer(("all",), network=True)
    for name in ("ingest", "config", "backup", "log_export"):
        with pytest.raises(NotFound):
            settle(find_tool(far), {"tool": name, "arguments": {}}, far)
