"""Scans of all versions, edges, payloads and leftovers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft.core.errors import Forbidden
from weft.core.ports import Store
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.case import StoreCase
from weft.testing.scribe import Scribe, deleted, edge, memory_of, node
from weft.testing.viewers import OPERATOR, PUBLIC


class SurveyContract(StoreCase):
    """node_words, edge_names, payloads, caused, header_names, cited, events_at, sweep_due, reindex_due."""

    def test_every_version_is_told_as_the_rows_have_it(self, scribe: Scribe) -> None:
        scribe.one(node("a", "first words", name="A", props={"of": ["Zoë", 1]}, sensitive=True))
        scribe.one(node("a", "other words", name="A"))
        scribe.one(node("b", "kept", kind="Memory", summary="short"))
        scribe.one(deleted("b"))
        rows = [row for row in scribe.store.graph_rows(OPERATOR) if isinstance(row, NodeVersion)]
        told = list(scribe.store.node_words(OPERATOR))
        assert [(each.id, each.kind, each.name, each.summary, each.text) for each in told] == [
            (row.id, row.kind, row.name, row.summary, row.text) for row in rows
        ]
        assert [(each.event, each.content_hash, bool(each.sensitive), bool(each.standing)) for each in told] == [
            (row.event, row.content_hash, row.recorded_guard.sensitive, not (row.retired_at or row.deleted_at))
            for row in rows
        ]
        assert any("Zoë" in each.props for each in told if each.text == "first words")
        assert {each.props for each in told if each.text != "first words"} == {""}

    def test_versions_of_some_nodes_or_kinds(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one"))
        scribe.one(node("b", "two", kind="Memory"))
        store = scribe.store
        assert [each.id for each in store.node_words(OPERATOR, ids=("b", "none"))] == ["b"]
        assert [each.id for each in store.node_words(OPERATOR, of_kind=lambda kind: kind == "Note")] == ["a"]
        assert list(store.node_words(OPERATOR, of_kind=lambda kind: kind == "Other")) == []
        assert list(store.node_words(OPERATOR, ids=("a",), of_kind=lambda kind: kind == "Memory")) == []

    def test_every_edge_once(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("a", "KNOWS", "b"), edge("b", "KNOWS", "a"))
        scribe.one(edge("a", "KNOWS", "b", weight=0.5))
        assert sorted(scribe.store.edge_names(OPERATOR)) == [("a", "KNOWS", "b"), ("b", "KNOWS", "a")]

    def test_every_name_in_headers_once(self, scribe: Scribe) -> None:
        scribe.one(memory_of("a", "one"), request_id="first")
        scribe.one(memory_of("b", "two"), request_id="second")
        told = list(scribe.store.header_names(OPERATOR))
        assert len(told) == len(set(told))
        events = [event for _, events in scribe.store.log(OPERATOR, after=0, limit=9) for event in events]
        assert {("request_id", "first"), ("request_id", "second")} <= set(told)
        assert {name for sort, name in told if sort == "session"} == {event.session for event in events}
        assert {name for sort, name in told if sort == "agent"} == {event.actor.agent for event in events}
        assert not [sort for sort, _ in told if sort in ("task", "conversation")]
        with pytest.raises(Forbidden):
            list(scribe.store.header_names(PUBLIC))

    def test_payloads_come_in_order_with_their_commit(self, scribe: Scribe) -> None:
        scribe.one(memory_of("a", "one"))
        scribe.clock.step()
        scribe.write(memory_of("b", "two"), memory_of("c", "three"))
        store = scribe.store
        found = store.payloads(OPERATOR, after=0, limit=9)
        assert [(each.pos, each.first_pos, each.kind) for each in found] == [
            (1, 1, "memory.remembered"),
            (2, 2, "memory.remembered"),
            (3, 2, "memory.remembered"),
        ]
        assert [each.payload for each in found] == [event.payload for event in store.events_at(OPERATOR, (3, 1, 2, 2))]
        assert [(each.pos, each.first_pos) for each in store.payloads(OPERATOR, after=2, limit=1)] == [(3, 2)]
        assert store.payloads(OPERATOR, after=3, limit=1) == ()
        assert [event.pos for event in store.events_at(OPERATOR, (0, 3, 99))] == [3]

    def test_what_brought_what_about(self, scribe: Scribe) -> None:
        first = scribe.one(memory_of("a", "one"))
        payload = graph.Asserted(nodes=(graph.NodeAssertion(id="b", kind="Note"),))
        scribe.one(Draft(kind="graph.asserted", payload=payload, caused_by=(first.citation,)))
        assert scribe.store.caused(OPERATOR) == ((2, (first.citation,)),)
        wrong = f"{first.citation[:-8]}{'0' * 8}"
        asked = (first.citation, wrong, "file://a.md:1", "weft://nobody/events/1#00000000", "")
        assert scribe.store.cited(OPERATOR, asked) == {first.citation: 1}
        short = first.citation.partition("#")[0]
        assert scribe.store.cited(OPERATOR, (short, "weft://nobody/events/1")) == {short: 1}

    def test_an_empty_account_has_nothing(self, scribe: Scribe) -> None:
        store = scribe.store
        assert (list(store.node_words(OPERATOR)), list(store.edge_names(OPERATOR))) == ([], [])
        assert (store.payloads(OPERATOR, after=0, limit=9), store.caused(OPERATOR)) == ((), ())
        assert (store.cited(OPERATOR, ("weft://main/events/1#00000000",)), store.events_at(OPERATOR, (1,))) == ({}, ())
        assert not store.sweep_due(OPERATOR)
        assert not store.reindex_due(OPERATOR)
        assert store.publish_relations(OPERATOR) is None

    @pytest.mark.parametrize(
        "read",
        [
            lambda store: list(store.node_words(PUBLIC)),
            lambda store: list(store.edge_names(PUBLIC)),
            lambda store: store.payloads(PUBLIC, after=0, limit=1),
            lambda store: store.caused(PUBLIC),
            lambda store: store.cited(PUBLIC, ()),
            lambda store: store.events_at(PUBLIC, (1,)),
            lambda store: store.sweep_due(PUBLIC),
            lambda store: store.reindex_due(PUBLIC),
            lambda store: store.publish_relations(PUBLIC),
        ],
    )
    def test_it_is_for_operators(self, scribe: Scribe, read: Callable[[Store], Any]) -> None:
        with pytest.raises(Forbidden):
            read(scribe.store)
