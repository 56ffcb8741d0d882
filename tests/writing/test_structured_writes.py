"""Structured writes: a story told, entities, merging and splitting, relations."""

from __future__ import annotations

import pytest

import weft
from tests.places import MakeStore, Place
from tests.writing.written_graph import edges, held
from weft.core.errors import Invalid, NotFound, WeftError
from weft.core.types import Viewer
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe
from weft.testing.viewers import OPERATOR

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
