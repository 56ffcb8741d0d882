"""Taking things out of sight with all that belongs to them, and bringing exactly that back."""

from __future__ import annotations

import json
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.testing.clock import DAY_US, ManualClock
from weft.writing.build import deletions

DOCKS = "# Docks\nThey are wet.\n\n## Cranes\nThe red crane is slow.\n\n# Boats\nThe Tern is small.\n"
CODE = "class Crane:\n    def lift(self):\n        return 'crane lifts'\n\n\ndef lower():\n    return 'crane lowers'\n"


def found(memory: weft.Memory, query: str, **more: Any) -> set[str]:
    return {hit.node.id for hit in memory.recall(query, **more).hits}


def ingested(memory: weft.Memory, place: Place, name: str, text: str) -> Any:
    file = place.root / name
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(text)
    return memory.ingest(file)


def sees(memory: weft.Memory, node_id: str) -> bool:
    ctx = memory.ctx
    return bool(ctx.store.history(ctx.viewer, node_id, limit=1))


# ---- what goes with what


def test_a_document_goes_with_its_sections_and_comes_back_with_them(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "docks.md", DOCKS)
    ingested(memory, place, "other.md", "# Rope\nThe crane rope is new.\n")
    before = found(memory, "red crane", limit=20)
    gone = memory.call("delete", target="docks.md", reason="moved to the wiki")
    assert (gone.status, gone.kinds) == ("saved", {"Chunk": 3, "Document": 1, "Section": 3})
    assert found(memory, "red crane") == {"ferry/other.md#Rope¶1"}
    assert not sees(memory, "ferry/docks.md#Docks#Cranes")
    back = memory.call("restore", id="docks.md")
    assert (back.status, back.nodes) == ("saved", 7)
    assert found(memory, "red crane", limit=20) == before
    assert memory.call("restore", id="docks.md").status == "duplicate_skip"
    assert memory.call("rebuild").equal


def test_what_is_deleted_is_gone_at_every_moment(memory: weft.Memory, place: Place, clock: ManualClock) -> None:
    ingested(memory, place, "docks.md", DOCKS)
    then = to_iso(clock.now_us())
    clock.step(DAY_US)
    ingested(memory, place, "docks.md", DOCKS.replace("## Cranes\nThe red crane is slow.\n", ""))
    assert found(memory, "red crane", as_of=then)
    memory.call("delete", target="ferry/docks.md")
    assert not found(memory, "red crane", as_of=then, known_at=then)
    assert not found(memory, "red crane", as_of=then)


def test_a_file_of_code_goes_with_its_symbols(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "crane.py", CODE)
    gone = memory.call("delete", target="crane.py")
    assert gone.kinds == {"Class": 1, "File": 1, "Function": 2}
    assert not found(memory, "crane lifts")
    memory.call("restore", id="crane.py")
    assert found(memory, "crane lifts")


def test_a_conversation_goes_with_its_turns(memory: weft.Memory) -> None:
    memory.record_turns("chat", ["Mira: the crane is broken", "Jon: which crane?"])
    memory.record_turns("chat#notes", ["Ann: another talk about the crane"])
    memory.record_turns("chat:2", ["Bo: a third talk about the crane"])
    gone = memory.call("delete", target="chat")
    assert gone.kinds == {"Message": 2, "Session": 1}
    texts = {hit.node.text for hit in memory.recall("crane").hits}
    assert texts == {"Ann: another talk about the crane", "Bo: a third talk about the crane"}


def test_a_section_goes_with_what_stands_under_it_only(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "c.md", "# C\nold crane\n\n## Macros\ncrane macros\n\n# C#\nsharp crane\n")
    gone = memory.call("delete", target="ferry/c.md#C")
    assert gone.nodes == 4
    assert {hit.node.text.strip() for hit in memory.recall("crane").hits} == {"sharp crane"}


