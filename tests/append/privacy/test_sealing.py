"""What is sensitive is kept sealed: plain to those who may see it and hold the key, and to nobody else."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

import weft
from tests.append.privacy.harbour import KEYS, Harbour
from tests.append.privacy.sealed_words import write_of_all_sorts
from weft.append import decrypting_store as opening
from weft.core.errors import Busy, Misconfigured
from weft.log.draft import Draft
from weft.log.kinds.memory import Remembered
from weft.text.encryption import Keyring, is_sealed

WORDS = ("Metoprolol", "arrhythmia", "Halvorsen", "cardiologist", "bradycardia", "Ostergaard", "palpitations")


def test_no_file_holds_a_sealed_word(harbour: Harbour) -> None:
    write_of_all_sorts(harbour.open())
    assert harbour.holds(*WORDS) == []


def test_why_something_plain_went_and_came_back_is_plain(harbour: Harbour) -> None:
    """Whether a thing is sensitive is known while it is deleted, too."""
    memory = harbour.open()
    kept = memory.remember("The ferry leaves at nine.")
    memory.forget(kept.id, reason="the timetable changed")
    memory.forget(kept.id, undo=True, reason="it changed back")
    assert harbour.holds("timetable") != []
    assert harbour.holds("changed back") != []


def test_with_the_right_and_the_key_everything_is_plain(either: Harbour) -> None:
    memory = either.open()
    first = write_of_all_sorts(memory)
    reader = either.open()
    shown = reader.show(first)
    assert shown.node.text == "Halvorsen takes half the Metoprolol"
    assert shown.node.name == "on Ostergaard"
    assert shown.history[0].text == "Halvorsen takes Metoprolol"
    cited = reader.cite(shown.history[0].citation)
    assert cited.matches, cited.notes
    assert cited.event is not None
    assert cited.event.payload["text"] == "Halvorsen takes Metoprolol"
    told = msgspec.json.encode([reader.call("log_show", limit=50), reader.recent(limit=50)])
    assert b"weft-sealed" not in told
    assert b"[sealed with" not in told


@pytest.mark.parametrize(
    "question", ["what does Halvorsen take?", "Metoprolol", "who is Ostergaard", "bradycardia since"]
)
def test_sealed_memories_are_found_by_their_words(either: Harbour, question: str) -> None:
    memory = either.open()
    memory.remember("The ferry to Villa leaves at nine.")
    memory.remember("Tom mends the nets on Sunday.")
    write_of_all_sorts(memory)
    found = memory.recall(question).hits
    assert found
    assert all("ferry" not in hit.node.text and "nets" not in hit.node.text for hit in found[:2])
    assert any(word in hit.node.text for hit in found[:3] for word in WORDS)


@pytest.mark.parametrize(
    ("key", "problem"),
    [("", "not configured"), ("odd", "not configured"), ("wrong", "does not decrypt with the configured key old")],
)
def test_without_the_key_there_is_a_stand_in_and_the_next_step(either: Harbour, key: str, problem: str) -> None:
    told = either.open().remember(
        "Halvorsen takes Metoprolol", name="on Ostergaard", sensitive=True, keywords=["pills"]
    )
    written = {"": "", "odd": KEYS["odd"], "wrong": f"old:{base64.b64encode(bytes(31) + b'x').decode()}"}[key]
    reader = either.open(sensitive_key=written)
    shown = reader.show(told.id)
    assert (shown.node.name, shown.node.text) == ("[encrypted with key old]", "[encrypted with key old]")
    assert "keywords" not in shown.node.props
    assert any(problem in note and "WEFT_SENSITIVE_KEY" in note for note in shown.notes), shown.notes
    everything = [
        shown,
        reader.recall("Metoprolol"),
        reader.recent(),
        reader.cite(told.citation),
        reader.call("log_show"),
    ]
    assert b"weft-sealed" not in msgspec.json.encode(everything)
    assert reader.recall("Metoprolol").hits == ()


def test_without_the_right_nothing_is_seen_key_or_not(either: Harbour) -> None:
    told = either.open().remember("Halvorsen takes Metoprolol", sensitive=True)
    stranger = either.open(sensitive="0")
    answer = stranger.recall("Metoprolol Halvorsen")
    assert answer.hits == ()
    assert "seal" not in " ".join(answer.notes)
    with pytest.raises(weft.core.errors.NotFound):
        stranger.show(told.id)


def test_a_sensitive_write_without_a_key_is_refused(either: Harbour) -> None:
    memory = either.open(sensitive_key="")
    memory.remember("The ferry to Villa leaves at nine.")
    before = memory.stats().store.events
    for write in (
        lambda: memory.remember("Halvorsen takes Metoprolol", sensitive=True),
        lambda: memory.add_fact("Halvorsen", "takes", "Metoprolol", sensitive=True),
        lambda: memory.add_entity("Halvorsen", sensitive=True),
        lambda: memory.call("save_decision", title="Metoprolol", sensitive=True),
    ):
        with pytest.raises(Misconfigured) as refused:
            write()
        assert 'export WEFT_SENSITIVE_KEY="$(weft key-new)"' in refused.value.hint
    assert memory.stats().store.events == before
    if either.in_files:
        assert either.holds(*WORDS) == []


def test_ids_and_slots_tell_nothing_and_stay_the_same(either: Harbour) -> None:
    memory = either.open()
    one = memory.add_entity("Halvorsen", kind="Person", sensitive=True)
    again = either.open().add_entity("Halvorsen", kind="Person", description="a cardiologist", sensitive=True)
    assert one.id == again.id
    assert "halvorsen" not in one.id.lower()
    first = memory.add_fact("Halvorsen", "takes", "Metoprolol", cardinality="one", sensitive=True)
    newer = memory.add_fact("Halvorsen", "takes", "Bisoprolol", cardinality="one", sensitive=True)
    assert newer.supersedes == (first.id,)
    shown = memory.show(newer.id).node
    assert shown is not None
    assert shown.props["subject"] == one.id
    linked = memory.link_entities("Halvorsen", "KNOWS", "Tom", sensitive=True)  # by its name
    assert linked.id == one.id


def test_nothing_is_read_out_of_sealed_memories(either: Harbour) -> None:
    memory = either.open()
    told = memory.remember("Halvorsen works at Ostergaard because Metoprolol was recalled in Bergen.", sensitive=True)
    assert told.linked == ()
    memory.call("extract_memories")
    assert memory.show(told.id).edges == ()


def test_a_request_repeated_is_written_once(either: Harbour) -> None:
    memory = either.open()
    given: dict[str, Any] = {"sensitive": True, "request_id": "r1"}
    assert memory.remember("Halvorsen takes Metoprolol", **given).status == "saved"
    assert memory.remember("Halvorsen takes Metoprolol", **given).status == "duplicate_skip"
    fact = memory.add_fact("Halvorsen", "takes", "Metoprolol", sensitive=True, request_id="r2")
    assert memory.add_fact("Halvorsen", "takes", "Metoprolol", sensitive=True, request_id="r2").id == fact.id
    with pytest.raises(weft.core.errors.Conflict):
        memory.remember("Halvorsen takes nothing", **given)


def test_a_decision_said_again_is_known(either: Harbour) -> None:
    memory = either.open()
    memory.call("save_decision", title="Metoprolol for Halvorsen", rationale="the arrhythmia", sensitive=True)
    again = memory.call("save_decision", title="Metoprolol for Halvorsen", rationale="the arrhythmia", sensitive=True)
    assert again.status == "duplicate_skip"


def test_a_sealed_string_opens_only_where_it_was_sealed() -> None:
    keys = Keyring(KEYS["old"])
    sealed = keys.seal("Metoprolol", of="memory:1", field="text")
    assert is_sealed(sealed)
    assert sealed == keys.seal("Metoprolol", of="memory:1", field="text")
    assert keys.open(sealed, of="memory:1", field="text").text == "Metoprolol"
    for of, field in (("memory:2", "text"), ("memory:1", "name"), ("memory", "1\x1ftext")):
        assert keys.open(sealed, of=of, field=field).problem == "wrong"
    elsewhere = keys.seal("Metoprolol", of="memory:2", field="text")
    nonces = {base64.b64decode(each.rpartition(":")[2])[:12] for each in (sealed, elsewhere)}
    assert len(nonces) == 2


def test_a_changed_byte_is_noticed() -> None:
    keys = Keyring(KEYS["old"])
    head, _, tail = keys.seal("Metoprolol", of="m", field="text").rpartition(":")
    raw = bytearray(base64.b64decode(tail))
    for at in range(len(raw)):
        raw[at] ^= 1
        changed = f"{head}:{base64.b64encode(raw).decode()}"
        assert keys.open(changed, of="m", field="text").text is None
        raw[at] ^= 1


def test_the_log_needs_no_key(either: Harbour) -> None:
    write_of_all_sorts(either.open())
    operator = either.open(sensitive_key="")
    assert operator.call("log_verify").problem is None
    before = operator.call("rebuild")
    assert before.equal
    exported = either.scratch / "log.jsonl"
    operator.call("log_export", path=str(exported))
    assert not any(word.encode() in exported.read_bytes() for word in WORDS)
    other = weft.open(
        "memory://", directory=either.root, environment={"HOME": str(either.scratch), "WEFT_EMBEDDER": "none"}
    )
    other.call("log_import", path=str(exported))
    assert other.call("log_verify").problem is None
    assert other.call("log_head").digest == operator.call("log_head").digest


def test_where_nothing_is_sealed_the_key_changes_no_answer(either: Harbour) -> None:
    memory = either.open(sensitive_key="")
    for text in ("The ferry to Villa leaves at nine.", "Tom mends the nets.", "The nets of the ferry are torn."):
        memory.remember(text)
    for question in ("when does the ferry leave?", "nets", "Tom"):
        bare, keyed = (each.recall(question, explain=True) for each in (memory, either.open()))
        assert (bare.hits, bare.notes) == (keyed.hits, keyed.notes)
        assert bare.hits


def test_what_is_cut_off_is_noted(either: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = either.open()
    for number in range(4):
        memory.remember(f"Halvorsen takes pill number {number}", sensitive=True)
    assert opening.CUT_OFF not in memory.recall("Halvorsen pill").notes
    monkeypatch.setattr(opening, "MAX_ENCRYPTED", 3)
    answer = memory.recall("Halvorsen pill")
    assert opening.CUT_OFF in answer.notes
    assert {hit.node.text[-1] for hit in answer.hits} <= {"1", "2", "3"}


def test_a_write_that_waits_is_sealed_and_delivered_without_the_key(harbour: Harbour) -> None:
    memory = harbour.open()
    memory.remember("The ferry to Villa leaves at nine.")
    ctx = memory.ctx
    assert ctx.outbox is not None
    node = Remembered(id=ctx.new_id(), text="Halvorsen takes Metoprolol", sensitive=True)
    ctx.outbox.put(
        [Draft(kind="memory.remembered", payload=node)],
        writer=ctx.writer,
        viewer=ctx.viewer,
        request_id=None,
        at=1,
        problem=Busy("busy"),
        privacy=ctx.privacy,
    )
    assert harbour.open(sensitive_key="").call("deliver_pending").delivered == 1
    assert harbour.open().show(node.id).node.text == "Halvorsen takes Metoprolol"
    assert harbour.holds(*WORDS) == []


def test_meaning_has_no_vector_of_what_is_sealed(harbour: Harbour) -> None:
    memory = harbour.open(embedder="builtin")
    memory.remember("The ferry to Villa leaves at nine.")
    told = memory.remember("Halvorsen takes Metoprolol for the arrhythmia", sensitive=True)
    answer = memory.recall("what pills does Halvorsen take?")
    assert answer.hits[0].node.id == told.id
    assert not any("no vector" in note for note in answer.notes)
    assert memory.call("reindex").embedded == 0
    node = memory.ctx.store.nodes(memory.ctx.viewer, weft.core.types.When(), [told.id])[0]
    assert not memory.ctx.store.vectors(memory.ctx.viewer, memory.ctx.embedding.model or "", [node.content_hash])


def test_where_the_graph_is_down_the_log_answers_in_plain(harbour: Harbour) -> None:
    from weft.core.types import When
    from weft.retrieval.fallback.from_log import search_log
    from weft.retrieval.pipeline import Ask

    memory = harbour.open()
    memory.remember("Halvorsen takes Metoprolol", sensitive=True)
    ask = Ask(query="Metoprolol", when=When(), limit=5, projects=None)
    found = search_log(memory.ctx, ask, problem="away").ranked or ()
    assert [each.node.text for each in found] == ["Halvorsen takes Metoprolol"]
    blind = harbour.open(sensitive="0")
    assert not search_log(blind.ctx, ask, problem="away").ranked
