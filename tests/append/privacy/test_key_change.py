"""A change of keys while others write, and what is known afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from tests.append.privacy.harbour import KEYS, Harbour
from weft.core.errors import Conflict
from weft.erasure.rewrite_log import Rewriter

BOTH = f"{KEYS['new']},{KEYS['old']}"


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
    done = either.open(sensitive_key=BOTH).call("key_rotate")
    assert any("give every process the new key" in note for note in done.notes)
    reader = either.open(sensitive_key=KEYS["new"])
    assert reader.show(told[0].id).node.text == "Halvorsen takes Bisoprolol"
    log = reader.ctx.store.log(reader.ctx.operator("look"), after=0, limit=1_000)
    assert b"weft-sealed:1:old:" not in b"".join(event.payload or b"" for _, each in log for event in each)
    assert reader.call("log_verify").problem is None


def test_a_process_that_still_has_the_old_key_is_named_at_the_end(
    either: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = either.open()
    behind.remember("Halvorsen takes Metoprolol", sensitive=True)
    rotating = either.open(sensitive_key=BOTH)
    store = type(rotating.ctx.store._store)  # type: ignore[attr-defined]
    sweep = store.sweep

    def late(self: Any, *given: Any, **named: Any) -> Any:
        behind.remember("Halvorsen takes Bisoprolol", sensitive=True)
        return sweep(self, *given, **named)

    monkeypatch.setattr(store, "sweep", late)
    done = rotating.call("key_rotate")
    assert any("other processes still encrypt with old" in note for note in done.notes)
    monkeypatch.undo()
    assert rotating.call("key_rotate").notes == ()


def test_a_request_id_still_tells_requests_apart(either: Harbour) -> None:
    memory = either.open()
    given: dict[str, Any] = {"sensitive": True, "request_id": "r1"}
    memory.remember("Halvorsen takes Metoprolol", **given)
    memory.add_entity("Halvorsen", kind="Person", sensitive=True, request_id="r2")
    either.open(sensitive_key=BOTH).call("key_rotate")
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
    memory.call("delete", **again, reason="he does not", request_id="r3")
    either.open(sensitive_key=BOTH).call("key_rotate")
    assert either.open(sensitive_key=KEYS["new"]).call("delete", **again, reason="he does not", request_id="r3").status


def test_a_citation_says_that_its_words_were_sealed_anew(either: Harbour) -> None:
    told = either.open().remember("Halvorsen takes Metoprolol", sensitive=True)
    rotating = either.open(sensitive_key=BOTH)
    rotating.call("key_rotate")
    cited = rotating.cite(told.citation)
    assert cited.matches
    assert any("sealed anew" in note and rotating.ctx.writer.actor.agent in note for note in cited.notes)
    assert not cited.event.erased
