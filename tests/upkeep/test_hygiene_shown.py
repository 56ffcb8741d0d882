"""Hygiene tells nobody of what is hidden, its lists are bounded, and it measures by stored vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from tests.upkeep.planted import (
    DAY_US,
    LONG,
    found,
    hygiene,
    near_duplicates,
    old_decisions,
    old_patterns,
    same_names,
    stuck_writes,
    told,
)
from tests.writing.noting import note
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.core.errors import Invalid
from weft.core.types import Find, When


def test_a_store_that_takes_no_writes_is_looked_through_all_the_same(memory: weft.Memory, place: Place) -> None:
    near_duplicates(memory)
    with WriteQueue(place.scratch / "store" / ACCOUNTS, "default").turn():
        report = hygiene(memory)
    assert report.last_hygiene_at == ""
    assert any("could not be recorded" in line for line in report.notes)
    assert found(report, "duplicate")
    assert memory.call("pending_list").waiting == (), "that it was done does not wait for later"


def test_an_agent_is_told_of_nothing_that_it_may_not_see(place: Place) -> None:
    owner = place.open()
    place.clock.step(4_000 * DAY_US)
    near_duplicates(owner)
    old_decisions(owner)
    old_patterns(owner)
    same_names(owner)
    guest = place.open(scopes="shared", agent="guest", role="agent")
    before = hygiene(guest)
    assert [each.found for each in before.checks] == [0, 0, 0, 0, 0]
    assert before.nodes == 0
    told(owner, "open1", LONG, scope="shared", days=3)
    told(owner, "open2", f"{LONG}.", scope="shared")
    # What is hidden replaced one of the two: to the guest both still stand.
    told(owner, "secret", "other words", supersedes=("open1",))
    assert found(hygiene(guest), "duplicate") == {("open1", "open2")}
    assert ("open1", "open2") not in found(hygiene(owner, limit=100), "duplicate")


def test_who_is_not_the_operator_hears_of_its_own_writes_only(place: Place) -> None:
    owner, guest = place.open(), place.open(scopes="shared", agent="guest", role="agent")
    note(guest, "first", scope="shared")
    stuck_writes(owner, place)
    assert len(found(hygiene(owner), "write")) == 2
    assert found(hygiene(guest), "write") == set()


def test_lists_are_bounded_and_say_what_is_left_out(memory: weft.Memory) -> None:
    for number in range(40):
        told(memory, f"d{number:02}", f"decision {number}", kind="Decision", days=400 + number)
    for number in range(30):
        told(memory, f"same{number:02}", LONG, days=30 - number)
    report = hygiene(memory, limit=5)
    decisions = report.checks[1]
    assert [finding.ids[0] for finding in decisions.findings] == ["d39", "d38", "d37", "d36", "d35"], "the oldest first"
    assert (decisions.found, decisions.left_out) == (40, 35)
    assert (report.checks[0].found, report.checks[0].left_out) == (29, 24), "each beside the newest, not every two"
    assert {finding.ids[1] for finding in report.checks[0].findings} == {"same29"}


def test_another_project_and_what_is_for_all_are_looked_through_by_name(memory: weft.Memory) -> None:
    told(memory, "here1", LONG, days=3)
    told(memory, "here2", LONG)
    told(memory, "there1", LONG, project="barge", days=3)
    told(memory, "there2", LONG, project="barge")
    told(memory, "all1", LONG, project=None, days=3)
    told(memory, "all2", LONG, project=None)
    assert found(hygiene(memory), "duplicate") == {("here1", "here2")}
    assert found(hygiene(memory, project="barge"), "duplicate") == {("there1", "there2")}
    assert found(hygiene(memory, level="global"), "duplicate") == {("all1", "all2")}
    with pytest.raises(weft.NotFound, match="no project"):
        hygiene(memory, project="atlantis")
    with pytest.raises(Invalid):
        hygiene(memory, project="barge", level="global")


def test_meanings_that_are_nearer_than_the_words_are_found_by_stored_vectors(place: Place) -> None:
    mem = place.open(embedder="builtin")
    first = mem.remember("the worker restarts the queue when memory is low")
    place.clock.step(DAY_US)
    second = mem.remember("the worker quietly restarts the queue when memory is low")
    mem.remember("the worker restarts the queue when memory is not low")
    mem.remember("the worker restarts the queue when disk is low")
    report = hygiene(mem)
    (pair,) = report.checks[0].findings
    assert (pair.ids, pair.measure) == ((first.id, second.id), "meaning")
    assert 0.9 < (pair.similarity or 0) < 1
    assert hygiene(place.open()).checks[0].found == 0, "without an embedder there is no meaning to compare"


def test_a_broken_file_moves_nothing(place: Place, tmp_path: Path) -> None:
    from tests.retrieval.broken_store import rename

    mem = place.open()
    near_duplicates(mem)
    mem.close()
    rename("edge")(tmp_path / "store")
    mem = place.open()
    report = hygiene(mem)
    assert report.status == "failed"
    assert any(each.problem for each in report.checks)
    found_node = mem.ctx.store.find(mem.ctx.viewer, When(), Find(kinds=("Project",)), limit=1).nodes
    assert found_node == ()
