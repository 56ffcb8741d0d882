"""Structured writes as a caller meets them: what they make, what they find again, and what they refuse."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import MakeStore, Place
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, WeftError
from weft.core.types import Actor, Viewer, Writer
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import load_settings
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe
from weft.testing.viewers import OPERATOR


@pytest.fixture
def harbour(make_store: MakeStore, clock: ManualClock, tmp_path: Path) -> weft.Memory:
    """A memory over each backend."""
    settings = load_settings(tmp_path, {"HOME": str(tmp_path), "WEFT_PROJECT": "harbour"})
    ctx = CallContext(
        store=make_store(),
        clock=clock,
        settings=settings,
        viewer=Viewer(account=settings.account, scopes=frozenset({"public", "shared", "admin"})),
        writer=Writer(account=settings.account, session="main", actor=Actor(agent="writer", role="operator")),
        embedding=Embedding(None, clock),
    )
    return weft.Memory(ctx)


def edges(memory: weft.Memory, node: str, **when: str) -> set[tuple[str, str, str]]:
    """What a node is joined to: direction, relation, the other's id."""
    return {(edge.direction, edge.rel, edge.id) for edge in memory.show(node, **when).edges}


def held(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos


# ---- a story told and asked for


def test_a_story_told_by_structured_writes_is_followed_by_every_view(harbour: weft.Memory) -> None:
    harbour.add_entity("Brightwater", kind="Service", description="The pumping station of the dry dock.")
    harbour.add_entity("Odile Fenn", kind="Person", description="Looks after the pumps.", aliases=["Odie"])
    harbour.link_entities("Odie", "MAINTAINS", "Brightwater")
    harbour.link_entities("Brightwater", "DRAINS", "Dock Four")
    harbour.add_event("A storm washed sand into the intake.", "2025-11-02", entities=["Brightwater"])
    harbour.add_event("Odile Fenn cleared the filter by hand.", "2025-11-04", entities=["Odie", "Brightwater"])
    flood = harbour.add_event("Dock Four stood under water.", "2025-11-03", entities=["Dock Four"])
    told = (
        ("Sand settled in the intake of Brightwater", "The filter of Brightwater clogged", 0.9),
        ("The filter of Brightwater clogged", "The pumps of Brightwater ran hot and stopped", 0.8),
        ("The pumps of Brightwater ran hot and stopped", "Dock Four stood under water.", None),
    )
    for cause, effect, confidence in reversed(told):
        more = {} if confidence is None else {"confidence": confidence}
        last = effect.startswith("Dock")
        affected = ["Brightwater", "Dock Four"] if last else ["Brightwater"]
        harbour.add_causal_link(cause, effect, entities=affected, events=[flood.id] if last else [], **more)
    harbour.add_concept(
        "flooded dock", description="A dock that fills though its gate is shut.", entities=["Dock Four"]
    )

    context = harbour.recall("Why did the flooded dock fill though its gate is shut?", intent="WHY").context
    places = [
        context.index(words)
        for words in ("Sand settled", "filter of Brightwater clogged", "pumps of", "Dock Four stood")
    ]
    assert places == sorted(places)

    happened = harbour.call("temporal_expand", entity_ids=["Brightwater"], depth=1).nodes
    assert [node.text for node in happened if node.kind == "Event"] == [
        "A storm washed sand into the intake.",
        "Odile Fenn cleared the filter by hand.",
    ]
    related = harbour.call("entity_lookup", entity_ids=["Brightwater"], depth=1).nodes
    assert {"Odile Fenn", "Dock Four"} <= {node.name for node in related}
    chains = harbour.call("causal_expand", entity_ids=["Brightwater"]).chains
    assert [len(chain) for chain in chains] == [4]
    found = harbour.call("semantic_search", query="flooded dock")
    assert "entity:dock four" in found.seed_entity_ids


def test_the_citation_of_a_call_is_that_of_all_it_made(harbour: weft.Memory) -> None:
    written = harbour.add_event("The crane fell.", "2025-03-01", entities=["Crane Two", "Odile"])
    cited = harbour.cite(written.citation)
    assert cited.matches
    assert {node.id for node in cited.nodes} == {written.id, *written.linked}
    link = harbour.add_causal_link("Rust ate the bolt", "The crane fell", entities=["Crane Two"])
    assert {node.text for node in harbour.cite(link.citation).nodes} == {"Rust ate the bolt", "The crane fell"}


def test_a_rebuild_makes_the_same_graph(make_store: MakeStore, harbour: weft.Memory, clock: ManualClock) -> None:
    harbour.add_entity("Odile Fenn", kind="Person", aliases=["Odie"])
    harbour.add_event("The crane fell.", "2025-03-01", entities=["Crane Two", "Odie", "Fenn"])
    harbour.add_causal_link("Rust ate the bolt", "The crane fell", confidence=0.2)
    harbour.add_causal_link("Rust ate the bolt", "The crane fell", confidence=0.7)
    harbour.call("merge_entities", duplicate="Fenn", into="Odie", reason="signed the same log")
    harbour.call("split_entities", duplicate="Fenn")
    viewer = Viewer(account=harbour.ctx.viewer.account, scopes=OPERATOR.scopes, sensitive=True)
    scribe = Scribe(harbour.ctx.store, clock, viewer=viewer)
    before = scribe.digest()
    scribe.rebuild()
    assert scribe.digest() == before


# ---- entities


def test_the_same_entity_again_is_the_same_or_a_new_version_of_it(harbour: weft.Memory, clock: ManualClock) -> None:
    first = harbour.add_entity("Odile Fenn", kind="Person", description="Looks after the pumps.")
    clock.step()
    again = harbour.add_entity("  ODILE fenn", kind="Person")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    clock.step()
    newer = harbour.add_entity("Odile Fenn", description="Runs the dry dock.", importance=2.0)
    assert (newer.status, newer.id) == ("saved", first.id)
    assert any("new version" in note for note in newer.notes)
    shown = harbour.show(first.id)
    assert shown.node is not None
    assert (shown.node.text, shown.node.kind, shown.node.props) == ("Runs the dry dock.", "Person", {"importance": 2})
    assert len(shown.history) == 2


def test_a_thing_named_in_passing_does_not_stand_in_the_way_of_one_of_a_kind(harbour: weft.Memory) -> None:
    passing = harbour.add_event("The crane fell.", "2025-03-01", entities=["Odile"]).linked[0]
    person = harbour.add_entity("Odile", kind="Person")
    assert person.id != passing
    assert any("merge_entities" in note and passing in note for note in person.notes)
    assert harbour.add_event("The crane was mended.", "2025-03-02", entities=["Odile"]).linked == (person.id,)
    assert harbour.add_entity("Odile").id == person.id


def test_aliases_are_looked_up_and_shown(harbour: weft.Memory) -> None:
    person = harbour.add_entity("Odile Fenn", kind="Person", aliases=["Odie", "the pump lady", "Odile Fenn"])
    shown = harbour.show(person.id).node
    assert shown is not None
    assert shown.props["aliases"] == ["Odie", "the pump lady"]
    event = harbour.add_event("The pumps were oiled.", "2025-03-01", entities=["ODIE", "The Pump Lady", "Odile Fenn"])
    assert event.linked == (person.id,)
    more = harbour.add_entity("Odie", aliases=["O. F."])
    assert more.id == person.id
    assert harbour.show(person.id).node.props["aliases"] == ["Odie", "the pump lady", "O. F."]  # type: ignore[union-attr]


def test_an_alias_of_two_is_an_error_that_names_both(harbour: weft.Memory) -> None:
    one = harbour.add_entity("Samuel Orr", kind="Person", aliases=["Sam"])
    other = harbour.add_entity("Samantha Vane", kind="Person", aliases=["Sam"])
    with pytest.raises(Invalid, match="matches 2") as caught:
        harbour.add_event("Sam rang the bell.", "2025-03-01", entities=["Sam"])
    assert one.id in caught.value.hint
    assert other.id in caught.value.hint


def test_an_alias_does_not_take_over_another_entity(harbour: weft.Memory) -> None:
    sam = harbour.add_entity("Sam", kind="Person")
    before = held(harbour)
    with pytest.raises(Invalid, match="another entity") as caught:
        harbour.add_entity("Samuel Orr", kind="Person", aliases=["Sam"])
    assert f"duplicate {sam.id}" in caught.value.hint
    assert held(harbour) == before


@pytest.mark.parametrize(
    ("kind", "hint"),
    [("Event", "add_event"), ("Cause", "add_causal_link"), ("Tx", "such as Entity"), ("File", "Entity")],
)
def test_what_is_no_entity_is_not_added_as_one(harbour: weft.Memory, kind: str, hint: str) -> None:
    with pytest.raises(Invalid, match="not a kind of entity") as caught:
        harbour.add_entity("Odile", kind=kind)
    assert hint in caught.value.hint


def test_kinds_of_ones_own_are_entities_too(harbour: weft.Memory) -> None:
    ship = harbour.add_entity("Petrel", kind="Ship", description="a pilot boat")
    assert any("relations are not followed to the kind Ship" in note for note in ship.notes)
    assert harbour.add_event("Petrel ran aground.", "2025-03-01", entities=["Petrel"]).linked == (ship.id,)


# ---- merging and splitting


def test_names_of_a_merged_entity_mean_the_one_it_is_until_it_is_split(
    harbour: weft.Memory, clock: ManualClock
) -> None:
    person = harbour.add_entity("Odile Fenn", kind="Person")
    other = harbour.add_event("O. Fenn oiled the pumps.", "2025-03-01", entities=["O. Fenn"]).linked[0]
    clock.step()
    merged = harbour.call("merge_entities", duplicate="O. Fenn", into="Odile Fenn", reason="signed the same log")
    assert (merged.status, merged.id, merged.linked) == ("saved", other, (person.id,))
    for written in ("O. Fenn", other):
        assert harbour.add_entity("x", aliases=[]).id == "entity:x"
        assert harbour.link_entities(written, "SAILS", "Petrel").id == person.id
    assert harbour.show(person.id).node.props["aliases"] == ["O. Fenn"]  # type: ignore[union-attr]
    assert ("in", "MERGES_INTO", other) in edges(harbour, person.id, as_of="2020")
    again = harbour.call("merge_entities", duplicate="O. Fenn", into=person.id, reason="once more")
    assert again.status == "duplicate_skip"

    clock.step()
    split = harbour.call("split_entities", duplicate=other)
    assert (split.status, split.linked) == ("saved", (person.id,))
    assert harbour.cite(split.citation).matches
    assert harbour.add_event("O. Fenn left.", "2025-04-01", entities=["O. Fenn"]).linked == (other,)
    assert "aliases" not in harbour.show(person.id).node.props  # type: ignore[union-attr]
    assert ("in", "MERGES_INTO", other) not in edges(harbour, person.id, as_of="2020")


def test_a_merge_leads_on_and_never_in_a_circle(harbour: weft.Memory) -> None:
    for name in ("One", "Two", "Three"):
        harbour.add_entity(name)
    harbour.call("merge_entities", duplicate="One", into="Two", reason="the same")
    harbour.call("merge_entities", duplicate="Two", into="Three", reason="the same")
    assert harbour.add_event("It rang.", "2025-01-01", entities=["One"]).linked == ("entity:three",)
    for duplicate, into in (("Three", "One"), ("Two", "Two"), ("Three", "Three")):
        with pytest.raises(Invalid, match="one entity already"):
            harbour.call("merge_entities", duplicate=duplicate, into=into, reason="the same")
    harbour.add_entity("Four")
    with pytest.raises(Invalid, match="was already merged into entity:two") as caught:
        harbour.call("merge_entities", duplicate="One", into="Four", reason="the same")
    assert "split_entities" in caught.value.hint


def test_merging_asks_for_two_entities_and_a_reason(harbour: weft.Memory) -> None:
    harbour.add_entity("One")
    event = harbour.add_event("It rang.", "2025-01-01")
    bad: list[tuple[type[WeftError], dict[str, str]]] = [
        (NotFound, {"duplicate": "Nobody", "into": "One", "reason": "x"}),
        (NotFound, {"duplicate": "One", "into": "Nobody", "reason": "x"}),
        (Invalid, {"duplicate": "One", "into": event.id, "reason": "x"}),
        (Invalid, {"duplicate": "One", "into": "One", "reason": "  "}),
    ]
    for error, given in bad:
        with pytest.raises(error) as caught:
            harbour.call("merge_entities", **given)
        assert caught.value.hint
    with pytest.raises(Invalid, match="not merged into anything"):
        harbour.call("split_entities", duplicate="One")


def test_a_name_that_fewer_may_know_is_not_shown_as_an_alias(place: Place) -> None:
    admin = place.open()
    public = admin.add_entity("The Benefactor", scope="public")
    admin.add_entity("Odile Fenn", kind="Person")
    merged = admin.call("merge_entities", duplicate="Odile Fenn", into=public.id, reason="she said so")
    assert any("not listed as an alias" in note for note in merged.notes)
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    assert "Odile" not in str(guest.show(public.id))
    assert admin.add_event("She gave.", "2025-01-01", entities=["Odile Fenn"]).linked == (public.id,)


def test_splitting_a_mere_alias_ends_it(harbour: weft.Memory) -> None:
    person = harbour.add_entity("Odile Fenn", kind="Person", aliases=["Odie"])
    harbour.call("split_entities", duplicate="Odie")
    assert harbour.add_event("Odie came.", "2025-01-01", entities=["Odie"]).linked == ("entity:odie",)
    assert "aliases" not in harbour.show(person.id).node.props  # type: ignore[union-attr]


# ---- relations


def test_a_relation_holds_for_a_time_and_gets_new_versions(harbour: weft.Memory, clock: ManualClock) -> None:
    first = harbour.link_entities("Odile", "WORKS_AT", "Dry Dock", valid_from="2020", valid_to="2024")
    assert first.linked == ("entity:dry dock",)
    assert edges(harbour, "Odile", as_of="2022") == {("out", "WORKS_AT", "entity:dry dock")}
    assert edges(harbour, "Odile", as_of="2025") == set()
    clock.step()
    lasting = harbour.link_entities("Odile", "WORKS_AT", "Dry Dock", valid_from="2025")
    assert lasting.status == "saved"
    for more in ({}, {"valid_from": "2025"}):
        assert harbour.link_entities("odile", "WORKS_AT", "dry dock", **more).status == "duplicate_skip"
    assert harbour.link_entities("Odile", "WORKS_AT", "Dry Dock", weight=3.0).status == "saved"


@pytest.mark.parametrize(
    ("relation", "hint"),
    [
        ("works at", "write it as WORKS_AT"),
        ("Works-At", "write it as WORKS_AT"),
        ("_X", "write it as X"),
        ("9", "write it as WORKS_AT"),
        ("INVOLVES", "add_event"),
        ("CAUSES", "add_causal_link"),
        ("CONTAINS", "ingest"),
        ("SUPERSEDES", "add_fact"),
        ("MERGES_INTO", "merge_entities"),
        ("NEXT", "record_turns"),
    ],
)
def test_names_of_relations(harbour: weft.Memory, relation: str, hint: str) -> None:
    with pytest.raises(Invalid) as caught:
        harbour.link_entities("Odile", relation, "Petrel")
    assert hint in caught.value.hint
    assert held(harbour) == 0


# ---- events


def test_the_same_event_gains_what_is_new_and_nothing_twice(harbour: weft.Memory) -> None:
    first = harbour.add_event("The crane fell.", "2025-03-01", entities=["Crane Two", "crane two"])
    assert first.linked == ("entity:crane two",)
    again = harbour.add_event("the crane fell", "2025-03-01T00:00:00Z", entities=["Crane Two"])
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    more = harbour.add_event("The crane fell.", "2025-03-01", entities=["Odile"])
    assert (more.status, more.id) == ("saved", first.id)
    assert {each[2] for each in edges(harbour, first.id)} == {"entity:crane two", "entity:odile"}
    assert harbour.add_event("The crane fell.", "2025-06-01").id != first.id, "on another day it is another event"
    assert harbour.add_event("The crane fell.", "2025-03-01", level="global").id != first.id


def test_an_event_carries_its_options(harbour: weft.Memory) -> None:
    more = {"keywords": ["cranes"], "importance": 3.0, "purpose": "safety", "expires_at": "2027-01-01"}
    event = harbour.add_event("The crane fell.", "2025-03-01", scope="shared", agents=["ann"], **more)
    node = harbour.show(event.id).node
    assert node is not None
    assert (node.scope, node.agents, node.valid_from[:10]) == ("shared", ("ann",), "2025-03-01")
    assert node.props == {
        "keywords": ["cranes"],
        "importance": 3,
        "purpose": "safety",
        "expires_at": "2027-01-01T00:00:00.000000Z",
    }


def test_an_event_that_lies_ahead_is_the_same_one_too(harbour: weft.Memory) -> None:
    first = harbour.add_event("The new quay opens.", "2031-05-01", entities=["Quay Nine"])
    again = harbour.add_event("The new quay opens.", "2031-05-01", entities=["Quay Nine"])
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    assert harbour.recall("quay opens", as_of="2032").hits


# ---- causes


def test_links_in_the_same_words_join_to_a_chain(harbour: weft.Memory) -> None:
    one = harbour.add_causal_link("Rust ate the bolt", "The crane fell", entities=["Crane Two"])
    two = harbour.add_causal_link("the crane fell.", "The quay was shut")
    assert two.id == one.linked[0]
    by_id = harbour.add_causal_link(two.linked[0], "Ships waited outside")
    assert by_id.id == two.linked[0]
    assert {("out", "AFFECTS", "entity:crane two"), ("out", "CAUSES", two.id)} <= edges(harbour, one.id)


def test_a_link_that_is_there_gets_the_new_confidence(harbour: weft.Memory, clock: ManualClock) -> None:
    first = harbour.add_causal_link("Rust ate the bolt", "The crane fell", confidence=0.4)
    clock.step()
    assert harbour.add_causal_link("Rust ate the bolt", "The crane fell").status == "duplicate_skip"
    assert harbour.add_causal_link("Rust ate the bolt", "The crane fell", confidence=0.4).status == "duplicate_skip"
    surer = harbour.add_causal_link("Rust ate the bolt", "The crane fell", confidence=0.9)
    assert surer.status == "saved"
    store, viewer = harbour.ctx.store, harbour.ctx.viewer
    (step,) = store.neighbours(viewer, weft.core.types.When(), [first.id], rels=("CAUSES",))
    assert step.edge.props == {"confidence": 0.9}


def test_a_circle_is_kept_and_said(harbour: weft.Memory) -> None:
    harbour.add_causal_link("Fear of a shortage", "Everybody buys rope")
    assert not harbour.add_causal_link("Everybody buys rope", "There is no rope left").notes
    closing = harbour.add_causal_link("There is no rope left", "Fear of a shortage")
    assert (closing.status, [note for note in closing.notes if "cycle" in note]) == ("saved", list(closing.notes))
    assert closing.notes


def test_events_stand_for_what_they_say_and_are_referred_to(harbour: weft.Memory) -> None:
    storm = harbour.add_event("A storm came up.", "2025-02-01")
    fall = harbour.add_event("The crane fell.", "2025-02-02")
    link = harbour.add_causal_link(storm.id, "The crane fell", events=["the crane fell", "A storm came up."])
    cause, effect = link.id, link.linked[0]
    assert ("out", "REFERS_TO", storm.id) in edges(harbour, cause)
    assert ("out", "REFERS_TO", fall.id) not in edges(harbour, cause), "an event belongs to the end in its words"
    assert ("out", "REFERS_TO", fall.id) in edges(harbour, effect)
    node = harbour.show(cause).node
    assert node is not None
    assert (node.kind, node.text, node.valid_from[:10]) == ("Cause", "A storm came up.", "2025-02-01")


def test_writers_at_once_make_one_cause_and_one_entity(place: Place) -> None:
    memories = [place.open(session=f"s{number}") for number in range(6)]
    problems: list[BaseException] = []
    start = threading.Barrier(len(memories))

    def tell(number: int, memory: weft.Memory) -> None:
        try:
            start.wait()
            memory.add_causal_link("Rust ate the bolt", f"Effect number {number}", entities=["Crane Two"])
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=tell, args=each) for each in enumerate(memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    causes = [node for node in place.open().recent(kinds=["Cause"], limit=50).nodes if node.text == "Rust ate the bolt"]
    assert len(causes) == 1
    assert len([each for each in edges(place.open(), causes[0].id) if each[1] == "CAUSES"]) == len(memories)


# ---- concepts


def test_a_concept_is_one_of_its_name_in_each_project(place: Place, tmp_path: Path) -> None:
    (tmp_path / "barge").mkdir()
    here, there = place.open(), place.open(tmp_path / "barge")
    first = here.add_concept("retry storm", description="Calls repeated without a pause.", entities=["Tidebook"])
    again = here.add_concept("Retry Storm", entities=["Tidebook"])
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    more = here.add_concept("retry storm", description="Failed calls, repeated.", entities=["Gullmail"])
    assert (more.status, more.id) == ("saved", first.id)
    assert here.show(first.id).node.text == "Failed calls, repeated."  # type: ignore[union-attr]
    assert edges(here, first.id) == {("out", "REPRESENTS", "entity:tidebook"), ("out", "REPRESENTS", "entity:gullmail")}
    assert there.add_concept("retry storm").id != first.id
    assert here.show(first.id).node.project == "ferry"  # type: ignore[union-attr]


# ---- the general form


def test_a_node_of_any_kind_with_relations(harbour: weft.Memory) -> None:
    task = harbour.memory_write("Task", "Mend the crane.")
    lesson = harbour.memory_write("Learning", "Bolts rust from inside.", name="Bolts", props={"sure": True, "n": 2})
    written = harbour.memory_write(
        "Checklist",
        "Look at each bolt.",
        relations=[
            {"rel": "INVOLVES", "target": "Crane Two"},
            {"rel": "BASED_ON", "target": "Bolts"},
            {"rel": "KEEPS", "target": "Odile", "direction": "in", "target_kind": "Person"},
        ],
        produced_by_task_id=task.id,
        keywords=["cranes"],
    )
    assert written.linked == ("entity:crane two", lesson.id, "person:odile", task.id)
    assert edges(harbour, written.id) == {
        ("out", "INVOLVES", "entity:crane two"),
        ("out", "BASED_ON", lesson.id),
        ("in", "KEEPS", "person:odile"),
        ("in", "PRODUCED", task.id),
    }
    cited = harbour.cite(written.citation)
    assert cited.event is not None
    assert cited.event.task == task.id
    node = harbour.show(lesson.id).node
    assert node is not None
    assert node.props == {"sure": True, "n": 2}
    assert harbour.recall("look at each bolt", kinds=["Checklist"]).hits[0].node.id == written.id


def test_an_entity_by_the_general_form_is_that_entity(harbour: weft.Memory) -> None:
    first = harbour.add_entity("Odile", kind="Person")
    again = harbour.memory_write("Person", "Looks after the pumps.", name="odile", props={"desk": 4})
    assert again.id == first.id
    node = harbour.show(first.id).node
    assert node is not None
    assert (node.name, node.text, node.props, node.project) == ("Odile", "Looks after the pumps.", {"desk": 4}, None)


# ---- rights


def test_what_is_written_for_all_is_not_joined_to_what_few_may_see(place: Place) -> None:
    admin = place.open()
    hidden = admin.add_entity("Odile", kind="Person", description="under investigation")
    event = admin.add_event("Odile opened the gate.", "2025-01-01", entities=["Odile"], scope="public")
    assert event.linked == ("entity@public/odile",)
    assert any(hidden.id in note for note in event.notes)
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    assert edges(guest, event.id) == {("out", "INVOLVES", "entity@public/odile")}
    assert "investigation" not in str(guest.recall("Odile"))
    narrow = admin.add_event("Odile was asked about it.", "2025-01-02", entities=["Odile"])
    assert narrow.linked == (hidden.id,)


def test_references_do_not_tell_of_what_is_hidden(place: Place) -> None:
    admin = place.open()
    hidden = admin.add_entity("Odile", kind="Person")
    event = admin.add_event("Odile opened the gate.", "2025-01-01")
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    assert guest.add_event("Odile left.", "2025-01-01", entities=["Odile"]).linked == ("entity@public/odile",)
    for given in ({"entities": [hidden.id]}, {"events": [event.id]}, {"events": ["Odile opened the gate."]}):
        with pytest.raises(NotFound) as caught:
            guest.add_causal_link("one", "other", **given)
        assert "that you may see" in str(caught.value)
    with pytest.raises(Forbidden):
        guest.add_entity("Odile", scope="admin")


def test_sensitive_writes_are_taken_from_those_who_may_not_read_them(place: Place) -> None:
    plain, entitled = place.open(), place.open(sensitive="true")
    for _ in range(2):
        plain.add_event("Odile was paid.", "2025-01-01", entities=["Odile"], sensitive=True)
        plain.add_entity("Odile", kind="Person", sensitive=True)
        plain.add_concept("bonus", entities=["Odile"], sensitive=True)
    assert plain.recall("Odile paid bonus").status == "empty"
    assert {hit.node.text for hit in entitled.recall("Odile paid").hits} >= {"Odile was paid."}
    first = entitled.add_event("Odile was thanked.", "2025-01-01", entities=["Ada"], sensitive=True)
    assert entitled.add_event("Odile was thanked.", "2025-01-01", entities=["Ada"], sensitive=True).id == first.id


# ---- the same request again


REQUESTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("add_entity", {"name": "Odile", "kind": "Person", "aliases": ["Odie"]}, {"name": "Ada"}),
    (
        "add_event",
        {"description": "It rang.", "occurred_at": "2025", "entities": ["Bell"]},
        {"description": "It fell."},
    ),
    ("add_concept", {"name": "noise", "entities": ["Bell"]}, {"name": "silence"}),
    ("add_causal_link", {"cause": "It rang", "effect": "All woke", "entities": ["Bell"]}, {}),
    ("link_entities", {"source": "Odile", "relation": "RINGS", "target": "Bell"}, {"relation": "OILS"}),
    ("memory_write", {"kind": "Learning", "text": "Bells wake.", "relations": []}, {"text": "Bells sleep."}),
]


