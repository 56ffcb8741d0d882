"""Provenance: edges of one relation at any validity of their ends, without effect on ranking."""

from __future__ import annotations

from typing import Any

from weft.core.types import NOW, Viewer, When
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, node, restored
from weft.testing.viewers import ANN, OPERATOR, PUBLIC, STAFF, STRANGER


def ends(scribe: Scribe, start: str, way: Any = "out", *, viewer: Viewer = OPERATOR, **options: Any) -> list[str]:
    """The other ends of PRODUCED edges, as they are given."""
    asked = {"when": NOW, "before": None, "limit": 10} | options
    found = scribe.store.edges(
        viewer, asked["when"], start, rel="PRODUCED", direction=way, before=asked["before"], limit=asked["limit"]
    )
    return [each.dst if way == "out" else each.src for each in found]


class ProvenanceContract(StoreCase):
    """edges; walks and backlinks do not follow provenance."""

    def test_the_latest_come_first_and_are_paged_by_row(self, scribe: Scribe) -> None:
        scribe.write(node("t", kind="Task"), *(node(each) for each in "abc"), node("u", kind="Task"))
        scribe.write(
            *(edge("t", "PRODUCED", each) for each in "abc"), edge("t", "LIKES", "u"), edge("u", "PRODUCED", "a")
        )
        assert ends(scribe, "t") == ["c", "b", "a"]
        assert ends(scribe, "a", "in") == ["u", "t"]
        assert ends(scribe, "a") == ends(scribe, "t", "in") == ends(scribe, "missing") == []
        assert ends(scribe, "t", limit=2) == ["c", "b"]
        last = scribe.store.edges(OPERATOR, NOW, "t", rel="PRODUCED", direction="out", before=None, limit=2)[-1]
        assert ends(scribe, "t", before=last.row) == ["a"]

    def test_what_is_joined_may_be_of_any_time_the_edge_holds_now(self, scribe: Scribe) -> None:
        scribe.write(node("t", kind="Task"), node("past", at=day(1), until=day(2)), node("ahead", at=day(9_000)))
        scribe.write(node("over"), node("gone"))
        joined = scribe.write(*(edge("t", "PRODUCED", each) for each in ("past", "ahead", "over", "gone")))
        then = joined.events[0].known_at
        scribe.clock.step()
        scribe.write(ended("over"), edge_ended("t", "PRODUCED", "gone"))
        assert ends(scribe, "t") == ["over", "ahead", "past"]
        assert ends(scribe, "t", when=When(known_at=then)) == ["gone", "over", "ahead", "past"]
        assert ends(scribe, "t", when=When(valid_at=day(0))) == []

    def test_ends_and_edges_pass_the_guards(self, scribe: Scribe) -> None:
        tagged: dict[str, Any] = {"agents": ("ann",)}
        scribe.write(node("t", kind="Task", **tagged), node("a", **tagged), node("b", scope="admin", **tagged))
        scribe.write(node("c", sensitive=True, **tagged), node("d"), node("e", **tagged))
        scribe.write(*(edge("t", "PRODUCED", each) for each in "abcd"), edge("t", "PRODUCED", "e", scope="admin"))
        assert ends(scribe, "t", viewer=OPERATOR) == ["e", "d", "c", "b", "a"]
        assert ends(scribe, "t", viewer=STAFF) == ["e", "d", "b", "a"]
        assert ends(scribe, "t", viewer=PUBLIC) == ["d", "a"]
        assert ends(scribe, "t", viewer=ANN) == ["e", "c", "b", "a"], "not what is tagged for nobody"
        assert ends(scribe, "t", viewer=STRANGER) == []
        assert ends(scribe, "b", "in", viewer=PUBLIC) == [], "not from what one may not see"
        scribe.write(deleted("a"))
        assert ends(scribe, "t", viewer=PUBLIC) == ["d"]
        scribe.write(restored("a"), deleted("t"))
        assert ends(scribe, "a", "in") == ends(scribe, "t") == []

    def test_a_change_that_is_not_complete_has_joined_nothing(self, scribe: Scribe) -> None:
        scribe.write(node("t", kind="Task"), node("a"))
        change = scribe.open_change(edge("t", "PRODUCED", "a"))
        assert ends(scribe, "t") == []
        scribe.write(closed(change))
        assert ends(scribe, "t") == ["a"]

    def test_provenance_is_no_backlink_and_no_way_for_a_walk(self, scribe: Scribe) -> None:
        scribe.write(*(node(each) for each in "abc"), node("t", kind="Task"), node("s", kind="Session"))
        scribe.write(edge("a", "CALLS", "b"))

        def ranked() -> tuple[Any, ...]:
            at_once = scribe.store.walk(OPERATOR, NOW, {"a": 1.0}, limit=10)
            then = scribe.store.walk(OPERATOR, When(valid_at=day(9_000)), {"a": 1.0}, limit=10)
            return at_once.scores, then.scores, dict(scribe.store.backlinks(OPERATOR, NOW, ("a", "b", "c")))

        before = ranked()
        scribe.write(*(edge(source, "PRODUCED", each) for source in "ts" for each in "abc"))
        scribe.write(edge("t", "RAISED_DURING", "s"))
        assert ranked() == before
        assert scribe.store.walk(OPERATOR, NOW, {"t": 1.0}, limit=10).scores == (("t", 1.0),)
