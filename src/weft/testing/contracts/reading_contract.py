"""Reads of the graph: by id, by filter, by neighbour, by history, and statistics."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from weft.core.ports import Store
from weft.core.types import NOW, Find, Guard, When
from weft.graph.moves import shared_slot
from weft.log.draft import Draft
from weft.log.kinds import document, graph
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, edge, ended, memory_of, node
from weft.testing.viewers import OPERATOR, STAFF


def found(store: Store, limit: int = 50, **parts: object) -> list[str]:
    """Ids that pass a filter, in the order given."""
    return [row.id for row in store.find(OPERATOR, NOW, Find(**parts), limit=limit).nodes]  # type: ignore[arg-type]


class ReadingContract(StoreCase):
    """nodes, find, neighbours, history, asserted_by, stats, indexes."""

    def test_a_node_comes_back_as_it_was_written(self, scribe: Scribe) -> None:
        props = {"line": 3, "tags": ["x", "é"], "nested": {"a": None, "b": 1.5}, "on": True, "": "empty key"}
        guard: dict[str, Any] = {"project": "p", "scope": "shared", "agents": ("bob", "ann"), "sensitive": True}
        event = scribe.one(node("a", "body ☃", name="A name", summary="in short", focus="f", props=props, **guard))
        (row,) = scribe.store.nodes(OPERATOR, NOW, ("a",))
        assert (row.id, row.kind, row.name, row.summary, row.text) == ("a", "Note", "A name", "in short", "body ☃")
        assert (row.props, row.focus, row.slot) == (props, "f", "a")
        assert (row.guard.project, row.guard.scope, row.guard.agents) == ("p", "shared", ("ann", "bob"))
        assert row.guard.sensitive
        assert (row.event, row.born, row.recorded_at, row.retired_at) == (event.pos, event.pos, event.known_at, None)

    def test_nodes_keep_the_order_asked_for(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abc"))
        rows = scribe.store.nodes(OPERATOR, NOW, ("c", "missing", "a", "c", "b"))
        assert [row.id for row in rows] == ["c", "a", "b"]
        assert scribe.store.nodes(OPERATOR, NOW, ()) == ()

    def test_find_by_name_kind_and_project(self, scribe: Scribe) -> None:
        scribe.write(
            node("a", name="Zoë  Smith", kind="Person", project="p"),
            node("b", name="zoe smith", kind="Person"),
            node("c", name="Other", kind="Gizmo", project="q"),
        )
        store = scribe.store
        assert found(store) == ["c", "b", "a"], "newest first"
        assert found(store, names=("ZOE SMITH",)) == ["b", "a"]
        assert found(store, kinds=("Gizmo", "Place")) == ["c"]
        assert found(store, projects=("p",)) == ["a"]
        assert found(store, projects=(None, "q")) == ["c", "b"]
        assert found(store, projects=()) == found(store, kinds=()) == found(store, names=()) == []
        assert found(store, names=("zoe smith",), projects=("p",), kinds=("Person",)) == ["a"]
        assert found(store, 2) == ["c", "b"]

    @pytest.mark.parametrize("value", [1, "1", True, False, 0, 1.5, None, "", [1, 2], [], {"b": 1, "a": [None]}, "é"])
    def test_find_compares_properties_as_json(self, scribe: Scribe, value: object) -> None:
        values: list[object] = [1, "1", True, False, 0, 1.5, None, "", [1, 2], [], {"a": [None], "b": 1}, "é"]
        scribe.write(
            node("without", props={"other": 1}), *(node(f"n{n}", props={"k": v}) for n, v in enumerate(values))
        )
        same = [n for n, each in enumerate(values) if type(each) is type(value) and each == value]
        assert found(scribe.store, props={"k": value}) == [f"n{n}" for n in same]

    def test_find_takes_equal_numbers_as_equal(self, scribe: Scribe) -> None:
        scribe.write(node("a", props={"k": 2.0}), node("b", props={"k": 2}))
        assert found(scribe.store, props={"k": 2}) == found(scribe.store, props={"k": 2.0}) == ["b", "a"]

    @pytest.mark.parametrize("key", ["", "a.b", 'q"q', "a\\b", "é", "a b", "$", "0", "[0]"])
    def test_find_by_any_property_name(self, scribe: Scribe, key: str) -> None:
        scribe.write(node("a", props={key: "x"}), node("b", props={"z": "x"}))
        assert found(scribe.store, props={key: "x"}) == ["a"]

    def test_unknown_properties_are_reported(self, scribe: Scribe) -> None:
        scribe.one(node("a", props={"known": 1}))
        answer = scribe.store.find(OPERATOR, NOW, Find(props={"zap": 1, "known": 2, "bad": 3}), limit=10)
        assert (answer.nodes, answer.unknown_props) == ((), ("bad", "zap"))
        early = scribe.store.find(OPERATOR, When(valid_at=day(-9)), Find(props={"known": 1}), limit=10)
        assert early.unknown_props == ("known",), "nothing has it at that moment"

    def test_find_by_focus_area_and_without_kinds(self, scribe: Scribe) -> None:
        scribe.write(node("a", focus="f"), node("b", focus="g", kind="Gizmo"), node("c"), node("d", kind="Gizmo"))
        store = scribe.store
        assert found(store, focuses=("f",)) == ["a"]
        assert found(store, focuses=(None,)) == ["d", "c"]
        assert found(store, focuses=("g", None)) == ["d", "c", "b"]
        assert found(store, focuses=()) == []
        assert found(store, without_kinds=("Gizmo",)) == ["c", "a"]
        assert found(store, without_kinds=("Gizmo",), focuses=("g",)) == []

    def test_find_by_when_it_began_to_hold(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{n}", at=day(n)) for n in range(-4, 0)))
        assert found(scribe.store, begins=(day(-3), day(-1))) == ["n-2", "n-3"]
        assert found(scribe.store, begins=(day(-9), day(-4))) == []

    def test_find_is_read_on_from_a_row(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{n}", kind="Note" if n % 3 else "Other", project="p") for n in range(7)))
        scribe.write(node("hidden", kind="Note", project="p", sensitive=True))
        when, seen = scribe.store.pin(STAFF, NOW), []
        scribe.write(node("later", kind="Note", project="p"))
        find = Find(kinds=("Note",), projects=("p",))
        while rows := scribe.store.find(STAFF, when, find, limit=3).nodes:
            seen += [row.id for row in rows]
            find = replace(find, before=rows[-1].row)
        assert seen == ["n5", "n4", "n2", "n1"], "each once, newest first, of one moment and one viewer"

    def test_what_is_rare_is_found_below_much_else(self, scribe: Scribe) -> None:
        scribe.write(
            *(node(f"t{n}", kind="Task", project="p" if n % 2 else "q", props={"n": n % 3}) for n in range(6)),
            node("hidden", kind="Task", project="p", sensitive=True),
            node("gone", kind="Task", project="p"),
            node("quiet", project="quiet"),
        )
        known = scribe.store.head(OPERATOR).at
        scribe.write(deleted("gone"), ended("t5"))
        many = [graph.NodeAssertion(id=f"n{n}", kind="Note", project="p", scope="public") for n in range(2_200)]
        for at in range(0, len(many), 200):
            scribe.one(Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(many[at : at + 200]))))
        scribe.write(node("t1", "said again", kind="Task", project="p"), node("t6", kind="Task", project="q"))

        def ids(limit: int = 50, when: When = NOW, **parts: Any) -> list[str]:
            return [row.id for row in scribe.store.find(STAFF, when, Find(**parts), limit=limit).nodes]

        assert ids(kinds=("Task",)) == ["t6", "t1", "t4", "t3", "t2", "t0"], "newest first, new rows and old"
        assert ids(3, kinds=("Task",)) == ["t6", "t1", "t4"]
        assert ids(kinds=("Task",), projects=("p",)) == ["t1", "t3"]
        assert ids(kinds=("Task", "Note"), projects=("q", "quiet")) == ["t6", "quiet", "t4", "t2", "t0"]
        assert ids(kinds=("Task",), props={"n": 0}) == ["t3", "t0"]
        assert ids(projects=("quiet", None)) == ["quiet"]
        assert ids(projects=("nowhere",)) == ids(kinds=()) == []
        assert ids(kinds=("Task",), when=When(known_at=known)) == ["t5", "t4", "t3", "t2", "t1", "t0"]
        assert len(ids(2_500, without_kinds=("Task",))) == 2_201
        last = scribe.store.nodes(STAFF, NOW, ("t3",))[0].row
        assert ids(kinds=("Task",), before=last) == ["t2", "t0"], "read on from an old row"

    def test_find_at_a_moment(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", name="old", at=day(-9))).known_at
        scribe.one(node("a", name="new", at=day(-5)))

        def names(when: When) -> list[str]:
            return [row.name for row in scribe.store.find(OPERATOR, when, Find(), limit=9).nodes]

        assert names(NOW) == ["new"]
        assert names(When(valid_at=day(-7))) == ["old"]
        assert names(When(known_at=known)) == ["old"]

    def test_neighbours_by_direction_and_relation(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abcd"))
        scribe.write(edge("a", "KNOWS", "b"), edge("c", "KNOWS", "a"), edge("a", "LIKES", "d"))
        assert sorted(scribe.reached("a")) == ["b", "c", "d"]
        assert scribe.reached("a", direction="out") == ["b", "d"]
        assert scribe.reached("a", direction="in") == ["c"]
        assert scribe.reached("a", rels=("LIKES",)) == ["d"]
        assert scribe.reached("a", rels=()) == []
        assert scribe.reached("missing") == []

    def test_neighbours_are_heaviest_first_and_limited_for_each_start(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abcdefg"))
        for weight, other in ((0.5, "b"), (2.0, "c"), (1.0, "d"), (1.0, "e")):
            scribe.one(edge("a", "KNOWS", other, weight=weight, props={"w": weight}))
        scribe.write(edge("g", "KNOWS", "f"))
        assert scribe.reached("a") == ["c", "d", "e", "b"]
        steps = scribe.store.neighbours(OPERATOR, NOW, ("a", "g", "a"), limit=2)
        assert [(step.start, step.node.id) for step in steps] == [("a", "c"), ("a", "d"), ("g", "f")]
        assert (steps[0].edge.weight, steps[0].edge.props) == (2.0, {"w": 2.0})

    def test_an_edge_to_itself_is_one_step(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        scribe.one(edge("a", "KNOWS", "a"))
        assert scribe.reached("a") == ["a"]

    def test_a_node_in_two_slots_is_one_neighbour(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b", "one", slot="s"), node("b", "two", slot="t"))
        scribe.one(edge("a", "KNOWS", "b"))
        assert scribe.texts("b") == {"b": "two"}
        (step,) = scribe.store.neighbours(OPERATOR, NOW, ("a",))
        assert step.node.text == "two", "the later row speaks for the node, as in nodes()"

    def test_history_has_every_version_in_record_order(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(0)))
        scribe.one(node("a", "two", at=day(2)))
        scribe.one(node("b", "not this"))
        rows = scribe.store.history(OPERATOR, "a", limit=10)
        assert [(row.text, row.retired_at is None) for row in rows] == [("one", False), ("one", True), ("two", True)]
        assert scribe.store.history(OPERATOR, "a", limit=2) == rows[:2]

    def test_what_an_event_asserted(self, scribe: Scribe) -> None:
        assertion = graph.NodeAssertion
        nodes = tuple(assertion(id=each, kind="Note", scope="public") for each in "ab")
        first = scribe.one(Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes)))
        second = scribe.one(node("a", "cuts the first", at=day(0)))
        assert [row.id for row in scribe.store.asserted_by(OPERATOR, first.pos, limit=10)] == ["a", "b"]
        assert [row.text for row in scribe.store.asserted_by(OPERATOR, second.pos, limit=10)] == ["cuts the first"]
        assert len(scribe.store.asserted_by(OPERATOR, first.pos, limit=1)) == 1
        assert scribe.store.asserted_by(OPERATOR, 99, limit=1) == ()

    def test_a_memory_supersedes_an_older_one(self, scribe: Scribe) -> None:
        scribe.one(memory_of("m1", "on Friday"))
        entity = graph.NodeAssertion(id="person:zoe", kind="Person", name="Zoe", scope="public")
        about = graph.EdgeAssertion(src="m2", rel="MENTIONS", dst="person:zoe", scope="public")
        scribe.one(memory_of("m2", "on Monday, says Zoe", supersedes=("m1",), entities=(entity,), edges=(about,)))
        assert scribe.reached("m2", rels=("SUPERSEDES",), direction="out") == ["m1"]
        assert scribe.reached("person:zoe", rels=("MENTIONS",), direction="in") == ["m2"]
        assert scribe.texts("m1") == {"m1": "on Friday"}, "what is superseded can still be read"

    def test_a_document_with_its_sections(self, scribe: Scribe) -> None:
        def ingested(*titles: str, gone: tuple[str, ...] = ()) -> Draft:
            sections = tuple(
                document.SectionText(id=f"d#{title}", title=title, level=1, line=n, end_line=n, text=f"about {title}")
                for n, title in enumerate(titles, start=1)
            )
            payload = document.Ingested(
                id="d", source="d.md", title="D", sha256="0", sections=sections, ended=gone, scope="public"
            )
            return Draft(kind="document.ingested", payload=payload)

        scribe.one(ingested("one", "two"))
        known = scribe.store.head(OPERATOR).at
        scribe.one(ingested("one", "three", gone=("d#two",)))
        assert sorted(scribe.reached("d", rels=("CONTAINS",))) == ["d#one", "d#three"]
        assert sorted(scribe.reached("d", when=When(known_at=known))) == ["d#one", "d#two"]

    def test_figures_count_what_holds(self, scribe: Scribe) -> None:
        scribe.write(node("a", "same"), node("b", "same"), node("c", "other"))
        scribe.one(edge("a", "KNOWS", "b"), session="second")
        scribe.one(node("c", "newer"))
        scribe.one(ended("b"))
        stats = scribe.store.stats(OPERATOR)
        assert (stats.nodes, stats.edges, stats.events, stats.sessions) == (2, 0, 6, 2)
        assert stats.texts == 3, "equal texts are kept once"
        assert stats.node_versions == 6, "three first versions, c's cut and its next, b's cut"

    def test_nodes_are_found_by_slot_and_by_the_beginning_of_their_id(self, scribe: Scribe) -> None:
        scribe.write(node("p/a#1", slot="s"), node("p/a#2"), node("p/ab"), node("q"))
        by_slot = Find(slots=(shared_slot("s", Guard(scope="public")), "q"))
        assert sorted(found.id for found in scribe.store.find(OPERATOR, NOW, by_slot, limit=9).nodes) == ["p/a#1", "q"]
        by_prefix = Find(id_prefix="p/a#")
        assert sorted(n.id for n in scribe.store.find(OPERATOR, NOW, by_prefix, limit=9).nodes) == ["p/a#1", "p/a#2"]

    def test_kinds_are_open_and_discovered(self, scribe: Scribe) -> None:
        scribe.write(
            node("g1", kind="Gizmo", props={"size": 1}),
            node("g2", kind="Gizmo", props={"colour": "red"}),
            node("f", "words", kind="Fact"),
        )
        kinds = {stat.kind: stat for stat in scribe.store.indexes(OPERATOR)}
        assert list(kinds) == ["Fact", "Gizmo"]
        assert (kinds["Gizmo"].nodes, kinds["Gizmo"].props) == (2, ("colour", "size"))
        assert (kinds["Gizmo"].views, kinds["Fact"].views) == (("semantic",), ("temporal",))
        assert found(scribe.store, kinds=("Gizmo",), props={"colour": "red"}) == ["g2"]
