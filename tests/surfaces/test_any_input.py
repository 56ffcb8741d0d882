"""Whatever fits a tool's input schema is answered: never by a fault of weft's own, always as its output schema says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import anyio.from_thread
import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.types import CallToolResult, Implementation

import weft
from tests.surfaces.any_value import fitting
from weft.operations import operation
from weft.surfaces.callers import as_agent
from weft.surfaces.mcp.answer import BUDGET_CHARACTERS, success
from weft.surfaces.mcp.find_tool import tools_of
from weft.surfaces.mcp.server import Dispatcher, build_server
from weft.surfaces.mcp.tools import inlined, output_schema, whole_input
from weft.surfaces.toolsets import offer

EXAMPLES = {"agent": 10, "operator": 5}
ANSWERS = 3  # of each tool, as they come and grown large
OFFER = offer(("all",), network=False)
LISTED = {tool.name: tool for tool in tools_of(OFFER)}
# Nothing is read, written or looked for outside of the test's own directory.
FILES = ("path", "directory")


class Server:
    """A server in this process, an agent's client at it, and a store with a few of everything."""

    def __init__(self, scratch: Path, portal: anyio.from_thread.BlockingPortal, role: str) -> None:
        self.examples = EXAMPLES[role]
        environment = {"HOME": str(scratch), "WEFT_EMBEDDER": "none", "WEFT_TOOLSETS": "all", "WEFT_ROLE": role}
        store = weft.open("memory://", directory=scratch, environment=environment)
        self.memory = store.serving(as_agent(store.ctx.settings, "any-input", store.ctx.clock))
        self.known = _fill(self.memory, scratch)
        self._dispatcher = Dispatcher(lambda context: self.memory, network=False, settings=self.memory.ctx.settings)
        self._portal = portal
        self._client = portal.wrap_async_context_manager(
            Client(build_server(self._dispatcher), client_info=Implementation(name="any-input", version="1"))
        )

    def __enter__(self) -> Server:
        self._session = self._client.__enter__()
        self._portal.call(self._session.list_tools)  # from here on the client checks answers against the schemas
        return self

    def __exit__(self, *problem: Any) -> None:
        self._client.__exit__(*problem)
        assert self._dispatcher.close(10)
        self.memory.close()

    def call(self, name: str, sent: dict[str, Any]) -> CallToolResult:
        return self._portal.call(self._session.call_tool, name, sent)


def _fill(memory: weft.Memory, scratch: Path) -> dict[str, list[str]]:
    """Writes a little; gives texts to send, by what they are for."""
    note = scratch / "note.md"
    note.write_text("# Tides\n\nThe tide turns at nine.\n", encoding="utf-8")
    kept = memory.remember("Mira repairs the tide gauge at the north quay because it broke.", name="gauge")
    receipt = memory.recall("tide gauge", receipt=True).receipt
    memory.add_fact("Mira", "works_at", "the harbour")
    memory.record_turns("standup", ["Mira: the gauge is broken", "Jon: who repairs it?"])
    forgotten = memory.remember("The old crane is red.").id
    memory.forget(forgotten)
    words = [kept.id, kept.citation, forgotten, receipt, "Mira", "standup", "tide gauge", "2026-05", "x", "Memory"]
    return {"words": words, "files": [str(note), str(scratch), str(scratch / "out"), str(scratch / "missing")]}


@pytest.fixture(scope="module", params=list(EXAMPLES))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    scratch = tmp_path_factory.mktemp("any")
    with (
        pytest.MonkeyPatch.context() as patch,
        anyio.from_thread.start_blocking_portal() as portal,
        Server(scratch, portal, request.param) as made,
    ):
        patch.setenv("HOME", str(scratch))
        patch.chdir(scratch)
        yield made


def bounded(examples: int) -> settings:
    """The same values with every run; what fails is told as it is, for making it smaller takes minutes."""
    return settings(
        max_examples=examples,
        phases=(Phase.generate,),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@cache
def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a caller may send to a tool, by all that its schema says."""
    return fitting(whole_input(operation(name)))


def _known(draw: Callable[..., Any], name: str, sent: dict[str, Any], known: dict[str, list[str]]) -> dict[str, Any]:
    """Some of its words replaced by such as mean something in this store; paths always."""
    told = whole_input(operation(name))["properties"]
    plain = [each for each in sent if told.get(each, {}).get("type") == "string"]
    files = [each for each in plain if each in FILES]
    chosen = draw(st.lists(st.sampled_from(plain), unique=True)) if plain else []
    words = {each: draw(st.sampled_from(known["words"])) for each in chosen if each not in FILES}
    return sent | words | {each: draw(st.sampled_from(known["files"])) for each in files}


@pytest.mark.parametrize("name", sorted(OFFER.callable))
def test_whatever_fits_the_schema_is_answered_as_the_schema_says(server: Server, name: str) -> None:
    @bounded(server.examples)
    @given(st.data())
    def story(data: st.DataObject) -> None:
        sent = _known(data.draw, name, data.draw(arguments(name)), server.known)
        result = server.call(name, sent)
        envelope = result.structured_content
        assert envelope.get("error_code") != "internal", (sent, envelope)
        jsonschema.validate(envelope, LISTED[name].output_schema)
        assert result.is_error is not envelope["ok"]

    story()


@pytest.mark.parametrize("name", sorted(OFFER.callable))
def test_an_answer_of_any_size_stays_within_its_budget_and_is_as_the_schema_says(name: str) -> None:
    kind = operation(name).output

    @bounded(ANSWERS)
    @given(fitting(inlined(kind)))
    def story(made: dict[str, Any]) -> None:
        for each in (made, _grown(made)):
            answer = success(msgspec.convert(each, kind), wording=str)
            written = msgspec.json.encode(answer.envelope)
            jsonschema.validate(json.loads(written), output_schema(operation(name)))
            assert max(len(answer.text), len(written.decode())) <= BUDGET_CHARACTERS

    story()


def _grown(value: Any, name: str = "") -> Any:
    """The same with long texts and lists; words of a fixed set stay."""
    match value:
        case str():
            return f"{value}{' word' * 400}" if name in ("text", "title", "name", "why", "summary", "body") else value
        case list():
            grown = [_grown(each, name) for each in value]
            return grown if any(isinstance(each, str) for each in value) else grown * 6  # pairs of words stay pairs
        case dict():
            return {key: _grown(each, key) for key, each in value.items()}
        case _:
            return value