def test_what_was_read_out_of_a_memory_goes_and_comes_back_with_it(memory: weft.Memory) -> None:
    said = memory.remember("Ana lives in Oslo. I like black tea.", speaker="Ana")
    derived = [node for node in memory.call("recent", limit=50).nodes if node.id.startswith(f"{said.id}:")]
    ctx = memory.ctx
    below = [
        node.id for node in deletions.with_dependents(ctx, ctx.store.nodes(ctx.viewer, weft.core.types.NOW, [said.id]))
    ]
    assert len(below) > 1, derived
    for take, back in (("delete", "restore"), ("forget", "forget")):
        memory.call(take, **{"target" if take == "delete" else "id": said.id})
        assert not any(sees(memory, each) for each in below)
        memory.call(back, id=said.id, **{"undo": True} if back == "forget" else {})
        assert all(sees(memory, each) for each in below)


def test_what_was_compiled_of_a_document_is_dropped(memory: weft.Memory) -> None:
    said = memory.remember("I like black tea.", speaker="Ana")
    memory.add_entity("Ana", description="Keeps the boats.")
    memory.add_fact("Ana", "salary", "90000")
    memory.call("compile_truth", entity="Ana")
    fact = next(iter(found(memory, "Ana salary", kinds=["Fact"])))
    done = memory.call("delete", target=fact)
    assert any("compile-truth" in note for note in done.notes)
    assert "90000" not in str(memory.show("entity:ana").node)
    assert said.id


def test_a_folder_goes_and_comes_back_as_a_whole(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "docs/a.md", "# A\ncrane a\n")
    ingested(memory, place, "docs/b.py", "def crane_b():\n    return 'crane b'\n")
    ingested(memory, place, "docs2.md", "# C\ncrane c\n")
    gone = memory.call("delete", target=f"{place.root}/docs/")
    assert gone.nodes == 5
    assert found(memory, "crane") == {"ferry/docs2.md#C¶1"}
    back = memory.call("restore", id=f"{place.root}/docs/")
    assert back.nodes == 5


def test_one_file_of_a_folder_that_went_comes_back_alone(memory: weft.Memory, place: Place) -> None:
    for name in ("docs/a.md", "docs/b.md"):
        ingested(memory, place, name, f"# {name}\ncrane {name}\n")
    memory.call("delete", target=f"{place.root}/docs/")
    memory.call("restore", id="docs/b.md")
    assert found(memory, "crane") == {"ferry/docs/b.md#docs/b.md¶1"}


# ---- only what went with it


def test_what_was_deleted_before_on_its_own_stays_deleted(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "docks.md", DOCKS)
    memory.call("delete", target="ferry/docks.md#Boats")
    assert memory.call("delete", target="docks.md").nodes == 5
    assert memory.call("restore", id="docks.md").nodes == 5
    assert not sees(memory, "ferry/docks.md#Boats")
    assert memory.call("restore", id="ferry/docks.md#Boats").nodes == 2
    assert sees(memory, "ferry/docks.md#Boats")


def test_a_great_whole_goes_in_several_commits_and_comes_back(
    memory: weft.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletions, "MAX_AT_ONCE", 3)
    monkeypatch.setattr("weft.erasure.delete.MAX_AT_ONCE", 3)
    memory.record_turns("chat", [f"Mira: crane {number}" for number in range(8)])
    memory.call("delete", target="chat")
    assert not found(memory, "crane")
    (listed,) = memory.call("deletion_list").deletions
    assert (listed.id, listed.kind, listed.nodes) == ("ferry/chat", "Session", 9)
    assert memory.call("restore", id="chat").nodes == 9
    assert len(found(memory, "crane", limit=20)) == 8
    assert memory.call("deletion_list").deletions == ()


# ---- the list


