"""Guards, one missing right at a time: hidden rows are hidden on every read path."""

from __future__ import annotations

from msgspec.structs import replace

from weft.core.types import NOW, Find, Viewer, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, edge, edge_ended, ended, node
from weft.testing.viewers import (
    ANN,
    ANN_INSIDE,
    BOB,
    OPERATOR,
    PUBLIC,
    SHARED,
    STAFF,
    STRANGER,
    VISITOR,
)


def seen(scribe: Scribe, viewer: Viewer, when: When = NOW) -> set[str]:
    """Every node that any read gives this viewer, neighbours apart."""
    store = scribe.store
    everything = [row.id for row in store.graph_rows(OPERATOR) if hasattr(row, "id")]
    answers = {
        "nodes": {row.id for row in store.nodes(viewer, when, everything)},
        "find": {row.id for row in store.find(viewer, when, Find(), limit=50).nodes},
        "search": {hit.node.id for hit in scribe.search("word", viewer=viewer, when=when, limit=50).hits},
        "history": {each for each in everything if store.history(viewer, each, limit=1)},
    }
    assert all(answer == answers["nodes"] for answer in answers.values()), answers
    return answers["nodes"]


class GuardsContract(StoreCase):
    """One guard at a time."""

    def test_layer_2_scope(self, scribe: Scribe) -> None:
        scribe.write(*(node(scope, "word", scope=scope) for scope in ("public", "shared", "admin")))
        assert seen(scribe, PUBLIC) == {"public"}
        assert seen(scribe, SHARED) == {"public", "shared"}
        assert seen(scribe, STAFF) == {"public", "shared", "admin"}
        assert seen(scribe, replace(STAFF, scopes=frozenset())) == set()

    def test_layer_3_agent_tag(self, scribe: Scribe) -> None:
        scribe.write(
            node("anns", "word", agents=("ann",)),
            node("both", "word", agents=("bob", "ann")),
            node("bobs", "word", agents=("bob",)),
            node("nobodys", "word"),
            node("similar", "word", agents=("annabel",)),
            node("shelf", "word", kind="Document"),
        )
        assert seen(scribe, ANN) == {"anns", "both"}
        assert seen(scribe, BOB) == {"bobs", "both"}
        everything = {"anns", "both", "bobs", "nobodys", "similar", "shelf"}
        assert seen(scribe, ANN_INSIDE) == seen(scribe, VISITOR) == everything

    def test_layer_3_is_waived_for_the_untagged_while_keywords_are_looked_up(self, scribe: Scribe) -> None:
        scribe.write(
            node("mine", "word", agents=("ann",)),
            node("nobodys", "word", props={"keywords": ["Ferries", "tides"]}),
            node("bobs", "word", agents=("bob",), props={"keywords": ["ferries"]}),
            node("admins", "word", scope="admin", props={"keywords": ["ferries"]}),
            node("one word", "word", props={"keywords": "FERRIES"}),
            node("other", "word keywords ferries", props={"topic": "keywords"}),
        )
        follows = replace(ANN, subscribes=True, scopes=frozenset({"public", "shared"}))
        assert seen(scribe, follows) == {"mine", "nobodys", "one word", "other"}
        assert seen(scribe, replace(follows, subscribes=False)) == {"mine"}

        def tagged(viewer: Viewer, *keywords: str) -> set[str]:
            found = scribe.store.find(viewer, NOW, Find(keywords=keywords), limit=9)
            return {each.id for each in found.nodes}

        assert tagged(follows, "ferries", "nothing") == {"nobodys", "one word"}
        assert tagged(OPERATOR, "FERRIES") == {"nobodys", "bobs", "admins", "one word"}
        assert tagged(ANN, "ferries") == set()
        assert tagged(OPERATOR, "ferrie") == set()

    def test_layer_3_untagged_structure_may_be_passed_through(self, scribe: Scribe) -> None:
        scribe.write(
            node("mine", agents=("ann",)),
            node("shelf", kind="Document"),
            node("bobs shelf", kind="Document", agents=("bob",)),
            node("plain"),
            node("next", kind="Section"),
        )
        for other in ("shelf", "bobs shelf", "plain"):
            scribe.one(edge("mine", "IN", other))
        scribe.one(edge("shelf", "CONTAINS", "next"))
        scribe.one(edge("plain", "IN", "shelf"))
        assert scribe.reached("mine", viewer=ANN) == ["shelf"]
        assert sorted(scribe.reached("shelf", viewer=ANN)) == ["mine", "next"]
        assert scribe.reached("plain", viewer=ANN) == []
        assert scribe.store.nodes(ANN, NOW, ("shelf",)) == (), "reached, not found"
        assert sorted(scribe.reached("mine", viewer=ANN_INSIDE)) == ["bobs shelf", "plain", "shelf"]

    def test_layer_4_a_walk_cannot_cross_an_invisible_node(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("wall", sensitive=True), node("b"))
        scribe.write(edge("a", "TO", "wall"), edge("wall", "TO", "b"))
        assert scribe.reached("a", viewer=STAFF) == []
        assert scribe.reached("wall", viewer=STAFF) == []
        assert scribe.reached("b", viewer=STAFF) == []
        assert scribe.reached("wall") == ["a", "b"]

    def test_layer_4_edges_have_guards_of_their_own(self, scribe: Scribe) -> None:
        scribe.write(*(node(each, agents=("ann", "bob")) for each in "abcde"))
        scribe.write(
            edge("a", "TO", "b", scope="admin"),
            edge("a", "TO", "c", sensitive=True),
            edge("a", "TO", "d", agents=("bob",)),
            edge("a", "TO", "e"),
        )
        assert scribe.reached("a", viewer=SHARED) == ["d", "e"]
        assert scribe.reached("a", viewer=STAFF) == ["b", "d", "e"]
        assert scribe.reached("a", viewer=ANN) == ["b", "c", "e"]
        assert scribe.store.stats(SHARED).edges == 2
        hidden = ("a", "TO", "c")
        assert hidden not in scribe.store.diff(STAFF, since_pos=0, agent=None, limit=9).edges_added

    def test_layer_5_account(self, scribe: Scribe) -> None:
        scribe.one(node("a", "word"))
        assert seen(scribe, STRANGER) == set()
        assert scribe.reached("a", viewer=STRANGER) == []
        assert scribe.store.events(STRANGER, session=None, after_seq=0, limit=9) == ()
        assert scribe.store.citations(STRANGER, (1,)) == {}
        assert scribe.store.log(STRANGER, after=0, limit=9) == ()
        assert scribe.store.stats(STRANGER).nodes == 0

    def test_layer_6_sensitive(self, scribe: Scribe) -> None:
        scribe.write(node("a", "word"), node("secret", "word", sensitive=True))
        assert seen(scribe, STAFF) == {"a"}
        assert seen(scribe, OPERATOR) == {"a", "secret"}

    def test_rights_are_judged_by_todays_state(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", "word", at=day(-9))).known_at
        scribe.one(node("b", "word", at=day(-9), sensitive=True))
        scribe.one(edge("a", "TO", "b", at=day(-9)))
        linked = scribe.store.head(OPERATOR).at
        then = When(valid_at=day(-5), known_at=linked)
        assert seen(scribe, STAFF, When(valid_at=day(-5), known_at=known)) == {"a"}
        scribe.one(node("a", "word", at=day(-1), sensitive=True))
        scribe.one(node("b", "word", at=day(-1)))
        assert seen(scribe, STAFF, then) == {"b"}, "a became sensitive, b was opened"
        assert scribe.reached("b", viewer=STAFF, when=then) == []
        (row,) = scribe.store.nodes(STAFF, then, ("b",))
        assert (row.guard.sensitive, row.recorded_guard.sensitive) == (False, True)

    def test_an_edges_rights_are_those_of_its_last_assertion(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-30)), node("b", at=day(-30)))
        scribe.one(edge("a", "TO", "b", at=day(-20), until=day(-10)))
        scribe.one(edge("a", "TO", "b", at=day(-5), until=day(5), sensitive=True))
        early = When(valid_at=day(-19))
        assert scribe.reached("a", viewer=STAFF, when=early) == []
        scribe.one(edge_ended("a", "TO", "b", at=day(-15)))
        assert scribe.reached("a", when=early) == ["b"], "the copy of the first version holds"
        assert scribe.reached("a", viewer=STAFF, when=early) == [], "and is no more open than before"

    def test_limits_count_only_what_is_visible(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"a{n}", "word") for n in range(3)))
        scribe.write(*(node(f"s{n}", "word", name="word", sensitive=True) for n in range(9)))
        scribe.write(*(edge("a0", "TO", f"s{n}", weight=9.0) for n in range(9)), edge("a0", "TO", "a1"))
        store = scribe.store
        assert len(store.find(STAFF, NOW, Find(), limit=3).nodes) == 3
        assert len(scribe.search("word", viewer=STAFF, limit=3).hits) == 3
        assert scribe.reached("a0", viewer=STAFF, limit=1) == ["a1"]
        assert len(store.events(STAFF, session=None, after_seq=0, limit=3, newest_first=True)) == 3
        diff = store.diff(STAFF, since_pos=0, agent=None, limit=3)
        assert (len(diff.added), diff.truncated) == (3, False)

    def test_scores_use_only_what_is_visible(self, scribe: Scribe) -> None:
        scribe.write(node("a", "apple pie"), node("b", "apple"))
        before = scribe.search("apple pie", viewer=STAFF)
        scribe.write(*(node(f"s{n}", "pie and much more of it", sensitive=True) for n in range(5)))
        after = scribe.search("apple pie", viewer=STAFF)
        assert [(hit.node.id, hit.score) for hit in after.hits] == [(hit.node.id, hit.score) for hit in before.hits]
        assert (after.used, after.population) == (before.used, before.population)

    def test_figures_and_names_of_what_is_hidden_stay_hidden(self, scribe: Scribe) -> None:
        scribe.one(node("a", "word", props={"open": 1}))
        scribe.one(node("s", "word too", kind="Secret", props={"hidden": 1}, sensitive=True), session="quiet")
        store = scribe.store
        assert [stat.kind for stat in store.indexes(STAFF)] == ["Note"]
        assert store.find(STAFF, NOW, Find(props={"hidden": 1}), limit=9).unknown_props == ("hidden",)
        stats = store.stats(STAFF)
        assert (stats.nodes, stats.node_versions, stats.texts, stats.events, stats.sessions) == (1, 1, 1, 1, 1)
        assert [head.session for head in store.session_heads(STAFF, limit=9)] == ["main"]
        assert store.diff(STAFF, since_pos=0, agent=None, limit=9).added == (("Note", "a"),)
        assert store.asserted_by(STAFF, 2, limit=9) == ()

    def test_events_are_open_if_all_their_nodes_are(self, scribe: Scribe) -> None:
        pair = tuple(graph.NodeAssertion(id=each, kind="Note", scope="public", sensitive=each == "s") for each in "as")
        scribe.one(node("b"))
        scribe.one(Draft(kind="graph.asserted", payload=graph.Asserted(nodes=pair)))
        for draft in (edge("a", "TO", "s"), ended("s"), deleted("s")):
            scribe.one(draft)

        def positions(viewer: Viewer) -> list[int]:
            return [event.pos for event in scribe.store.events(viewer, session=None, after_seq=0, limit=9)]

        assert positions(STAFF) == positions(PUBLIC) == [1], "what names no node it made is for operators"
        assert positions(ANN) == []
        assert positions(OPERATOR) == [1, 3, 4, 5], "a deleted node takes its event along"
        assert list(scribe.store.citations(STAFF, (1, 2, 3, 4, 5))) == [1, 2], (
            "one node of the event is enough to cite it"
        )
        assert list(scribe.store.citations(ANN, (1, 2, 3, 4, 5))) == []

    def test_an_assertion_that_took_no_moment_stays_hidden(self, scribe: Scribe) -> None:
        scribe.one(node("x", slot="s", at=day(0), until=day(10), sensitive=True))
        scribe.one(node("y", slot="s", at=day(5), sensitive=True))
        hidden = scribe.one(node("z", "hidden words", slot="s", at=day(4), sensitive=True))
        assert scribe.store.history(OPERATOR, "z", limit=9) == ()
        assert hidden not in scribe.store.events(STAFF, session=None, after_seq=0, limit=9)
        assert hidden in scribe.store.events(OPERATOR, session=None, after_seq=0, limit=9)

    def test_a_slot_is_not_shared_across_guards(self, scribe: Scribe) -> None:
        scribe.one(node("secret", "the real one", slot="role", at=day(-9), scope="admin"))
        scribe.one(node("open", "the public one", slot="role", at=day(-5)))
        scribe.one(node("later", "another secret", slot="role", at=day(-3), scope="admin"))
        now = scribe.texts("secret", "open", "later")
        assert now == {"open": "the public one", "later": "another secret"}, "one holds in each guard"
        then = scribe.texts("secret", "open", valid_at=day(-4))
        assert then == {"secret": "the real one", "open": "the public one"}
