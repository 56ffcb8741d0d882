"""Reads of deleted nodes: limited by rights alone, at any time, without current nodes."""

from __future__ import annotations

from weft.core.queries import NodeFilter
from weft.core.types import Viewer
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, deleted, ended, node, opened, restored
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER


def ids(scribe: Scribe, viewer: Viewer = OPERATOR, *, limit: int = 100, **which: object) -> list[str]:
    """The nodes that fit."""
    found = scribe.store.last_versions(viewer, NodeFilter(**which), limit=limit)  # type: ignore[arg-type]
    return [row.id for row in found]


class DeletionsContract(StoreCase):
    """last_versions, deletions."""

    def test_last_versions_are_the_newest_of_every_node(self, scribe: Scribe) -> None:
        scribe.write(node("b", "first", at=day(1)), node("a", "one"))
        scribe.write(node("b", "second", at=day(2)))
        scribe.write(ended("a", at=day(0)), deleted("b"))
        found = scribe.store.last_versions(OPERATOR, NodeFilter(), limit=10)
        assert [(row.id, row.text) for row in found] == [("a", "one"), ("b", "second")]
        assert [row.deleted_at is None for row in found] == [True, False]
        assert ids(scribe, deleted=True) == ["b"]
        assert ids(scribe, deleted=False) == ["a"]
        scribe.write(restored("b"))
        assert ids(scribe, deleted=True) == []

    def test_nodes_are_found_by_id_beginning_kind_and_project(self, scribe: Scribe) -> None:
        scribe.write(node("f"), node("f#1", kind="Part"), node("f#2", kind="Part", project="p"), node("f2"), node("é"))
        assert ids(scribe, id_prefix="f#") == ["f#1", "f#2"]
        assert ids(scribe, ids=("é", "f", "missing")) == ["f", "é"]
        assert ids(scribe, kinds=("Part",)) == ["f#1", "f#2"]
        assert ids(scribe, projects=("p",)) == ["f#2"]
        assert ids(scribe, projects=(None,), id_prefix="f#") == ["f#1"]
        assert ids(scribe, ids=()) == []

    def test_pages_go_on_behind_an_id(self, scribe: Scribe) -> None:
        scribe.write(*(node(f"n{number}") for number in range(5)))
        assert ids(scribe, limit=2) == ["n0", "n1"]
        assert ids(scribe, after="n1", limit=2) == ["n2", "n3"]
        assert ids(scribe, after="n4") == []

    def test_what_went_together_shares_its_moment(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abcd"))
        scribe.write(deleted("a"))
        scribe.write(deleted("b"), deleted("c"))
        later, first = scribe.store.deletions(OPERATOR, limit=10)
        assert (later.nodes, first.nodes, later.at > first.at) == (2, 1, True)
        assert ids(scribe, deleted_at=later.at) == ["b", "c"]
        assert scribe.store.deletions(OPERATOR, limit=1) == (later,)
        assert scribe.store.deletions(OPERATOR, before=later.at, limit=10) == (first,)
        scribe.write(restored("c"))
        assert scribe.store.deletions(OPERATOR, limit=10)[0].nodes == 1

    def test_only_what_the_viewer_may_see_is_listed(self, scribe: Scribe) -> None:
        scribe.write(node("open"), node("own", agents=("ann",)), node("shut", scope="admin"))
        scribe.write(node("secret", scope="admin", sensitive=True))
        scribe.write(deleted("open", "own", "shut", "secret"))
        assert ids(scribe, PUBLIC, deleted=True) == ["open", "own"]
        assert ids(scribe, ANN, deleted=True) == ["own"]
        assert ids(scribe, STAFF, deleted=True) == ["open", "own", "shut"]
        assert [each.nodes for each in scribe.store.deletions(STAFF, limit=9)] == [3]
        assert scribe.store.deletions(STRANGER, limit=9) == ()
        assert ids(scribe, STRANGER) == []

    def test_what_an_open_change_made_is_not_there_yet(self, scribe: Scribe) -> None:
        scribe.write(node("a", "before"))
        scribe.write(opened(), node("a", "after"), node("b"))
        assert [row.text for row in scribe.store.last_versions(OPERATOR, NodeFilter(), limit=9)] == ["before"]

    def test_an_empty_store_has_nothing(self, scribe: Scribe) -> None:
        assert ids(scribe) == []
        assert scribe.store.deletions(OPERATOR, limit=9) == ()
