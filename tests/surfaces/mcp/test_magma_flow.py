"""A question followed through the graph tool by tool, over MCP: each call takes what the one before gave, as it came.

A real server, a real pipe, the SDK's own client, and the story of one night (`views_world`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from mcp import ClientSession

import weft
from tests.checkout.cited_lines import parted
from tests.retrieval.views_world import CAUSES, CHAIN, ENTITIES, EVENTS, story
from tests.surfaces.mcp.clients import Bench, refused, text_of
from weft.log.draft import Draft
from weft.log.kinds import graph

LINE = re.compile(r'^(\d+)\. \[(\w+)\] "(.*?)".* \[(\d+)\]$', re.MULTILINE)
TOOLS = (
    "semantic_search",
    "entity_lookup",
    "temporal_expand",
    "causal_expand",
    "subgraph_merge",
    "linearize_context",
)
GUARD = {"project": "ferry", "scope": "public"}
WHY = "why could nobody book a crossing that night?"


def write(bench: Bench, drafts: Sequence[Draft], embedder: str = "none") -> None:
    with weft.open(directory=bench.root, environment=bench.environment(embedder=embedder)) as memory:
        for draft in drafts:
            memory.ctx.append([draft])


@pytest.fixture
def told(bench: Bench) -> Bench:
    """A store with the story in it."""
    write(bench, story(GUARD))
    return bench


async def call(session: ClientSession, name: str, **arguments: Any) -> dict[str, Any]:
    result = await session.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content["ok"]
    data: dict[str, Any] = result.structured_content["data"]
    return data


async def follow(session: ClientSession, question: str, intent: str, *expansions: str) -> str:
    """The way that the tools themselves describe. The context, as it reaches the model."""
    found = await call(session, "semantic_search", query=question)
    assert found["seed_entity_count"] == len(found["seed_entity_ids"]) > 0
    views: list[dict[str, Any]] = [{"view": "semantic", "nodes": found["matches"]}]
    for name in expansions:
        views.append(await call(session, name, entity_ids=found["seed_entity_ids"]))
    merged = await call(session, "subgraph_merge", views=views)
    result = await session.call_tool("linearize_context", {"nodes": merged["nodes"], "intent": intent})
    assert not result.is_error
    text: str = result.structured_content["data"]["text"]
    assert text in text_of(result)
    return text


async def check_sources(session: ClientSession, text: str) -> None:
    """Every line has a source, and every source says what the line says."""
    lines, (_, sources) = LINE.findall(text), parted(text)
    assert lines
    assert len(lines) == len(re.findall(r"^\d+\. ", text, re.MULTILINE))
    for _, kind, words, source in lines:
        cited = await call(session, "cite", citation=sources[int(source)])
        assert cited["matches"] is True
        assert any(node["kind"] == kind and words in (node["text"], node["name"]) for node in cited["nodes"]), (
            words,
            cited,
        )


def places(text: str, *wanted: str) -> list[int]:
    """Where lines with these words stand, by number."""
    numbers = {words: int(number) for number, _, words, _ in LINE.findall(text)}
    return [numbers[words] for words in wanted]


def test_the_tools_are_served_with_their_schemas(told: Bench) -> None:
    async def read(session: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(TOOLS) <= set(tools)
        assert all(tools[name].annotations.read_only_hint for name in TOOLS)

    told.run(read, toolsets="magma")


@pytest.mark.parametrize("embedder", ["none", "builtin"])
def test_why_gives_the_chain_in_order_cause_before_effect(bench: Bench, embedder: str) -> None:
    async def ask(session: ClientSession) -> None:
        text = await follow(session, WHY, "WHY", "causal_expand", "temporal_expand")
        chain = places(text, *(CAUSES[each][0] for each in CHAIN))
        assert chain == sorted(chain)
        assert len(chain) == 5  # four links deep
        lines = {int(number): line for line in text.splitlines() for number in re.findall(r"^(\d+)\. ", line)}
        for cause, effect in pairwise(chain):
            assert re.search(rf"because of (?:\d+ \([^)]*\) and )?{cause}\b", lines[effect]), lines[effect]
        await check_sources(session, text)

    write(bench, story(GUARD), embedder)
    bench.run(ask, toolsets="magma", embedder=embedder)


def test_who_gives_people_by_what_they_belong_to(told: Bench) -> None:
    async def ask(session: ClientSession) -> None:
        text = await follow(session, "who works at the Harbour Desk?", "WHO", "entity_lookup")
        for person in ("ines", "tomasz", "noor"):
            assert ENTITIES[person][1] in text
        assert "WORKS_AT" in text
        await check_sources(session, text)

    told.run(ask, toolsets="magma")


def test_when_gives_what_happened_in_order_of_time(told: Bench) -> None:
    async def ask(session: ClientSession) -> None:
        question = "when did Tidebook stop taking bookings?"
        text = await follow(session, question, "WHEN", "temporal_expand", "entity_lookup")
        events = [EVENTS[each][1] for each in ("sale", "paged", "down", "fixed")]
        assert places(text, *events) == sorted(places(text, *events))
        assert "2026-03-03 00:31" in text
        await check_sources(session, text)

    told.run(ask, toolsets="magma")


def test_expansions_begin_only_with_what_is_there(told: Bench) -> None:
    async def ask(session: ClientSession) -> None:
        for name in ("entity_lookup", "temporal_expand", "causal_expand"):
            for wrong in ({}, {"entity_ids": []}, {"entity_ids": "lantern"}, {"entity_ids": ["lantern"], "depth": 9}):
                assert (await refused(session, name, wrong))["error_code"] == "invalid"
            nothing = await session.call_tool(name, {"entity_ids": ["nobody-knows"]})
            assert nothing.structured_content["notes"]
            assert nothing.structured_content["data"]["nodes"] == []
        assert (await refused(session, "subgraph_merge", {"views": []}))["error_code"] == "invalid"
        assert (await refused(session, "linearize_context", {"nodes": [], "intent": "WHY"}))["error_code"] == "invalid"
        assert (await refused(session, "linearize_context", {"nodes": [{"id": "x"}], "intent": "HOW"}))["hint"]

    told.run(ask, toolsets="magma")


def test_a_viewer_of_less_follows_less(told: Bench) -> None:
    secret = "Nobody was paid to watch the certificates"
    hidden = graph.NodeAssertion(id="c0", kind="Cause", text=secret, project="ferry", scope="admin")
    link = graph.EdgeAssertion(src="c0", rel="CAUSES", dst=CHAIN[0], project="ferry", scope="admin")
    write(told, [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(hidden,), edges=(link,)))])
    texts = {}

    async def ask(session: ClientSession) -> None:
        found = await call(session, "causal_expand", entity_ids=["lantern"])
        merged = await call(session, "subgraph_merge", views=[found])
        shown = await call(session, "linearize_context", nodes=merged["nodes"], intent="WHY")
        texts[len(texts)] = shown["text"]
        # What a caller makes up, or knows from elsewhere, opens nothing.
        forged = await call(session, "linearize_context", nodes=[{"id": "c0"}, *merged["nodes"]], intent="WHY")
        texts[len(texts)] = forged["text"]

    told.run(ask, toolsets="magma", scopes="public,shared,admin")
    told.run(ask, toolsets="magma", scopes="public")
    assert [secret in text for text in texts.values()] == [True, True, False, False]
    assert CAUSES[CHAIN[0]][0] in texts[2]
