"""Which node a reference means: by id, citation, name, alias or exact words, and never by likeness."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from tests.places import Place
from weft.core.errors import Invalid
from weft.core.types import Guard
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.writing.build.references import covers, entity_id, looks_like_id, resolve_reference


def meant(memory: weft.Memory, written: str, **more: object) -> str | None:
    found = resolve_reference(memory.ctx, written, **more)  # type: ignore[arg-type]
    return None if found is None else found.id


def test_by_id_citation_name_alias_and_words(harbour: weft.Memory) -> None:
    mira = harbour.add_entity("Mira Sol", kind="Person", aliases=["Captain"])
    event = harbour.add_event("The mast broke off Skerry.", "2025-01-02", entities=["Mira Sol"])
    for written in (mira.id, mira.citation, "Mira Sol", " mira  SOL. ", "Captain", "captain"):
        assert meant(harbour, written) == mira.id, written
    for written in (event.id, event.citation, "The mast broke off Skerry.", "the mast broke off skerry"):
        assert meant(harbour, written) == event.id, written


def test_nothing_is_picked_because_it_is_alike(harbour: weft.Memory) -> None:
    harbour.add_entity("Mira Sol", kind="Person")
    harbour.add_event("The mast broke off Skerry.", "2025-01-02")
    for written in ("Mira", "Mira Sola", "Sol", "The mast broke", "The mast broke off Skerry twice.", "?!"):
        assert meant(harbour, written) is None, written


def test_a_title_with_an_explanation_is_known_without_it(harbour: weft.Memory) -> None:
    film = harbour.add_entity("The Glass Heron (film)", kind="Product")
    assert meant(harbour, "The Glass Heron") == film.id


def test_what_lies_ahead_can_be_spoken_of(harbour: weft.Memory) -> None:
    event = harbour.add_event("The new quay opens.", "2031-05-01")
    assert any("in the future" in note for note in event.notes)
    assert meant(harbour, "the new quay opens") == meant(harbour, event.id) == event.id


def test_words_so_common_that_they_say_nothing_are_compared_too(harbour: weft.Memory) -> None:
    event = harbour.add_event("It was down again.", "2025-01-02")
    assert meant(harbour, "it was down again", kinds=("Event",)) == event.id


def test_several_are_an_error_that_names_them(harbour: weft.Memory) -> None:
    for number in range(7):
        harbour.memory_write("Learning", f"lesson {number}", name="Lesson")
    with pytest.raises(Invalid, match="matches 7 nodes") as caught:
        meant(harbour, "lesson")
    assert caught.value.hint.count("Learning: Lesson") == 5
    assert "and 2 more" in caught.value.hint
    again = [harbour.add_event("The pump failed.", day) for day in ("2025-01-01", "2025-01-02")]
    with pytest.raises(Invalid, match="matches 2 nodes") as caught:
        meant(harbour, "The pump failed.")
    assert all(each.id in caught.value.hint for each in again)


def test_kinds_narrow_what_a_name_means(harbour: weft.Memory) -> None:
    service = harbour.add_entity("Lantern", kind="Service")
    concept = harbour.add_concept("Lantern", description="a light that is carried")
    with pytest.raises(Invalid, match="matches 2"):
        meant(harbour, "Lantern")
    assert meant(harbour, "Lantern", kinds={"Service"}) == service.id
    assert meant(harbour, "Lantern", kinds={"Concept"}) == concept.id
    with pytest.raises(Invalid, match="is a Service") as caught:
        meant(harbour, service.id, kinds={"Concept"})
    assert "Concept" in caught.value.hint


def test_blank_and_nul_are_no_reference(harbour: weft.Memory) -> None:
    for written in ("", "  ", "a\x00b"):
        with pytest.raises(Invalid) as caught:
            meant(harbour, written)
        assert caught.value.hint


def test_what_may_not_be_seen_is_not_there(place: Place) -> None:
    admin = place.open()
    secret = admin.add_entity("Mira Sol", kind="Person", aliases=["Captain"])
    told = admin.add_event("The mast broke off Skerry.", "2025-01-02")
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    for written in (secret.id, secret.citation, "Mira Sol", "Captain", told.id, "The mast broke off Skerry."):
        assert meant(guest, written) is None, written


def test_names_are_of_this_project_and_of_none_ids_of_any(place: Place, tmp_path: Path) -> None:
    (tmp_path / "barge").mkdir()
    here, there = place.open(), place.open(tmp_path / "barge")
    event = there.add_event("The mast broke off Skerry.", "2025-01-02", entities=["Mira Sol"])
    assert meant(here, "The mast broke off Skerry.") is None
    assert meant(here, event.id) == event.id
    assert meant(here, "Mira Sol") == "entity:mira sol", "people and things belong to no one project"
    assert meant(here, "the mast broke off skerry", projects=("barge",)) == event.id


def test_what_no_longer_holds_is_known_by_its_id_only(harbour: weft.Memory) -> None:
    lesson = harbour.memory_write("Learning", "Reef early.", name="Reefing")
    ended = graph.Ended(nodes=(lesson.id,))
    harbour.ctx.append([Draft(kind="graph.ended", payload=ended)])
    assert meant(harbour, "Reefing") is None
    assert meant(harbour, lesson.id) == lesson.id


@pytest.mark.parametrize(
    "written",
    [
        "01a1e2f1-496e-7834-bd37-d7858ab997ca",
        "receipt:12",
        "weft://main/events/3",
        "harbour/src/a.py::Mast::break",
        "harbour/talk#00003",
        "person:mira",
        "entity@public/mira",
    ],
)
def test_what_is_written_like_an_id(written: str) -> None:
    assert looks_like_id(written)


@pytest.mark.parametrize(
    "written", ["Mira", "C#", "issue #42", "std::vector of things", "Note: mind the gap", "a@b.se"]
)
def test_what_is_written_like_a_name(written: str) -> None:
    assert not looks_like_id(written)


def test_ids_of_things_tell_rights_apart_and_no_projects() -> None:
    guards = [
        Guard(),
        Guard(scope="public"),
        Guard(scope="public", agents=("ann",)),
        Guard(sensitive=True),
        Guard(agents=("ann", "bob")),
    ]
    ids = [entity_id("Person", "mira", guard) for guard in guards]
    assert ids[0] == "person:mira"
    assert len(set(ids)) == len(ids)
    assert entity_id("Person", "mira", Guard(project="ferry")) == "person:mira"


@pytest.mark.parametrize(
    ("seen", "by", "all_may"),
    [
        (Guard(scope="public"), Guard(scope="admin"), True),
        (Guard(scope="admin"), Guard(scope="public"), False),
        (Guard(scope="public", sensitive=True), Guard(scope="public"), False),
        (Guard(scope="public"), Guard(scope="public", sensitive=True), True),
        (Guard(scope="public"), Guard(scope="public", agents=("ann",)), False),
        (Guard(scope="public", agents=("ann", "bob")), Guard(scope="public", agents=("ann",)), True),
    ],
)
def test_who_sees_the_one_sees_the_other(seen: Guard, by: Guard, all_may: bool) -> None:
    assert covers(seen, by) == all_may
