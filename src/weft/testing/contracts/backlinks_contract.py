"""Backlinks: counts of nodes that mention a node, within the viewer's rights; record nodes do not count."""

from __future__ import annotations

from weft.core.ports import Store
from weft.core.types import NOW, When
from weft.log.draft import Draft
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, node, restored
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER

EVERY = ("a", "b", "c", "missing")


def counted(store: Store, **options: int) -> dict[str, int]:
    """What the operator counts now."""
    return dict(store.backlinks(OPERATOR, NOW, EVERY, **options))


def feedback(record: str, about: str) -> tuple[Draft, Draft]:
    """A record of weft's own working, and what it is about."""
    return node(record, "apple words", kind="Feedback"), edge(record, "ABOUT", about)


class BacklinksContract(StoreCase):
    """backlinks; what records do to a search."""

    def test_every_node_that_points_here_counts_once(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abcd"))
        scribe.write(edge("b", "MENTIONS", "a"), edge("b", "LIKES", "a"), edge("c", "MENTIONS", "a"))
        scribe.write(edge("a", "MENTIONS", "d"), edge("c", "MENTIONS", "c"))
        assert counted(scribe.store) == {"a": 2}, "not what a points at, and not what points at itself"
        assert list(scribe.store.backlinks(OPERATOR, NOW, ("d", "b", "a", "d"))) == ["d", "a"]
        assert scribe.store.backlinks(OPERATOR, NOW, ()) == {}

    def test_counting_stops(self, scribe: Scribe) -> None:
        scribe.write(node("a"), *(node(f"n{n}") for n in range(5)))
        scribe.write(*(edge(f"n{n}", "MENTIONS", "a") for n in range(5)))
        assert counted(scribe.store) == {"a": 5}
        assert counted(scribe.store, most=3) == {"a": 3}

    def test_structure_succession_and_records_do_not_count(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), node("c"), *feedback("f", "a"))
        scribe.write(edge("b", "CONTAINS", "a"), edge("b", "NEXT", "a"), edge("c", "SUPERSEDES", "a"))
        assert counted(scribe.store) == {}
        scribe.write(edge("b", "ABOUT", "a"))
        assert counted(scribe.store) == {"a": 1}, "the relation is not what keeps a record out"

    def test_what_is_hidden_does_not_count(self, scribe: Scribe) -> None:
        scribe.write(node("a", agents=("ann",)), node("b", agents=("ann",)), node("c", agents=("ann",)))
        scribe.write(edge("b", "MENTIONS", "a"))
        viewers = {"public": PUBLIC, "staff": STAFF, "ann": ANN}
        before = {name: dict(scribe.store.backlinks(viewer, NOW, EVERY)) for name, viewer in viewers.items()}
        assert before == {name: {"a": 1} for name in viewers}
        scribe.write(node("secret", sensitive=True, scope="admin", agents=("bob",)), edge("secret", "MENTIONS", "a"))
        scribe.write(edge("c", "MENTIONS", "a", sensitive=True, scope="admin", agents=("bob",)))
        after = {name: dict(scribe.store.backlinks(viewer, NOW, EVERY)) for name, viewer in viewers.items()}
        assert after == before
        assert counted(scribe.store) == {"a": 3}
        scribe.write(node("hidden", scope="admin"), edge("b", "MENTIONS", "hidden"))
        assert scribe.store.backlinks(PUBLIC, NOW, ("hidden",)) == {}, "not of what one may not see"
        assert scribe.store.backlinks(STRANGER, NOW, EVERY) == {}

    def test_an_agent_counts_only_what_is_tagged_for_it(self, scribe: Scribe) -> None:
        scribe.write(node("a", agents=("ann",)), node("b", agents=("ann",)), node("shelf", kind="Document"))
        scribe.write(edge("b", "MENTIONS", "a"), edge("shelf", "MENTIONS", "a"), edge("b", "MENTIONS", "shelf"))
        assert scribe.store.backlinks(ANN, NOW, ("a", "shelf")) == {"a": 1}, "structure may be crossed, not found"

    def test_both_clocks(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-30)), node("b", at=day(-30)), node("c", at=day(-5)))
        known = scribe.store.head(OPERATOR).at
        scribe.one(edge("b", "MENTIONS", "a", at=day(-20), until=day(-10)))
        scribe.one(edge("c", "MENTIONS", "a", at=day(-20)))

        def then(**when: int) -> dict[str, int]:
            return dict(scribe.store.backlinks(OPERATOR, When(**when), ("a",)))

        assert then(valid_at=day(-15)) == {"a": 1}, "c did not hold yet"
        assert then(valid_at=day(-25)) == {}
        assert then(valid_at=day(-1)) == {"a": 1}
        assert then(valid_at=day(-15), known_at=known) == {}, "weft did not know it yet"

    def test_every_change_counts_at_once(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), edge("b", "MENTIONS", "a"))
        scribe.one(deleted("b"))
        assert counted(scribe.store) == {}
        scribe.one(restored("b"))
        assert counted(scribe.store) == {"a": 1}
        scribe.one(edge_ended("b", "MENTIONS", "a"))
        assert counted(scribe.store) == {}
        scribe.one(edge("b", "MENTIONS", "a"))
        scribe.one(ended("b"))
        assert counted(scribe.store) == {}
        change = scribe.open_change(node("c"), edge("c", "MENTIONS", "a"))
        assert counted(scribe.store) == {}, "a change that is not complete"
        scribe.one(closed(change))
        assert counted(scribe.store) == {"a": 1}

    def test_records_are_not_searched_unless_asked_for(self, scribe: Scribe) -> None:
        scribe.write(node("a", "apple pie"), node("b", "apple"))
        before = scribe.search("apple words")
        scribe.write(*(draft for n in range(3) for draft in feedback(f"f{n}", "a")))
        assert scribe.search("apple words") == before, "neither found nor counted"
        asked = scribe.search("apple words", kinds=("Feedback",))
        assert sorted(hit.node.id for hit in asked.hits) == ["f0", "f1", "f2"]
        for change in (ended("f0"), deleted("f1"), restored("f1"), node("f2", "other apple", kind="Feedback")):
            scribe.one(change)
        again = scribe.search("apple words")
        assert (again.population, again.mean_length, again.used) == (before.population, before.mean_length, before.used)
        scribe.write(*(node(f"g{n}", f"apple {n}", kind="ToolCall") for n in range(200)))
        assert scribe.search("apple words") == again
        assert len(scribe.search("apple", kinds=("ToolCall",), limit=300).hits) == 200
        scribe.rebuild()
        assert scribe.search("apple words") == again
