"""What the command line and `weft mcp` leave in the audit: every call once, under the name of who made it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import ClientSession

from tests.surfaces.conftest import Cli
from tests.surfaces.mcp.clients import Bench, bench
from weft.operations import OPERATIONS

__all__ = ["bench"]  # a fixture


@pytest.fixture
def audited(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("WEFT_AUDIT", "on")
    return cli


def test_every_command_is_recorded_once(audited: Cli) -> None:
    audited("remember", "The ferry leaves at noon.")
    audited("recall", "when does the ferry leave?")
    assert audited("show", "no-such-node").exit_code == 1
    calls = json.loads(audited("tool-calls", "--json").output)["calls"]
    assert [(call["operation"], call["surface"], call.get("code")) for call in calls] == [
        ("show", "cli", "not_found"),
        ("recall", "cli", None),
        ("remember", "cli", None),
    ]


def test_a_person_reads_it_in_lines(audited: Cli) -> None:
    audited("remember", "The ferry leaves at noon.")
    audited("show", "no-such-node")
    out = audited("tool-calls").output
    assert "not_found" in out
    assert 'given: {"text":"The ferry leaves at noon."}' in out


def test_a_real_process_leaves_its_record_and_its_line(audited: Cli) -> None:
    ran = audited.real("remember", "The ferry leaves at noon.", "--json", WEFT_LOG="stderr", WEFT_AUDIT="on")
    assert json.loads(ran.out)["status"] == "saved"
    assert json.loads(ran.err)["surface"] == "cli"
    calls = json.loads(audited("tool-calls", "--json").output)["calls"]
    assert [call["operation"] for call in calls] == ["remember"]


def test_every_tool_call_is_recorded_once(bench: Bench) -> None:
    async def story(session: ClientSession) -> None:
        await session.call_tool("remember", {"text": "The ferry leaves at noon."})
        await session.call_tool("recall", {"query": "ferry"})
        await session.call_tool("recall", {"query": "ferry", "account": "somebody-else"})
        told = await session.call_tool("tool_calls", {})
        assert told.structured_content is not None
        own = told.structured_content["data"]["calls"]
        assert [call["operation"] for call in own] == ["recall", "recall", "remember"]

    bench.run(story, toolsets="memory", log="stderr")
    lines = [json.loads(line) for line in bench.errors.read_text().splitlines() if line.startswith('{"at"')]
    assert [line["op"] for line in lines] == ["remember", "recall", "recall", "tool_calls"]
    with bench.open() as memory:
        asking = next(each for each in OPERATIONS if each.name == "tool_calls")
        found: Any = memory.run(asking, {"last_session": True})
    assert [(call.operation, call.surface, call.agent, call.role, call.code) for call in found.calls] == [
        ("tool_calls", "mcp", "test-client", "agent", ""),
        ("recall", "mcp", "test-client", "agent", "forbidden"),
        ("recall", "mcp", "test-client", "agent", ""),
        ("remember", "mcp", "test-client", "agent", ""),
    ]
    assert found.session.startswith("mcp-")
