"""Writing one fact: what is refused, what is said of it, requests that are repeated, and writers at once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import weft
from tests.places import Place
from tests.writing.told_facts import NOW, holding
from weft.core.errors import Invalid
from weft.core.types import When
from weft.testing.clock import ManualClock


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"subject": "..."}, "letter or digit"),
        ({"predicate": "?!"}, "letter or digit"),
        ({"object": "  "}, "a value"),
        ({"object": ""}, "object"),
        ({"valid_from": "2026-02-30"}, "valid_from"),
        ({"valid_to": "someday"}, "valid_to"),
        ({"valid_from": "2026", "valid_to": "2025"}, "ends before it begins"),
        ({"valid_from": "2026", "valid_to": "2026"}, "ends before it begins"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"cardinality": "several"}, "cardinality"),
        ({"subject_kind": "Feedback"}, "records itself"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"importance": 11.0}, "importance"),
    ],
)
def test_what_is_no_fact_is_refused(memory: weft.Memory, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(weft.Invalid, match=complaint):
        memory.add_fact(**{"subject": "Mira", "predicate": "role", "object": "lead", **given})
    assert memory.stats().store.events == 0


def test_an_interval_may_not_end_before_now_unless_it_says_when_it_began(memory: weft.Memory) -> None:
    with pytest.raises(weft.Invalid, match="end before it begins"):
        memory.add_fact("Mira", "role", "lead", valid_to="2020")


def test_a_subject_that_several_share_must_be_told_apart(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "status", "at home", subject_kind="Person")
    memory.add_fact("Mira", "status", "in dock", subject_kind="Product")
    with pytest.raises(weft.Invalid, match="matches 2 nodes") as caught:
        memory.add_fact("mira", "status", "gone")
    assert "person:mira" in caught.value.hint
    assert "product:mira" in caught.value.hint
    with pytest.raises(weft.NotFound, match="no thing"):
        memory.add_fact("Mira", "status", "gone", subject_entity="nobody of that name")
    assert memory.add_fact("Mira", "status", "gone", subject_entity="product:mira").status == "superseded"


def test_a_fact_never_names_a_thing_to_those_who_may_not_see_it(place: Place) -> None:
    inside = place.open()
    inside.add_fact("Project Heron", "status", "secret")
    with pytest.raises(weft.Invalid, match="some who may see the fact may not see") as caught:
        inside.add_fact("it", "status", "public now", subject_entity="entity:project heron", scope="public")
    assert "admin" in caught.value.hint
    outside = place.open(scopes="public")
    assert outside.add_fact("Project Heron", "status", "a bird").status == "saved"
    assert holding(outside, NOW) == ["a bird"]


def test_one_that_takes_no_moment_says_so(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2020", valid_to="9999")
    memory.add_fact("Mira", "lives_in", "Rome", valid_from="9999")
    told = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2021")
    assert told.status == "saved"
    assert any("at no time" in note for note in told.notes)
    assert holding(memory, NOW) == ["Tokyo"]


def test_a_setting_adds_to_the_registry_but_no_projects_file_does(place: Place, clock: ManualClock) -> None:
    memory = place.open(single_valued="mood, favourite colour")
    memory.add_fact("Mira", "Favourite Colour", "teal", valid_from="2024")
    assert memory.add_fact("Mira", "favourite_colour", "ochre", valid_from="2025").status == "superseded"
    (place.root / "weft.toml").write_text('single_valued = ["likes"]\n')
    with pytest.raises(weft.Misconfigured, match="may not set single_valued"):
        place.open()


def test_a_repeated_request_is_written_once_whatever_it_became(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    requests = [
        ("r-finer", {"object": "Paris, France", "valid_from": "2021"}),
        ("r-same", {"object": "paris"}),
        ("r-unsure", {"object": "Rome", "confidence": 0.1}),
        ("r-other", {"object": "Oslo", "valid_from": "2023"}),
    ]
    for request_id, given in requests:
        clock.step()
        first = memory.add_fact("Mira", "lives_in", request_id=request_id, **given)  # type: ignore[arg-type]
        events = memory.stats().store.events
        clock.step()
        again = memory.add_fact("Mira", "lives_in", request_id=request_id, **given)  # type: ignore[arg-type]
        assert (again.status, again.id) == ("duplicate_skip", first.id), request_id
        assert memory.stats().store.events == events, request_id
    with pytest.raises(weft.Conflict):
        memory.add_fact("Mira", "lives_in", "Bergen", request_id="r-other")


@pytest.mark.parametrize("stands", [None, "Oslo", "Oslo, Norway", "Norway", "Rome"])
@pytest.mark.parametrize("other", [{"valid_from": "2022"}, {"valid_to": "2030"}, {"object": "Norway"}])
def test_a_request_id_is_not_used_for_another_time_or_value(
    memory: weft.Memory, stands: str | None, other: dict[str, str]
) -> None:
    if stands is not None:
        memory.add_fact("Ana", "lives_in", stands, valid_from="2020")
    first = {"subject": "Ana", "predicate": "lives_in", "object": "Oslo, Norway", "request_id": "f"}
    memory.add_fact(**first)  # type: ignore[arg-type]
    assert memory.add_fact(**first).status == "duplicate_skip"  # type: ignore[arg-type]
    with pytest.raises(weft.Conflict, match="used for something else"):
        memory.add_fact(**{**first, **other})  # type: ignore[arg-type]


def test_what_a_write_may_say_is_kept_with_the_fact(memory: weft.Memory) -> None:
    told = memory.add_fact(
        "Mira", "role", "lead", confidence=0.8, keywords=["staff"], importance=2.0, purpose="review", expires_at="2030"
    )
    node = memory.show(told.id).node
    assert node is not None
    assert node.props["confidence"] == 0.8
    assert (node.props["keywords"], node.props["importance"], node.props["purpose"]) == (["staff"], 2.0, "review")
    assert node.props["expires_at"] == "2030-01-01T00:00:00.000000Z"


def test_the_same_again_strengthens_what_is_there(memory: weft.Memory) -> None:
    first = memory.add_fact("Mira", "role", "lead", valid_from="2020")
    memory.add_fact("Mira", "role", "LEAD")
    steps = memory.ctx.store.neighbours(memory.ctx.viewer, When(), [first.id], rels=("ABOUT",), direction="in")
    assert [step.node.props["outcome"] for step in steps] == ["surfaced"]


def test_of_writers_at_once_each_ends_the_one_before(place: Place) -> None:
    """Decided under the fence: two that saw the same value standing do not both end it."""
    memories = [place.open(session=f"s{number}") for number in range(4)]
    answers: list[Any] = []

    def tell_some(number: int) -> None:
        answers.extend(memories[number].add_fact("Mira", "status", f"step {number} {each}") for each in range(6))

    threads = [threading.Thread(target=tell_some, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 24
    ended = [older for answer in answers for older in answer.supersedes]
    assert len(ended) == len(set(ended)) == 23
    (last,) = {answer.id for answer in answers} - set(ended)
    (standing,) = holding(memories[0], NOW)
    node = memories[0].show(last).node
    assert node is not None
    assert node.props["object"] == standing


@pytest.mark.parametrize(
    ("operation", "given"),
    [
        ("remember", {"text": "The coupon holds."}),
        ("add_fact", {"subject": "Mira", "predicate": "role", "object": "lead"}),
        ("save_decision", {"title": "Use SQLite", "rationale": "It is one file."}),
        ("add_event", {"description": "The gate opens.", "occurred_at": "2031"}),
    ],
)
def test_what_would_have_expired_already_is_refused(memory: weft.Memory, operation: str, given: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="expires_at is in the past: '2020'") as refused:
        memory.call(operation, **given, expires_at="2020")
    assert "valid_from" in refused.value.hint
    assert memory.call("recent").nodes == ()
    assert memory.call(operation, **given, expires_at="2030").status == "saved"


def test_what_happened_long_ago_may_have_expired_since(memory: weft.Memory) -> None:
    assert memory.remember("The coupon holds.", occurred_at="2019", expires_at="2020").status == "saved"
