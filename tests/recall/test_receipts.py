"""Receipts: an answer can be had again, exactly, whatever was learnt, deleted or hidden since."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec
import pytest

import weft
from tests.context.test_synthesis import Writer, writer  # noqa: F401 - a fixture
from tests.places import Place
from tests.recall.receipts import QUESTION, delete, gauge, rebuild, recall, written
from weft.core.errors import Invalid, NotFound
from weft.core.types import When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.recall.receipts import MAX_BYTES, NO_REASONS, read_receipt
from weft.testing.clock import DAY_US, ManualClock
from weft.upkeep.log import OPERATIONS as LOGBOOK

__all__ = ["gauge"]  # fixtures


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
    kept = read_receipt(gauge.ctx, receipt)
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
    (node,) = gauge.ctx.store.nodes(gauge.ctx.viewer, When(), [receipt])
    written = msgspec.json.encode(node.props).decode()
    assert read_receipt(gauge.ctx, receipt).hits
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
    assert any(note.startswith(f"{bought.node.id} has been reworded since") for note in after.notes)
    assert len(after.hits) == len(before.hits)


def test_reasons_too_large_are_left_out_and_that_is_said(gauge: weft.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_BYTES < 1_000_000
    monkeypatch.setattr("weft.recall.receipts.MAX_BYTES", 3_000)
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
    memory.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(strange,)))])
    with pytest.raises(Invalid, match="not a receipt that this weft can read"):
        memory.answer("receipt:1")
