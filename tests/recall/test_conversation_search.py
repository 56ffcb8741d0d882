"""Searching conversations, finding what is alike, and explaining a rank."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.errors import Forbidden, Invalid, NotFound
from weft.ingest.ingest_records import ingest_records
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall.conversation_search import MessagesFound
from weft.recall.similar import SimilarFound
from weft.testing.clock import DAY_US, ManualClock

STANDUP = (
    "Mira: the tide gauge is broken again",
    "Jon: who repairs it?",
    "Mira: the harbour office, on Friday",
    "Jon: then we sail on Saturday",
)
LUNCH = ("user: is there soup?", "assistant: The soup at the harbour is good.", "user: the gauge says rain")


def said(answer: MessagesFound) -> list[str]:
    return [found.message.text for found in answer.messages]


def alike(answer: SimilarFound) -> list[str]:
    return [hit.node.text for hit in answer.hits]


@pytest.fixture
def talks(memory: weft.Memory) -> weft.Memory:
    memory.record_turns("standup", STANDUP, at="2025-12-30")
    memory.record_turns("lunch", LUNCH)
    memory.remember("The tide gauge at the north quay was bought in 2019.")
    return memory


# ---- conversations


def test_messages_are_found_with_who_said_them_when_and_what_was_said_around(talks: weft.Memory) -> None:
    answer = talks.conversation_search("who repairs the tide gauge?")
    assert all(found.message.id.startswith(found.session + "#") for found in answer.messages)  # messages only
    first = answer.messages[0]
    assert (first.session, first.message.speaker) == ("ferry/standup", "Mira")
    assert first.message.text == STANDUP[0]
    assert first.message.at == "2025-12-30T00:00:00.000000Z"
    assert [turn.text for turn in first.before] == []
    assert [turn.text for turn in first.after] == [STANDUP[1]]
    assert STANDUP[0] in [node.text for node in talks.cite(first.message.citation).nodes]
    scores = [found.score for found in answer.messages]
    assert scores == sorted(scores, reverse=True)


def test_a_role_is_told_as_a_role(talks: weft.Memory) -> None:
    (found,) = talks.conversation_search("is the soup good?", limit=1).messages
    assert (found.message.role, found.message.speaker) == ("assistant", "")


@pytest.mark.parametrize(("neighbours", "around"), [(0, ([], [])), (1, ([1], [3])), (3, ([0, 1], [3]))])
def test_as_many_turns_around_as_asked_for(
    talks: weft.Memory, neighbours: int, around: tuple[list[int], list[int]]
) -> None:
    (found,) = talks.conversation_search("harbour office", limit=1, neighbours=neighbours).messages
    assert found.message.text == STANDUP[2]
    assert [turn.text for turn in found.before] == [STANDUP[at] for at in around[0]]
    assert [turn.text for turn in found.after] == [STANDUP[at] for at in around[1]]


@pytest.mark.parametrize("session", ["lunch", "ferry/lunch", " lunch "])
def test_a_session_narrows_by_its_name_or_its_id(talks: weft.Memory, session: str) -> None:
    answer = talks.conversation_search("what about the gauge?", session=session)
    assert answer.session == "ferry/lunch"
    assert said(answer)[0] == "the gauge says rain"
    assert set(said(answer)) <= {"is there soup?", "The soup at the harbour is good.", "the gauge says rain"}


def test_a_short_session_among_long_ones_is_searched_whole(memory: weft.Memory) -> None:
    for number in range(30):
        memory.record_turns(f"talk{number}", [f"Ana: gauge gauge number {each}" for each in range(40)])
    memory.record_turns("short", ["Bo: rather long words about many other things, and then once the gauge"])
    assert said(memory.conversation_search("gauge", session="short")) == [
        "Bo: rather long words about many other things, and then once the gauge"
    ]


def test_what_a_session_scores_does_not_tell_of_others(place: Place) -> None:
    memory = place.open()
    memory.record_turns("standup", STANDUP)
    alone = memory.conversation_search("who repairs the gauge?", session="standup")
    memory.record_turns("other", [f"Ana: the gauge, again the gauge, repairs {number}" for number in range(50)])
    beside = memory.conversation_search("who repairs the gauge?", session="standup")
    assert [(found.message.id, found.score) for found in alone.messages] == [
        (found.message.id, found.score) for found in beside.messages
    ]


def test_meaning_is_searched_within_a_session_too(place: Place) -> None:
    memory = place.open(embedder="builtin")
    memory.record_turns("standup", STANDUP)
    memory.record_turns("lunch", LUNCH)
    answer = memory.conversation_search("which weekday will the boat depart?", session="standup", min_score=0.0)
    assert said(answer)[0] == STANDUP[3]  # no word in common


def test_conversations_are_searched_as_they_were(talks: weft.Memory) -> None:
    assert said(talks.conversation_search("tide gauge", as_of="2025-12-31", session="standup"))[0] == STANDUP[0]
    before = talks.conversation_search("tide gauge", as_of="2025-12-29", session="standup")
    assert (said(before), before.valid_at[:10]) == ([], "2025-12-29")
    assert any("no messages" in note for note in before.notes)


@pytest.fixture
def kiosk(place: Place) -> weft.Memory:
    """A public agent in session `visit`, and what it and others said."""
    staff = place.open()
    staff.record_turns("visit-1", ["user: my locker is number nine"], scope="public", agents=["kiosk"])
    public = place.open(audience="public", agent="kiosk", scopes="public", session="visit-2", role="agent")
    public.record_turns("visit-2", ["user: my locker is number four", "assistant: Noted."])
    return public


def test_public_agents_search_their_own_session_only(kiosk: weft.Memory) -> None:
    for session in (None, "visit-2", "ferry/visit-2"):
        answer = kiosk.conversation_search("which locker?", session=session)
        assert said(answer)[0] == "my locker is number four", session
        assert "my locker is number nine" not in said(answer), session
        assert [turn.text for turn in answer.messages[0].after] == ["Noted."]
    for other in ("visit-1", "ferry/visit-1", "no-such-session"):
        with pytest.raises(Forbidden, match="their own session"):
            kiosk.conversation_search("which locker?", session=other)
    # A question that is a message's id is that message, elsewhere: not here.
    assert kiosk.recall("ferry/visit-1#00001", kinds=["Message"]).hits
    assert "my locker is number nine" not in said(kiosk.conversation_search("ferry/visit-1#00001"))
    everywhere = kiosk.conversation_search("which locker?", everywhere=True, limit=100, min_score=0.0)
    assert "my locker is number nine" not in said(everywhere)


def test_a_public_agent_that_said_nothing_yet_finds_nothing(place: Place) -> None:
    public = place.open(audience="public", agent="kiosk", scopes="public", session="visit-3")
    answer = public.conversation_search("which locker?")
    assert said(answer) == []
    assert any("no messages" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("given", "problem", "told"),
    [
        ({"query": ""}, Invalid, "query"),
        ({"query": "  "}, Invalid, "empty"),
        ({"query": "a\x00b"}, Invalid, "NUL"),
        ({"query": "x" * 40_000}, Invalid, "query"),
        ({"query": 7}, Invalid, "query"),
        ({"query": "x", "limit": 0}, Invalid, "limit"),
        ({"query": "x", "limit": 101}, Invalid, "limit"),
        ({"query": "x", "neighbours": 4}, Invalid, "neighbours"),
        ({"query": "x", "neighbours": -1}, Invalid, "neighbours"),
        ({"query": "x", "session": " "}, Invalid, "no name"),
        ({"query": "x", "session": "nowhere"}, NotFound, "nowhere"),
        ({"query": "x", "as_of": "soon"}, Invalid, "as_of"),
        ({"query": "x", "colour": "red"}, Invalid, "colour"),
    ],
)
def test_wrong_searches_are_told_what_to_do(
    talks: weft.Memory, given: dict[str, Any], problem: type[weft.WeftError], told: str
) -> None:
    with pytest.raises(problem, match=told) as raised:
        talks.conversation_search(**given)
    assert raised.value.hint


# ---- alike


@pytest.fixture
def shelf(place: Place) -> weft.Memory:
    memory = place.open(embedder="builtin")
    memory.remember("Cats sleep for most of the day.", name="Cats")
    memory.remember("A kitten naps many hours.")
    memory.remember("The parliament passed a tax law.")
    memory.remember("Dogs bark at night.", kind="Learning")
    return memory


def test_what_is_alike_comes_first_and_the_thing_itself_never(shelf: weft.Memory) -> None:
    answer = shelf.find_similar("Cats")
    assert alike(answer)[0] == "A kitten naps many hours."
    assert "Cats sleep for most of the day." not in alike(answer)
    assert answer.notes == ()
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert shelf.cite(answer.hits[0].node.citation).nodes[0].text == "A kitten naps many hours."


def test_a_node_is_named_by_id_name_or_citation_and_a_text_by_itself(shelf: weft.Memory) -> None:
    by_name = shelf.find_similar("Cats")
    node = shelf.show("Cats").node
    assert node is not None
    assert by_name.id == node.id
    assert shelf.find_similar(node.id) == by_name
    assert shelf.find_similar(node.citation) == by_name
    by_text = shelf.find_similar(text="Cats\nCats sleep for most of the day.")
    assert (by_text.id, by_text.hits[0].node.id) == ("", node.id)
    assert by_text.hits[0].score == pytest.approx(1.0, abs=1e-3)


def test_kinds_limit_and_least_score_narrow(shelf: weft.Memory) -> None:
    assert alike(shelf.find_similar("Cats", kinds=["Learning"])) == ["Dogs bark at night."]
    assert len(shelf.find_similar("Cats", limit=1).hits) == 1
    best = shelf.find_similar("Cats").hits[0].score
    assert len(shelf.find_similar("Cats", min_score=round(best, 3) - 0.001).hits) == 1
    assert shelf.find_similar("Cats", min_score=1.0).hits == ()
    assert shelf.find_similar("Cats", min_score=1.0).notes[-1].startswith("the most alike has a likeness of 0.")


def test_the_parts_of_a_thing_are_not_like_it(place: Place) -> None:
    memory = place.open(embedder="builtin")
    (place.root / "tides.md").write_text(
        "# Tides\n\nTides of the harbour.\n\n## Spring tides\n\nSpring tides of the harbour.\n"
    )
    memory.ingest(place.root)
    memory.remember("The harbour has high tides in spring.")
    sections = {hit.node.id for hit in memory.find_similar("ferry/tides.md").hits}
    assert len(sections) == 1
    memory.record_turns("talk", ["Ana: tides of the harbour", "Bo: spring tides"], title="Tides of the harbour")
    assert not [hit for hit in memory.find_similar("ferry/talk").hits if hit.node.kind == "Message"]


def test_without_an_embedder_words_are_compared_and_that_is_said(memory: weft.Memory) -> None:
    gauge = memory.remember("The tide gauge stands at the north quay.")
    memory.remember("The north quay has a tide gauge and a crane.")
    memory.remember("Soup is served at noon.")
    answer = memory.find_similar(gauge.id)
    assert alike(answer) == ["The north quay has a tide gauge and a crane."]
    assert 0.0 < answer.hits[0].score <= 1.0
    assert any("compared by words" in note for note in answer.notes)
    assert alike(memory.find_similar(text="soup at noon"))[0] == "Soup is served at noon."


@pytest.mark.parametrize(
    ("given", "problem", "told"),
    [
        ({}, Invalid, "either an id or a text"),
        ({"id": "Cats", "text": "cats"}, Invalid, "either an id or a text"),
        ({"id": ""}, Invalid, "id"),
        ({"id": " "}, NotFound, "no node"),
        ({"id": "nobody"}, NotFound, "nobody"),
        ({"id": "weft://nobody/events/9"}, NotFound, "nobody"),
        ({"text": " "}, Invalid, "empty"),
        ({"text": "a\x00"}, Invalid, "NUL"),
        ({"text": ["x"]}, Invalid, "text"),
        ({"text": "x", "limit": 1_000}, Invalid, "limit"),
        ({"text": "x", "min_score": 1.5}, Invalid, "min_score"),
    ],
)
def test_wrong_comparisons_are_told_what_to_do(
    memory: weft.Memory, given: dict[str, Any], problem: type[weft.WeftError], told: str
) -> None:
    memory.remember("about cats", name="Cats")
    with pytest.raises(problem, match=told) as raised:
        memory.find_similar(**given)
    assert raised.value.hint


def test_a_node_without_words_has_nothing_to_compare(talks: weft.Memory) -> None:
    with pytest.raises(Invalid, match="no words of its own"):
        talks.find_similar("ferry/standup")


def test_what_may_not_be_seen_is_neither_found_nor_compared_with(place: Place) -> None:
    secret = place.open(sensitive="true").remember("the vault code is in the blue book", sensitive=True)
    memory = place.open()
    memory.remember("the blue book lies on the shelf")
    assert alike(memory.find_similar(text="the blue book vault code")) == ["the blue book lies on the shelf"]
    with pytest.raises(NotFound):
        memory.find_similar(secret.id)
    with pytest.raises(NotFound):
        memory.find_similar("no-such-node")


# ---- explain


def test_the_score_told_is_the_score_of_the_answer_and_its_parts_add_up(talks: weft.Memory) -> None:
    question = "what of the tide gauge at the quay?"
    answer = talks.recall(question, explain=True)
    for rank, hit in enumerate(answer.hits, start=1):
        told = talks.explain(question, hit.node.id)
        assert (told.verdict, told.rank, told.score) == ("answered", rank, hit.score)
        assert told.why == hit.why
        assert sum(source.part for source in told.why) == pytest.approx(hit.score)
        assert told.came_in
        assert told.lost_at == ""
        assert {stage.stage for stage in told.stages} == {stage.stage for stage in answer.stages}
    assert "text" in {found.source for found in talks.explain(question, answer.hits[0].node.id).found_by}


def test_beyond_the_limit_is_told_apart_from_too_weak(memory: weft.Memory) -> None:
    best = memory.remember("gauge gauge gauge tide tide quay")
    second = memory.remember("the tide gauge")
    memory.remember("soup")
    told = memory.explain("tide gauge quay", second.id, limit=1)
    assert (told.verdict, told.rank) == ("beyond the limit", 2)
    assert "1 were asked for" in told.reason
    assert memory.explain("tide gauge quay", best.id, limit=1).verdict == "answered"


def test_what_no_source_found_is_told_as_that(memory: weft.Memory) -> None:
    soup = memory.remember("Soup is served at noon.")
    memory.remember("The tide gauge is broken.")
    told = memory.explain("tide gauge", soup.id)
    assert (told.verdict, told.rank, told.found_by) == ("not found", None, ())
    assert "share words" in told.reason


def test_another_kind_and_another_project_are_named(place: Place, memory: weft.Memory) -> None:
    gauge = memory.remember("The tide gauge is broken.")
    told = memory.explain("tide gauge", gauge.id, kinds=["Decision"])
    assert (told.verdict, told.rank) == ("not asked about", None)
    assert "Memory" in told.reason
    assert "Decision" in told.reason
    elsewhere = memory.explain("tide gauge", gauge.id, project="barge")
    assert elsewhere.verdict == "not asked about"
    assert "project ferry" in elsewhere.reason


def test_the_stage_that_dropped_it_is_named_with_what_it_said(place: Place) -> None:
    memory = place.open(embedder="builtin")
    soup = memory.remember("Soup is served at noon.")
    memory.remember("The tide gauge is broken.")
    told = memory.explain("quantum chromodynamics", soup.id)
    assert (told.verdict, told.lost_at, told.rank) == ("dropped", "enough", None)
    assert "no memory is close enough" in told.reason


def test_a_part_is_explained_by_its_whole(memory: weft.Memory) -> None:
    row = {"id": "s1", "text": "user: my locker is number four\n\nassistant: Noted."}
    ingest_records(memory.ctx, [row], project="ferry")
    (hit,) = memory.recall("which locker number?").hits
    assert hit.node.kind == "Session"
    told = memory.explain("which locker number?", f"{hit.node.id}#00001")
    assert (told.verdict, told.rank, told.score) == ("answered", 1, hit.score)
    assert any(f"part of {hit.node.id}" in note for note in told.notes)


def test_what_may_not_be_seen_and_what_is_not_there_are_told_alike(place: Place) -> None:
    secret = place.open(sensitive="true").remember("the vault code", sensitive=True)
    memory = place.open()
    told = []
    for wanted in (secret.id, "00000000-0000-7000-8000-000000000000"):
        with pytest.raises(NotFound) as raised:
            memory.explain("vault code", wanted)
        told.append((raised.value.message.replace(wanted, "X"), raised.value.hint))
    assert told[0] == told[1]


def test_what_does_not_hold_then_is_told_as_that(memory: weft.Memory) -> None:
    later = memory.remember("the tide gauge", valid_from="2026-01-01")
    with pytest.raises(NotFound, match="does not hold"):
        memory.explain("tide gauge", later.id, as_of="2020")


@pytest.mark.parametrize(
    ("given", "problem", "told"),
    [
        ({"query": "x"}, Invalid, "which node"),
        ({"query": "x", "id": " "}, Invalid, "which node"),
        ({"query": "", "id": "a"}, Invalid, "query"),
        ({"query": "x\x00", "id": "a"}, Invalid, "NUL"),
        ({"query": "x", "id": "nobody"}, NotFound, "nobody"),
        ({"query": "x", "id": "a", "limit": 0}, Invalid, "limit"),
        ({"query": "x", "id": "a", "recipe": "cake"}, Invalid, "cake"),
        ({"query": "receipt:none"}, NotFound, "receipt"),
    ],
)
def test_wrong_questions_are_told_what_to_do(
    memory: weft.Memory, given: dict[str, Any], problem: type[weft.WeftError], told: str
) -> None:
    memory.remember("one", name="a")
    with pytest.raises(problem, match=told) as raised:
        memory.explain(**given)
    assert raised.value.hint


def test_records_of_wefts_own_are_never_like_anything(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("somebody broke the tide gauge")
    record = graph.NodeAssertion(id="r1", kind="Receipt", text="somebody broke the tide gauge", project="ferry")
    memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(record,)))])
    clock.step(DAY_US)
    assert alike(memory.find_similar(text="tide gauge")) == ["somebody broke the tide gauge"]
    assert [node.kind for node in memory.recent().nodes] == ["Memory"]
    assert memory.explain("tide gauge", "r1").verdict == "not asked about"
