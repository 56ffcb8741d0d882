"""Pages of all current edges of some relations between current nodes, behind the guards."""

from __future__ import annotations

from typing import Any

from weft.core.commits import Batch, Changes, LockedView
from weft.core.types import NOW, Viewer, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, node
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER


def joined(scribe: Scribe, *rels: str, viewer: Viewer = OPERATOR, when: When = NOW, **options: Any) -> list[str]:
    """Edges as they are given, written short."""
    found = scribe.store.relations(viewer, when, rels or ("CALLS",), **{"limit": 100} | options)
    return [f"{each.src} {each.rel} {each.dst}" for each in found]


def never(scribe: Scribe, *edges: tuple[str, str, str]) -> set[tuple[str, str, str]]:
    """Those of these edges that a plan is told there never were."""
    found: set[tuple[str, str, str]] = set()

    def look(view: LockedView) -> Batch:
        ends = sorted({end for src, _, dst in edges for end in (src, dst)})
        found.update(view.expect(ends, edges, [bytes([each]) for each in range(8)]))
        return Batch(commit=None, events=(), changes=Changes())

    scribe.store.commit(OPERATOR.account, look)
    return found


class RelationsContract(StoreCase):
    """relations."""

    def test_an_edge_that_ended_or_is_not_complete_is_none_that_never_was(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abc"))
        scribe.write(edge("a", "CALLS", "b"), edge("b", "CALLS", "a", slot="turns"))
        scribe.one(edge_ended("a", "CALLS", "b"))
        scribe.open_change(edge("c", "CALLS", "a"))
        there = {("a", "CALLS", "b"), ("b", "CALLS", "a"), ("c", "CALLS", "a")}
        others = {("a", "CALLS", "c"), ("a", "LIKES", "b"), ("c", "CALLS", "b"), ("b", "CALLS", "nobody")}
        assert never(scribe, *there, *others) <= others

    def test_many_edges_told_at_once_and_again_have_one_version_each_that_holds(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abcdef"))
        told = [edge("a", "CALLS", each) for each in "bcdef"]
        scribe.write(*told, *told, edge("b", "CALLS", "a", at=day(9)), edge("b", "CALLS", "a", at=day(3)))
        scribe.one(edge_ended("a", "CALLS", "c"))
        scribe.one(edge("a", "CALLS", "d", weight=2.0))
        scribe.write(*told)
        later = joined(scribe, when=When(valid_at=day(10)))
        assert sorted(later) == [*(f"a CALLS {each}" for each in "bcdef"), "b CALLS a"]
        before = scribe.digest()
        scribe.rebuild()
        assert scribe.digest() == before

    def test_relations_come_by_row_and_are_paged(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abc"))
        scribe.write(
            edge("a", "CALLS", "b"), edge("a", "IMPORTS", "c"), edge("b", "CALLS", "c"), edge("a", "LIKES", "b")
        )
        assert joined(scribe) == ["a CALLS b", "b CALLS c"]
        assert joined(scribe, "IMPORTS", "CALLS") == ["a CALLS b", "a IMPORTS c", "b CALLS c"]
        (first,) = scribe.store.relations(OPERATOR, NOW, ("CALLS", "IMPORTS"), limit=1)
        assert joined(scribe, "IMPORTS", "CALLS", after=first.row) == ["a IMPORTS c", "b CALLS c"]
        assert joined(scribe, "NOTHING") == []

    def test_relations_hold_and_so_do_both_ends(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"), node("past", at=day(1), until=day(2)))
        scribe.write(*(edge("a", "CALLS", each) for each in ("b", "past")), edge("b", "CALLS", "a"))
        then = scribe.write(edge("b", "CALLS", "b")).events[-1].known_at
        assert joined(scribe) == ["a CALLS b", "b CALLS a", "b CALLS b"]
        scribe.clock.step()
        scribe.write(edge_ended("b", "CALLS", "a"))
        assert joined(scribe) == ["a CALLS b", "b CALLS b"]
        assert joined(scribe, ends="any") == ["a CALLS b", "a CALLS past", "b CALLS b"]
        scribe.write(ended("b"))
        assert joined(scribe) == []
        assert joined(scribe, ends="any") == ["a CALLS b", "a CALLS past", "b CALLS b"]
        assert joined(scribe, when=When(known_at=then)) == ["a CALLS b", "b CALLS a", "b CALLS b"]

    def test_relations_are_of_the_project_of_their_source(self, scribe: Scribe) -> None:
        scribe.write(node("a", project="one"), node("b", project="two"), node("c"))
        scribe.write(edge("a", "CALLS", "b"), edge("b", "CALLS", "c"), edge("c", "CALLS", "a"))
        assert joined(scribe, projects=("one",)) == ["a CALLS b"]
        for ends in ("held", "any"):
            assert joined(scribe, projects=("two", None), ends=ends) == ["b CALLS c", "c CALLS a"]

    def test_relations_and_their_ends_pass_the_guards(self, scribe: Scribe) -> None:
        tagged: dict[str, Any] = {"agents": ("ann",)}
        scribe.write(node("t", **tagged), node("a", **tagged), node("b", scope="admin", **tagged))
        scribe.write(node("c", sensitive=True, **tagged), node("d"))
        scribe.write(*(edge("t", "CALLS", each) for each in "abcd"))
        assert joined(scribe) == ["t CALLS a", "t CALLS b", "t CALLS c", "t CALLS d"]
        assert joined(scribe, viewer=STAFF) == ["t CALLS a", "t CALLS b", "t CALLS d"]
        assert joined(scribe, viewer=PUBLIC) == ["t CALLS a", "t CALLS d"]
        assert joined(scribe, viewer=ANN) == ["t CALLS a", "t CALLS b", "t CALLS c"]
        assert joined(scribe, viewer=STRANGER) == []
        assert joined(scribe, viewer=PUBLIC, ends="any") == ["t CALLS a", "t CALLS d"]
        scribe.write(deleted("a"))
        assert joined(scribe, viewer=PUBLIC) == joined(scribe, viewer=PUBLIC, ends="any") == ["t CALLS d"]

    def test_relations_of_a_change_that_is_not_complete_are_not_told(self, scribe: Scribe) -> None:
        scribe.write(node("a"), node("b"))
        change = scribe.open_change(edge("a", "CALLS", "b"))
        assert joined(scribe) == []
        scribe.write(closed(change))
        assert joined(scribe) == ["a CALLS b"]

    def test_a_census_counts_what_a_viewer_sees_of_a_project(self, scribe: Scribe) -> None:
        scribe.write(node("a", project="one"), node("b", project="two"), node("c", project="one", scope="admin"))
        scribe.write(edge("a", "CALLS", "b"), edge("a", "CALLS", "c"), edge("b", "CALLS", "a"), edge("c", "LIKES", "a"))
        kind = scribe.store.nodes(OPERATOR, NOW, ["a"])[0].kind
        every = scribe.store.census(OPERATOR, ("one",))
        assert (every.kinds, every.relations) == ({kind: 2}, {"CALLS": 2, "LIKES": 1})
        some = scribe.store.census(PUBLIC, ("one",))
        assert (some.kinds, some.relations) == ({kind: 1}, {"CALLS": 1})
        scribe.write(ended("b"))
        assert scribe.store.census(OPERATOR, ("one",)).relations == {"CALLS": 1, "LIKES": 1}
        assert scribe.store.census(OPERATOR, ("none",)).kinds == {}
