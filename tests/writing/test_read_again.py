"""A memory is joined to what its present words name."""

from __future__ import annotations

import pytest

import weft


def named(memory: weft.Memory, node: str) -> set[str]:
    return {edge.name for edge in memory.call("show", id=node).edges if edge.rel == "INVOLVES"}


@pytest.mark.parametrize(
    ("operation", "field"), [("correct", "text"), ("memory_edit", "text"), ("remember", "corrects")]
)
def test_changed_words_are_joined_to_what_they_name(memory: weft.Memory, operation: str, field: str) -> None:
    wrong = memory.remember("My brother is called Rui. He works with Ana Prates.")
    assert {"Rui", "Ana Prates"} <= named(memory, wrong.id)
    right = "My brother is called Raul. He works with Ana Prates."
    done = memory.call(operation, text=right, **{"id" if field == "text" else field: wrong.id})
    assert named(memory, wrong.id) >= {"Raul", "Ana Prates"}
    assert "Rui" not in named(memory, wrong.id)
    (shown,) = [node for node in memory.cite(done.citation).nodes if node.kind == "Memory"]
    assert shown.text == right
    memory.call("correct", id=done.citation, text="My brother is called Rui.")
    assert "Rui" in named(memory, wrong.id)
    assert not {"Raul", "Ana Prates"} & named(memory, wrong.id)


def extracted(memory: weft.Memory) -> set[str]:
    return {
        node.text
        for kind in ("Fact", "Cause", "Preference")
        for node in (hit.node for hit in memory.recall("Mira Okonro Oslo boat pilot sea", kinds=[kind]).hits)
    }


TOLD = "Mira Okonro lives in Oslo. Mira Okonro loves sea shanties. The boat was late because the pilot overslept."
RIGHT = "Mira Okonro lives in Bergen. Mira Okonro loves sea shanties. The boat was late because the sea was rough."


@pytest.mark.parametrize("operation", ["correct", "memory_edit"])
def test_changed_words_are_read_for_facts_causes_and_preferences(memory: weft.Memory, operation: str) -> None:
    wrong = memory.remember(TOLD)
    assert "Mira Okonro lives in Oslo" in extracted(memory)
    before = memory.recall("what does Mira Okonro love", kinds=["Preference"]).hits[0].node
    done = memory.call(operation, id=wrong.id, text=RIGHT)
    assert done.notes == ("what was extracted from its earlier words only was removed",)
    assert extracted(memory) == {
        "Mira Okonro lives in Bergen",
        "Mira Okonro likes sea shanties",
        "The boat was late",
        "the sea was rough",
    }
    (cause,) = [node for node in memory.recall("sea was rough", kinds=["Cause"]).hits if "rough" in node.node.text]
    assert {edge.rel for edge in memory.call("show", id=cause.node.id).edges} >= {"CAUSES", "REFERS_TO"}
    assert memory.recall("what does Mira Okonro love", kinds=["Preference"]).hits[0].node == before
    (fact,) = memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits
    assert fact.node.valid_from == memory.show(wrong.id).node.valid_from  # type: ignore[union-attr]
    memory.call(operation, id=wrong.id, text=TOLD)
    assert "Mira Okonro lives in Oslo" in extracted(memory)
    assert "Mira Okonro lives in Bergen" not in extracted(memory)
    memory.call("forget", id=wrong.id)
    assert extracted(memory) == set()


def test_a_corrected_claim_that_contradicts_a_fact_waits_for_a_decision(memory: weft.Memory) -> None:
    memory.add_fact("Mira Okonro", "lives_in", "Rome", valid_from="2020")
    note = memory.remember("Mira Okonro lives in Oslo.")
    assert [each.proposed for each in memory.call("proposal_list").proposals] == ["Oslo"]
    done = memory.call("correct", id=note.id, text="Mira Okonro lives in Bergen.")
    assert any("contradicts" in each for each in done.notes)
    assert [each.proposed for each in memory.call("proposal_list").proposals] == ["Bergen"]
    memory.call("correct", id=note.id, text="Mira Okonro lives in Rome.")
    assert memory.call("proposal_list").proposals == ()
    assert "CONFLICTS_WITH" not in {edge.rel for edge in memory.call("show", id=note.id).edges}


def test_what_the_words_still_state_is_not_proposed_again(memory: weft.Memory) -> None:
    note = memory.remember("Mira Okonro lives in Oslo.", occurred_at="2026-01-05")
    memory.add_fact("Mira Okonro", "lives_in", "Rome", valid_from="2026-03-01")
    done = memory.call("memory_edit", id=note.id, text="Mira Okonro lives in Oslo. She said so herself.")
    assert done.notes == ()
    assert memory.call("proposal_list").proposals == ()
    (then,) = memory.recall("where does Mira Okonro live", kinds=["Fact"], as_of="2026-02-01").hits
    assert then.node.text == "Mira Okonro lives in Oslo"
    memory.call("correct", id=note.id, text="Nobody knows.")
    assert not memory.recall("where does Mira Okonro live Oslo", kinds=["Fact"], as_of="2026-02-01").hits