def test_the_list_says_what_waits_by_whom_and_until_when(place: Place, clock: ManualClock) -> None:
    memory, scout = place.open(), place.open(agent="scout", role="agent")
    kept = memory.remember("The key is under the mat.")
    scout.remember("The mill is open.")
    scout.call("delete", target=kept.id, reason="no longer true")
    (shown,) = memory.call("deletion_list").deletions
    assert (shown.id, shown.by, shown.reason, shown.over) == (kept.id, "scout", "no longer true", False)
    assert shown.until[:19] == to_iso(clock.now_us() + 7 * DAY_US)[:19]
    assert shown.name.startswith("The key")
    clock.step(8 * DAY_US)
    assert memory.call("deletion_list").deletions[0].over
    assert place.open(grace_days="30").call("deletion_list").deletions[0].over is False


def test_the_list_shows_nothing_to_those_who_could_not_see_it(place: Place) -> None:
    memory, outside = place.open(), place.open(agent="guest", scopes="public", role="agent")
    kept = memory.remember("The vault is behind the mill.")
    memory.call("delete", target=kept.id, reason="secret reason")
    assert outside.call("deletion_list").deletions == ()
    for name, given in (("restore", {"id": kept.id}), ("delete", {"target": kept.id})):
        with pytest.raises(NotFound):
            outside.call(name, **given)


# ---- revival


def test_reading_an_unchanged_file_again_brings_it_back(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "docks.md", DOCKS)
    ingested(memory, place, "crane.py", CODE)
    before = found(memory, "crane", limit=50)
    for name in ("docks.md", "crane.py"):
        memory.call("delete", target=name)
    assert not found(memory, "crane")
    back = memory.ingest(place.root)
    assert (back.revived, back.unchanged) == (2, 0)
    assert found(memory, "crane", limit=50) == before
    assert memory.ingest(place.root).unchanged == 2
    assert memory.call("rebuild").equal


def test_a_changed_file_comes_back_as_it_is_now(memory: weft.Memory, place: Place) -> None:
    ingested(memory, place, "docks.md", DOCKS)
    ingested(memory, place, "crane.py", CODE)
    for name in ("docks.md", "crane.py"):
        memory.call("delete", target=name)
    back = ingested(memory, place, "docks.md", "# Docks\nThey are dry.\n\n## Cranes\nThe red crane is slow.\n")
    assert (back.documents, back.revived) == (1, 1)
    assert not sees(memory, "ferry/docks.md#Boats"), "what the file does not say any more stays out of sight"
    assert found(memory, "dry docks")
    assert found(memory, "red crane")
    # A class where a function was: a node keeps its kind, be it deleted.
    ingested(memory, place, "crane.py", "class lower:\n    '''crane class'''\n")
    assert {hit.node.kind for hit in memory.recall("crane class", kinds=["Class", "Function"]).hits} == {"Class"}
    assert memory.call("rebuild").equal


def test_reading_one_file_again_brings_nothing_else_back(memory: weft.Memory, place: Place) -> None:
    for name in ("docs/a.md", "docs/b.md"):
        ingested(memory, place, name, f"# {name}\ncrane {name}\n")
    memory.call("delete", target=f"{place.root}/docs/")
    memory.ingest(place.root / "docs" / "a.md")
    assert found(memory, "crane") == {"ferry/docs/a.md#docs/a.md¶1"}


def test_records_come_back_when_they_are_read_again(memory: weft.Memory, place: Place) -> None:
    rows = [
        {"id": "r1", "title": "Ferry", "text": "The crane ferry leaves at nine."},
        {"id": "r2", "session": "s1", "text": "Mira: the crane is late."},
        {"id": "r3", "text": "crane speech", "turn_offsets": [0]},
    ]
    text = "\n".join(json.dumps(row) for row in rows[:2])
    ingested(memory, place, "rows.jsonl", text)
    for target in ("ferry/record:r1", "ferry/s1"):
        memory.call("delete", target=target)
    assert not found(memory, "crane")
    memory.ingest(place.root / "rows.jsonl")
    assert found(memory, "crane") == {"ferry/record:r1", "ferry/s1#00001"}
    assert memory.ingest(place.root / "rows.jsonl").unchanged == 2


