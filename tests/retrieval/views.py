"""A small graph of entities, times and causes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.properties.running import SqlitePlace, memory_store
from tests.retrieval.small_worlds import PROJECT
from tests.retrieval.views_world import night
from weft.core.ports import Store
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock

WHY_ASKED = "why could nobody book a crossing that night?"


@pytest.fixture(params=["memory", "sqlite"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Store, ManualClock]]:
    clock = ManualClock()
    if request.param == "memory":
        yield memory_store(clock), clock
        return
    made = SqlitePlace(clock)
    try:
        yield made.store, clock
    finally:
        made.close()


@pytest.fixture
def ctx(place: tuple[Store, ManualClock]) -> CallContext:
    return night(*place)


def ids(answer: dict[str, Any]) -> list[str]:
    return [each["id"] for each in answer["nodes"]]


def by_id(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in answer["nodes"]}


def asserted(*nodes: graph.NodeAssertion, edges: tuple[graph.EdgeAssertion, ...] = ()) -> Draft:
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes, edges=edges))


def edge(src: str, rel: str, dst: str, **fields: Any) -> graph.EdgeAssertion:
    return graph.EdgeAssertion(src=src, rel=rel, dst=dst, project=PROJECT, scope="public", **fields)


def thing(node_id: str, kind: str, **fields: Any) -> graph.NodeAssertion:
    return graph.NodeAssertion(
        id=node_id, kind=kind, **{"name": node_id, "project": PROJECT, "scope": "public"} | fields
    )
