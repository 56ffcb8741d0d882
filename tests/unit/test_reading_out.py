"""What is read out of a memory when it is written, and what it changes."""

from __future__ import annotations

import weft
import weft.operations

from .conftest import Place


def test_a_memory_is_joined_to_what_it_names_and_says_who(memory: weft.Memory) -> None:
    written = memory.remember("Mira Okonro moved the limits of Tidebook to Redis.")
    assert len(written.linked) == 3
    joined = {edge.name for edge in memory.show(written.id).edges if edge.rel == "INVOLVES"}
    assert joined == {"Mira Okonro", "Tidebook", "Redis"}
    again = memory.remember("Redis lost a node at night, Mira Okonro says.")
    assert set(again.linked) < set(written.linked)


def test_what_is_named_is_no_answer_and_does_not_cross_projects(place: Place) -> None:
    (place.scratch / "other").mkdir()
    memory = place.open()
    memory.remember("Velmora sails at nine.")
    assert [hit.node.kind for hit in memory.recall("who is Velmora").hits] == ["Memory"]
    assert place.open(place.scratch / "other").recall("Velmora", everywhere=False).hits == ()
    assert memory.recall("Velmora", kinds=["Mention"]).hits
    assert [node.kind for node in memory.recent().nodes] == ["Memory"]


def test_an_entity_that_is_told_of_takes_the_place_of_the_mention(memory: weft.Memory) -> None:
    memory.remember("Velmora sails at nine.")
    entity = memory.add_entity("Velmora", kind="Service", description="The night boat.")
    assert memory.remember("The crew of Velmora sleeps ashore.").linked == (entity.id,)
    assert memory.add_fact("Velmora", "status", "in dock").status == "saved"


def test_a_claim_takes_a_free_place_and_contradicts_nothing_by_itself(memory: weft.Memory) -> None:
    memory.remember("Mira Okonro lives in Oslo.")
    (fact,) = memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits
    assert fact.node.text == "Mira Okonro lives in Oslo"
    told = memory.remember("Mira Okonro lives in Rome.")
    assert any("proposal-review" in note for note in told.notes)
    (stands,) = memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits
    assert stands.node.text == "Mira Okonro lives in Oslo"
    assert memory.remember("Did Mira Okonro live in Bergen?").notes == ()


def test_causes_are_told_in_order_to_why_and_stand_back_otherwise(memory: weft.Memory) -> None:
    text = "The night boat was late because the pilot overslept."
    memory.remember(text)
    why = memory.recall("Why was the night boat late?")
    assert why.context.index("the pilot overslept") < why.context.index("The night boat was late")
    assert [hit.node.text for hit in memory.recall("night boat late").hits] == [text]


def test_a_repeated_request_is_written_once_though_it_is_no_longer_new(memory: weft.Memory) -> None:
    first = memory.remember("The pilot of Velmora is Jonas Brandt.", request_id="r1")
    again = memory.remember("The pilot of Velmora is Jonas Brandt.", request_id="r1")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)


def test_without_extraction_nothing_is_read(place: Place) -> None:
    memory = place.open(extraction="none")
    assert memory.remember("Mira Okonro lives in Oslo because of Tidebook.").linked == ()
    assert memory.stats().store.nodes == 1


def test_what_was_ingested_is_read_on_demand_and_only_once(place: Place) -> None:
    memory = place.open()
    memory.record_turns("talk", ["Mira Okonro: I met Jonas Brandt in Oslo.", "Jonas Brandt: Yes, at the harbour."])
    run = next(each for each in weft.operations.OPERATIONS if each.name == "extract_memories")
    first, second = memory.run(run, {}), memory.run(run, {})
    assert first.things >= 2  # type: ignore[attr-defined]
    assert (second.things, second.relations) == (0, 0)  # type: ignore[attr-defined]
    assert second.read_before >= 1  # type: ignore[attr-defined]
