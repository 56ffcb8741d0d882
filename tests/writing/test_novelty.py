"""The encoding gate: how new a text is, what it repeats, and belief proposals from what contradicts."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from weft.core.clock import parse_instant
from weft.core.types import Guard, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.clock import ManualClock
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.checks.current_value import compare_with_current, fact_candidate
from weft.writing.checks.novelty import check_novelty
from weft.writing.facts import AddFact, statement_of
from weft.writing.proposals import NewProposal, open_proposal, proposal_draft, proposal_fence
from weft.writing.write_contract import WriteResult

FERRY = "The ferry to Skerry leaves the north pier every morning at seven sharp"


def tag_of(memory: weft.Memory, text: str, *entities: str, **more: Any) -> tuple[str, str | None]:
    gate = check_novelty(memory.ctx, text, entities, **more).gate
    return gate.tag, gate.nearest


# ---- the gate


def test_what_nobody_said_before_is_novel(memory: weft.Memory) -> None:
    assert tag_of(memory, FERRY) == ("novel", None)
    memory.remember("The lighthouse is painted in spring")
    assert tag_of(memory, FERRY)[0] == "novel"
    assert tag_of(memory, "?!") == ("novel", None)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (FERRY, "redundant"),
        (FERRY.upper() + "!", "redundant"),
        (FERRY.replace("sharp", "sharp, always"), "redundant"),
        (FERRY.replace("seven sharp", "eight o'clock"), "reinforcing"),
        (FERRY.replace("every morning at seven sharp", "only at noon on Sundays"), "novel"),
        ("The ferry is blue", "novel"),
    ],
)
def test_the_share_of_words_decides(memory: weft.Memory, text: str, tag: str) -> None:
    kept = memory.remember(FERRY)
    found = check_novelty(memory.ctx, text).gate
    assert found.tag == tag, found
    assert found.nearest == kept.id
    assert 0.0 < found.jaccard <= 1.0


def test_a_copy_is_found_among_hundreds_of_texts_of_the_same_words(memory: weft.Memory) -> None:
    chance = Random(3)
    words = [f"{one}{other}" for one in ("ferry", "pier", "deck", "sail", "rope") for other in ("man", "side", "work")]
    texts = [" ".join(chance.sample(words + [f"{word}s2" for word in words], 8)) for _ in range(1_000)]
    nodes = [graph.NodeAssertion(id=f"n{n}", kind="Memory", text=each, project="ferry") for n, each in enumerate(texts)]
    memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(nodes)))])
    for number in range(0, 1_000, 100):
        assert tag_of(memory, f"{texts[number]}!") == ("redundant", f"n{number}")
        assert tag_of(memory, f"the {texts[number]} of today") == ("reinforcing", f"n{number}")


def test_where_all_that_it_names_is_known_less_is_enough(memory: weft.Memory) -> None:
    memory.remember(FERRY)
    memory.add_fact("pilot boat", "status", "ready")
    shorter = "The ferry to Skerry leaves every morning, the captain says so"
    assert tag_of(memory, shorter)[0] == "novel"
    assert tag_of(memory, shorter, "entity:pilot boat")[0] == "reinforcing"
    assert tag_of(memory, shorter, "entity:pilot boat", "entity:nobody")[0] == "novel"


def test_what_others_keep_to_themselves_does_not_count(place: Place) -> None:
    inside, outside = place.open(), place.open(scopes="public")
    inside.remember(FERRY)
    assert tag_of(outside, FERRY) == ("novel", None)
    assert tag_of(inside, FERRY)[0] == "redundant"
    assert tag_of(inside, FERRY, guard=Guard(project="ferry", scope="public")) == ("novel", None)
    other = place.open(project="barge")
    assert tag_of(other, FERRY) == ("novel", None)


def test_the_tag_rides_in_the_event_and_the_original_gains(memory: weft.Memory, clock: ManualClock) -> None:
    """Nothing is dropped: the memory is written, and with it that the first one was of use."""
    first = memory.remember(FERRY)
    clock.step()
    again = memory.remember(FERRY)
    assert again.status == "saved"
    shown = memory.cite(again.citation).event
    assert shown is not None
    assert shown.payload["gate"] == {"tag": "redundant", "nearest": first.id, "jaccard": 1}
    steps = memory.ctx.store.neighbours(memory.ctx.viewer, When(), [first.id], rels=("ABOUT",), direction="in")
    assert [(step.node.props["outcome"], step.node.props["multiplier"]) for step in steps] == [("surfaced", 1.05)]
    assert {node.id for node in memory.recent(kinds=["Memory"]).nodes} == {first.id, again.id}
    assert memory.call("rebuild").equal


# ---- belief proposals


def proposed(memory: weft.Memory, value: str, *, source: str | None = None, **more: Any) -> Any:
    given = AddFact(subject="Mira", predicate="lives_in", object=value, **more)
    ctx, (said, _), fresh = memory.ctx, statement_of(memory.ctx, given), memory.ctx.new_id()

    def choose(pos: int) -> WriteDecision[WriteResult | None]:
        found = compare_with_current(ctx, said)
        if found.verdict != "other" or found.fact is None:
            return WriteDecision(answer=None)
        if (before := open_proposal(ctx, said, found.fact)) is not None:
            return WriteDecision(answer=WriteResult(status="duplicate_skip", id=before.id, notes=("proposed already",)))
        new = NewProposal(id=fresh, said=said, old=found.fact, source=source, props={"confidence": 0.7})
        told = WriteResult(status="manual_review", id=fresh, candidates=(fact_candidate(ctx, found.fact),))
        return WriteDecision(answer=told, drafts=(proposal_draft(ctx, new),), fence=proposal_fence(said, pos))

    told, done = decide_and_commit(ctx, choose)
    return replace(told, citation=done.events[0].citation) if told is not None and done is not None else told


def conflicts(memory: weft.Memory, node: str) -> set[str]:
    steps = memory.ctx.store.neighbours(
        memory.ctx.viewer, When(), [node], rels=("CONFLICTS_WITH",), direction="in", limit=50
    )
    return {step.node.id for step in steps}


def lives(memory: weft.Memory, as_of: str | None = None) -> list[str]:
    found = memory.recall("Mira lives", kinds=["Fact"], as_of=as_of)
    return [str(hit.node.props["object"]) for hit in found.hits]


def test_a_contradiction_waits_and_shows_both_sides(memory: weft.Memory, clock: ManualClock) -> None:
    old = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    said = memory.remember("Mira told me that Oslo is her home now")
    clock.step()
    told = proposed(memory, "Oslo", source=said.id)
    assert told.status == "manual_review"
    assert [each.id for each in told.candidates] == [old.id]
    (listed,) = memory.call("proposal_list").proposals
    assert (listed.id, listed.status, listed.stands, listed.proposed) == (told.id, "pending", "Paris", "Oslo")
    assert (listed.old_citation, listed.source_citation) == (old.citation, said.citation)
    assert conflicts(memory, old.id) == {told.id, said.id}
    assert lives(memory) == ["Paris"]
    assert told.id not in {hit.node.id for hit in memory.recall("Mira lives in Oslo").hits}


def test_accepted_it_is_a_fact_since_it_was_proposed(memory: weft.Memory, clock: ManualClock) -> None:
    old = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    said = memory.remember("Mira told me that Oslo is her home now")
    clock.set(parse_instant("2026-03-01"))
    told = proposed(memory, "Oslo", source=said.id)
    clock.set(parse_instant("2026-06-01"))
    done = memory.call("proposal_review", id=told.id, decision="accept", reason="she said so")
    assert (done.status, done.supersedes) == ("superseded", (old.id,))
    assert lives(memory) == ["Oslo"]
    assert lives(memory, "2026-02") == ["Paris"]
    assert lives(memory, "2026-04") == ["Oslo"], "since it was proposed, not since the review"
    event = memory.cite(done.citation).event
    assert event is not None
    assert {old.citation, said.citation, told.citation} <= set(event.caused_by)
    assert conflicts(memory, old.id) == set()
    (listed,) = memory.call("proposal_list", status="accepted").proposals
    assert (listed.id, listed.reason) == (told.id, "she said so")
    assert memory.call("proposal_list").proposals == ()
    assert memory.call("rebuild").equal


def test_rejected_it_is_closed(memory: weft.Memory) -> None:
    old = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    told = proposed(memory, "Oslo")
    memory.call("proposal_review", id=told.id, decision="reject", reason="a joke")
    assert lives(memory) == ["Paris"]
    assert conflicts(memory, old.id) == set()
    assert [each.reason for each in memory.call("proposal_list", status="rejected").proposals] == ["a joke"]


def test_a_proposal_is_decided_once(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    told = proposed(memory, "Oslo")
    first = memory.call("proposal_review", id=told.id, decision="accept", request_id="r1")
    again = memory.call("proposal_review", id=told.id, decision="accept", request_id="r1")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    for decision in ("accept", "reject"):
        with pytest.raises(weft.Conflict, match="already accepted") as caught:
            memory.call("proposal_review", id=told.id, decision=decision)
        assert caught.value.hint
    assert lives(memory) == ["Oslo"]


def test_only_a_contradiction_is_proposed_and_only_once(memory: weft.Memory) -> None:
    assert proposed(memory, "Paris") is None, "nothing stands there"
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    for value in ("paris", "Paris, France", "not Oslo"):
        assert proposed(memory, value) is None, value
    first, again = proposed(memory, "Oslo"), proposed(memory, "OSLO")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    other = proposed(memory, "Rome")
    assert other.status == "manual_review"
    assert len(memory.call("proposal_list").proposals) == 2


def test_of_two_proposals_the_later_accepted_holds(memory: weft.Memory, clock: ManualClock) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    one = proposed(memory, "Oslo", valid_from="2024")
    two = proposed(memory, "Rome", valid_from="2025")
    (shown,) = memory.call("proposal_list", id=one.id).proposals
    assert (shown.stands, shown.holds_now, shown.begins[:4]) == ("Paris", "", "2024")
    memory.call("proposal_review", id=two.id, decision="accept")
    (shown,) = memory.call("proposal_list").proposals
    assert (shown.stands, shown.holds_now) == ("Paris", "Rome"), "it was overtaken"
    memory.call("proposal_review", id=one.id, decision="accept")
    assert [lives(memory, at) for at in ("2023", "2024-06", None)] == [["Paris"], ["Oslo"], ["Rome"]]


def test_what_is_proposed_and_told_meanwhile_is_just_closed(memory: weft.Memory, clock: ManualClock) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    told = proposed(memory, "Oslo", valid_from="2025")
    memory.add_fact("Mira", "lives_in", "Oslo", valid_from="2024")
    done = memory.call("proposal_review", id=told.id, decision="accept")
    assert any("holds already" in note for note in done.notes)
    assert lives(memory) == ["Oslo"]


def test_reviews_of_what_is_no_proposal_are_refused(place: Place) -> None:
    memory = place.open()
    fact = memory.add_fact("Mira", "lives_in", "Paris")
    told = proposed(memory, "Oslo")
    with pytest.raises(weft.Invalid, match="not a proposal"):
        memory.call("proposal_review", id=fact.id, decision="accept")
    with pytest.raises(weft.NotFound):
        memory.call("proposal_review", id="nothing", decision="accept")
    with pytest.raises(weft.Invalid, match="decision"):
        memory.call("proposal_review", id=told.id, decision="perhaps")
    outside = place.open(scopes="public")
    with pytest.raises(weft.NotFound):
        outside.call("proposal_review", id=told.id, decision="accept")
    assert outside.call("proposal_list", status="all").proposals == ()
    with pytest.raises(weft.Invalid, match="weft creates Proposal nodes itself"):
        memory.remember("I propose", kind="Proposal")
