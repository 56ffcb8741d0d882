"""Erasure on request: what goes, what it takes to go on, what is told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.erasure.erased import FILLER, events, everything_said, filled, sound
from tests.places import Place
from weft.core.errors import Busy, Forbidden, Invalid, NotFound
from weft.log.draft import Draft
from weft.log.kinds import memory as memory_kinds
from weft.log.kinds import transaction
from weft.testing.clock import DAY_US, ManualClock

# ---- how to say what, and what it takes


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "nothing to erase"),
        ({"subject": "Ana Berg", "source": "a.md"}, "subject and source"),
        ({"session": "chat", "everything": True}, "session and everything"),
        ({"subject": "   "}, "blank"),
        ({"subject": "A"}, "too short"),
        ({"subject": "Bo"}, "too short"),
        ({"subject": "--"}, "too short"),
    ],
)
def test_bad_requests_are_refused(memory: weft.Memory, given: dict[str, Any], problem: str) -> None:
    filled(memory)
    before = events(memory)
    with pytest.raises(Invalid, match=problem):
        memory.call("erase", **given, yes=True)
    assert events(memory) == before


@pytest.mark.parametrize(
    "given", [{"subject": "Nobody Known"}, {"source": "no.md"}, {"session": "none"}, {"subject": "*****"}]
)
def test_what_is_not_there_is_not_found(memory: weft.Memory, given: dict[str, str]) -> None:
    filled(memory)
    with pytest.raises((NotFound, Invalid)) as problem:
        memory.call("erase", **given, yes=True)
    assert problem.value.hint


def test_wildcards_stand_for_themselves(memory: weft.Memory, place: Place) -> None:
    filled(memory)
    (place.root / "a.md").write_text("# A\ncrane\n")
    memory.ingest(place.root)
    for given in ({"source": "*"}, {"source": "%.md"}, {"session": "%"}, {"subject": "mill%"}, {"subject": "m.ll is"}):
        with pytest.raises(NotFound):
            memory.call("erase", **given, yes=True)


def test_without_yes_nothing_is_written_and_the_way_on_is_told(memory: weft.Memory) -> None:
    filled(memory).remember("Ana Berg keeps the key.")
    before = events(memory)
    for given in ({}, {"dry_run": True}, {"dry_run": True, "yes": True}):
        told = memory.call("erase", subject="Ana Berg", **given)
        assert (told.status, told.kinds["Memory"]) == ("previewed", 1)
        assert any("--yes" in note for note in told.notes)
        assert any("Ana Berg keeps" in each.words for each in told.shown)
        assert any("backups" in each for each in told.out_of_reach)
    assert events(memory) == before
    assert memory.recall("who keeps the key?").hits


def test_what_is_most_of_an_account_needs_its_name(memory: weft.Memory) -> None:
    memory.remember("Ana Berg keeps the key.")
    memory.remember("The mill is open.")
    memory.remember("Ana Berg likes tea.")
    told = memory.call("erase", subject="Ana Berg")
    assert any("--confirm default" in note for note in told.notes)
    for confirm in ("", "yes", "Default"):
        with pytest.raises(Invalid, match="memories"):
            memory.call("erase", subject="Ana Berg", yes=True, confirm=confirm)
    assert memory.recall("key").hits
    done = memory.call("erase", subject="Ana Berg", yes=True, confirm="default")
    assert (done.status, done.by) == ("erased", "operator")
    assert not memory.recall("key").hits


def test_everything_needs_the_name_and_leaves_nothing(memory: weft.Memory) -> None:
    filled(memory)
    with pytest.raises(Invalid):
        memory.call("erase", everything=True, yes=True)
    memory.call("erase", everything=True, yes=True, confirm="default")
    assert memory.recall("mill docks boats").status == "empty"
    assert "mill" not in everything_said(memory)
    sound(memory)
    memory.remember("A new beginning at the mill.")
    assert memory.recall("mill").hits


def test_a_common_word_is_warned_about(memory: weft.Memory) -> None:
    for number in range(10):
        memory.remember(f"The harbour has crane number {number}.")
    told = memory.call("erase", subject="harbour")
    assert any("10 of 10 memories" in note and "common word" in note for note in told.notes)


def test_agents_may_not_erase(place: Place) -> None:
    filled(place.open())
    for settings in ({"role": "agent"}, {"scopes": "public"}, {"audience": "public"}):
        agent = place.open(agent="scout", **settings)
        for name, given in (
            ("erase", {"subject": "mill", "yes": True}),
            ("purge", {"yes": True}),
            ("clear_graph", {"confirm": "ferry"}),
        ):
            with pytest.raises(Forbidden):
                agent.call(name, **given)


# ---- whom a name means


def test_an_alias_of_two_is_ambiguous_and_an_id_is_not(memory: weft.Memory) -> None:
    filled(memory)
    memory.add_entity("Ana Berg", kind="Person", aliases=["Anni"])
    memory.add_entity("Anna Lund", kind="Person", aliases=["Anni"])
    with pytest.raises(Invalid, match="matches 2") as problem:
        memory.call("erase", subject="Anni", yes=True)
    assert "person:ana berg" in problem.value.hint
    told = memory.call("erase", subject="person:ana berg")
    assert "person:ana berg" in {each.id for each in told.shown}
    assert "person:anna lund" not in {each.id for each in told.shown}
    assert any("'Anni'" in note for note in told.notes)


def test_an_alias_means_the_one_who_goes_by_it(memory: weft.Memory) -> None:
    filled(memory)
    memory.add_entity("Ana Berg", kind="Person", aliases=["Anni"])
    memory.remember("Anni rows well.")
    memory.remember("Yesterday Ana Berg fell in.")
    assert memory.call("erase", subject="Anni", yes=True).kinds["Memory"] == 2
    words = everything_said(memory)
    assert "Anni" not in words
    assert "Berg" not in words


def test_two_of_one_name_are_both_meant(memory: weft.Memory) -> None:
    filled(memory)
    memory.add_entity("Ana Berg", kind="Person")
    memory.add_entity("Ana Berg", kind="Organization")
    done = memory.call("erase", subject="ana berg", yes=True)
    assert (done.kinds["Person"], done.kinds["Organization"]) == (1, 1)


def test_a_subject_that_few_may_see_goes_too(place: Place) -> None:
    memory = filled(place.open())
    keen = place.open(sensitive="true")
    keen.remember("Ana Berg is ill.", sensitive=True)
    memory.remember("Ana Berg walks.", agents=["nurse"], scope="shared")
    gone = memory.remember("Ana Berg ran.")
    memory.call("forget", id=gone.id)
    memory.call("erase", subject="Ana Berg", yes=True)
    assert "Berg" not in everything_said(memory)
    assert all(name not in everything_said(memory) for name in ("is ill", "walks", "ran."))
    sound(memory)


@pytest.mark.parametrize("name", ["Zoë Ångström", "王小明同志", "Ζωή Παππά", "O'Brien-Łęcki"])
def test_names_in_any_script(memory: weft.Memory, name: str) -> None:
    filled(memory).remember(f"Yesterday {name} came by boat.")
    memory.remember(f"I met {name.upper()} again.")
    done = memory.call("erase", subject=name, yes=True)
    assert done.kinds["Memory"] == 2
    assert name.casefold() not in everything_said(memory).casefold()
    assert len(memory.recall("boat paint mill docks nets fog").hits) == len(FILLER)
    sound(memory)


def test_part_of_a_word_is_not_the_name(memory: weft.Memory) -> None:
    filled(memory)
    memory.remember("Anabel keeps the key.")
    memory.remember("Ana keeps the boat.")
    assert memory.call("erase", subject="Ana", yes=True).kinds["Memory"] == 1
    assert memory.recall("Anabel").hits


# ---- what goes with it


def test_what_was_made_of_it_goes_too(place: Place) -> None:
    memory = filled(place.open())
    said = memory.remember("Ana Berg lives in Vardø. She likes black tea.", speaker="Ana Berg")
    memory.add_fact("Ana Berg", "works_at", "Kelp Works")
    memory.add_entity("Kelp Works", kind="Organization", description="Makes soap.")
    memory.call("memory_feedback", id=said.id, outcome="confirmed", note="she said so herself")
    receipt = memory.recall("who lives in Vardø?", receipt=True).receipt
    memory.add_fact("Ana Berg", "lives_in", "Hamnøy", cardinality="one")
    memory.call("compile_truth", entity="Ana Berg")
    memory.record_turns("chat", ["Ana Berg: the tide is low", "Jon: it is"])
    memory.call("erase", subject="Ana Berg", yes=True)
    words = everything_said(memory)
    assert not [word for word in ("Berg", "Vardø", "black tea", "Hamnøy", "herself", "tide is low") if word in words]
    assert "Makes soap." in words
    assert "it is" in words
    with pytest.raises(NotFound):
        memory.answer(receipt)
    sound(memory)


def test_a_thing_does_not_go_for_what_was_compiled_of_it(memory: weft.Memory) -> None:
    filled(memory)
    memory.add_entity("Kelp Works", kind="Organization", description="Makes soap.", aliases=["KW"])
    memory.add_fact("Kelp Works", "led_by", "Ana Berg", subject_kind="Organization")
    memory.add_fact("Kelp Works", "based_in", "Narvik", subject_kind="Organization")
    assert "Berg" in memory.call("compile_truth", entity="Kelp Works").text
    done = memory.call("erase", subject="Ana Berg", yes=True)
    assert any("Kelp Works" in note for note in done.notes)
    assert "Berg" not in everything_said(memory)
    shown = memory.show("organization:kelp works")
    assert shown.node is not None
    assert (shown.node.text, shown.node.props.get("compiled_truth")) == ("Makes soap.", None)
    assert any("Narvik" in edge.name or edge.rel == "INVOLVES" for edge in shown.edges)
    assert "Narvik" in memory.call("compile_truth", entity="KW").text
    sound(memory)


def test_a_source_goes_in_all_its_versions(memory: weft.Memory, place: Place, clock: ManualClock) -> None:
    filled(memory)
    for number in range(3):
        (place.root / "plan.md").write_text(f"# Plan {number}\nThe crane moves {number}.\n\n## Inner {number}\nold\n")
        memory.ingest(place.root)
        clock.step(DAY_US)
    (place.root / "plan.py").write_text("def crane():\n    return 'stays'\n")
    memory.ingest(place.root)
    done = memory.call("erase", source="plan.md", yes=True, confirm="default")
    assert done.kinds == {"Chunk": 6, "Document": 1, "Section": 6}
    words = everything_said(memory)
    assert "plan.md" not in words
    assert "The crane moves" not in words
    assert memory.recall("crane").hits
    sound(memory)
    with pytest.raises(NotFound):
        memory.call("erase", source="plan.md", yes=True)
    memory.ingest(place.root)
    assert memory.recall("The crane moves").hits, "the file is still there: reading it again is a new beginning"


def test_a_conversation_goes_and_others_stay(memory: weft.Memory) -> None:
    filled(memory)
    memory.record_turns("chat", ["Mira: the crane is broken", "Jon: which?"], title="Crane talk")
    memory.record_turns("chat2", ["Mira: the rope is new"])
    done = memory.call("erase", session="chat", yes=True)
    assert done.kinds == {"Message": 2, "Session": 1}
    words = everything_said(memory)
    assert "crane" not in words.casefold()
    assert "the rope is new" in words
    sound(memory)


def test_a_session_of_the_log_goes_even_the_operators_own(place: Place) -> None:
    memory, scout = place.open(), place.open(session="scouting", agent="scout")
    filled(memory)
    scout.remember("The Kelp Works burnt down.")
    memory.remember("The Kelp Works makes soap.")
    done = memory.call("erase", session="scouting", yes=True)
    assert done.kinds["Memory"] == 1
    assert "burnt" not in everything_said(memory)
    assert memory.recall("soap").hits
    memory.call("erase", session="operator", yes=True, confirm="default")
    assert memory.recall("soap mill").status == "empty"
    sound(memory)


def test_erasing_twice_finds_nothing(memory: weft.Memory) -> None:
    filled(memory).remember("Ana Berg keeps the key.")
    memory.call("erase", subject="Ana Berg", yes=True)
    with pytest.raises(NotFound):
        memory.call("erase", subject="Ana Berg", yes=True)


def test_an_open_change_is_told_of(memory: weft.Memory) -> None:
    filled(memory).remember("Ana Berg keeps the key.")
    payload = memory_kinds.Remembered(id="m-open", text="Ana Berg is in an open change.")
    opened = Draft(kind="tx.opened", payload=transaction.Opened(tx_kind="incremental"))
    memory.ctx.append([opened, Draft(kind="memory.remembered", payload=payload)])
    done = memory.call("erase", subject="Ana Berg", yes=True)
    assert any("open" in note for note in done.notes)
    assert "Berg" not in everything_said(memory)


def test_what_waits_in_the_outbox_goes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = filled(place.open(outbox=str(place.scratch / "outbox")))
    box = memory.ctx.outbox
    assert box is not None
    for number, words in enumerate((("Ana Berg waits.",), ("Nothing of hers.",), ("Ana Berg too.", "The other half."))):
        drafts = [
            Draft(kind="memory.remembered", payload=memory_kinds.Remembered(id=f"w{number}{part}", text=text))
            for part, text in enumerate(words)
        ]
        box.put(
            drafts,
            writer=memory.ctx.writer,
            viewer=memory.ctx.viewer,
            request_id=None,
            at=1,
            problem=Busy("another process writes"),
        )
    assert memory.call("erase", subject="Ana Berg").outbox == 2
    done = memory.call("erase", subject="Ana Berg", yes=True)
    assert done.outbox == 2
    left = [entry.waiting for entry in box.entries()]
    assert [draft.payload["text"] for each in left if each for draft in each.drafts] == [
        "Nothing of hers.",
        "The other half.",
    ]
    memory.call("deliver_pending")
    assert memory.recall("other half").hits
    assert "Berg" not in everything_said(memory)
