"""What readers are told of an event that was erased: that it was, when, by whom, and nothing of what it said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import weft
from weft.erasure.erase_log import erase
from weft.erasure.rewrite_log import RewriteAccess
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.surfaces.cli.main import weft as root
from weft.testing.clock import ManualClock


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[weft.Memory]:
    opened = weft.open(
        f"sqlite://{tmp_path}/store", directory=tmp_path, environment=settings(tmp_path), clock=ManualClock()
    )
    yield opened
    opened.close()


def settings(scratch: Path) -> dict[str, str]:
    return {"HOME": str(scratch), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off", "WEFT_PROJECT": "ferry"}


def erase_all(memory: weft.Memory, *ids: str, names: tuple[str, ...] = ()) -> None:
    ctx = memory.ctx
    erase(
        RewriteAccess(
            store=ctx.store,
            writer=replace(ctx.writer, session="operator"),
            viewer=ctx.operator("erase"),
            clock=ctx.clock,
            progress=lambda *_: None,
        ),
        ids=ids,
        names=names,
        what="subject",
    )


def test_a_citation_says_that_it_was_erased(memory: weft.Memory) -> None:
    written = memory.remember("Zelda keeps bees behind the chapel.")
    erase_all(memory, written.id, names=("Zelda", "bees"))
    cited = memory.cite(written.citation)
    assert not cited.matches
    assert cited.nodes == ()
    assert cited.event.erased
    assert cited.event.payload is None
    assert (cited.event.erased_at or "").startswith("2026-")
    assert cited.event.erased_by == memory.ctx.writer.actor.agent
    assert any("erased" in note and memory.ctx.writer.actor.agent in note for note in cited.notes)
    assert not any("changed" in note for note in cited.notes), "what was erased is not what was tampered with"


def test_the_log_shows_that_it_was_erased(memory: weft.Memory) -> None:
    written = memory.remember("Zelda keeps bees behind the chapel.")
    kept = memory.remember("The ferry leaves at nine.")
    erase_all(memory, written.id, names=("Zelda",))
    shown = {event.citation: event for event in memory.call("log_show").events}
    assert shown[written.citation].erased
    assert not shown[kept.citation].erased
    assert "Zelda" not in repr(shown)
    assert memory.call("log_verify").problem is None


def test_what_is_left_of_an_event_is_still_shown(memory: weft.Memory) -> None:
    """Of two things that one event said, one is erased."""
    nodes = (
        graph.NodeAssertion(id="person:zelda", kind="Person", name="Zelda", text="keeps bees"),
        graph.NodeAssertion(id="note:mast", kind="Note", text="The mast broke"),
    )
    done = memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=nodes))])
    erase_all(memory, "person:zelda", names=("Zelda",))
    cited = memory.cite(done.events[0].citation)
    assert [node.text for node in cited.nodes] == ["The mast broke"]
    assert cited.event.erased
    assert cited.event.payload["nodes"][1]["text"] == "The mast broke"
    assert not any(word in repr(cited) for word in ("elda", "bees"))


def test_recall_never_finds_it(memory: weft.Memory) -> None:
    written = memory.remember("Zelda keeps bees behind the chapel.")
    memory.remember("The chapel has a new roof.")
    before = memory.recall("bees behind the chapel", receipt=True)
    erase_all(memory, written.id, names=("Zelda",))
    after = memory.recall("bees behind the chapel")
    assert [hit.node.text for hit in after.hits] == ["The chapel has a new roof."]
    assert before.receipt
    answered = memory.call("answer", id=before.receipt) if _stands(memory, before.receipt) else None
    assert "bees" not in repr(answered)


def _stands(memory: weft.Memory, node_id: str) -> bool:
    return bool(memory.ctx.store.history(memory.ctx.viewer, node_id, limit=1))


def test_a_request_that_is_repeated_after_the_erasure_writes_nothing(memory: weft.Memory) -> None:
    written = memory.remember("Zelda keeps bees.", request_id="once")
    erase_all(memory, written.id, names=("Zelda",))
    again = memory.remember("Zelda keeps bees.", request_id="once")
    assert again.status == "duplicate_skip"
    assert any("erased since" in note and "new request id" in note for note in again.notes)
    assert memory.recall("Zelda bees").hits == ()


def test_a_request_of_another_sort_that_is_repeated_says_so_too(memory: weft.Memory) -> None:
    memory.add_entity("Zelda", kind="Person", request_id="once")
    memory.call("record_turns", session="chat", turns=["Ann: Zelda keeps bees"], request_id="talk")
    erase_all(memory, names=("Zelda",))
    for again in (
        memory.add_entity("Boris", kind="Person", request_id="once"),
        memory.call("record_turns", session="chat", turns=["Ann: goats"], request_id="talk"),
    ):
        assert again.status == "duplicate_skip"
        assert any("erased since" in note for note in again.notes)


def test_the_command_line_says_so_too(tmp_path: Path, memory: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    written = memory.remember("Zelda keeps bees.")
    erase_all(memory, written.id, names=("Zelda",))
    for name, value in (settings(tmp_path) | {"WEFT_STORE": f"sqlite://{tmp_path}/store"}).items():
        monkeypatch.setenv(name, value)
    command = root
    for arguments in (["log", "show"], ["cite", written.citation]):
        told = CliRunner().invoke(command, arguments, prog_name="weft")
        assert "(erased 20" in told.output, told.output
        assert "Zelda" not in told.output


def test_who_erased_is_not_told_in_public(tmp_path: Path, memory: weft.Memory) -> None:
    """That it was erased is: the log has a place where words were."""
    memory.call("project_create", name="ferry", scope="public")
    written = memory.remember("Zelda keeps bees behind the chapel.", scope="public", agents=["guest"])
    erase_all(memory, written.id, names=("Zelda",))
    public = settings(tmp_path) | {"WEFT_AUDIENCE": "public", "WEFT_SCOPES": "public", "WEFT_AGENT": "guest"}
    guest = weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=public, clock=ManualClock())
    session = memory.ctx.writer.session
    shown = next(each for each in guest.call("log_show", session=session).events if each.citation == written.citation)
    cited = guest.cite(written.citation)
    guest.close()
    assert shown.erased
    assert cited.event.erased
    assert any("erased" in note for note in cited.notes)
    for told in (shown, cited.event):
        assert (told.erased_at, told.erased_by) == (None, None)
    operator = memory.ctx.writer.actor.agent
    assert not any(operator in note or "2026-" in note for note in cited.notes)
