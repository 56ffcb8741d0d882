"""Receipts: an answer can be had again, exactly, whatever was learnt, deleted or hidden since."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec
import pytest
from msgspec.structs import replace
from tests.retrieval import broken_store as broken
from tests.retrieval.small_worlds import WordEmbedder
from tests.retrieval.test_synthesis import Writer, writer  # noqa: F401 - a fixture
from tests.retrieval.views_world import story

import weft
from weft.embedding import Embedding
from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.operations.logbook import OPERATIONS as LOGBOOK
from weft.operations.recalling import Recalled
from weft.operations.receipts import MAX_BYTES, NO_REASONS, read_receipt
from weft.operations.records import ingest_records
from weft.operations.upkeep import OPERATIONS as UPKEEP
from weft.testing.clock import DAY_US, ManualClock, day
from weft.testing.scribe import edge, memory_of, node
from weft.types import When

from .conftest import Place

QUESTION = "what is the status of the tide gauge?"


def recall(memory: weft.Memory, query: str = QUESTION, **more: object) -> tuple[Recalled, str]:
    """An answer, and its receipt."""
    answer = memory.recall(query, receipt=True, **more)
    assert answer.receipt.startswith("receipt:")
    return answer, answer.receipt


def delete(memory: weft.Memory, *ids: str) -> None:
    memory.loom.append([Draft(kind="graph.deleted", payload=graph.Deleted(nodes=ids))])


def rebuild(memory: weft.Memory) -> None:
    memory.run(next(each for each in UPKEEP if each.name == "rebuild"), {})


@pytest.fixture
def gauge(memory: weft.Memory) -> weft.Memory:
    memory.add_fact("tide gauge", "status", "broken", valid_from="2025-11-01")
    memory.remember("The tide gauge at the north quay was bought in 2019.", props={"price": 4, "shop": "Tarn & Co"})
    memory.remember("Status of the ferry: fine.", name="Ferry")
    row = {"id": "s1", "text": "user: the status of the tide gauge is bad\n\nassistant: I told the office."}
    ingest_records(memory.loom, [row], project="ferry")
    return memory


@pytest.mark.parametrize("explain", [False, True])
def test_an_answer_stays_what_it_was_whatever_is_learnt(
    place: Place, gauge: weft.Memory, clock: ManualClock, *, explain: bool
) -> None:
    before, receipt = recall(gauge, explain=explain)
    assert len(before.hits) >= 4
    assert any(hit.parts for hit in before.hits)
    assert any("broken" in hit.node.text for hit in before.hits)
    clock.step(DAY_US)
    gauge.add_fact("tide gauge", "status", "repaired", valid_from="2025-12-01")
    gauge.remember("The tide gauge status is shown on a new board.", name="Ferry")
    assert gauge.answer(receipt) == before
    rebuild(gauge)
    clock.step(400 * DAY_US)
    with place.open() as again:
        assert again.answer(receipt) == before
        assert again.answer(f" {receipt} ") == before
        now = again.recall(QUESTION, explain=explain)
    assert now != before
    assert not any("is broken" in hit.node.text for hit in now.hits)


def test_an_answer_about_the_past_stays_too(gauge: weft.Memory, clock: ManualClock) -> None:
    gauge.add_fact("tide gauge", "status", "repaired", valid_from="2025-12-01")
    clock.step(DAY_US)
    before, receipt = recall(gauge, as_of="2025-11-15", kinds=["Fact"])
    assert [hit.node.valid_to for hit in before.hits] == ["2025-12-01T00:00:00.000000Z"]
    gauge.add_fact("tide gauge", "status", "in doubt", valid_from="2025-11-10")
    assert gauge.answer(receipt) == before


def test_an_empty_answer_stays_empty(memory: weft.Memory) -> None:
    before, receipt = recall(memory)
    memory.remember("The tide gauge status is good.")
    assert (before.status, before.hits) == ("empty", ())
    assert memory.answer(receipt) == before


def test_a_receipt_tells_what_was_asked_and_how_it_was_ranked(gauge: weft.Memory) -> None:
    answer, receipt = recall(gauge, limit=2)
    kept = read_receipt(gauge.loom, receipt)
    assert (kept.query, kept.arguments) == (QUESTION, {"query": QUESTION, "limit": 2, "receipt": True})
    assert (kept.recipe, kept.weft) == ("default", weft.__version__)
    assert [hit.id for hit in kept.hits] == [hit.node.id for hit in answer.hits]
    told = gauge.explain(receipt)
    assert [(each.rank, each.id, each.score) for each in told.kept] == [
        (rank, hit.node.id, hit.score) for rank, hit in enumerate(answer.hits, start=1)
    ]
    assert all(sum(source.part for source in each.why) == pytest.approx(each.score) for each in told.kept)
    assert any("recipe default" in note for note in told.notes)


def test_one_hit_of_a_receipt_is_explained_as_it_was_and_others_by_asking_again(gauge: weft.Memory) -> None:
    answer, receipt = recall(gauge, limit=2)
    second = answer.hits[1]
    gauge.remember("tide gauge status, tide gauge status")
    told = gauge.explain(receipt, second.node.id)
    assert (told.verdict, told.rank, told.score) == ("answered", 2, second.score)
    assert told.why
    ferry = gauge.explain(receipt, "Ferry")
    assert ferry.verdict in ("beyond the limit", "too weak")
    assert any("not in the receipt" in note for note in ferry.notes)
    assert ferry.known_at == answer.known_at


def test_a_receipt_holds_no_words_of_what_it_found(gauge: weft.Memory) -> None:
    _, receipt = recall(gauge, "when was it bought and by whom repaired?")
    (node,) = gauge.loom.store.nodes(gauge.loom.viewer, When(), [receipt])
    written = msgspec.json.encode(node.props).decode()
    assert read_receipt(gauge.loom, receipt).hits
    for words in ("north quay", "2019", "Tarn & Co", "I told the office"):
        assert words not in written


def test_what_a_receipt_holds_is_shown_by_answer_alone(place: Place, gauge: weft.Memory) -> None:
    _, receipt = recall(gauge, "what is the status of the tide gauge?", explain=True)
    shown = gauge.show(receipt)
    assert shown.node is not None
    assert any(f"weft answer {receipt}" in note for note in shown.notes)
    cited = gauge.cite(shown.node.citation)
    logged = next(each for each in LOGBOOK if each.name == "log_show")
    told = [shown, cited, gauge.recent(kinds=["Receipt"]), gauge.run(logged, {}), gauge.explain("tide gauge", receipt)]
    for each in told:
        assert receipt in written(each)
        assert "content_hash" not in written(each)
    assert cited.event is not None
    assert cited.event.payload["nodes"][0]["kind"] == "Receipt"
    assert cited.matches
    with place.open(sensitive="true") as operator:  # may read the whole log
        assert "content_hash" in written(operator.cite(shown.node.citation))


def test_receipts_are_no_answers(gauge: weft.Memory) -> None:
    _, receipt = recall(gauge)
    again = gauge.recall(QUESTION, limit=100)
    assert "Receipt" not in {hit.node.kind for hit in again.hits}
    assert not gauge.recall(receipt).hits or gauge.recall(receipt).hits[0].node.kind != "Receipt"
    assert "Receipt" not in {node.kind for node in gauge.recent(limit=100).nodes}
    assert [node.id for node in gauge.recent(kinds=["Receipt"]).nodes] == [receipt]
    with pytest.raises(Invalid):
        gauge.remember("forged", kind="Receipt")


def test_what_was_deleted_since_is_withheld_and_counted(gauge: weft.Memory) -> None:
    before, receipt = recall(gauge)
    gone = next(hit for hit in before.hits if "bought" in hit.node.text)
    delete(gauge, gone.node.id)
    after = gauge.answer(receipt)
    assert after.hits == tuple(hit for hit in before.hits if hit is not gone)
    assert any(note.startswith(f"1 of {len(before.hits)} hits are withheld") for note in after.notes)
    assert gone.node.text not in msgspec.json.encode(after).decode()
    assert gone.node.id not in [each.id for each in gauge.explain(receipt).kept]


def test_a_deleted_part_is_withheld_and_counted(gauge: weft.Memory) -> None:
    before, receipt = recall(gauge)
    delete(gauge, "ferry/s1#00002")
    after = gauge.answer(receipt)
    assert sum(len(hit.parts) for hit in after.hits) == sum(len(hit.parts) for hit in before.hits) - 1
    assert any("parts of hits are withheld" in note for note in after.notes)
    assert "I told the office" not in msgspec.json.encode(after).decode()


def test_another_viewer_sees_of_a_receipt_what_it_may_see(place: Place) -> None:
    staff = place.open(scopes="shared,admin")
    staff.remember("The tide gauge is in the shed.", scope="shared")
    staff.remember("The key of the tide gauge is under the mat.", scope="admin")
    _, closed = recall(staff)
    guest = place.open(scopes="shared")
    with pytest.raises(NotFound):  # written with the narrowest scope of who asked
        guest.answer(closed)
    own, receipt = recall(guest)
    assert [hit.node.text for hit in own.hits] == ["The tide gauge is in the shed."]
    assert staff.answer(receipt) == own


def test_a_receipt_of_who_sees_sensitive_things_is_sensitive(place: Place) -> None:
    trusted, plain = place.open(sensitive="true"), place.open()
    trusted.remember("The tide gauge code is 4711.", sensitive=True)
    before, receipt = recall(trusted)
    assert trusted.answer(receipt) == before
    with pytest.raises(NotFound):
        plain.answer(receipt)


def test_words_that_are_not_those_of_then_are_named(place: Place, gauge: weft.Memory) -> None:
    before, receipt = recall(gauge)
    bought = next(hit for hit in before.hits if "bought" in hit.node.text)
    gauge.close()
    file = next(Path(place.scratch / "store").rglob("default.db"))
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE text SET body = replace(body, '2019', '2020')")
    connection.close()
    with place.open() as again:
        after = again.answer(receipt)
    assert any(note.startswith(f"{bought.node.id} does not say what it said then") for note in after.notes)
    assert len(after.hits) == len(before.hits)


def test_reasons_too_large_are_left_out_and_that_is_said(gauge: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_BYTES < 1_000_000
    monkeypatch.setattr("weft.operations.receipts.MAX_BYTES", 3_000)
    before, receipt = recall(gauge, explain=True)
    after = gauge.answer(receipt)
    assert after.notes == (*before.notes, NO_REASONS)
    assert [(hit.score, hit.node) for hit in after.hits] == [(hit.score, hit.node) for hit in before.hits]
    assert all(hit.why == () for hit in after.hits)


@pytest.mark.parametrize("wanted", ["receipt:none", "Ferry", "nobody", " "])
def test_what_is_no_receipt_is_told_so(gauge: weft.Memory, wanted: str) -> None:
    with pytest.raises(NotFound, match="no receipt") as raised:
        gauge.answer(wanted)
    assert "--receipt" in raised.value.hint


@pytest.mark.parametrize("wanted", ["", "x" * 200])
def test_a_receipt_has_an_id(memory: weft.Memory, wanted: str) -> None:
    with pytest.raises(Invalid, match="id"):
        memory.answer(wanted)


def test_a_receipt_that_cannot_be_read_is_told_so(memory: weft.Memory) -> None:
    strange = graph.NodeAssertion(id="receipt:1", kind="Receipt", props={"query": 7})
    memory.loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(strange,)))])
    with pytest.raises(Invalid, match="not a receipt that this weft can read"):
        memory.answer("receipt:1")


# ---- answers that the graph leads to


@pytest.fixture
def night(memory: weft.Memory) -> weft.Memory:
    for draft in story({"project": "ferry", "scope": "public"}):
        memory.loom.append([draft])
    return memory


WHY = "why could nobody book a crossing that night?"


@pytest.mark.parametrize("explain", [False, True])
def test_ways_through_the_graph_and_the_context_stay_what_they_were(
    night: weft.Memory, clock: ManualClock, *, explain: bool
) -> None:
    before, receipt = recall(night, WHY, explain=explain, limit=20, max_tokens=900)
    assert any("->" in seen.path for hit in before.hits for seen in hit.seen)
    assert "because of" in before.context
    clock.step(DAY_US)
    more = graph.NodeAssertion(id="c9", kind="Cause", text="Nobody could book: somebody cut the cable", project="ferry")
    link = graph.EdgeAssertion(src="c9", rel="CAUSES", dst="c5-outage", project="ferry")
    night.loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(more,), edges=(link,)))])
    rebuild(night)
    assert night.answer(receipt) == before
    assert night.recall(WHY, explain=explain, limit=20, max_tokens=900).context != before.context


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize(
    ("question", "kind"), [(WHY, "Cause"), ("who looks after Lantern?", "Person"), ("when was Tomasz paged?", "Event")]
)
def test_ways_over_nodes_that_are_no_hits_are_told_again_and_withheld_once_one_is_deleted(
    night: weft.Memory, clock: ManualClock, question: str, kind: str, *, explain: bool
) -> None:
    clock.step(120 * DAY_US)  # all of it has happened
    night.loom.append([node("rack", "", kind="Service", name="Rack Seven", project="ferry")])
    night.loom.append([edge("tidebook", "RUNS]ON", "rack", project="ferry")])  # no relation is too strange
    before, receipt = recall(night, question, explain=explain, kinds=[kind])
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


# ---- what is said of a hit and names others


@pytest.fixture
def near(place: Place, clock: ManualClock) -> weft.Memory:
    """A memory that is asked by meaning too."""
    memory = place.open()
    memory.loom = replace(memory.loom, embedding=Embedding(WordEmbedder(), clock))
    return memory


def written(answer: object) -> str:
    return msgspec.json.encode(answer).decode()


@pytest.mark.parametrize("old", ["plan-of-the-heist", "plan of the heist"])
def test_marks_and_reasons_that_name_a_deleted_memory_go_with_it(memory: weft.Memory, old: str) -> None:
    for draft in (
        memory_of(old, "The ferry sails at nine.", project="ferry"),
        memory_of("now", "At ten the ferry sails.", project="ferry"),
        edge("now", "SUPERSEDES", old, project="ferry"),
    ):
        memory.loom.append([draft])
    before, receipt = recall(memory, "sails at nine?", explain=True)
    assert [hit.marks for hit in before.hits] == [(f"replaces {old} of 2026-01-01",)]
    assert f"in place of {old}" in [part.detail for part in before.hits[0].why]
    assert memory.answer(receipt) == before
    delete(memory, old)
    after = memory.answer(receipt)
    assert old not in written(after)
    assert [(hit.node.id, hit.score, hit.marks) for hit in after.hits] == [("now", before.hits[0].score, ())]
    assert any(note.startswith("2 marks or reasons are withheld: they tell of what is deleted") for note in after.notes)
    assert old not in written(memory.explain(receipt))


def test_marks_of_doubles_go_with_them(memory: weft.Memory) -> None:
    for node_id in ("one", "two"):
        memory.loom.append([memory_of(node_id, "The ferry sails at nine.", project="ferry")])
    before, receipt = recall(memory, "when does the ferry sail?")
    assert [(hit.node.id, hit.marks) for hit in before.hits] == [("two", ("also kept as one of 2026-01-01",))]
    assert "also kept as one" in before.context
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
        near.loom.append([draft])
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
        near.loom.append([node(node_id, text, kind="Document", name=name, project="ferry")])
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
    props = dict(night.loom.store.nodes(night.loom.viewer, When(), [receipt])[0].props)
    props["subjects"] = {**props["subjects"], line: None}  # as a weft that could not tell would have kept it
    doubtful = graph.NodeAssertion(id="receipt:doubtful", kind="Receipt", props=props, project="ferry")
    night.loom.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(doubtful,)))])
    after = night.answer("receipt:doubtful")
    assert line not in [seen.path for hit in after.hits for seen in hit.seen]
    assert any("whom they tell of could not be kept" in note for note in after.notes)
    assert [(hit.node, hit.score) for hit in after.hits] == [(hit.node, hit.score) for hit in before.hits]


def test_what_is_dropped_is_explained_by_marks_that_name_it_and_not_a_longer_id(memory: weft.Memory) -> None:
    for node_id, text in (
        ("m10", "The ferry sails at nine."),
        ("m11", "The ferry sails at nine."),
        ("m1", "The ferry sails to Ysolde."),
        ("m2", "The ferry sails to Ysolde."),
    ):
        memory.loom.append([memory_of(node_id, text, project="ferry")])
    told = memory.explain("when does the ferry sail?", "m1")
    assert (told.verdict, told.lost_at) == ("dropped", "distinct")
    assert "m2: also kept as m1 of" in told.reason
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
        assert any(note.startswith("the store could not serve all citations and parts") for note in notes)
        assert any("parts of hits are left out: the store could not serve them" in note for note in notes)
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
