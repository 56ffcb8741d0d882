"""Erasing a session: its own memories go; of what others told of, only its words do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.erasure.erased import events, everything_said, filled, sound
from tests.places import Place
from weft.core.errors import NotFound
from weft.erasure import erase_log as erasure


@pytest.fixture
def two(place: Place) -> tuple[weft.Memory, weft.Memory, weft.Memory]:
    """The session that will go, another one, and the operator's."""
    operator = filled(place.open(session="office"))
    return place.open(session="alpha"), place.open(session="beta"), operator


def gone(memory: weft.Memory, *words: str) -> list[str]:
    """The words that are still there."""
    said = everything_said(memory).casefold()
    return [word for word in words if word.casefold() in said]


def test_what_it_pinned_tagged_edited_or_deleted_stays_as_it_was_told(two: Any) -> None:
    alpha, beta, operator = two
    tagged = beta.remember("The harbour opens at nine, says the badger.")
    pinned = beta.call("save_decision", title="Use walnut crates", rationale="They float.")
    edited = beta.remember("The otter sleeps in the lock.")
    deleted = beta.remember("The heron stands on the pier.")
    alpha.call("tag", id=tagged.id, keywords=["ocelot"])
    alpha.call("pin", id=pinned.id)
    alpha.call("memory_edit", id=edited.id, text="The puma sleeps in the lock.", reason="jaguar reason")
    alpha.call("memory_feedback", id=tagged.id, outcome="confirmed", note="the lynx agrees")
    alpha.call("delete", target=deleted.id, reason="fox reason")
    operator.call("erase", session="alpha", yes=True)
    assert gone(operator, "ocelot", "puma", "jaguar", "lynx", "fox") == []
    assert operator.show(tagged.id).node.text == "The harbour opens at nine, says the badger."
    assert operator.show(edited.id).node.text == "The otter sleeps in the lock."
    assert "walnut" in operator.show(pinned.id).node.text + operator.show(pinned.id).node.name
    operator.call("restore", id=deleted.id)
    assert operator.show(deleted.id).node.text == "The heron stands on the pier."
    assert operator.recall("otter").hits
    sound(operator)
    with pytest.raises(NotFound):
        operator.call("erase", session="alpha", yes=True)


def test_what_others_only_tended_goes_with_who_told_it(two: Any) -> None:
    alpha, beta, operator = two
    told = alpha.remember("The walrus has the key.")
    beta.call("pin", id=told.id)
    beta.call("tag", id=told.id, keywords=["keys"])
    operator.call("erase", session="alpha", yes=True)
    assert gone(operator, "walrus") == []
    sound(operator)


def test_a_thing_that_others_told_of_loses_what_it_said(two: Any) -> None:
    alpha, beta, operator = two
    for name in ("Kestrel", "Osprey"):
        description = "The heron lives in the vault." if name == "Kestrel" else ""
        alpha.call("add_entity", name=name, kind="Service", description=description, aliases=[f"{name}-wolf"])
        beta.call("add_entity", name=name, kind="Service", aliases=[f"{name}-bear"])
    beta.call("link_entities", source="Kestrel", target="Osprey", relation="FEEDS")
    alpha.call("link_entities", source="Kestrel", target="Osprey", relation="SECRETLY_PAYS")
    beta.add_fact("Osprey", "based_in", "Narvik", subject_kind="Service")
    alpha.call("compile_truth", entity="Osprey", text="Osprey is the tiger.")
    done = operator.call("erase", session="alpha", yes=True)
    assert any("others described" in note for note in done.notes)
    assert gone(operator, "heron", "wolf", "SECRETLY_PAYS", "tiger") == []
    shown = operator.show("service:kestrel")
    assert (shown.node.name, shown.node.props["aliases"]) == ("Kestrel", ["Kestrel-bear"])
    assert {(edge.rel, edge.name) for edge in shown.edges} == {("FEEDS", "Osprey"), ("MERGES_INTO", "Kestrel-bear")}
    assert operator.show("service:osprey").node.name == "Osprey"
    sound(operator)


def test_what_others_said_in_place_of_its_words_stays(two: Any) -> None:
    alpha, beta, operator = two
    told = alpha.remember("The walrus has the key.")
    beta.call("memory_edit", id=told.id, text="The seal has the key.", reason="I looked")
    alpha.call("memory_edit", id=told.id, text="The walrus has it after all.", reason="no")
    operator.call("erase", session="alpha", yes=True)
    assert gone(operator, "walrus") == []
    assert operator.show(told.id).node.text == "The seal has the key."
    sound(operator)


def test_sealed_words_of_others_stay_sealed_and_readable(place: Place) -> None:
    operator = filled(place.open(session="office", sensitive="true"))
    alpha, beta = place.open(session="alpha", sensitive="true"), place.open(session="beta", sensitive="true")
    told = beta.remember("The otter sleeps in the lock.", sensitive=True)
    alpha.call("memory_edit", id=told.id, text="The puma sleeps in the lock.", reason="jaguar reason")
    beta.call("tag", id=told.id, keywords=["locks"])
    operator.call("erase", session="alpha", yes=True)
    shown = operator.show(told.id)
    assert shown.node.text == "The otter sleeps in the lock."
    assert "locks" in str(shown.node.props)
    assert "otter" not in everything_said(operator), "sealed as before"
    rows = operator.ctx.store.history(operator.ctx.viewer, told.id, limit=9)
    texts = [operator.ctx.privacy.node(row).text for row in rows]
    assert not [text for text in texts if "puma" in text]
    sound(operator)


def test_an_erasure_that_was_stopped_is_finished(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    alpha, beta, operator = two
    told = beta.remember("The otter sleeps in the lock.")
    alpha.call("memory_edit", id=told.id, text="The puma sleeps in the lock.", reason="jaguar reason")
    beta.call("tag", id=told.id, keywords=["locks"])  # repeats the puma
    write = erasure.Rewriter.write
    left = [1]

    def stopped(self: Any, *given: Any, **more: Any) -> Any:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return write(self, *given, **more)

    monkeypatch.setattr(erasure.Rewriter, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        operator.call("erase", session="alpha", yes=True)
    monkeypatch.setattr(erasure.Rewriter, "write", write)
    operator.call("erase", session="alpha", yes=True)
    assert gone(operator, "puma", "jaguar") == []
    assert operator.show(told.id).node.text == "The otter sleeps in the lock."
    sound(operator)


def test_its_calls_leave_the_audit(place: Place) -> None:
    operator = filled(place.open(session="office", audit="on"))
    alpha = place.open(session="alpha", audit="on")
    alpha.recall("where is the walrus?")
    alpha.remember("The walrus has the key.")  # it is recorded a moment later
    assert operator.call("erase", session="alpha", yes=True).audit >= 2
    assert not operator.call("tool_calls", session="alpha").calls
    assert not _on_disk(place.scratch, b"walrus")


def test_without_yes_nothing_of_a_session_changes(two: Any) -> None:
    alpha, beta, operator = two
    told = beta.remember("The otter sleeps in the lock.")
    alpha.call("memory_edit", id=told.id, text="The puma sleeps in the lock.", reason="jaguar reason")
    before = events(operator)
    assert operator.call("erase", session="alpha").events
    assert events(operator) == before
    assert operator.show(told.id).node.text == "The puma sleeps in the lock."


def _on_disk(directory: Path, word: bytes) -> list[str]:
    return [file.name for file in directory.rglob("*") if file.is_file() and word in file.read_bytes().lower()]