@pytest.mark.parametrize(("name", "given", "other"), REQUESTS, ids=[each[0] for each in REQUESTS])
def test_a_repeated_request_is_written_once(
    harbour: weft.Memory, name: str, given: dict[str, Any], other: dict[str, Any]
) -> None:
    first = harbour.call(name, **given, request_id="r-1")
    before = held(harbour)
    again = harbour.call(name, **given, request_id="r-1")
    assert (first.status, again.status) == ("saved", "duplicate_skip")
    assert (again.id, again.citation, held(harbour)) == (first.id, first.citation, before)
    assert any("already written" in note for note in again.notes)
    if other:
        with pytest.raises(Conflict, match="used for something else"):
            harbour.call(name, **given | other, request_id="r-1")


def test_a_repeated_merge_and_split_are_written_once(harbour: weft.Memory) -> None:
    for name in ("One", "Two"):
        harbour.add_entity(name)
    for _ in range(2):
        merged = harbour.call("merge_entities", duplicate="One", into="Two", reason="same", request_id="m")
    assert merged.status == "duplicate_skip"
    for _ in range(2):
        split = harbour.call("split_entities", duplicate="One", request_id="s")
    assert split.status == "duplicate_skip"
    with pytest.raises(Conflict):
        harbour.call("split_entities", duplicate="One", request_id="m")


