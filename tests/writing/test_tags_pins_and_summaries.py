"""Tags, pins, feedback and the compiled truth of a thing."""

from __future__ import annotations

import pytest

import weft
from tests.places import Place
from tests.writing.lives import lives, props_of, text_of
from weft.core.clock import to_iso
from weft.core.types import When
from weft.testing.clock import DAY_US, ManualClock

# ---- tags and pins


def test_tags_are_added_and_taken_away(place: Place) -> None:
    memory = place.open()
    kept = memory.remember("Ropes are checked on Mondays.", scope="public")
    scout = place.open(agent="scout", audience="public", scopes="public")
    assert scout.recall("ropes").hits == ()
    memory.call("tag", id=kept.id, agents=["scout"], keywords=["Safety", "safety", "ropes"])
    assert [hit.node.id for hit in scout.recall("ropes").hits] == [kept.id]
    assert props_of(memory, kept.id)["keywords"] == ["Safety", "ropes"]
    assert memory.call("tag", id=kept.id, agents=["scout"], keywords=["SAFETY"]).status == "duplicate_skip"
    memory.call("tag", id=kept.id, remove_keywords=["safety", "ropes"], remove_agents=["scout"])
    assert "keywords" not in props_of(memory, kept.id)
    assert scout.recall("ropes").hits == ()
    assert memory.show(kept.id).node is not None
    with pytest.raises(weft.Invalid, match="no tags were given"):
        memory.call("tag", id=kept.id)
    with pytest.raises(weft.Invalid, match="keywords"):
        memory.call("tag", id=kept.id, keywords=[f"k{number}" for number in range(33)])


def test_an_agent_may_not_take_away_what_others_see(place: Place) -> None:
    memory = place.open()
    kept = memory.remember("Ropes are checked.", scope="public", agents=["scout", "clerk"])
    scout = place.open(agent="scout", audience="public", scopes="public")
    with pytest.raises(weft.Forbidden, match="tags"):
        scout.call("tag", id=kept.id, remove_agents=["clerk"])
    scout.call("tag", id=kept.id, keywords=["rope"])
    clerk = place.open(agent="clerk", audience="public", scopes="public")
    assert props_of(clerk, kept.id)["keywords"] == ["rope"]


def test_a_fact_that_is_tagged_ends_none_that_stood_there(place: Place) -> None:
    memory = place.open()
    first = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.call("tag", id=first.id, agents=["clerk"])
    shown = memory.show(first.id).node
    assert shown is not None
    assert (shown.text, shown.agents, shown.valid_from[:4]) == ("Mira lives in Paris", ("clerk",), "2020")
    second = memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2023")
    assert second.status == "saved", "the one that is tagged stands under other rights"
    with pytest.raises(weft.Conflict, match="cannot be retagged"):
        memory.call("tag", id=second.id, agents=["clerk"])
    assert [text_of(memory, each.id) for each in (first, second)] == ["Mira lives in Paris", "Mira lives in Oslo"]
    assert memory.call("rebuild").equal


def test_a_thing_that_is_tagged_or_renamed_stays_so_when_facts_come(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "lead", valid_from="2020")
    memory.call("tag", id="entity:mira", agents=["clerk"])
    memory.call("memory_edit", id="entity:mira", name="Mira Holt")
    assert memory.add_fact("Mira", "role", "head", valid_from="2024").status == "superseded"
    node = memory.show("entity:mira").node
    assert node is not None
    assert (node.name, node.agents) == ("Mira Holt", ("clerk",))


def test_a_pin_is_set_once_and_taken_away(memory: weft.Memory) -> None:
    kept = memory.remember("Never sail on Fridays.")
    assert [memory.call("pin", id=kept.id).status for _ in range(2)] == ["saved", "duplicate_skip"]
    assert props_of(memory, kept.id)["pinned"] is True
    memory.call("pin", id=kept.id, pinned=False)
    assert "pinned" not in props_of(memory, kept.id)
    assert memory.call("pin", id=kept.id, pinned=False).status == "duplicate_skip"
    assert len(memory.show(kept.id).history) == 3


