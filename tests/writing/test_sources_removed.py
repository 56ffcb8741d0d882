"""What rests on a source that goes or changes: what was compiled from it, what it ended, and who hears of it."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.testing.clock import DAY_US, ManualClock
from weft.writing.write_contract import WriteResult


def thing(memory: weft.Memory) -> Any:
    shown = memory.show("entity:ana").node
    assert shown is not None
    return shown


def compiled(memory: weft.Memory) -> WriteResult:
    fact = memory.add_fact("Ana", "salary", "90000", valid_from="2020")
    memory.call("compile_truth", entity="Ana")
    assert "90000" in thing(memory).props["compiled_truth"]
    return fact


CHANGES: dict[str, dict[str, Any]] = {
    "forget": {},
    "memory_invalidate": {},
    "memory_edit": {"props": {"checked": True}},
    "correct": {"text": "80000"},
    "tag": {"agents": ["clerk"]},
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_compiled_goes_with_its_source(memory: weft.Memory, name: str) -> None:
    fact = compiled(memory)
    done = memory.call(name, id=fact.id, **CHANGES[name])
    assert done.status == "saved"
    assert any("compile-truth entity:ana" in note for note in done.notes)
    assert not any(key.startswith("compiled") for key in thing(memory).props)
    assert "90000" not in str(thing(memory))
    assert "90000" not in str([hit.node for hit in memory.recall("Ana salary", kinds=["Entity"]).hits])
    assert memory.call("rebuild").equal


def test_a_change_and_what_it_drops_are_one_commit(memory: weft.Memory) -> None:
    fact = compiled(memory)
    memory.call("forget", id=fact.id)
    log = memory.ctx.store.log(memory.ctx.operator("read the log"), after=0, limit=100)
    assert [event.kind for event in log[-1][1]] == ["graph.deleted", "graph.asserted"]


def test_forgetting_a_source_twice_under_one_request_is_once(memory: weft.Memory) -> None:
    fact = compiled(memory)
    first = memory.call("forget", id=fact.id, request_id="r")
    events = memory.stats().store.events
    again = memory.call("forget", id=fact.id, request_id="r")
    assert (again.status, again.citation) == ("duplicate_skip", first.citation)
    assert memory.stats().store.events == events
    with pytest.raises(weft.Conflict, match="something else"):
        memory.call("forget", id="another", request_id="r")


def test_what_was_compiled_goes_when_a_fact_comes_or_ends_one(memory: weft.Memory, clock: ManualClock) -> None:
    compiled(memory)
    clock.step(DAY_US)
    assert any("dropped" in note for note in memory.add_fact("Ana", "owns", "a boat").notes)
    assert "compiled_truth" not in thing(memory).props
    memory.call("compile_truth", entity="Ana")
    clock.step(DAY_US)
    memory.add_fact("Ana", "salary", "95000", cardinality="one")
    assert "compiled_truth" not in thing(memory).props
    memory.call("compile_truth", entity="Ana")
    assert memory.add_fact("Ana", "owns", "a boat").status == "duplicate_skip"
    assert "compiled_truth" in thing(memory).props, "nothing new was said"


def test_words_of_its_own_stay_with_a_thing(memory: weft.Memory) -> None:
    memory.add_entity("Ana", kind="Person", description="Keeps the boats.")
    fact = memory.add_fact("Ana", "salary", "90000", subject_kind="Person")
    memory.call("compile_truth", entity="Ana")
    memory.call("forget", id=fact.id)
    shown = memory.show("person:ana").node
    assert shown is not None
    assert (shown.text, shown.summary, shown.props.get("compiled_truth")) == ("Keeps the boats.", "", None)


def test_what_was_read_out_of_a_memory_is_a_source_too(memory: weft.Memory) -> None:
    memory.add_entity("Ana", description="Keeps the boats.")
    said = memory.remember("I like black tea.", speaker="Ana")
    assert "black tea" in memory.call("compile_truth", entity="Ana").text
    memory.call("forget", id=said.id)
    assert "black tea" not in str(thing(memory))


def test_a_thing_shown_to_others_does_not_take_along_what_was_compiled(place: Place) -> None:
    memory = place.open()
    memory.add_fact("Ana", "salary", "90000", scope="public")
    ana = memory.recall("Ana", kinds=["Entity"]).hits[0].node.id
    assert "90000" in memory.call("compile_truth", entity=ana).text
    memory.call("tag", id=ana, agents=["scout"])
    scout = place.open(agent="scout", audience="public", scopes="public")
    shown = scout.show(ana).node
    assert shown is not None
    assert "90000" not in str(shown)
    with pytest.raises(weft.Invalid, match="nothing is known"):
        memory.call("compile_truth", entity=ana)


# ---- hidden and absent


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("forget", {"undo": True}),
        ("forget", {"request_id": "r"}),
        ("forget", {}),
        ("memory_edit", {"text": "x"}),
        ("correct", {"text": "x"}),
        ("memory_invalidate", {}),
        ("tag", {"keywords": ["x"]}),
        ("pin", {}),
    ],
)
def test_hidden_and_absent_are_told_alike(place: Place, name: str, given: dict[str, Any]) -> None:
    memory = place.open()
    hidden = memory.remember("The vault is behind the mill.").id
    outside = place.open(agent="scout", scopes="public")
    absent = hidden[:-1] + ("0" if hidden[-1] != "0" else "1")
    told = []
    for node in (hidden, absent):
        with pytest.raises(weft.NotFound) as problem:
            outside.call(name, id=node, **given)
        told.append((problem.value.message.replace(node, "ID"), problem.value.hint))
    assert told[0] == told[1]


# ---- what stays ended


def test_it_is_told_what_stays_ended(memory: weft.Memory) -> None:
    memory.add_fact("Ana", "lives_in", "Oslo", valid_from="2020")
    second = memory.add_fact("Ana", "lives_in", "Bergen", valid_from="2023")
    third = memory.add_fact("Ana", "lives_in", "Narvik", valid_from="2024")
    ended = memory.call("memory_invalidate", id=third.id)
    assert not any("stays ended" in note for note in ended.notes), "it held for a time"
    gone = memory.call("forget", id=third.id)
    assert [
        note for note in gone.notes if "stays ended: 'Ana lives in Bergen'" in note and "add the fact again" in note
    ]
    never = memory.call("memory_invalidate", id=second.id, at="2019")
    assert [note for note in never.notes if "stays ended: 'Ana lives in Oslo'" in note]
