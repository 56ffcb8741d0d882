"""Facts and the two clocks; things shown by id, name and citation; what is recent."""

from __future__ import annotations

import pytest

import weft
from tests.recall.short_answers import SHA, note_commit, texts
from weft.core.clock import to_iso
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import DAY_US, ManualClock, day

# ---- facts and the two clocks


def test_a_newer_value_ends_the_older_one_and_both_stay_askable(memory: weft.Memory, clock: ManualClock) -> None:
    older = memory.add_fact("Mira", "role", "engineer", valid_from="2024-01-01")
    known = to_iso(clock.now_us())
    clock.step(DAY_US)
    newer = memory.add_fact("Mira", "role", "lead", valid_from="2025-06-01")
    assert (newer.status, newer.supersedes) == ("superseded", (older.id,))
    ask = {"kinds": ["Fact"]}
    assert texts(memory.recall("Mira role", **ask)) == ["Mira role lead"]
    assert texts(memory.recall("Mira role", **ask, as_of="2024-12-31")) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, as_of="2025-06-01")) == ["Mira role lead"]
    assert texts(memory.recall("Mira role", **ask, as_of="2023")) == []
    assert texts(memory.recall("Mira role", **ask, known_at=known)) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, known_at=known, as_of="2025-07")) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, known_at="2020")) == []


def test_a_backdated_fact_slips_in_between(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2020")
    memory.add_fact("Mira", "role", "head", valid_from="2024")
    memory.add_fact("Mira", "role", "lead", valid_from="2022")
    found = [texts(memory.recall("Mira role", kinds=["Fact"], as_of=year)) for year in ("2021", "2023", "2025")]
    assert found == [["Mira role engineer"], ["Mira role lead"], ["Mira role head"]]


def test_an_explicit_interval_is_an_exception(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2022", valid_to="2023")
    found = [texts(memory.recall("Mira lives", kinds=["Fact"], as_of=at))[0][-5:] for at in ("2021", "2022-06", "2024")]
    assert found == ["Paris", "Tokyo", "Paris"]


def test_many_valued_properties_keep_every_value(memory: weft.Memory) -> None:
    for tea in ("oolong", "sencha"):
        assert memory.add_fact("Mira", "likes", tea).status == "saved"
    assert {text.split()[-1] for text in texts(memory.recall("Mira likes", kinds=["Fact"]))} == {"oolong", "sencha"}
    memory.add_fact("Mira", "mood", "calm", cardinality="one")
    assert memory.add_fact("Mira", "mood", "merry", cardinality="one").status == "superseded"
    memory.add_fact("Mira", "role", "lead", cardinality="many")
    assert memory.add_fact("Mira", "role", "mentor", cardinality="many").status == "saved"


def test_spelling_does_not_make_two_things(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    assert memory.add_fact(" MIRA. ", "Role", "lead", valid_from="2025").status == "superseded"
    assert memory.stats().store.nodes == 2, "one person, one fact that holds"


@pytest.mark.parametrize(("subject", "predicate"), [("...", "role"), ("Mira", "?"), ("", "role")])
def test_a_fact_needs_a_subject_and_a_predicate(memory: weft.Memory, subject: str, predicate: str) -> None:
    with pytest.raises(Invalid):
        memory.add_fact(subject, predicate, "x")


def test_an_answer_tells_the_moment_it_stands_for(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("words")
    clock.step(DAY_US)
    answer = memory.recall("words")
    assert (answer.valid_at, answer.known_at) == (to_iso(day(1)), to_iso(day(0)))
    assert memory.recall("words", as_of="2026-01-01T12:00:00Z").valid_at == "2026-01-01T12:00:00.000000Z"


def test_occurred_at_says_since_when_it_holds(memory: weft.Memory) -> None:
    memory.remember("the outage", occurred_at="2025-03-01")
    assert texts(memory.recall("outage", as_of="2025-04")) == ["the outage"]
    assert texts(memory.recall("outage", as_of="2025-02")) == []


def test_a_transaction_or_a_git_commit_stands_for_its_time(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("an early note")
    clock.step()
    note_commit(memory, "file:a", SHA)
    tx = memory.diff().transactions[0].id
    clock.step()
    memory.remember("a late note")
    for moment in (tx, SHA, SHA[:8]):
        assert texts(memory.recall("note", known_at=moment)) == ["an early note"]
    for missing in ("tx-0000000000000000", "1234567"):
        with pytest.raises(NotFound):
            memory.recall("x", known_at=missing)


# ---- show


def test_show_by_id_by_name_and_by_citation(memory: weft.Memory, clock: ManualClock) -> None:
    fact = memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    clock.step()
    memory.add_fact("Mira", "role", "lead", valid_from="2025")
    by_id, by_citation, mira = memory.show(fact.id, as_of="2024-06"), memory.show(fact.citation), memory.show("mira")
    assert by_id.node is not None
    assert by_id.node.text == "Mira role engineer"
    assert by_citation.history == by_id.history
    assert [version.valid_to for version in by_id.history] == [None, to_iso(day(-365))]
    assert by_id.history[0].retired_at is not None
    assert mira.node is not None
    assert mira.node.kind == "Entity"
    assert [(edge.direction, edge.rel, edge.name) for edge in mira.edges] == [("in", "INVOLVES", "Mira role lead")]
    assert ("out", "INVOLVES", "Mira") in [(edge.direction, edge.rel, edge.name) for edge in by_id.edges]
    gone = memory.show(fact.id)
    assert gone.node is None
    assert any("does not hold" in note for note in gone.notes)
    newer = memory.show("weft://operator/events/2")
    assert any(edge.rel == "SUPERSEDES" for edge in newer.edges) or newer.node is not None


def test_show_says_what_it_cannot_tell(memory: weft.Memory) -> None:
    memory.remember("one", name="Twin")
    memory.remember("two", name="twin")
    with pytest.raises(Invalid, match="names 2 nodes") as caught:
        memory.show("Twin")
    assert "give an id" in caught.value.hint
    for missing in ("nobody", "weft://operator/events/99", "weft://nowhere/events/1"):
        with pytest.raises(NotFound):
            memory.show(missing)


# ---- recent, levels, projects


def test_recent_is_newest_first_and_says_when_there_is_nothing(memory: weft.Memory, clock: ManualClock) -> None:
    assert "weft remember" in memory.recent().notes[0]
    for number in range(4):
        memory.remember(f"note {number}")
        clock.step()
    assert [node.text for node in memory.recent(limit=3).nodes] == ["note 3", "note 2", "note 1"]
