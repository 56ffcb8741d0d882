"""Which project a server serves that its client did not start in the workspace: the one of the client's first root."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.surfaces.mcp.clients import HELLO, Bench, Raw

Start = Callable[..., Raw]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """With a home, in which the server is started, and a workspace elsewhere that has a space in its name."""
    made = Bench(tmp_path)
    (tmp_path / "my pier" / ".git").mkdir(parents=True)
    made.root = tmp_path / "home"
    made.root.mkdir()
    return made


@pytest.fixture
def start(bench: Bench) -> Iterator[Start]:
    made: list[Raw] = []

    def make(roots: bool = True, **settings: str) -> Raw:
        made.append(Raw(bench, **settings))
        made[-1].ask("initialize", HELLO | {"capabilities": {"roots": {}} if roots else {}})
        made[-1].line(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return made[-1]

    yield make
    for raw in made:
        raw.kill()


def remembered(server: Raw, reply: dict[str, Any] | None) -> dict[str, Any]:
    """The answer to a first call, before which the server asks for the roots and gets this reply, or none."""
    sent = server.send("tools/call", {"name": "remember", "arguments": {"text": "The bell rings at noon."}})
    asked = server.read()
    assert asked["method"] == "roots/list"
    if reply is not None:
        server.line(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}).encode())
    answer = server.read()
    while answer.get("method") == "notifications/cancelled":
        answer = server.read()
    assert answer["id"] == sent
    done: dict[str, Any] = answer["result"]
    return done


def roots(*addresses: str) -> dict[str, Any]:
    return {"result": {"roots": [{"uri": address} for address in addresses]}}


def project(bench: Bench) -> str | None:
    with weft.open(directory=bench.root, environment=bench.environment()) as memory:
        (node,) = memory.recent(everywhere=True).nodes
        return node.project


def test_the_first_root_that_is_there_says_which_project_it_is(bench: Bench, start: Start) -> None:
    server = start()
    workspace = (bench.scratch / "my pier").as_uri()
    assert remembered(server, roots("https://example.org/", "file:///no/such/place", workspace))["isError"] is False
    assert server.call("recall", query="bell")["structuredContent"]["data"]["hits"], "and it is asked only once"
    health = server.ask("resources/read", {"uri": "weft://health"})["result"]["contents"][0]["text"]
    assert json.loads(health)["project"] == "my-pier"
    out, errors = server.end()
    assert (out, errors.decode()) == (b"", f"weft mcp: project my-pier, in {bench.scratch / 'my pier'}\n")
    assert project(bench) == "my-pier"


@pytest.mark.parametrize(
    "reply",
    [{"error": {"code": -32601, "message": "Method not found"}}, {"result": {"roots": []}}, {"result": {"roots": 5}}],
)
def test_where_the_client_names_none_it_is_the_servers_own_directory(
    bench: Bench, start: Start, reply: dict[str, Any]
) -> None:
    assert remembered(start(), reply)["isError"] is False
    assert project(bench) == "home"


def test_a_client_that_does_not_reply_is_not_waited_for(bench: Bench, start: Start) -> None:
    server = start()
    began = time.monotonic()
    assert remembered(server, None)["isError"] is False
    assert time.monotonic() - began < 15
    assert project(bench) == "home"


@pytest.mark.parametrize("how", ["variable", "file", "no roots"])
def test_who_is_told_the_project_or_cannot_be_is_not_asked(bench: Bench, start: Start, how: str) -> None:
    if how == "file":
        file = bench.scratch / ".config" / "weft" / "weft.toml"
        file.parent.mkdir(parents=True)
        file.write_text('project = "dock"\n', encoding="utf-8")
    server = start(roots=how != "no roots", **({"project": "dock"} if how == "variable" else {}))
    assert server.call("remember", text="The bell rings at noon.")["isError"] is False
    assert project(bench) == ("home" if how == "no roots" else "dock")
