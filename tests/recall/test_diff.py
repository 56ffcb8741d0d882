"""What changed since a moment, a transaction or a git commit."""

from __future__ import annotations

import pytest

import weft
from tests.places import Place
from tests.recall.short_answers import SHA, note_commit
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.clock import DAY_US, ManualClock


def test_diff_since_a_transaction_a_moment_and_a_git_commit(memory: weft.Memory, clock: ManualClock) -> None:
    note_commit(memory, "file:a", SHA)
    first = memory.diff()
    assert first.since == "the beginning"
    assert first.added == {"File": ("file:a",)}
    tx = first.transactions[0]
    assert (tx.kind, tx.git_commit, tx.files, tx.counts["nodes"]) == ("incremental", SHA, ("a.py",), 1)
    moment = to_iso(clock.now_us())
    clock.step()
    note_commit(memory, "file:a", "1" * 40, text="code, changed")
    later = memory.remember("a memory")
    memory.add_fact("Mira", "role", "lead", valid_from="2025")
    for since in (tx.id, moment, SHA, SHA[:7]):
        found = memory.diff(since)
        assert found.modified == {"File": ("file:a",)}, since
        assert later.id in found.added["Memory"]
        assert found.added["Entity"] == ("entity:mira",)
        assert any("-INVOLVES-> entity:mira" in edge for edge in found.edges_added)
        assert len(found.transactions) == 3
    now = memory.diff(to_iso(clock.now_us() + 60_000_000))
    assert (now.added, now.modified, now.transactions) == ({}, {}, ())


def test_diff_shows_what_is_gone(memory: weft.Memory, clock: ManualClock) -> None:
    note_commit(memory, "file:a", SHA)
    clock.step()
    ended = graph.Ended(nodes=("file:a",))
    memory.ctx.append([Draft(kind="graph.ended", payload=ended)])
    assert memory.diff(SHA).removed == {"File": ("file:a",)}
    assert memory.diff().added == {}, "come and gone since the beginning is no change"


def test_diff_by_agent(place: Place, clock: ManualClock) -> None:
    ann = place.open(agent="ann", session="ann")
    bob = place.open(agent="bob", session="bob")
    mine = ann.remember("by ann")
    clock.step()
    theirs = bob.remember("by bob")
    assert ann.diff(agent="ann").added == {"Memory": (mine.id,)}
    assert ann.diff(agent="bob").added == {"Memory": (theirs.id,)}
    assert [tx.agent for tx in ann.diff(agent="bob").transactions] == ["bob"]
    assert ann.diff(agent="nobody").added == {}


def test_diff_takes_relative_times(memory: weft.Memory, clock: ManualClock) -> None:
    old = memory.remember("the old one")
    clock.step(30 * DAY_US)
    new = memory.remember("the new one")
    assert memory.diff("last week").added["Memory"] == (new.id,)
    assert memory.diff("two months ago").added["Memory"] == (old.id, new.id)


def test_diff_says_when_there_is_more(memory: weft.Memory) -> None:
    for number in range(4):
        memory.remember(f"note {number}")
    found = memory.diff(limit=3)
    assert len(found.added["Memory"]) == 3
    assert "--limit" in found.notes[0]
    assert memory.diff(limit=4).notes == ()


@pytest.mark.parametrize("since", ["tx-0000000000000000", "abcdef0", "some day", "2026-02-30"])
def test_diff_since_nothing_known_is_refused(memory: weft.Memory, since: str) -> None:
    with pytest.raises((Invalid, NotFound)) as caught:
        memory.diff(since)
    assert caught.value.hint
