"""The upkeep of a store: doctor, rebuild, stats, log, backup."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from tests.recall.short_answers import texts
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import DAY_US, ManualClock


def test_doctor_and_rebuild_find_a_sound_store(memory: weft.Memory, place: Place) -> None:
    memory.remember("words")
    memory.add_fact("Mira", "role", "lead")
    diagnosis = memory.doctor()
    assert diagnosis.ok
    names = ["settings", "files", "log", "graph", "text index", "vectors", "clock", "outbox", "audit"]
    assert [check.name for check in diagnosis.checks] == names
    rebuilt = memory.call("rebuild")
    assert rebuilt.equal
    assert rebuilt.events == 2
    assert texts(memory.recall("Mira role", kinds=["Fact"])) == ["Mira role lead"]


def test_doctor_notices_a_clock_that_went_back(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("words")
    clock.step(-DAY_US)
    diagnosis = memory.doctor()
    assert not diagnosis.ok
    broken = [check for check in diagnosis.checks if not check.ok]
    assert [check.name for check in broken] == ["clock"]
    assert "86400 s ahead" in broken[0].detail
    assert broken[0].hint


def test_stats_count_what_may_be_seen(place: Place) -> None:
    memory = place.open()
    memory.remember("one", props={"colour": "blue"})
    memory.remember("two", sensitive=True)
    figures = memory.stats()
    assert (figures.store.nodes, figures.store.events, figures.store.backend) == (1, 3, "sqlite")
    assert [(kind.kind, kind.nodes, kind.props) for kind in figures.kinds] == [("Memory", 1, ("colour",))]
    everything = {kind.kind: kind.nodes for kind in place.open(sensitive="yes").stats().kinds}
    assert everything["Memory"] == 2


def test_the_whole_log_is_counted_for_an_operator(place: Place) -> None:
    memory = place.open()
    memory.add_entity("Ferry")
    memory.add_entity("Quay")
    memory.link_entities("Ferry", "LANDS_AT", "Quay")  # an event that makes no node
    written = memory.log_verify().events
    assert memory.stats().store.events == memory.get_statistics().events == written
    agent = place.open(role="agent")
    assert agent.stats().store.events < written


def test_the_log_is_told_in_order(memory: weft.Memory) -> None:
    for number in range(3):
        memory.remember(f"note {number}")
    latest = memory.call("log_show", limit=2)
    assert [event.pos for event in latest.events] == [2, 3]
    assert latest.events[0].payload["text"] == "note 1"
    assert [event.pos for event in memory.call("log_show", session="operator", after=1).events] == [2, 3]
    with pytest.raises(NotFound):
        memory.call("log_show", session="nobody")
    with pytest.raises(Invalid, match="within a session"):
        memory.call("log_show", after=1)
    head = memory.call("log_head")
    assert (head.pos, [each.session for each in head.sessions]) == (3, ["operator"])
    assert memory.call("log_verify", head=head.digest).problem is None
    memory.remember("one more")
    assert "not at the digest given" in memory.call("log_verify", head=head.digest).problem


def test_a_backup_is_a_store(place: Place, tmp_path: Path) -> None:
    memory = place.open()
    memory.remember("words")
    done = memory.call("backup", path=str(tmp_path / "copy"))
    with weft.open(f"sqlite://{done.path}", directory=place.root, environment={"HOME": str(tmp_path)}) as copy:
        assert texts(copy.recall("words")) == ["words"]
        assert copy.call("log_head").digest == done.digest
        copy.remember("more")
    assert memory.stats().store.events == 1
    with pytest.raises(Invalid, match="exists already"):
        memory.call("backup", path=str(tmp_path / "copy"))


def test_a_store_in_memory_says_that_it_cannot_be_backed_up(tmp_path: Path) -> None:
    with weft.open("memory://", directory=tmp_path, environment={}) as memory:
        memory.remember("words")
        assert texts(memory.recall("words")) == ["words"]
        with pytest.raises(weft.StoreError) as caught:
            memory.call("backup", path=str(tmp_path / "copy"))
        assert "log export" in caught.value.hint
