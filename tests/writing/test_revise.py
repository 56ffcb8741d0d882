"""Editing, correcting, invalidating, forgetting: new versions, and nothing lost."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from tests.writing.lives import lives, props_of, text_of
from weft.core.clock import to_iso
from weft.testing.clock import DAY_US, ManualClock

# ---- editing


def test_an_edit_is_a_new_version_of_the_same_node(memory: weft.Memory, clock: ManualClock) -> None:
    kept = memory.remember("The fery sails at seven.", name="Ferry", props={"dock": "north"})
    known = to_iso(clock.now_us())
    clock.step(DAY_US)
    done = memory.call(
        "memory_edit", id=kept.id, text="The ferry sails at seven.", props={"dock": None, "deck": 2}, reason="typo"
    )
    assert (done.status, done.id) == ("saved", kept.id)
    assert text_of(memory, kept.id) == "The ferry sails at seven."
    assert props_of(memory, kept.id) == {"deck": 2}
    assert text_of(memory, kept.id, known_at=known) == "The fery sails at seven."
    assert text_of(memory, kept.id, as_of=known) == "The ferry sails at seven.", "what was true did not change"
    assert [version.text[:8] for version in memory.show(kept.id).history] == ["The fery", "The ferr"]
    event = memory.cite(done.citation).event
    assert event is not None
    assert (event.payload["reason"], event.caused_by) == ("typo", (kept.citation,))
    assert [hit.node.id for hit in memory.recall("ferry sails").hits] == [kept.id]
    assert memory.call("rebuild").equal


def test_an_edit_that_changes_nothing_writes_nothing(memory: weft.Memory) -> None:
    kept = memory.remember("words", props={"a": 1})
    for same in ({"text": "words"}, {"props": {"a": 1}}, {"props": {"b": None}}, {"name": ""}):
        assert memory.call("memory_edit", id=kept.id, **same).status == "duplicate_skip"
    assert memory.stats().store.events == 1


def test_a_repeated_edit_is_written_once(memory: weft.Memory) -> None:
    kept = memory.remember("words")
    for status in ("saved", "duplicate_skip"):
        assert memory.call("memory_edit", id=kept.id, text="other words", request_id="r1").status == status
    assert memory.stats().store.events == 2


def test_what_has_ended_keeps_its_end_when_it_is_edited(memory: weft.Memory, clock: ManualClock) -> None:
    kept = memory.remember("The sale is on.", valid_from="2025-03-01", valid_to="2025-04-01")
    memory.call("memory_edit", id=kept.id, text="The spring sale is on.")
    assert text_of(memory, kept.id, as_of="2025-03-15") == "The spring sale is on."
    assert memory.show(kept.id).node is None
    gone = memory.remember("The bridge is open.", valid_from="2024")
    memory.call("memory_invalidate", id=gone.id, at="2025")
    memory.call("memory_edit", id=gone.id, text="The old bridge is open.")
    assert text_of(memory, gone.id, as_of="2024-06") == "The old bridge is open."
    assert memory.show(gone.id).node is None, "an edit does not bring back what was ended"


@pytest.mark.parametrize(
    ("given", "error", "complaint"),
    [
        ({"id": "nothing there", "text": "x"}, weft.NotFound, "no node"),
        ({"id": "KEPT"}, weft.Invalid, "nothing to change"),
        ({"id": "KEPT", "text": "  "}, weft.Invalid, "empty"),
        ({"id": "KEPT", "text": ""}, weft.Invalid, "text"),
        ({"id": "FACT", "text": "x"}, weft.Invalid, "cannot be edited"),
        ({"id": "FACT", "props": {"object": "x"}}, weft.Invalid, "cannot be edited"),
        ({"id": "RECORD", "text": "x"}, weft.Invalid, "records itself"),
        ({"id": "SECTION", "text": "x"}, weft.Invalid, "read from a source"),
    ],
)
def test_edits_that_cannot_be_are_refused(
    memory: weft.Memory, place: Place, given: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    (place.root / "notes.md").write_text("# Docks\nThey are wet.\n")
    memory.ingest(place.root / "notes.md")
    kept, fact = memory.remember("words"), memory.add_fact("Mira", "role", "lead")
    record = memory.call("memory_feedback", id=kept.id, outcome="surfaced")
    section = memory.recall("docks wet", kinds=["Section"]).hits[0].node.id
    names = {"KEPT": kept.id, "FACT": fact.id, "RECORD": record.id, "SECTION": section}
    events = memory.stats().store.events
    with pytest.raises(error, match=complaint) as caught:
        memory.call("memory_edit", **{**given, "id": names.get(given["id"], given["id"])})
    assert getattr(caught.value, "hint", "")
    assert memory.stats().store.events == events


# ---- correcting


def test_a_correction_holds_for_all_the_time(memory: weft.Memory, clock: ManualClock) -> None:
    fact = memory.add_fact("Mira", "lives_in", "Bergen", valid_from="2020")
    known = to_iso(clock.now_us())
    clock.step()
    done = memory.call("correct", id=fact.citation, text="Oslo", reason="misheard")
    assert done.id == fact.id
    assert lives(memory, as_of="2021") == ["Oslo"]
    assert lives(memory, as_of="2021", known_at=known) == ["Bergen"]
    assert text_of(memory, fact.id) == "Mira lives in Oslo"
    event = memory.cite(done.citation).event
    assert event is not None
    assert event.payload["reason"] == "misheard"
    assert memory.add_fact("Mira", "lives_in", "Oslo").status == "duplicate_skip"
    assert memory.add_fact("Mira", "lives_in", "Rome").supersedes == (fact.id,)


def test_a_past_fact_is_corrected_where_it_held(memory: weft.Memory) -> None:
    old = memory.add_fact("Mira", "lives_in", "Bergen", valid_from="2020")
    memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2023")
    memory.call("correct", id=old.id, text="Stavanger")
    assert [lives(memory, as_of=at) for at in ("2019", "2021", "2024")] == [[], ["Stavanger"], ["Oslo"]]
    memory.add_fact("Mira", "lives_in", "Rome", valid_from="2022")
    assert [lives(memory, as_of=at) for at in ("2021", "2022-06", "2024")] == [["Stavanger"], ["Rome"], ["Oslo"]]


def test_a_correction_inside_an_excursion_leaves_the_rest(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    trip = memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2022", valid_to="2023")
    memory.call("correct", id=trip.id, text="Kyoto")
    assert [lives(memory, as_of=at) for at in ("2021", "2022-06", "2024")] == [["Paris"], ["Kyoto"], ["Paris"]]


def test_a_correction_reaches_both_sides_of_an_excursion(memory: weft.Memory) -> None:
    home = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2022", valid_to="2023")
    memory.call("correct", id=home.id, text="Lyon")
    assert [lives(memory, as_of=at) for at in ("2021", "2022-06", "2024")] == [["Lyon"], ["Tokyo"], ["Lyon"]]
    memory.add_fact("Mira", "lives_in", "Rome", valid_from="2021")
    found = [lives(memory, as_of=at) for at in ("2020-06", "2021-06", "2022-06", "2024")]
    assert found == [["Lyon"], ["Rome"], ["Tokyo"], ["Rome"]], "it gives way as it did before it was corrected"


def test_a_correction_fills_no_gap(memory: weft.Memory) -> None:
    home = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    trip = memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2022", valid_to="2024")
    memory.call("memory_invalidate", id=trip.id, at="2023")
    memory.call("correct", id=home.id, text="Lyon")
    found = [lives(memory, as_of=at) for at in ("2021", "2022-06", "2023-06", "2025")]
    assert found == [["Lyon"], ["Tokyo"], [], ["Lyon"]]
    memory.call("forget", id=trip.id)
    memory.call("correct", id=home.id, text="Nice")
    assert [lives(memory, as_of=at) for at in ("2021", "2022-06", "2025")] == [["Nice"], [], ["Nice"]]
    memory.call("forget", id=trip.id, undo=True)
    assert lives(memory, as_of="2022-06") == ["Tokyo"]


def test_words_are_corrected_too(memory: weft.Memory) -> None:
    kept = memory.remember("The key is under the mat.")
    assert memory.call("correct", id=kept.id, text="The key is with Ida.").status == "saved"
    assert memory.call("correct", id=kept.id, text="The key is with Ida.").status == "duplicate_skip"
    assert text_of(memory, kept.id) == "The key is with Ida."
    with pytest.raises(weft.Invalid):
        memory.call("correct", id=kept.id, text=" ")


# ---- invalidating and forgetting


def test_what_is_invalidated_still_answers_about_the_past(memory: weft.Memory, clock: ManualClock) -> None:
    kept = memory.remember("The bridge is open.", valid_from="2024")
    done = memory.call("memory_invalidate", id=kept.id, at="2025", reason="flood")
    assert done.status == "saved"
    assert memory.recall("bridge").hits == ()
    assert text_of(memory, kept.id, as_of="2024-06") == "The bridge is open."
    again = memory.call("memory_invalidate", id=kept.id)
    assert again.status == "duplicate_skip"
    assert "2025-01-01" in again.notes[0]
    earlier = memory.call("memory_invalidate", id=kept.id, at="2024-03")
    assert earlier.status == "saved"
    assert text_of(memory, kept.id, as_of="2024-02") == "The bridge is open."
    assert memory.show(kept.id, as_of="2024-06").node is None


def test_an_invalidated_fact_leaves_its_place_free(memory: weft.Memory) -> None:
    fact = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.call("memory_invalidate", id=fact.id, at="2024")
    assert lives(memory) == []
    assert memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2025").status == "saved"
    assert [lives(memory, as_of=at) for at in ("2021", "2024-06", "2025-06")] == [["Paris"], [], ["Oslo"]]


def test_what_comes_back_later_is_ended_there_too(memory: weft.Memory) -> None:
    home = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2027", valid_to="2028")
    assert memory.call("memory_invalidate", id=home.id, at="2027").status == "saved"
    assert [lives(memory, as_of=at) for at in ("2026", "2027-06", "2029")] == [["Paris"], ["Tokyo"], []]
    assert memory.call("memory_invalidate", id=home.id, at="2028").status == "duplicate_skip"


def test_what_is_forgotten_is_gone_at_every_moment_and_comes_back(memory: weft.Memory, clock: ManualClock) -> None:
    kept = memory.remember("Ida's birthday is a surprise.")
    known = to_iso(clock.now_us())
    clock.step()
    done = memory.call("forget", id=kept.citation, reason="she reads this")
    assert done.id == kept.id
    assert memory.recall("birthday").hits == ()
    assert memory.recall("birthday", known_at=known).hits == ()
    for name, more in (("memory_edit", {"text": "x"}), ("forget", {}), ("pin", {}), ("memory_invalidate", {})):
        with pytest.raises(weft.NotFound, match="it may be deleted already"):
            memory.call(name, id=kept.id, **more)
    assert memory.call("forget", id=kept.id, undo=True).status == "saved"
    assert [hit.node.id for hit in memory.recall("birthday").hits] == [kept.id]
    assert memory.call("forget", id=kept.id, undo=True).status == "duplicate_skip"
    with pytest.raises(weft.NotFound):
        memory.call("forget", id="nothing", undo=True)


def test_a_repeated_forgetting_is_written_once(memory: weft.Memory) -> None:
    kept = memory.remember("words")
    first = memory.call("forget", id=kept.id, request_id="r1")
    again = memory.call("forget", id=kept.id, request_id="r1")
    assert (first.status, again.status, again.citation) == ("saved", "duplicate_skip", first.citation)


def test_forgetting_is_undone_by_the_citation_of_either_event(memory: weft.Memory) -> None:
    kept = memory.remember("The gull sleeps on the mast.")
    for cited in (lambda gone: kept.citation, lambda gone: gone.citation):
        gone = memory.call("forget", id=kept.citation)
        assert memory.call("forget", id=cited(gone), undo=True).id == kept.id
        assert memory.show(kept.id).node is not None
    again = memory.call("forget", id=kept.citation, undo=True)
    assert again.status == "duplicate_skip"
    with pytest.raises(weft.NotFound, match="nothing that was forgotten"):
        memory.call("forget", id="nobody", undo=True)


def test_a_whole_is_not_forgotten_without_its_parts(memory: weft.Memory, place: Place) -> None:
    (place.root / "notes.md").write_text("# Docks\nThey are wet.\n")
    memory.ingest(place.root / "notes.md")
    with pytest.raises(weft.Invalid, match="removes single memories"):
        memory.call("forget", id="ferry/notes.md")


@pytest.mark.parametrize("operation", ["memory_edit", "correct", "memory_invalidate", "forget", "tag", "pin"])
def test_what_is_not_yours_is_not_there(place: Place, operation: str) -> None:
    inside, outside = place.open(), place.open(scopes="public", agent="guest")
    kept = inside.remember("an internal note")
    more = {"memory_edit": {"text": "x"}, "correct": {"text": "x"}, "tag": {"keywords": ["x"]}}.get(operation, {})
    with pytest.raises((weft.NotFound, weft.Forbidden)):
        outside.call(operation, id=kept.id, **more)
    with pytest.raises((weft.NotFound, weft.Forbidden)):
        outside.call(operation, id=kept.citation, **more)
    inside.call("forget", id=kept.id)
    with pytest.raises((weft.NotFound, weft.Forbidden)):
        outside.call("forget", id=kept.id, undo=True)
    inside.call("forget", id=kept.id, undo=True)
    assert text_of(inside, kept.id) == "an internal note"


def test_moments_that_do_not_exist_are_refused(memory: weft.Memory) -> None:
    kept = memory.remember("words")
    for at in ("2026-02-30", "soon", ""):
        with pytest.raises(weft.Invalid, match="moment"):
            memory.call("memory_invalidate", id=kept.id, at=at)
