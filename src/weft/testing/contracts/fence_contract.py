"""Fences: changes since a log position, which make a decision on current nodes safe between writers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from weft.append.append import MAX_TOUCHED, Fence, FenceMoved
from weft.core.commits import Batch, Changes, LockedView
from weft.core.types import Guard, NodeVersion
from weft.graph.moves import shared_slot
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, continued, deleted, edge, ended, node, restored
from weft.testing.viewers import OPERATOR

SLOT = shared_slot("mayor", Guard(scope="public"))


def touched(
    scribe: Scribe, pos: int, *, kinds: Sequence[str] = ("Note",), slots: Sequence[str] = (), limit: int = 50
) -> list[str]:
    """The ids of what was touched since, as a plan sees it."""
    found: list[NodeVersion] = []

    def look(view: LockedView) -> Batch:
        found.extend(view.touched_since(pos, kinds=kinds, slots=slots, limit=limit))
        return Batch(commit=None, events=(), changes=Changes())

    scribe.store.commit(OPERATOR.account, look)
    return [row.id for row in found]


def here(scribe: Scribe) -> int:
    """Where the log stands."""
    return scribe.store.head(OPERATOR).pos


class FenceContract(StoreCase):
    """touched_since, and `append` with a fence."""

    def test_what_was_written_since_is_touched(self, scribe: Scribe) -> None:
        assert touched(scribe, 0) == []
        scribe.one(node("a"))
        scribe.write(node("b"), node("c", kind="Event"))
        after_a, after_b = 1, here(scribe)
        assert touched(scribe, 0) == ["a", "b"]
        assert touched(scribe, 0, limit=1) == ["a"]
        assert touched(scribe, after_a) == ["b"]
        assert touched(scribe, after_a, kinds=("Event", "Note")) == ["b", "c"]
        assert touched(scribe, 0, kinds=("Memory",)) == []
        assert touched(scribe, 0, kinds=()) == []
        assert touched(scribe, after_b) == []
        scribe.one(edge("a", "KNOWS", "b"))
        assert touched(scribe, after_b) == [], "an edge does not touch its ends"

    def test_what_ended_was_replaced_deleted_or_restored_since_is_touched(self, scribe: Scribe) -> None:
        scribe.write(node("a", "old", at=day(-9)), node("b", at=day(-9)), node("c", at=day(-9)), node("d", at=day(-9)))
        for change in (ended("a", at=day(-1)), node("b", "new", at=day(-3)), deleted("c"), restored("c")):
            before = here(scribe)
            assert touched(scribe, before) == []
            scribe.one(change)
            names = {"graph.deleted": {"c"}, "graph.restored": {"c"}, "graph.ended": {"a"}, "graph.asserted": {"b"}}
            assert set(touched(scribe, before)) == names[change.kind]

    def test_a_change_of_rights_touches(self, scribe: Scribe) -> None:
        scribe.one(node("a", "said", at=day(-9)))
        before = here(scribe)
        scribe.one(node("a", "said", at=day(-9), scope="admin"))
        assert "a" in touched(scribe, before)

    def test_slots_are_watched_by_name_and_by_id(self, scribe: Scribe) -> None:
        scribe.one(node("ann", kind="Fact", slot="mayor", at=day(-9)))
        before = here(scribe)
        scribe.one(node("bob", kind="Fact", slot="mayor", at=day(-5)))
        scribe.one(node("cy", kind="Fact", slot="other", at=day(-5)))
        assert set(touched(scribe, before, kinds=(), slots=(SLOT,))) == {"ann", "bob"}
        assert touched(scribe, here(scribe), kinds=(), slots=(SLOT,)) == []
        scribe.one(node("lone", at=day(-5)))
        assert touched(scribe, before, kinds=(), slots=("lone",)) == ["lone"]
        assert touched(scribe, before, kinds=(), slots=("bob",)) == [], "its slot is the shared one"

    def test_a_longer_change_touches_where_it_is_closed(self, scribe: Scribe) -> None:
        scribe.one(node("a", "old", at=day(-9)))
        change = scribe.open_change(node("a", "new", at=day(-5)), node("b"))
        scribe.write(continued(change), node("c"))
        assert touched(scribe, 1) == []
        before = here(scribe)
        scribe.write(closed(change))
        assert set(touched(scribe, before)) == {"a", "b", "c"}
        assert set(touched(scribe, 1)) == {"a", "b", "c"}
        assert touched(scribe, here(scribe)) == []

    def test_a_rebuild_touches_nothing_new(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-9)), node("b", at=day(-9)))
        scribe.one(deleted("a"))
        before = [touched(scribe, pos) for pos in range(4)]
        scribe.rebuild()
        assert [touched(scribe, pos) for pos in range(4)] == before

    def test_a_fence_holds_back_what_was_decided_from_an_older_state(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        fence = Fence(pos=here(scribe), kinds=("Note",))
        assert scribe.write(node("b"), fence=fence).events[0].pos == 2
        digest = scribe.digest()
        with pytest.raises(FenceMoved):
            scribe.write(node("c"), fence=fence)
        assert (here(scribe), scribe.digest()) == (2, digest)
        scribe.write(node("c"), fence=Fence(pos=2, kinds=("Note",)))
        scribe.write(node("d"), fence=Fence(pos=2, kinds=("Event",), slots=(SLOT,)))
        scribe.write(node("e"), fence=Fence(pos=0, kinds=("Note",), concerns=lambda found: found.id == "z"))
        with pytest.raises(FenceMoved):
            scribe.write(node("f"), fence=Fence(pos=0, kinds=("Note",), concerns=lambda found: found.id == "d"))

    def test_a_repeated_request_needs_no_fence(self, scribe: Scribe) -> None:
        fence = Fence(pos=0, kinds=("Note",))
        first = scribe.write(node("a"), request_id="r1", fence=fence)
        again = scribe.write(node("a"), request_id="r1", fence=fence)
        assert (again.repeated, again.events) == (True, first.events)

    def test_more_than_can_be_looked_at_counts_as_moved(self, scribe: Scribe) -> None:
        scribe.write(node("first"))
        scribe.write(*(node(f"n{number}") for number in range(MAX_TOUCHED)))
        nothing = Fence(pos=0, kinds=("Note",), concerns=lambda _found: False)
        with pytest.raises(FenceMoved):
            scribe.write(node("late"), fence=nothing)
        scribe.write(node("late"), fence=Fence(pos=1, kinds=("Note",), concerns=lambda _found: False))