# ---- what is refused, with nothing half-written

LONG = "word " * 2_000_000
BAD: list[tuple[str, dict[str, Any], type[WeftError]]] = [
    ("add_event", {"description": "", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": " \n", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": LONG, "occurred_at": "2025"}, TooLarge),
    ("add_event", {"description": "é" * 900_000, "occurred_at": "2025"}, TooLarge),
    ("add_event", {"description": "x\x00y", "occurred_at": "2025"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025-02-30"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "someday"}, Invalid),
    ("add_event", {"description": "x"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "a\x00"]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "..."]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": ["new", "person:nobody"]}, NotFound),
    ("add_event", {"description": "x", "occurred_at": "2025", "entities": [f"e{n}" for n in range(101)]}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "expires_at": "2025-13-01"}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "importance": math.nan}, Invalid),
    ("add_event", {"description": "x", "occurred_at": "2025", "wish": "y"}, Invalid),
    ("add_entity", {"name": "?!"}, Invalid),
    ("add_entity", {"name": " "}, Invalid),
    ("add_entity", {"name": "Odile", "description": " "}, Invalid),
    ("add_entity", {"name": "Odile", "description": LONG}, TooLarge),
    ("add_entity", {"name": "Odile", "aliases": ["Odie", "\t"]}, Invalid),
    ("add_concept", {"name": "?", "entities": ["new"]}, Invalid),
    ("add_concept", {"name": "x", "entities": ["01a1e2f1-496e-7834-bd37-d7858ab997ca"]}, NotFound),
    ("add_causal_link", {"cause": "x", "effect": " "}, Invalid),
    ("add_causal_link", {"cause": "The same", "effect": "the same."}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": 1.01}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": -0.1}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "confidence": math.nan}, Invalid),
    ("add_causal_link", {"cause": "x", "effect": "y", "events": ["no such event"]}, NotFound),
    ("add_causal_link", {"cause": "x", "effect": "01a1e2f1-496e-7834-bd37-d7858ab997ca"}, NotFound),
    ("add_causal_link", {"cause": LONG, "effect": "y"}, TooLarge),
    ("link_entities", {"source": "new", "relation": "KNOWS", "target": "NEW"}, Invalid),
    ("link_entities", {"source": "a", "relation": "KNOWS", "target": "b", "weight": 0.0}, Invalid),
    ("link_entities", {"source": "a", "relation": "KNOWS", "target": "b", "weight": math.inf}, Invalid),
    (
        "link_entities",
        {"source": "a", "relation": "KNOWS", "target": "b", "valid_from": "2025", "valid_to": "2024"},
        Invalid,
    ),
    ("memory_write", {"kind": "Receipt", "text": "x"}, Invalid),
    ("memory_write", {"kind": "Learning"}, Invalid),
    ("memory_write", {"kind": "Person", "text": "x"}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "props": {"n": math.nan}}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "produced_by_task_id": "no such task"}, NotFound),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "ABOVE", "target": "nothing"}]}, NotFound),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "CONTAINS", "target": "new"}]}, Invalid),
    ("memory_write", {"kind": "Learning", "text": "x", "relations": [{"rel": "ABOVE"}]}, Invalid),
    ("add_events", {"items": []}, Invalid),
    ("add_events", {"items": [{"description": "x", "occurred_at": "2025"}] * 1_001}, TooLarge),
    ("add_events", {"items": ["x"]}, Invalid),
]


@pytest.mark.parametrize(("name", "given", "error"), BAD, ids=[f"{n}-{name}" for n, (name, _, _) in enumerate(BAD)])
def test_bad_input_is_refused_with_a_hint_and_nothing_is_written(
    harbour: weft.Memory, name: str, given: dict[str, Any], error: type[WeftError]
) -> None:
    with pytest.raises(error) as caught:
        harbour.call(name, **given)
    assert caught.value.message
    assert caught.value.hint
    assert held(harbour) == 0


def test_what_is_no_entity_cannot_be_involved(harbour: weft.Memory) -> None:
    event = harbour.add_event("It rang.", "2025")
    person = harbour.add_entity("Odile", kind="Person")
    before = held(harbour)
    for name, given in (
        ("add_event", {"description": "It fell.", "occurred_at": "2025", "entities": [event.id]}),
        ("add_causal_link", {"cause": person.id, "effect": "It rang"}),
        ("add_causal_link", {"cause": "Odile came", "effect": "It rang", "events": [person.id]}),
        ("memory_write", {"kind": "Learning", "text": "x", "produced_by_task_id": person.id}),
    ):
        with pytest.raises(Invalid) as caught:
            harbour.call(name, **given)
        assert caught.value.hint
    assert held(harbour) == before
