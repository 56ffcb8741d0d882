"""What erasures and hard deletions must not leave behind: in what was compiled, in waiting writes, in the audit."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import weft
from tests.erasure.erased import everything_said, filled, sound
from tests.places import Place
from weft.core.errors import Busy, Invalid, NotFound
from weft.erasure import erase_log as erasure
from weft.log.draft import Draft
from weft.log.kinds import memory as memory_kinds


def test_what_was_compiled_from_what_is_purged_goes_and_the_thing_stays(memory: weft.Memory) -> None:
    filled(memory)
    memory.add_entity("Zephyr", kind="Organization", description="Makes turbines.")
    said = memory.remember("Alice Zedwick told that Zephyr hides an ibis in the cellar.")
    fact = memory.add_fact("Zephyr", "has_secret", "lemur", subject_kind="Organization")
    assert "lemur" in memory.call("compile_truth", entity="Zephyr").text
    for each in (said.id, fact.id):
        memory.call("delete", target=each)
        memory.call("purge", now=each, yes=True)
    words = everything_said(memory)
    assert not [word for word in ("ibis", "lemur", "Zedwick", "zedwick") if word in words]
    shown = memory.show("organization:zephyr").node
    assert shown is not None
    assert (shown.name, shown.text) == ("Zephyr", "Makes turbines.")
    sound(memory)


def test_what_another_text_names_too_stays(memory: weft.Memory) -> None:
    filled(memory)
    said = memory.remember("Alice Zedwick told that the ibis is ill.")
    memory.remember("Alice Zedwick owns the mill.")
    memory.call("delete", target=said.id)
    memory.call("purge", now=said.id, yes=True)
    assert "ibis" not in everything_said(memory)
    assert memory.recall("Alice Zedwick").hits
    sound(memory)


@pytest.mark.parametrize("stops_after", [0, 1, 2, 99])
def test_a_thing_survives_an_erasure_that_was_stopped(
    memory: weft.Memory, monkeypatch: pytest.MonkeyPatch, stops_after: int
) -> None:
    filled(memory)
    memory.add_entity("Zephyr", kind="Organization", description="Makes turbines.")
    memory.add_entity("Boreal", kind="Organization")
    memory.call("link_entities", source="Zephyr", target="Boreal", relation="OWNED_BY")
    memory.add_fact("Zephyr", "employs", "Mara Quill", subject_kind="Organization")
    memory.add_fact("Zephyr", "based_in", "Narvik", subject_kind="Organization")
    memory.call("compile_truth", entity="Zephyr")
    write = erasure.Rewriter.write
    left = list(range(stops_after))

    def stopped(self: Any, *given: Any, **more: Any) -> Any:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return write(self, *given, **more)

    def at_the_sweep(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(erasure.Rewriter, "write", stopped)
        patched.setattr(erasure, "swept", at_the_sweep)
        with pytest.raises(KeyboardInterrupt):
            memory.call("erase", subject="Mara Quill", yes=True)
    with suppress(NotFound):  # the log had nothing left to lose
        memory.call("erase", subject="Mara Quill", yes=True)
    assert "Quill" not in everything_said(memory)
    shown = memory.show("organization:zephyr")
    assert shown.node is not None
    assert shown.node.text == "Makes turbines."
    assert "OWNED_BY" in {edge.rel for edge in shown.edges}
    sound(memory)


# ---- writes that wait


def _wait(memory: weft.Memory, name: str, text: str) -> None:
    """Puts a sealed memory where writes wait."""
    payload = memory_kinds.Remembered(id=name, text=text, sensitive=True)
    assert memory.ctx.outbox is not None
    memory.ctx.outbox.put(
        memory.ctx.privacy.drafts([Draft(kind="memory.remembered", payload=payload)]),
        writer=memory.ctx.writer,
        viewer=memory.ctx.viewer,
        request_id=None,
        at=1,
        problem=Busy("another process writes"),
    )


def _waiting(memory: weft.Memory) -> list[str]:
    assert memory.ctx.outbox is not None
    entries = [entry.waiting for entry in memory.ctx.outbox.entries()]
    return [draft.payload["id"] for each in entries if each for draft in each.drafts]


def test_a_sealed_write_that_waits_goes(place: Place) -> None:
    memory = filled(place.open(outbox=str(place.scratch / "outbox"), sensitive="true"))
    memory.add_entity("Mara Quill", kind="Person")
    _wait(memory, "w1", "Mara\nQuill takes pills.")
    _wait(memory, "w2", "The wombat takes none.")
    assert memory.call("erase", subject="Mara Quill", yes=True).outbox == 1
    assert _waiting(memory) == ["w2"]


def test_a_sealed_write_that_cannot_be_opened_is_told_of(place: Place) -> None:
    outbox = str(place.scratch / "outbox")
    memory = filled(place.open(outbox=outbox, sensitive="true"))
    memory.add_entity("Mara Quill", kind="Person")
    other = place.open(outbox=outbox, sensitive_key="")
    _wait(memory, "w1", "Mara Quill takes pills.")
    done = other.call("erase", subject="Mara Quill", yes=True)
    assert any("1 encrypted writes in the outbox" in note for note in done.notes)
    assert _waiting(memory) == ["w1"]


# ---- kinds that no erasure takes


@pytest.mark.parametrize("kind", ["Project", "Focus"])
def test_projects_and_focus_areas_are_no_memories(memory: weft.Memory, kind: str) -> None:
    with pytest.raises(Invalid, match=kind):
        memory.call("memory_write", kind=kind, text="Mara Quill lives here.")
    relation = {"rel": "KNOWS", "target": "Mara Quill", "target_kind": kind}
    with pytest.raises(Invalid, match=kind):
        memory.call("memory_write", kind="Memory", text="A note.", relations=[relation])
    with pytest.raises(Invalid, match=kind):
        memory.add_fact("Mara Quill", "lives_in", "Narvik", subject_kind=kind)
    answer = memory.call(
        "add_facts", items=[{"subject": "Mara", "predicate": "is", "object": "here", "subject_kind": kind}]
    )
    assert answer.failed == (0,)
    assert "Quill" not in everything_said(memory)


def test_everything_takes_what_was_said_of_a_project(memory: weft.Memory) -> None:
    filled(memory)
    memory.call("project_create", name="lofoten", description="Mara Quill pays for it.")
    memory.call("erase", everything=True, yes=True, confirm="default")
    words = everything_said(memory)
    assert "Quill" not in words
    assert "lofoten" in words
    sound(memory)


# ---- what stays, and is told of


def test_headers_and_names_of_projects_that_hold_a_name_are_told(place: Place) -> None:
    memory = filled(place.open())
    memory.remember("Mara Quill waits.", request_id="mara-quill-1")
    place.open(agent="mara.quill", session="calls-of-mara-quill").remember("Something else.")
    payload = memory_kinds.Remembered(id="m9", text="The rope is new.")
    memory.ctx.append(
        [Draft(kind="memory.remembered", payload=payload, conversation="mara_quill/9", task="ask Mara Quill")]
    )
    memory.call("project_create", name="mara-quill-files")
    done = memory.call("erase", subject="Mara Quill", yes=True)
    for told in (
        "request id mara-quill-1",
        "agent mara.quill",
        "session calls-of-mara-quill",
        "conversation mara_quill/9",
        "task ask Mara Quill",
        "project mara-quill-files",
    ):
        assert any(told in note for note in done.notes), told


def test_other_names_in_headers_are_not_told(memory: weft.Memory) -> None:
    filled(memory).remember("Mara Quill waits.", request_id="tamara-quill-1")
    assert not [note for note in memory.call("erase", subject="Mara Quill").notes if "request id" in note]


# ---- the audit


def test_a_name_over_any_white_space_leaves_the_audit(place: Place) -> None:
    memory = filled(place.open(audit="on"))
    memory.add_entity("Mara Quill", kind="Person")
    for space, animal in (("\n", "auk"), ("\t", "emu"), ("\u000b", "yak")):
        assert not memory.recall(f"where is Mara{space}Quill, asks the {animal}", kinds=["Decision"]).hits
    memory.call("erase", subject="Mara Quill", yes=True)
    memory.close()
    assert not _on_disk(place, b"the auk", b"the emu", b"the yak")


def test_a_short_text_of_a_long_batch_leaves_the_audit_with_the_memory(place: Place) -> None:
    memory = filled(place.open(audit="on"))
    long = [{"text": f"Number {number} of a long batch, so that ids go past the cut."} for number in range(9)]
    answer = memory.call("remember_many", items=[*long, {"text": "PIN gnu 4711"}])
    memory.call("delete", target=answer.items[-1].id)
    memory.call("purge", now=answer.items[-1].id, yes=True)
    memory.close()
    assert not _on_disk(place, b"gnu 4711")


def _on_disk(place: Place, *words: bytes) -> list[str]:
    files = [file for file in place.scratch.rglob("*") if file.is_file()]
    return [f"{file.name}: {word!r}" for file in files for word in words if word in file.read_bytes()]


# ---- what may be meant too


def test_texts_that_hold_a_part_of_the_name_are_told_of(memory: weft.Memory) -> None:
    memory.call("remember", text="Zephyrine Quillfeather bought a boat.")
    short = memory.call("remember", text="Zephyrine's boat was seen again off the point.")
    for word in ("oak", "elm", "ash"):
        memory.call("remember", text=f"The {word} stands by the quay.")
    told = memory.call("erase", subject="Zephyrine Quillfeather", dry_run=True)
    (note,) = [each for each in told.notes if "contain only" in each]
    assert "1 texts contain only 'Zephyrine'" in note
    assert short.id in note
    done = memory.call("erase", subject="Zephyrine Quillfeather", yes=True)
    assert note in done.notes
    assert memory.show(short.id).node is not None


def test_two_signs_are_a_name_where_a_sign_is_a_word(memory: weft.Memory) -> None:
    gone = memory.call("remember", text="昨天张伟来了，他要退款。")
    for word in ("oak", "elm", "ash"):
        memory.call("remember", text=f"The {word} stands by the quay.")
    assert memory.call("erase", subject="张伟", yes=True).status == "erased"
    with pytest.raises(NotFound):
        memory.show(gone.id)
    with pytest.raises(Invalid, match="too short"):
        memory.call("erase", subject="Bo", yes=True)
