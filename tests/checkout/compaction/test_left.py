"""A briefing rests on its sources and on its conversation: without them, it is not told."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.checkout.compaction.test_sessions import compacted
from tests.places import Place
from weft.checkout.briefings import briefing_of
from weft.checkout.prompt_context import CONTEXT
from weft.context.briefing import read_statement
from weft.core.errors import Conflict, NotFound


def told(memory: weft.Memory) -> str:
    """All that a session is told of its briefing, wherever that is."""
    status = memory.call("session_status", session="s1").briefing
    begun: Any = memory.run(CONTEXT, {"session": "s1"})
    checkout = memory.call("memory_checkout", query="what about the winch?", session="s1").prompt
    return "\n".join((status, begun.text, checkout))


def test_erasing_what_a_statement_cites_takes_the_briefing(memory: weft.Memory) -> None:
    memory.add_entity("Ana Quill", kind="Person")
    kept = memory.remember("Ana Quill may not lift more than five kilos.")
    other = memory.remember("The winch needs grease.")
    compacted(memory, learned=[f"She may not lift more than five kilos [{kept.citation}]"])
    memory.erase(subject="Ana Quill", yes=True, confirm="default")
    assert "five kilos" not in told(memory)
    assert not memory.ctx.store.history(memory.ctx.viewer, "ferry/s1:briefing", limit=1)
    assert memory.show(other.id).history


def test_erasing_a_file_takes_the_briefing_that_cites_its_lines(memory: weft.Memory, place: Place) -> None:
    (place.root / "winch.md").write_text("# Winch\n\nIt slips above four tons.\n")
    memory.ingest(str(place.root / "winch.md"))
    done = compacted(memory, learned=["It slips above four tons [file://winch.md:3]"])
    assert done.cited == 1
    memory.erase(source=str(place.root / "winch.md"), yes=True, confirm="default")
    assert "four tons" not in told(memory)
    assert not memory.ctx.store.history(memory.ctx.viewer, "ferry/s1:briefing", limit=1)


def test_a_statement_whose_source_was_deleted_is_not_told(memory: weft.Memory) -> None:
    kept = memory.remember("The winch slips above four tons.")
    compacted(memory, learned=[f"Four tons are too much [{kept.citation}]"])
    assert told(memory).count("Four tons are too much") == 3
    memory.delete(kept.id)
    assert "Four tons" not in told(memory)
    assert told(memory).count("Use pump B") == 3
    assert any("1 statement is omitted" in note for note in memory.call("session_status", session="s1").notes)
    memory.restore(kept.id)
    assert "Four tons" in told(memory)


def test_erasing_a_session_that_was_never_recorded_takes_its_briefing(memory: weft.Memory) -> None:
    memory.remember("The winch needs grease.")
    compacted(memory)
    memory.erase(session="s1", yes=True, confirm="default")
    assert not memory.ctx.store.history(memory.ctx.viewer, "ferry/s1:briefing", limit=1)
    assert memory.recall("winch grease").hits


def test_a_briefing_that_was_planted_is_not_told(place: Place) -> None:
    boss, guest = place.open(), place.open(scopes="public", agent="guest", role="agent")
    compacted(guest, learned=["The winch is safe at any load"])
    assert "safe at any load" in told(guest)
    assert "safe at any load" not in told(boss)  # for the boss, a session has other rights
    boss.call("record_turns", session="s1", turns=["ana: mend the winch"], scope="admin")
    assert "safe at any load" not in told(boss)


def test_it_says_who_wrote_it(place: Place) -> None:
    boss, mate = place.open(), place.open(agent="mate", role="agent")
    boss.call("record_turns", session="s1", turns=["ana: mend the winch"])
    compacted(mate)
    assert boss.call("session_status", session="s1").briefed_by == "mate"
    assert told(boss).count("by mate") == 2


def test_a_deleted_conversation_takes_no_briefing(memory: weft.Memory) -> None:
    memory.call("record_turns", session="s1", turns=["ana: mend the winch"])
    memory.delete("ferry/s1")
    with pytest.raises(NotFound) as raised:
        compacted(memory)
    assert "weft restore ferry/s1" in raised.value.hint
    memory.restore("ferry/s1")
    assert compacted(memory).status == "saved"


def test_a_request_id_with_other_words_is_refused(memory: weft.Memory) -> None:
    compacted(memory, request_id="r1")
    with pytest.raises(Conflict):
        compacted(memory, request_id="r1", done=["Pump B runs"])
    node = briefing_of(memory.ctx, "s1")
    assert node is not None
    assert "Pump B runs" not in node.text


def test_a_checkout_tells_the_briefing_once(memory: weft.Memory) -> None:
    compacted(memory, decided=["Grease the winch weekly"])
    prompt = memory.call("memory_checkout", query="grease the winch", session="s1").prompt
    assert prompt.count("Grease the winch weekly") == 1


def test_a_citation_leaves_the_full_stop_of_its_sentence() -> None:
    one = "weft://s/events/1#0ead8abf"
    assert read_statement(f"It slips {one}. Grease it.").text == "It slips. Grease it."
    assert read_statement(f"It slips, see {one}, often").text == "It slips, see, often"
    assert read_statement(f"It slips ({one}).").text == "It slips."
    assert read_statement(f"It slips {one}.").citations == (one,)
