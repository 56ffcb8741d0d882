"""Two clocks: when something holds, and when weft knew it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from weft.core.errors import Invalid, NotFound
from weft.core.types import Guard, NodeVersion, Viewer, When
from weft.graph.moves import shared_slot
from weft.testing.case import StoreCase
from weft.testing.clock import day
from weft.testing.scribe import Scribe, closed, deleted, edge, edge_ended, ended, node, restored
from weft.testing.viewers import OPERATOR, PUBLIC


def timeline(scribe: Scribe, *ids: str, days: range, known_at: int | None = None) -> list[str]:
    """What holds on each of these days, as text; '-' where nothing does, '+' between two that do at once."""
    found = (scribe.texts(*ids, valid_at=day(each), known_at=known_at) for each in days)
    return ["+".join(texts.values()) or "-" for texts in found]


class ClocksContract(StoreCase):
    """Intervals, backdating, record time, deletion."""

    def test_an_assertion_holds_from_its_beginning_on(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(2)))
        assert timeline(scribe, "a", days=range(5)) == ["-", "-", "one", "one", "one"]
        assert scribe.texts("a", valid_at=day(2) - 1) == {}

    def test_without_a_time_it_holds_from_when_it_happened_or_was_recorded(self, scribe: Scribe) -> None:
        recorded = scribe.one(node("a", "one")).recorded_at
        scribe.one(replace(node("b", "two"), occurred_at=day(-7)))
        assert scribe.texts("a", "b", valid_at=recorded - 1) == {"b": "two"}
        assert scribe.texts("a", "b", valid_at=recorded) == {"a": "one", "b": "two"}
        assert scribe.texts("b", valid_at=day(-7) - 1) == {}

    def test_the_next_assertion_takes_over(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(1)))
        scribe.one(node("a", "two", at=day(3)))
        assert timeline(scribe, "a", days=range(5)) == ["-", "one", "one", "two", "two"]

    def test_a_backdated_assertion_slips_in_between(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(1)))
        known = scribe.one(node("a", "three", at=day(5))).known_at
        scribe.one(node("a", "two", at=day(3)))
        assert timeline(scribe, "a", days=range(7)) == ["-", "one", "one", "two", "two", "three", "three"]
        assert timeline(scribe, "a", days=range(7), known_at=known) == [
            "-",
            "one",
            "one",
            "one",
            "one",
            "three",
            "three",
        ]

    def test_an_explicit_interval_overrides_inside_itself(self, scribe: Scribe) -> None:
        scribe.one(node("a", "base", at=day(0)))
        scribe.one(node("a", "visit", at=day(2), until=day(4)))
        assert timeline(scribe, "a", days=range(6)) == ["base", "base", "visit", "visit", "base", "base"]

    def test_an_open_ended_assertion_goes_round_explicit_intervals(self, scribe: Scribe) -> None:
        scribe.one(node("a", "visit", at=day(2), until=day(4)))
        scribe.one(node("a", "base", at=day(1)))
        assert timeline(scribe, "a", days=range(6)) == ["-", "base", "visit", "visit", "base", "base"]
        scribe.one(node("a", "inner", at=day(3), until=day(5)))
        assert timeline(scribe, "a", days=range(6)) == ["-", "base", "visit", "inner", "inner", "base"]

    def test_ties_go_to_the_later_position(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one", at=day(1)), node("a", "two", at=day(1)))
        scribe.write(node("a", "three", at=day(3), until=day(5)), node("a", "four", at=day(3), until=day(5)))
        assert timeline(scribe, "a", days=range(6)) == ["-", "two", "two", "four", "four", "two"]

    def test_nodes_that_share_a_slot_take_over_from_each_other(self, scribe: Scribe) -> None:
        scribe.one(node("a", "here", slot="place", at=day(1)))
        scribe.one(node("b", "there", slot="place", at=day(3)))
        assert timeline(scribe, "a", "b", days=range(5)) == ["-", "here", "here", "there", "there"]

    def test_all_that_stands_in_a_slot_is_told_in_order(self, scribe: Scribe) -> None:
        def standing(after: int, viewer: Viewer = OPERATOR, limit: int = 9) -> list[tuple[str, int]]:
            slot = shared_slot("place", Guard(scope="public"))
            found = scribe.store.current_in_slot(viewer, slot, after=after, limit=limit)
            assert all(row.retired_at is None for row in found)
            return [(row.text, row.interval.valid_from) for row in found]

        assert standing(day(0)) == []
        scribe.one(node("a", "here", slot="place", at=day(1)))
        scribe.one(node("c", "later", slot="place", at=day(9)))
        scribe.one(node("b", "there", slot="place", at=day(3), until=day(5)))
        scribe.one(node("x", "hidden", slot="place", at=day(4), scope="admin"))
        told = [("here", day(1)), ("there", day(3)), ("here", day(5)), ("later", day(9))]
        assert standing(day(0)) == told
        assert standing(day(3)) == told[1:]
        assert standing(day(0), limit=2) == told[:2]
        assert standing(day(0), PUBLIC) == told
        tx = scribe.open_change(node("d", "not complete", slot="place", at=day(2)))
        assert standing(day(0)) == told
        scribe.one(closed(tx))
        assert ("not complete", day(2)) in standing(day(0))
        scribe.one(deleted("b"))
        assert "there" not in dict(standing(day(0)))

    def test_a_slot_may_carry_the_name_of_a_node(self, scribe: Scribe) -> None:
        scribe.one(node("b", "guest", slot="a", at=day(1)))
        scribe.one(node("a", "alone", at=day(3)))
        scribe.one(node("c", "next guest", slot="a", at=day(4)))
        answers = timeline(scribe, "a", "b", "c", days=range(5))
        assert answers == ["-", "guest", "guest", "alone+guest", "alone+next guest"], "named slots are apart from ids"

    def test_ending_leaves_the_past(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(1)))
        scribe.one(node("a", "two", at=day(4), until=day(6)))
        known = scribe.one(ended("a", at=day(3))).known_at
        assert timeline(scribe, "a", days=range(7)) == ["-", "one", "one", "-", "-", "-", "-"]
        assert timeline(scribe, "a", days=range(7), known_at=known - 1) == [
            "-",
            "one",
            "one",
            "one",
            "two",
            "two",
            "one",
        ]
        scribe.one(node("a", "anew", at=day(5)))
        assert timeline(scribe, "a", days=range(7)) == ["-", "one", "one", "-", "-", "anew", "anew"]

    def test_ending_one_node_of_a_slot_leaves_the_others(self, scribe: Scribe) -> None:
        scribe.one(node("a", "here", slot="place", at=day(0)))
        scribe.one(node("b", "there", slot="place", at=day(2), until=day(4)))
        scribe.one(ended("a", at=day(1)))
        assert timeline(scribe, "a", "b", days=range(6)) == ["here", "-", "there", "there", "-", "-"]

    def test_ended_rows_stay_open_ended(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(1)))
        scribe.one(ended("a", at=day(4)))
        scribe.one(node("a", "two", at=day(2)))
        assert timeline(scribe, "a", days=range(6)) == ["-", "one", "two", "two", "two", "two"]

    def test_answers_at_a_past_record_time_never_change(self, scribe: Scribe) -> None:
        known = scribe.one(node("a", "one", at=day(0))).known_at
        before = timeline(scribe, "a", days=range(6), known_at=known)
        scribe.one(node("a", "two", at=day(2)))
        scribe.one(node("a", "visit", at=day(1), until=day(5)))
        scribe.one(ended("a", at=day(3)))
        assert timeline(scribe, "a", days=range(6), known_at=known) == before == ["one"] * 6
        assert timeline(scribe, "a", days=range(6), known_at=known - 1) == ["-"] * 6

    def test_a_version_row_changes_once_only(self, scribe: Scribe) -> None:
        scribe.one(node("a", "one", at=day(0)))
        (first,) = scribe.store.history(OPERATOR, "a", limit=10)
        event = scribe.one(node("a", "two", at=day(3)))
        rows = {row.row: row for row in scribe.store.history(OPERATOR, "a", limit=10)}
        retired = replace(first, retired_at=event.known_at, retired_pos=event.pos, retired_tx=rows[3].tx)
        assert rows[1] == retired
        copy: NodeVersion = rows[2]
        assert (copy.text, copy.event, copy.born, copy.recorded_at) == ("one", 1, event.pos, event.known_at)
        assert (copy.interval.valid_from, copy.interval.valid_to) == (day(0), day(3))
        assert (copy.interval.asserted_from, copy.interval.asserted_to) == (day(0), None)

    def test_events_of_one_commit_fold_in_order(self, scribe: Scribe) -> None:
        scribe.write(node("a", "one", at=day(0)), node("b", "x"), edge("a", "KNOWS", "b"), ended("a", at=day(2)))
        assert timeline(scribe, "a", days=range(4)) == ["one", "one", "-", "-"]

    def test_an_empty_interval_is_refused(self, scribe: Scribe) -> None:
        scribe.one(node("b"))
        for until in (day(2), day(1)):
            with pytest.raises(Invalid):
                scribe.write(node("a", at=day(2), until=until))
            with pytest.raises(Invalid):
                scribe.write(edge("b", "KNOWS", "b", at=day(2), until=until))
        assert scribe.store.head(OPERATOR).pos == 1

    def test_a_node_keeps_its_kind(self, scribe: Scribe) -> None:
        scribe.one(node("a", kind="Person"))
        with pytest.raises(Invalid, match="Person"):
            scribe.write(node("a", kind="Place"))

    def test_what_is_not_there_cannot_be_joined_ended_or_deleted(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        for draft in (edge("a", "KNOWS", "b"), edge("b", "KNOWS", "a"), ended("b"), deleted("b"), restored("b")):
            with pytest.raises(NotFound):
                scribe.write(draft)
        assert scribe.store.head(OPERATOR).pos == 1

    def test_ids_must_not_hold_the_separator_of_slots(self, scribe: Scribe) -> None:
        scribe.one(node("a"))
        for draft in (node("b\x1fc"), edge("a", "R\x1fR", "a")):
            with pytest.raises(Invalid):
                scribe.write(draft)
        scribe.one(edge("a", "R", "a", slot="a R a"))

    # Edges keep the same two clocks

    def _reached(self, scribe: Scribe, days: range, known_at: int | None = None) -> list[str]:
        moments = (When(valid_at=day(each), known_at=known_at) for each in days)
        return ["+".join(scribe.reached("a", when=when, direction="out")) or "-" for when in moments]

    def test_edges_hold_between_their_times(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-1)), node("b", at=day(-1)))
        scribe.one(edge("a", "KNOWS", "b", at=day(1), until=day(3)))
        known = scribe.one(edge("a", "KNOWS", "b", at=day(5))).known_at
        scribe.one(edge_ended("a", "KNOWS", "b", at=day(6)))
        assert self._reached(scribe, range(8)) == ["-", "b", "b", "-", "-", "b", "-", "-"]
        assert self._reached(scribe, range(8), known) == ["-", "b", "b", "-", "-", "b", "b", "b"]

    def test_edges_that_share_a_slot_take_over_from_each_other(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(-1)), node("b", at=day(-1)), node("c", at=day(-1)))
        scribe.one(edge("a", "LIVES_IN", "b", slot="home", at=day(1)))
        scribe.one(edge("a", "LIVES_IN", "c", slot="home", at=day(3)))
        assert self._reached(scribe, range(5)) == ["-", "b", "b", "c", "c"]

    def test_one_cannot_step_from_or_to_what_does_not_hold(self, scribe: Scribe) -> None:
        scribe.write(node("a", at=day(0)), node("b", at=day(2), until=day(4)))
        scribe.one(edge("a", "KNOWS", "b", at=day(-5)))
        assert self._reached(scribe, range(-1, 5)) == ["-", "-", "-", "b", "b", "-"]
        assert scribe.reached("b", when=When(valid_at=day(1))) == []

    # Deletion is judged by today's state

    def test_deletion_hides_every_moment_and_restoring_shows_it_again(self, scribe: Scribe) -> None:
        scribe.one(node("a", "words", at=day(-3)))
        scribe.one(node("b", at=day(-3)))
        known = scribe.one(edge("b", "KNOWS", "a", at=day(-3))).known_at
        past = When(valid_at=day(-1), known_at=known)
        assert scribe.reached("b", when=past) == ["a"]
        scribe.one(deleted("a"))
        for when in (When(), past):
            assert scribe.store.nodes(OPERATOR, when, ("a",)) == ()
            assert scribe.reached("b", when=when) == []
            assert scribe.search("words", when=when).hits == ()
        assert scribe.store.history(OPERATOR, "a", limit=10) == ()
        scribe.one(restored("a"))
        assert scribe.texts("a") == {"a": "words"}
        assert scribe.reached("b", when=past) == ["a"]
        assert [hit.node.id for hit in scribe.search("words", when=past).hits] == ["a"]
