"""Receipts of answers that the graph leads to, and of hits that name others."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

import weft
from tests.context.test_synthesis import Writer, writer  # noqa: F401 - a fixture
from tests.places import Place
from tests.recall.receipts import delete, gauge, rebuild, recall, written
from tests.retrieval import broken_store as broken
from tests.retrieval.small_worlds import WordEmbedder
from tests.retrieval.views_world import story
from weft.core.clock import to_iso
from weft.core.errors import NotFound
from weft.core.types import When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.models.embedding import Embedding
from weft.testing.clock import DAY_US, ManualClock, day
from weft.testing.scribe import edge, memory_of, node

__all__ = ["gauge"]  # fixtures


@pytest.fixture
def night(memory: weft.Memory) -> weft.Memory:
    for draft in story({"project": "ferry", "scope": "public"}):
        memory.ctx.append([draft])
    return memory


WHY = "why could nobody book a crossing that night?"


# ---- answers that the graph leads to


@pytest.mark.parametrize("explain", [False, True])
def test_ways_through_the_graph_and_the_context_stay_what_they_were(
    night: weft.Memory, clock: ManualClock, *, explain: bool
) -> None:
    before, receipt = recall(night, WHY, explain=explain, limit=20, max_tokens=900)
    assert any("->" in seen.path for hit in before.hits for seen in hit.seen) is explain
    assert "because of" in before.context
    clock.step(DAY_US)
    more = graph.NodeAssertion(id="c9", kind="Cause", text="Nobody could book: somebody cut the cable", project="ferry")
    link = graph.EdgeAssertion(src="c9", rel="CAUSES", dst="c5-outage", project="ferry")
    night.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(more,), edges=(link,)))])
    rebuild(night)
    assert night.answer(receipt) == before
    assert night.recall(WHY, explain=explain, limit=20, max_tokens=900).context != before.context


@pytest.mark.parametrize(
    ("question", "kind"), [(WHY, "Cause"), ("who looks after Lantern?", "Person"), ("when was Tomasz paged?", "Event")]
)
def test_ways_over_nodes_that_are_no_hits_are_told_again_and_withheld_once_one_is_deleted(
    night: weft.Memory, clock: ManualClock, question: str, kind: str
) -> None:
    clock.step(120 * DAY_US)  # all of it has happened
    night.ctx.append([node("rack", "", kind="Service", name="Rack Seven", project="ferry")])
    night.ctx.append([edge("tidebook", "RUNS]ON", "rack", project="ferry")])  # no relation is too strange
    before, receipt = recall(night, question, explain=True, kinds=[kind])
    assert night.answer(receipt) == before
    shown = {hit.node.id for hit in before.hits}
    ways = {seen.way: seen.path for hit in before.hits for seen in hit.seen}
    assert all(seen.way[-1] == hit.node.id for hit in before.hits for seen in hit.seen if seen.path)
    way = next(way for way in ways if set(way) - shown)
    delete(night, next(each for each in way if each not in shown))
    after = night.answer(receipt)
    assert ways[way] not in written(after)
    assert list(way) not in msgspec.to_builtins([seen.way for hit in after.hits for seen in hit.seen])
    assert [hit.node for hit in after.hits] == [hit.node for hit in before.hits]
    assert any("reasons are withheld" in note for note in after.notes)


def test_reasons_that_lead_over_what_is_deleted_are_withheld(night: weft.Memory) -> None:
    before, receipt = recall(night, WHY, explain=True, limit=20)
    over = [hit for hit in before.hits if any("Tidebook <-[AFFECTS]-" in seen.path for seen in hit.seen)]
    assert over
    delete(night, "tidebook")
    after = night.answer(receipt)
    told = [seen.path for hit in after.hits for seen in hit.seen] + [
        part.detail for hit in after.hits for part in hit.why
    ]
    assert not [way for way in told if "Tidebook <-[" in way or "]-> Tidebook" in way]
    assert any("reasons are withheld" in note for note in after.notes)
    assert {hit.score for hit in after.hits} <= {hit.score for hit in before.hits}
    kept = [part.detail for each in night.explain(receipt).kept for part in each.why]
    assert not [way for way in kept if "Tidebook <-[" in way or "]-> Tidebook" in way]


@pytest.fixture
def near(place: Place, clock: ManualClock) -> weft.Memory:
    """A memory that is asked by meaning too."""
    memory = place.open()
    memory.ctx = replace(memory.ctx, embedding=Embedding(WordEmbedder(), clock))
    return memory


# ---- what is said of a hit and names others


@pytest.mark.parametrize("old", ["plan-of-the-heist", "plan of the heist"])
def test_marks_and_reasons_that_name_a_deleted_memory_go_with_it(memory: weft.Memory, old: str) -> None:
    for draft in (
        memory_of(old, "The ferry sails at nine.", project="ferry"),
        memory_of("now", "At ten the ferry sails.", project="ferry"),
        edge("now", "SUPERSEDES", old, project="ferry"),
    ):
        memory.ctx.append([draft])
    before, receipt = recall(memory, "sails at nine?", explain=True)
    assert [hit.marks for hit in before.hits] == [(f"replaces {old} of 2026-01-01",)]
    assert f"in place of {old}" in [part.detail for part in before.hits[0].why]
    assert memory.answer(receipt) == before
    delete(memory, old)
    after = memory.answer(receipt)
    assert old not in written(after)
    assert [(hit.node.id, hit.score, hit.marks) for hit in after.hits] == [("now", before.hits[0].score, ())]
    assert any(
        note.startswith("2 marks or reasons are withheld: they name a memory that is deleted") for note in after.notes
    )
    assert old not in written(memory.explain(receipt))


def test_marks_of_doubles_go_with_them(memory: weft.Memory) -> None:
    for node_id in ("one", "two"):
        memory.ctx.append([memory_of(node_id, "The ferry sails at nine.", project="ferry")])
    before, receipt = recall(memory, "when does the ferry sail?")
    assert [(hit.node.id, hit.marks) for hit in before.hits] == [("two", ("also recorded on 2026-01-01",))]
    assert "also recorded on 2026-01-01" in before.context
    delete(memory, "one")
    after = memory.answer(receipt)
    assert [(hit.node.id, hit.marks) for hit in after.hits] == [("two", ())]
    assert "also kept" not in after.context
    assert any(note.startswith("1 marks or reasons are withheld") for note in after.notes)


def test_marks_of_newer_ones_go_with_them(near: weft.Memory) -> None:
    for draft in (
        node("early", "the ferry sails to Ysolde at nine", kind="Memory", at=day(-40), project="ferry"),
        node("late", "the ferry sails to Ysolde at ten", kind="Memory", at=day(-2), project="ferry"),
    ):
        near.ctx.append([draft])
    before, receipt = recall(near, "when does the ferry sail to Ysolde?")
    late = next(hit.node.citation for hit in before.hits if hit.node.id == "late")
    assert [hit.marks for hit in before.hits if hit.node.id == "early"] == [
        (f"a newer memory of {to_iso(day(-2))[:10]} may replace this: {late}",)
    ]
    assert near.answer(receipt) == before
    delete(near, "late")
    after = near.answer(receipt)
    assert [(hit.node.id, hit.marks) for hit in after.hits] == [("early", ())]
    assert "late" not in written(after)
    assert late not in written(after)


def test_names_shared_with_a_deleted_text_are_withheld(near: weft.Memory) -> None:
    for node_id, name, text in (
        ("d1", "The Lantern Ship", "The Lantern Ship is a film directed by Oda Brandt."),
        ("d2", "Oda Brandt", "Oda Brandt is a director. She married the cellist Emil Rask."),
        ("d3", "Harbour Quartet", "The Harbour Quartet was founded in 1974 by Emil Rask."),
    ):
        near.ctx.append([node(node_id, text, kind="Document", name=name, project="ferry")])
    question = "Which quartet was founded by the husband of the director of The Lantern Ship?"
    before, receipt = recall(near, question, explain=True, min_score=0.0)
    said = [part.detail for hit in before.hits for part in hit.why]
    assert "Oda Brandt ~[Emil Rask]~ Harbour Quartet" in said
    assert near.answer(receipt) == before
    delete(near, "d2")
    after = near.answer(receipt)
    assert "d3" in [hit.node.id for hit in after.hits]
    assert not [part.detail for hit in after.hits for part in hit.why if "Oda Brandt" in part.detail]
    assert any("marks or reasons are withheld" in note for note in after.notes)
    assert not [part.detail for each in near.explain(receipt).kept for part in each.why if "Oda" in part.detail]


def test_a_way_of_which_nobody_can_tell_whom_it_names_is_not_told_again(night: weft.Memory) -> None:
    before, receipt = recall(night, "who looks after Tidebook?", explain=True, limit=50)
    line = next(seen.path for hit in before.hits for seen in hit.seen if "<-[RUNS]-" in seen.path)
    props = dict(night.ctx.store.nodes(night.ctx.viewer, When(), [receipt])[0].props)
    props["subjects"] = {**props["subjects"], line: None}  # as a weft that could not tell would have kept it
    doubtful = graph.NodeAssertion(id="receipt:doubtful", kind="Receipt", props=props, project="ferry")
    night.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(doubtful,)))])
    after = night.answer("receipt:doubtful")
    assert line not in [seen.path for hit in after.hits for seen in hit.seen]
    assert any("the nodes they name are unknown" in note for note in after.notes)
    assert [(hit.node, hit.score) for hit in after.hits] == [(hit.node, hit.score) for hit in before.hits]


def test_what_is_dropped_is_explained_by_marks_that_name_it_and_not_a_longer_id(memory: weft.Memory) -> None:
    for node_id, text in (
        ("m10", "The ferry sails at nine."),
        ("m11", "The ferry sails at nine."),
        ("m1", "The ferry sails to Ysolde."),
        ("m2", "The ferry sails to Ysolde."),
    ):
        memory.ctx.append([memory_of(node_id, text, project="ferry")])
    told = memory.explain("when does the ferry sail?", "m1")
    assert (told.verdict, told.lost_at) == ("dropped", "distinct")
    assert "m2: also recorded on" in told.reason
    assert "m10" not in told.reason


def test_parts_that_the_store_cannot_serve_are_not_called_deleted(place: Place, gauge: weft.Memory) -> None:
    before, receipt = recall(gauge)
    assert any(hit.parts for hit in before.hits)
    gauge.close()
    broken.rename("session")(place.scratch / "store")  # what citations are read from
    with place.open() as again:
        after, told = again.answer(receipt), again.explain(receipt)
    assert [hit.node.text for hit in after.hits] == [hit.node.text for hit in before.hits]
    for notes in (after.notes, told.notes):
        assert any(
            note.startswith(("citations could not be read", "the passages that answer could not be read"))
            for note in notes
        )
        assert not any("parts of hits are withheld" in note for note in notes)
        assert not any("deleted since" in note for note in notes)


def test_what_a_model_wrote_is_kept_and_withheld_with_what_it_was_written_from(
    place: Place,
    writer: Writer,  # noqa: F811
) -> None:
    writer.said = "The gauge is in the shed [1]."
    memory = place.open(model="openai:small", model_url=writer.url)
    shed = memory.remember("The tide gauge is in the shed.")
    memory.remember("The tide gauge is heavy.")
    before, receipt = recall(memory, "where is the tide gauge?", synthesize=True)
    asked = len(writer.asked)
    assert (before.answer, bool(before.written_by)) == (writer.said, True)
    assert memory.answer(receipt) == before
    assert len(writer.asked) == asked  # told again, not written again
    delete(memory, shed.id)
    after = memory.answer(receipt)
    assert (after.answer, after.written_by, "in the shed" in after.context) == ("", "", False)
    assert any("language model" in note for note in after.notes)
    assert [hit.node.text for hit in after.hits] == ["The tide gauge is heavy."]


def test_what_was_found_by_a_followed_topic_is_told_again_and_explained(place: Place) -> None:
    staff = place.open()
    shed = staff.remember("The tide gauge is in the shed.", scope="public")  # tagged for nobody
    soup = staff.remember("Soup is served at noon.", scope="public")
    kiosk = place.open(audience="public", agent="kiosk", scopes="public", role="agent", keywords="tide gauge")
    before, receipt = recall(kiosk, "where is the tide gauge?")
    assert [hit.node.id for hit in before.hits] == [shed.id]
    assert kiosk.answer(receipt) == before
    assert kiosk.explain("where is the tide gauge?", shed.id).verdict == "answered"
    for hidden in (soup.id, "no-such-node"):
        with pytest.raises(NotFound, match="that you may see"):
            kiosk.explain("where is the tide gauge?", hidden)
    other = place.open(audience="public", agent="kiosk", scopes="public", role="agent")
    assert other.answer(receipt).hits == ()  # the topic is not followed any more