# ---- last validated


def test_confirmed_feedback_says_when_it_was_last_validated(memory: weft.Memory, clock: ManualClock) -> None:
    kept = memory.remember("The tide table is right.")
    clock.step(DAY_US)
    memory.call("memory_feedback", id=kept.id, outcome="surfaced")
    assert "last_validated_at" not in props_of(memory, kept.id)
    memory.call("memory_feedback", id=kept.id, outcome="confirmed")
    assert props_of(memory, kept.id)["last_validated_at"] == to_iso(clock.now_us())
    assert text_of(memory, kept.id) == "The tide table is right."
    fact = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.call("memory_feedback", id=fact.id, outcome="confirmed")
    assert memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2023").supersedes == (fact.id,)
    assert lives(memory, as_of="2021") == ["Paris"]


# ---- the compiled truth


def test_a_thing_is_summed_up_from_what_is_known_today(memory: weft.Memory, clock: ManualClock) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2020", subject_kind="Person")
    role = memory.add_fact("Mira", "role", "head of platform", valid_from="2025-06-01")
    home = memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2021")
    done = memory.call("compile_truth", entity="Mira")
    assert done.status == "saved"
    assert done.text == "Mira: lives in Oslo (since 2021-01-01); role head of platform (since 2025-06-01)"
    assert done.sources == (home.citation, role.citation)
    props = props_of(memory, "person:mira")
    assert (props["compiled_truth"], props["compiled_from"]) == (done.text, [home.citation, role.citation])
    again = memory.call("compile_truth", entity="person:mira")
    assert (again.status, again.text) == ("duplicate_skip", done.text)
    assert "unchanged" in again.notes[0]
    clock.step()
    memory.add_fact("Mira", "lives_in", "Bergen")
    renewed = memory.call("compile_truth", entity="Mira")
    assert renewed.status == "saved"
    assert "Bergen" in renewed.text
    assert "Oslo" not in renewed.text
    assert [hit.node.id for hit in memory.recall("head of platform Bergen", kinds=["Person"]).hits] == ["person:mira"]


def test_a_summary_may_be_given(memory: weft.Memory) -> None:
    fact = memory.add_fact("Mira", "role", "lead")
    done = memory.call("compile_truth", entity="Mira", text="Mira leads.")
    assert (done.text, done.sources) == ("Mira leads.", (fact.citation,))
    assert memory.call("compile_truth", entity="Mira").text == "Mira leads.", "its sources did not change"


def test_a_summary_tells_nobody_what_they_may_not_see(place: Place) -> None:
    memory = place.open()
    memory.add_fact("Mira", "role", "lead", scope="public")
    mira = memory.recall("Mira", kinds=["Entity"]).hits[0].node.id
    hidden = memory.remember("Mira will be promoted in secret.")
    store, viewer = memory.ctx.store, memory.ctx.viewer
    memory.add_fact("Mira", "salary", "one million", subject_entity=mira)
    done = memory.call("compile_truth", entity=mira)
    assert "million" not in done.text
    assert "secret" not in done.text
    assert "role lead" in done.text
    assert store.nodes(viewer, When(), [hidden.id])
    outside = place.open(scopes="public")
    assert "million" not in str(outside.show(mira).node)


def test_what_is_no_thing_or_not_known_is_not_summed_up(memory: weft.Memory) -> None:
    fact = memory.add_fact("Mira", "role", "lead")
    with pytest.raises(weft.Invalid, match="not an entity"):
        memory.call("compile_truth", entity=fact.id)
    with pytest.raises(weft.NotFound):
        memory.call("compile_truth", entity="nobody")
    memory.call("memory_invalidate", id=fact.id, at="2020")
    with pytest.raises(weft.Invalid, match="nothing is known"):
        memory.call("compile_truth", entity="Mira")
