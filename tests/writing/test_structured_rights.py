"""Structured writes and rights, requests that are repeated, and calls that are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

import weft
from tests.places import Place
from tests.writing.written_graph import edges, held
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, WeftError

# ---- rights


def test_what_is_written_for_all_is_not_joined_to_what_few_may_see(place: Place) -> None:
    admin = place.open()
    hidden = admin.add_entity("Odile", kind="Person", description="under investigation")
    event = admin.add_event("Odile opened the gate.", "2025-01-01", entities=["Odile"], scope="public")
    assert event.linked == ("entity@public/odile",)
    assert any(hidden.id in note for note in event.notes)
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    assert edges(guest, event.id) == {("out", "INVOLVES", "entity@public/odile")}
    assert "investigation" not in str(guest.recall("Odile"))
    narrow = admin.add_event("Odile was asked about it.", "2025-01-02", entities=["Odile"])
    assert narrow.linked == (hidden.id,)


def test_references_do_not_tell_of_what_is_hidden(place: Place) -> None:
    admin = place.open()
    hidden = admin.add_entity("Odile", kind="Person")
    event = admin.add_event("Odile opened the gate.", "2025-01-01")
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    assert guest.add_event("Odile left.", "2025-01-01", entities=["Odile"]).linked == ("entity@public/odile",)
    for given in ({"entities": [hidden.id]}, {"events": [event.id]}, {"events": ["Odile opened the gate."]}):
        with pytest.raises(NotFound) as caught:
            guest.add_causal_link("one", "other", **given)
        assert "that you may see" in str(caught.value)
    with pytest.raises(Forbidden):
        guest.add_entity("Odile", scope="admin")


def test_sensitive_writes_are_taken_from_those_who_may_not_read_them(place: Place) -> None:
    plain, entitled = place.open(), place.open(sensitive="true")
    for _ in range(2):
        plain.add_event("Odile was paid.", "2025-01-01", entities=["Odile"], sensitive=True)
        plain.add_entity("Odile", kind="Person", sensitive=True)
        plain.add_concept("bonus", entities=["Odile"], sensitive=True)
    assert plain.recall("Odile paid bonus").status == "empty"
    assert {hit.node.text for hit in entitled.recall("Odile paid").hits} >= {"Odile was paid."}
    first = entitled.add_event("Odile was thanked.", "2025-01-01", entities=["Ada"], sensitive=True)
    assert entitled.add_event("Odile was thanked.", "2025-01-01", entities=["Ada"], sensitive=True).id == first.id


# ---- the same request again


REQUESTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("add_entity", {"name": "Odile", "kind": "Person", "aliases": ["Odie"]}, {"name": "Ada"}),
    (
        "add_event",
        {"description": "It rang.", "occurred_at": "2025", "entities": ["Bell"]},
        {"description": "It fell."},
    ),
    ("add_concept", {"name": "noise", "entities": ["Bell"]}, {"name": "silence"}),
    ("add_causal_link", {"cause": "It rang", "effect": "All woke", "entities": ["Bell"]}, {}),
    ("link_entities", {"source": "Odile", "relation": "RINGS", "target": "Bell"}, {"relation": "OILS"}),
    ("memory_write", {"kind": "Learning", "text": "Bells wake.", "relations": []}, {"text": "Bells sleep."}),
]


@pytest.mark.parametrize(("name", "given", "other"), REQUESTS, ids=[each[0] for each in REQUESTS])
def test_a_repeated_request_is_written_once(
    harbour: weft.Memory, name: str, given: dict[str, Any], other: dict[str, Any]
) -> None:
    first = harbour.call(name, **given, request_id="r-1")
    before = held(harbour)
    again = harbour.call(name, **given, request_id="r-1")
    assert (first.status, again.status) == ("saved", "duplicate_skip")
    assert (again.id, again.citation, held(harbour)) == (first.id, first.citation, before)
    assert any("already written" in note for note in again.notes)
    if other:
        with pytest.raises(Conflict, match="used for something else"):
            harbour.call(name, **given | other, request_id="r-1")


def test_a_repeated_merge_and_split_are_written_once(harbour: weft.Memory) -> None:
    for name in ("One", "Two"):
        harbour.add_entity(name)
    for _ in range(2):
        merged = harbour.call("merge_entities", duplicate="One", into="Two", reason="same", request_id="m")
    assert merged.status == "duplicate_skip"
    for _ in range(2):
        split = harbour.call("split_entities", duplicate="One", request_id="s")
    assert split.status == "duplicate_skip"
    with pytest.raises(Conflict):
        harbour.call("split_entities", duplicate="One", request_id="m")


# ---- what is refused, with nothing half-written

LONG = "word " * 2_000_000


BAD: list[tuple[str, dict[str, Any], type[WeftError]]] = [
    ("add_event", {"description": "", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": " \n", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": LONG, "occurred_at": "2025"}, TooLarge),
    ("add_event", {"description": "é" * 900_000, "occurred_at": "2025"}, TooLarge),
    ("add_event", {"description": "x\x00y", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025-02-30"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "someday"}, Invalid),
    ("add_event", {"description": "x"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "a\x00"]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "..."]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "person:nobody"]}, NotFound),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": [f"e{n}" for n in range(101)]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "expires_at": "2025-13-01"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "importance": math.nan}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "wish": "y"}, Invalid),
    ("add_entity", {"name": "?!"}, Invalid),
    ("add_entity", {"name": " "}, Invalid),
    ("add_entity", {"name": "Odile", "description": " "}, Invalid),
    ("add_entity", {"name": "Odile", "description": LONG}, TooLarge),
    ("add_entity", {"name": "Odile", "aliases": ["Odie", "\t"]}, Invalid),
    ("add_concept", {"name": "?", "entities": ["new"]}, Invalid),
    ("add_concept", {"name": "x", "entities": ["01a1e2f1-496e-7834-bd37-d7858ab997ca"]}, NotFound),
    ("add_causal_link", {"cause": "x", "effect": " "}, Invalid),
    ("add_causal_link", {"cause": "The same", "effect": "the same."}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": 1.01}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": -0.1}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": math.nan}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "events": ["no such event"]}, NotFound),
    ("add_causal_link", {"cause": "x", "effect": "01a1e2f1-496e-7834-bd37-d7858ab997ca"}, NotFound),
    ("add_causal_link", {"cause": LONG, "effect": "y"}, TooLarge),
    ("link_entities", {"source": "new", "relation": "KNOWS", "target": "NEW"}, Invalid),
    ("link_entities", {"source": "a", "relation": "KNOWS", "target": "b", "weight": 0.0}, Invalid),
    ("link_entities", {"source": "a", "relation": "KNOWS", "target": "b", "weight": math.inf}, Invalid),
    (
        "link_entities",
        {"source": "a", "relation": "KNOWS", "target": "b", "valid_from": "2025", "valid_to": "2024"},
        Invalid,
    ),
    ("memory_write", {"kind": "Receipt", "text": "x"}, Invalid),
    ("memory_write", {"kind": "Learning"}, Invalid),
    ("memory_write", {"kind": "Person", "text": "x"}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "props": {"n": math.nan}}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "produced_by_task_id": "no such task"}, NotFound),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "ABOVE", "target": "nothing"}]}, NotFound),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "CONTAINS", "target": "new"}]}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "ABOVE"}]}, Invalid),
    ("add_events", {"items": []}, Invalid),
    ("add_events", {"items": [{"description": "x", "occurred_at": "2025"}] * 1_001}, TooLarge),
    ("add_events", {"items": ["x"]}, Invalid),
]


@pytest.mark.parametrize(("name", "given", "error"), BAD, ids=[f"{n}-{name}" for n, (name, _, _) in enumerate(BAD)])
def test_bad_input_is_refused_with_a_hint_and_nothing_is_written(
    harbour: weft.Memory, name: str, given: dict[str, Any], error: type[WeftError]
) -> None:
    with pytest.raises(error) as caught:
        harbour.call(name, **given)
    assert caught.value.message
    assert caught.value.hint
    assert held(harbour) == 0


def test_what_is_no_entity_cannot_be_involved(harbour: weft.Memory) -> None:
    event = harbour.add_event("It rang.", "2025")
    person = harbour.add_entity("Odile", kind="Person")
    before = held(harbour)
    for name, given in (
        ("add_event", {"description": "It fell.", "occurred_at": "2025", "entities": [event.id]}),
        ("add_causal_link", {"cause": person.id, "effect": "It rang"}),
        ("add_causal_link", {"cause": "Odile came", "effect": "It rang", "events": [person.id]}),
        ("memory_write", {"kind": "Learning", "text": "x", "produced_by_task_id": person.id}),
    ):
        with pytest.raises(Invalid) as caught:
            harbour.call(name, **given)
        assert caught.value.hint
    assert held(harbour) == before
