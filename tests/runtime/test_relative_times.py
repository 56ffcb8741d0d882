"""Relative times as arguments: dates by the clock of the call, wherever a time may stand."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

import weft
from tests.access.approvals import TEXT, ann, asked, boss, kept
from weft.core.clock import parse_instant
from weft.core.errors import Invalid
from weft.testing.clock import ManualClock

__all__ = ["ann", "boss"]  # fixtures
DAY_US = 86_400_000_000


@pytest.fixture(autouse=True)
def _in_may(clock: ManualClock) -> None:
    clock.step(parse_instant("2026-05-20T10:00:00Z") - clock.now_us())


def began(memory: weft.Memory, name: str) -> str:
    return memory.show(name).node.valid_from[:10]


def test_a_write_and_a_read_take_them(memory: weft.Memory) -> None:
    event = memory.add_event("The ferry ran aground.", "last Friday")
    assert began(memory, event.id) == "2026-05-15"
    assert [hit.node.id for hit in memory.recall("ferry aground", as_of="yesterday").hits] == [event.id]
    assert not memory.recall("ferry aground", as_of="two weeks ago").hits


def test_items_of_a_batch_and_turns_take_them_too(memory: weft.Memory) -> None:
    items = [{"description": "The ferry ran aground.", "occurred_at": "yesterday"}, {"description": "x"}]
    done = memory.call("add_events", items=[*items, {"description": "y", "occurred_at": "someday"}])
    assert done.failed == (1, 2)
    assert began(memory, done.items[0].id) == "2026-05-19"
    turns = [{"speaker": "Mira", "text": "We sail again.", "at": "an hour ago"}, "Ada: At last."]
    said = memory.call("record_turns", session="talk", turns=turns, at="yesterday")
    assert [memory.show(turn.id).node.valid_from[:16] for turn in said.turns] == [
        "2026-05-20T09:00",
        "2026-05-19T00:00",
    ]


def test_a_day_or_month_in_words_is_included_whole(memory: weft.Memory) -> None:
    ferry = memory.add_entity("Petrel", kind="Service").id
    memory.add_event("Petrel ran aground.", "2026-05-19T18:00", entities=[ferry])
    for end, found in (("yesterday", 1), ("this month", 1), ("last month", 0), ("2 days ago", 0)):
        shown = memory.call("temporal_expand", entity_ids=[ferry], end=end)
        assert len([node for node in shown.nodes if node.kind == "Event"]) == found, end


def test_what_names_no_time_is_refused(memory: weft.Memory) -> None:
    for given in ("someday", "since May", "8 May", "in 9999 years"):
        with pytest.raises(Invalid, match="is not a moment in time") as caught:
            memory.add_event("The ferry ran aground.", given)
        assert caught.value.hint


def test_an_approval_is_of_the_caller_s_own_words(boss: weft.Memory, ann: weft.Memory, clock: ManualClock) -> None:
    request = asked(ann, text=TEXT, level="global", valid_from="now")
    clock.step(60_000_000)
    boss.call("approve", id=request.id)
    done = ann.call("remember", text=TEXT, level="global", valid_from="now", governance_token=request.token)
    assert done.status == "saved"
    assert kept(boss) == [TEXT]


def test_dates_and_datetimes_of_python_are_taken(memory: weft.Memory) -> None:
    event = memory.add_event("The ferry ran aground.", date(2026, 5, 15))
    assert began(memory, event.id) == "2026-05-15"
    noon = datetime(2026, 5, 16, 14, tzinfo=timezone(timedelta(hours=2)))
    assert [hit.node.id for hit in memory.recall("ferry aground", as_of=noon).hits] == [event.id]
    assert not memory.recall("ferry aground", as_of=date(2026, 5, 14)).hits
    done = memory.call("add_events", items=[{"description": "The ferry sails again.", "occurred_at": noon}])
    assert memory.show(done.items[0].id).node.valid_from[:16] == "2026-05-16T12:00"
    assert "Finds memories" in (memory.recall.__doc__ or "")
