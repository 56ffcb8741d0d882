"""What is read out of a memory when it is written, and what it changes."""

from __future__ import annotations

import weft
import weft.operations
from tests.places import Place


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
    assert {hit.node.kind for hit in why.hits} == {"Memory", "Cause"}
    assert why.context.count("the pilot overslept") == 1, "the memory says it: its causes do not repeat it"
    told = memory.recall("Why was the night boat late?", kinds=["Cause"]).context
    assert told.index("the pilot overslept") < told.index("The night boat was late")
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


TOLD = "Mira Okonro lives in Oslo. Mira Okonro loves sea shanties. The boat was late because the pilot overslept."


def derived(memory: weft.Memory) -> list[str]:
    found = memory.recall("Mira Okonro Oslo shanties pilot overslept", kinds=["Fact", "Preference", "Cause"])
    return [hit.node.text for hit in found.hits]


def test_what_was_read_out_goes_when_the_memory_is_forgotten_ends_or_says_something_else(place: Place) -> None:
    memory = place.open()
    for change in ("forget", "memory_invalidate", "memory_edit", "correct"):
        written = memory.remember(TOLD)
        assert len(derived(memory)) == 4
        words = {"text": "nothing of the kind"} if change in ("memory_edit", "correct") else {}
        run = next(each for each in weft.operations.OPERATIONS if each.name == change)
        memory.run(run, {"id": written.id, **words})
        assert derived(memory) == [], change


def test_what_was_read_out_is_no_longer_for_those_the_memory_is_not_for(place: Place) -> None:
    memory = place.open()
    written = memory.remember(TOLD, scope="public", agents=["bob"])
    bob = place.open(audience="public", agent="bob", scopes="public", role="agent", session="bob")
    assert len(derived(bob)) == 4
    run = next(each for each in weft.operations.OPERATIONS if each.name == "tag")
    memory.run(run, {"id": written.id, "agents": ["carl"], "remove_agents": ["bob"]})
    assert derived(bob) == []


def test_a_fact_that_was_told_goes_before_what_was_only_read(memory: weft.Memory) -> None:
    memory.remember("Mira Okonro lives in Oslo.")
    told = memory.add_fact("Mira Okonro", "lives_in", "Rome", valid_from="2020")
    assert told.notes == ("it replaces a value that was only extracted from a text",)
    (fact,) = memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits
    assert fact.node.text == "Mira Okonro lives in Rome"
    assert fact.node.valid_to is None


def test_two_values_in_one_text_leave_the_place_free(memory: weft.Memory) -> None:
    memory.remember("Mira Okonro lives in Oslo. Others say that Mira Okonro lives in Bergen.")
    assert memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits == ()


def test_a_claim_holds_no_longer_than_its_memory(memory: weft.Memory) -> None:
    memory.remember("Mira Okonro lives in Oslo.", valid_from="2020", valid_to="2021")
    assert memory.recall("where does Mira Okonro live", kinds=["Fact"]).hits == ()
    (then,) = memory.recall("where does Mira Okonro live", kinds=["Fact"], as_of="2020-06-01").hits
    assert then.node.valid_to is not None


def test_naming_a_thing_elsewhere_does_not_move_it(place: Place) -> None:
    (place.scratch / "other").mkdir()
    memory, other = place.open(), place.open(place.scratch / "other")
    here = memory.remember("Velmora sails at nine.").linked
    there = other.remember("Velmora was sold.").linked
    assert set(here).isdisjoint(there)
    assert memory.remember("The crew of Velmora sleeps ashore.").linked == here


def test_sensitive_words_are_kept_again_and_again(memory: weft.Memory) -> None:
    for _ in range(2):
        assert memory.remember("Mira Okonro is ill.", sensitive=True).status == "saved"
