"""A change of keys while others write, and what is known afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from harbour import KEYS, Harbour

import weft
from weft.errors import Conflict
from weft.operations import OPERATIONS
from weft.rewriting import Rewriter

BOTH = f"{KEYS['new']},{KEYS['old']}"


def run(memory: weft.Memory, operation: str, **given: Any) -> Any:
    return memory.run(next(each for each in OPERATIONS if each.name == operation), given)


def meanwhile(monkeypatch: pytest.MonkeyPatch, write: Any) -> None:
    """Calls `write` in the window of a change of keys: everything is read, nothing is written."""
    first = Rewriter.write

    def late(self: Rewriter, *given: Any, **named: Any) -> Any:
        monkeypatch.setattr(Rewriter, "write", first)
        write()
        return first(self, *given, **named)

    monkeypatch.setattr(Rewriter, "write", late)


def test_what_is_sealed_with_the_old_key_meanwhile_is_sealed_anew_and_told(
    either: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = either.open()
    behind.remember("Halvorsen takes Metoprolol", sensitive=True)
    told: list[Any] = []
    meanwhile(monkeypatch, lambda: told.append(behind.remember("Halvorsen takes Bisoprolol", sensitive=True)))
    done = run(either.open(sensitive_key=BOTH), "key_rotate")
    assert any("give every process the new key" in note for note in done.notes)
    reader = either.open(sensitive_key=KEYS["new"])
    assert reader.show(told[0].id).node.text == "Halvorsen takes Bisoprolol"
    log = reader.loom.store.log(reader.loom.operator("look"), after=0, limit=1_000)
    assert b"weft-sealed:1:old:" not in b"".join(event.payload or b"" for _, each in log for event in each)
    assert run(reader, "log_verify").problem is None


def test_a_process_that_still_has_the_old_key_is_named_at_the_end(
    either: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = either.open()
    behind.remember("Halvorsen takes Metoprolol", sensitive=True)
    rotating = either.open(sensitive_key=BOTH)
    store = type(rotating.loom.store._store)  # type: ignore[attr-defined]
    sweep = store.sweep

    def late(self: Any, *given: Any, **named: Any) -> Any:
        behind.remember("Halvorsen takes Bisoprolol", sensitive=True)
        return sweep(self, *given, **named)

    monkeypatch.setattr(store, "sweep", late)
    done = run(rotating, "key_rotate")
    assert any("others seal with old still" in note for note in done.notes)
    monkeypatch.undo()
    assert run(rotating, "key_rotate").notes == ()


def test_a_request_id_still_tells_requests_apart(either: Harbour) -> None:
    memory = either.open()
    given: dict[str, Any] = {"sensitive": True, "request_id": "r1"}
    memory.remember("Halvorsen takes Metoprolol", **given)
    memory.add_entity("Halvorsen", kind="Person", sensitive=True, request_id="r2")
    run(either.open(sensitive_key=BOTH), "key_rotate")
    for keys in (BOTH, KEYS["new"]):
        memory = either.open(sensitive_key=keys)
        assert memory.remember("Halvorsen takes Metoprolol", **given).status == "duplicate_skip"
        assert memory.add_entity("Halvorsen", kind="Person", sensitive=True, request_id="r2").status == "duplicate_skip"
        with pytest.raises(Conflict, match="used for something else"):
            memory.remember("Something else altogether", **given)
        with pytest.raises(Conflict, match="used for something else"):
            memory.add_entity("Ostergaard", kind="Person", sensitive=True, request_id="r2")


def test_drafts_that_are_repeated_are_compared_open(either: Harbour) -> None:
    """The same words, sealed with two keys."""
    memory = either.open()
    again: dict[str, Any] = {"target": memory.remember("Halvorsen takes Metoprolol", sensitive=True).id}
    run(memory, "delete", **again, reason="he does not", request_id="r3")
    run(either.open(sensitive_key=BOTH), "key_rotate")
    assert run(either.open(sensitive_key=KEYS["new"]), "delete", **again, reason="he does not", request_id="r3").status


def test_a_citation_says_that_its_words_were_sealed_anew(either: Harbour) -> None:
    told = either.open().remember("Halvorsen takes Metoprolol", sensitive=True)
    rotating = either.open(sensitive_key=BOTH)
    run(rotating, "key_rotate")
    cited = rotating.cite(told.citation)
    assert cited.matches
    assert any("sealed anew" in note and rotating.loom.writer.actor.agent in note for note in cited.notes)
    assert not cited.event.erased