def test_recording_turns_again_brings_the_conversation_back_and_says_so(memory: weft.Memory) -> None:
    memory.record_turns("chat", ["Mira: the crane is broken"], title="Crane talk")
    memory.call("delete", target="chat")
    more = memory.record_turns("chat", ["Jon: mended"])
    assert [turn.seq for turn in more.turns] == [2]
    assert any("is restored with its turns" in note for note in more.notes)
    assert sees(memory, "ferry/chat#00001")
    assert memory.show("ferry/chat").node.name == "Crane talk"  # type: ignore[union-attr]


# ---- bad input, rights, repeats


def test_what_cannot_be_deleted_is_told_apart(memory: weft.Memory) -> None:
    kept = memory.remember("A memory.")
    record = memory.call("memory_feedback", id=kept.id, outcome="confirmed").id
    with pytest.raises(Invalid, match="keeps Feedback records itself"):
        memory.call("delete", target=record)
    memory.call("project_create", name="mill")
    with pytest.raises(Invalid, match="Project"):
        memory.call("delete", target="project:mill")
    for nothing in ("nothing", "no/such/file.md", "*", "%", "ferry/%", "weft://x/events/1#00000000", "nowhere/"):
        with pytest.raises(NotFound):
            memory.call("delete", target=nothing)
    for nothing in ("nothing", "*"):
        with pytest.raises(NotFound):
            memory.call("restore", id=nothing)


def test_a_repeated_request_deletes_once(memory: weft.Memory) -> None:
    kept, other = memory.remember("One memory."), memory.remember("Another thing.")
    first = memory.call("delete", target=kept.id, request_id="r1")
    again = memory.call("delete", target=kept.id, request_id="r1")
    assert (first.status, again.status, again.citation) == ("saved", "duplicate_skip", first.citation)
    with pytest.raises(Conflict):
        memory.call("delete", target=other.id, request_id="r1")


def test_deleting_twice_is_not_found(memory: weft.Memory) -> None:
    kept = memory.remember("One memory.")
    memory.call("delete", target=kept.id)
    with pytest.raises(NotFound):
        memory.call("delete", target=kept.id)


def test_names_in_any_script_can_be_deleted(memory: weft.Memory) -> None:
    memory.record_turns("会議 ‘é’", ["Zoë: quai à droite"])
    assert memory.call("delete", target="会議 ‘é’").nodes == 2
    assert memory.call("restore", id="会議 ‘é’").nodes == 2


def test_parts_that_the_caller_may_not_see_stay(place: Place) -> None:
    memory, agent = place.open(), place.open(agent="scout", scopes="public", role="agent")
    shown = memory.remember("Grain comes up by the river stairs.", scope="public")
    assert agent.call("delete", target=shown.id).nodes == 1
    with pytest.raises(Forbidden):
        agent.call("clear_graph", project="ferry")


def test_why_something_sensitive_went_is_told_to_those_who_may_know(place: Place) -> None:
    memory = place.open(sensitive="true")
    kept = memory.remember("Odile's knee is to be operated on.", sensitive=True)
    memory.call("delete", target=kept.id, reason="Odile asked for it")
    (shown,) = memory.call("deletion_list").deletions
    assert shown.reason == "Odile asked for it"
    (blind,) = place.open(sensitive="true", sensitive_key="").call("deletion_list").deletions
    assert blind.reason == "[encrypted with key tests]"


def test_a_cleared_project_is_listed_as_cleared(memory: weft.Memory, clock: ManualClock) -> None:
    memory.add_entity("Odile", kind="Person")
    memory.remember("The mill is open.")
    asked = memory.call("clear_graph")
    assert (asked.status, found(memory, "mill") != set()) == ("failed", True)
    memory.call("clear_graph", confirm="ferry")
    clock.step(30 * DAY_US)
    (shown,) = memory.call("deletion_list").deletions
    assert (shown.id, shown.cleared, shown.over, shown.until) == ("ferry", True, False, "")
    assert sees(memory, "person:odile"), "things of no project stay"
