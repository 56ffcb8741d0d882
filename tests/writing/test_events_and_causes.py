"""Structured writes of events, causes, concepts and nodes of any kind."""

from __future__ import annotations

import threading
from pathlib import Path

import weft
from tests.places import Place
from tests.writing.written_graph import edges
from weft.testing.clock import ManualClock

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
