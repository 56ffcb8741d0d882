"""Export and import of a log, and rebuilding the graph from it."""

from __future__ import annotations

from functools import partial

import pytest

from weft.append.import_log import import_log
from weft.core.errors import Conflict, Corrupt, Forbidden, Invalid
from weft.log.verify import verify
from weft.testing.case import StoreCase
from weft.testing.clock import HOUR_US, day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, memory_of, node, restored
from weft.testing.viewers import OPERATOR, STAFF, STRANGER


def write_a_bit_of_everything(scribe: Scribe) -> None:
    """A log with every kind of change."""
    scribe.one(node("a", "first words", at=day(-9), props={"k": [1, {"x": None}]}, agents=("bob", "ann")))
    scribe.one(node("a", "second words", at=day(-5), project="p"))
    scribe.one(node("a", "between", at=day(-8), until=day(-3)))
    scribe.one(node("b", "shares", slot="s", at=day(-9)), session="side")
    scribe.one(node("c", "takes over", slot="s", at=day(-4), sensitive=True), agent="second")
    scribe.write(edge("a", "KNOWS", "b", weight=0.5), edge("b", "KNOWS", "c", props={"why": "x"}, until=day(400)))
    change = scribe.open_change(node("d", "slice one"))
    scribe.one(closed(change))
    scribe.one(memory_of("m1", "the meeting is on Friday"))
    scribe.one(memory_of("m2", "the meeting is on Monday", supersedes=("m1",)))
    scribe.one(ended("b", at=day(-6)))
    scribe.one(edge_ended("a", "KNOWS", "b"))
    scribe.one(deleted("m1", "d"))
    scribe.one(restored("d"))
    scribe.open_change(node("e", "never closed"))


class TravelContract(StoreCase):
    """Export, import, rebuild."""

    def test_a_rebuild_gives_the_same_graph(self, scribe: Scribe) -> None:
        write_a_bit_of_everything(scribe)
        before, found = scribe.digest(), scribe.search("meeting words slice")
        seen: list[tuple[int, int]] = []
        for _ in range(2):
            scribe.rebuild(lambda done, of: seen.append((done, of)))
            assert scribe.digest() == before
            assert scribe.search("meeting words slice") == found
        assert seen
        assert all(done <= of for done, of in seen)
        assert seen[-1][0] == scribe.store.head(OPERATOR).pos
        scribe.one(node("later", "goes on"))
        assert scribe.texts("later") == {"later": "goes on"}
        with pytest.raises(Forbidden):
            Scribe(scribe.store, scribe.clock, viewer=STAFF).rebuild()

    def test_every_row_is_read_by_operators_only(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        with pytest.raises(Forbidden):
            list(scribe.store.graph_rows(STAFF))

    def test_a_log_continues_exactly_in_an_empty_store(self, scribe: Scribe, other: Scribe) -> None:
        write_a_bit_of_everything(scribe)
        lines = scribe.export()
        adopted = import_log(other.store, OPERATOR, lambda: lines, clock=other.clock)
        assert adopted.exact
        assert adopted.events == scribe.store.head(OPERATOR).pos
        assert other.store.head(OPERATOR) == scribe.store.head(OPERATOR)
        assert other.digest() == scribe.digest()
        assert other.export() == lines
        assert verify(other.store, OPERATOR).problem is None

    def test_an_import_goes_on_where_it_stopped(self, scribe: Scribe, other: Scribe) -> None:
        scribe.one(node("a"))
        first = scribe.export()
        write_a_bit_of_everything(scribe)
        second = scribe.export()
        for lines, added in ((first, 1), (second, scribe.store.head(OPERATOR).pos - 1), (second, 0), (first, 0)):
            assert import_log(other.store, OPERATOR, partial(list, lines), clock=other.clock).events == added
        assert other.export() == second
        assert other.digest() == scribe.digest()

    def test_a_foreign_session_becomes_known_at_import(self, scribe: Scribe, other: Scribe) -> None:
        event = scribe.one(node("a", "from elsewhere"), session="theirs")
        other.one(node("b", "our own"))
        other.clock.step(48 * HOUR_US)
        adopted = import_log(other.store, OPERATOR, scribe.export, clock=other.clock)
        assert (adopted.exact, adopted.events) == (False, 1)
        (taken,) = other.store.events(OPERATOR, session="theirs", after_seq=0, limit=10)
        assert (taken.hash, taken.citation, taken.recorded_at) == (event.hash, event.citation, event.recorded_at)
        assert (taken.pos, taken.known_at) == (2, other.clock.now_us())
        at = event.recorded_at
        assert other.texts("a", valid_at=at) == {"a": "from elsewhere"}
        assert other.texts("a", valid_at=at, known_at=taken.known_at - 1) == {}
        assert verify(other.store, OPERATOR).problem is None
        assert import_log(other.store, OPERATOR, scribe.export, clock=other.clock).events == 0

    def test_a_session_that_went_another_way_is_a_conflict(self, scribe: Scribe, other: Scribe) -> None:
        scribe.one(node("a", "here"))
        other.one(node("a", "there"))
        with pytest.raises(Conflict):
            import_log(other.store, OPERATOR, scribe.export, clock=other.clock)
        assert other.texts("a") == {"a": "there"}

    def test_damaged_and_foreign_files_are_refused_whole(self, scribe: Scribe, other: Scribe) -> None:
        write_a_bit_of_everything(scribe)
        lines = scribe.export()
        damaged = [*lines[:-2], lines[-2].replace(b"never closed", b"newer closed"), lines[-1]]
        assert damaged != lines
        for bad in (damaged, lines[:-1], [*lines, lines[-1]], lines[:5] + lines[6:]):
            with pytest.raises(Corrupt):
                import_log(other.store, OPERATOR, partial(list, bad), clock=other.clock)
        with pytest.raises(Invalid):
            import_log(other.store, STRANGER, lambda: lines, clock=other.clock)
        assert other.store.head(OPERATOR).pos == 0
