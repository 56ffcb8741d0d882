"""Compactions choose, cite and never replace: what each purpose keeps, who sees it, and what becomes of it later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from weft.checkout.compaction.compaction_show import PROJECTION
from weft.core.errors import Conflict, Invalid, NotFound
from weft.core.types import NOW
from weft.graph.digest import graph_digest
from weft.log.draft import Draft
from weft.log.kinds.graph import Asserted
from weft.writing.build.references import assertion_of

CALM = [f"Crossing {number} was calm and carried {number} passengers." for number in range(30)]


@pytest.fixture
def harbour(memory: weft.Memory) -> weft.Memory:
    """Thirty that say nearly the same, and one of each that must not be lost."""
    for text in CALM:
        memory.remember(text)
    memory.call("save_decision", title="Paint the hull blue")
    memory.remember("The new pump failed twice under load.")
    memory.remember("Regression tests cover the winch in tests/winch.")
    memory.remember("It is still unclear who owns the jetty.")
    memory.remember("See https://example.org/tides for the tables.")
    memory.remember("The log contradicts the timetable.")
    return memory


def texts(memory: weft.Memory, purpose: str, **more: Any) -> list[str]:
    return [record.text for record in memory.call("compaction_show", purpose=purpose, limit=100, **more).records]


@pytest.mark.parametrize("purpose", ["security", "release", "review"])
def test_where_a_risk_may_hide_every_record_is_kept(harbour: weft.Memory, purpose: str) -> None:
    done = harbour.call("compact", purpose=purpose)
    assert (done.memories, done.records, done.collapsed) == (36, 36, 0)
    assert set(CALM) <= set(texts(harbour, purpose))


@pytest.mark.parametrize("purpose", ["coding", "research"])
def test_exemplars_stand_for_topics_and_what_must_not_be_lost_is_kept(harbour: weft.Memory, purpose: str) -> None:
    done = harbour.call("compact", purpose=purpose)
    assert done.records + done.collapsed == done.memories
    assert 8 <= done.records < 20
    marks = {"decision", "failed attempt", "test", "open question", "source", "contradiction"}
    assert marks <= set(done.kept)
    shown = harbour.call("compaction_show", purpose=purpose, limit=100)
    exemplars = [record for record in shown.records if record.role == "exemplar"]
    assert exemplars
    for record in shown.records:
        assert record.sources
        assert all(harbour.cite(source).matches for source in record.sources[:3])
    assert all(len(record.sources) > 1 for record in exemplars)


def test_few_memories_are_all_kept(memory: weft.Memory) -> None:
    for text in CALM[:7]:
        memory.remember(text)
    assert memory.call("compact", purpose="coding").records == 7


def test_coordination_keeps_what_is_settled_and_tells_of_the_rest(memory: weft.Memory) -> None:
    memory.call("save_decision", title="Paint the hull blue")
    task = memory.call("work_create", kind="repair", title="Mend the quay")
    over = memory.call("work_create", kind="repair", title="Mend the winch")
    memory.call("work_complete", id=over.id, result="The winch holds 4 tons, verified.")
    lost = memory.call("work_create", kind="repair", title="Mend the bell", description="It has a crack.")
    memory.call("work_complete", id=lost.id, status="failed", result="no bronze")
    memory.remember("Handoff: the night crew takes over the pumps.")
    memory.remember("Somebody whistled.")
    memory.call("memory_write", kind="Plan", text="Buy a tug", props={"status": "deferred"})
    done = memory.call("compact", purpose="coordinate")
    shown = memory.call("compaction_show", purpose="coordinate", limit=100)
    kept = {record.name or record.text for record in shown.records}
    assert kept == {"Paint the hull blue", "Mend the winch", "Handoff: the night crew takes over the pumps."}
    assert {(row.id, row.state) for row in done.reported} >= {(lost.id, "rejected")}
    assert {row.state for row in done.reported} >= {"rejected", "deferred"}
    assert task.id not in {record.id for record in shown.records}
    assert done.left["not accepted"] >= 1


def test_events_stay_as_they_were(harbour: weft.Memory) -> None:
    before = harbour.ctx.store.events(harbour.ctx.viewer, session=None, after_seq=0, limit=1_000)
    harbour.call("compact", purpose="coding")
    after = harbour.ctx.store.events(harbour.ctx.viewer, session=None, after_seq=0, limit=1_000)
    assert after[: len(before)] == before
    assert harbour.call("log_verify").problem is None


def test_the_same_twice_writes_nothing_and_something_new_is_taken_in(harbour: weft.Memory) -> None:
    first = harbour.call("compact", purpose="coding")
    again = harbour.call("compact", purpose="coding")
    assert (again.status, again.projections, again.kept) == ("unchanged", first.projections, first.kept)
    harbour.remember("We decided to sell the old tug.")
    stale = harbour.call("compaction_show", purpose="coding")
    assert stale.since == 1
    assert any("1 memory came since" in note for note in stale.notes)
    assert harbour.call("compact", purpose="coding").status == "saved"
    assert "We decided to sell the old tug." in texts(harbour, "coding")
    assert harbour.call("compaction_show", purpose="coding").since == 0


def test_the_order_of_the_same_memories_decides_nothing(place: Place, tmp_path: Path) -> None:
    one, two = place.open(), place.open(account="other")
    for memory in (one, two):
        for text in CALM:
            memory.remember(text)
        memory.call("compact", purpose="coding")
    assert texts(one, "coding") == texts(two, "coding")


def test_a_question_brings_what_answers_it_first(harbour: weft.Memory) -> None:
    harbour.call("compact", purpose="coding")
    assert texts(harbour, "coding", query="which pump failed?")[0] == "The new pump failed twice under load."


def test_a_projection_is_no_memory_of_its_own(harbour: weft.Memory) -> None:
    harbour.call("compact", purpose="security")
    found = harbour.recall("pump failed under load", limit=20)
    assert [hit.node.text for hit in found.hits].count("The new pump failed twice under load.") == 1
    assert PROJECTION not in {hit.node.kind for hit in found.hits}
    assert PROJECTION not in {node.kind for node in harbour.recent(limit=50).nodes}
    with pytest.raises(Invalid):
        harbour.call("memory_write", kind=PROJECTION, text="trust me")


def test_what_was_corrected_forgotten_or_replaced_since_is_not_told_as_it_was(harbour: weft.Memory) -> None:
    nodes = {node.text: node.id for node in harbour.recent(limit=50).nodes}
    harbour.call("compact", purpose="security")
    harbour.correct(nodes[CALM[0]], "Crossing 0 was rough.")
    harbour.forget(nodes[CALM[1]])
    shown = harbour.call("compaction_show", purpose="security", limit=100)
    told = {record.text: record for record in shown.records}
    assert CALM[0] not in told
    assert CALM[1] not in told
    assert told["Crossing 0 was rough."].stale
    assert harbour.cite(told["Crossing 0 was rough."].sources[0]).matches
    assert shown.dropped == {"not there any more": 1}


def test_nobody_sees_more_by_a_projection(place: Place) -> None:
    boss = place.open()
    boss.remember("The vault is under the bridge.", scope="admin")
    boss.remember("Tickets cost four crowns.", scope="public")
    boss.remember("The desk closes at six.", scope="public", agents=["desk"])
    boss.remember("Mooring is in berth two.", scope="shared", agents=["pilot"])
    done = boss.call("compact", purpose="security")
    assert len(done.projections) == 4
    seen = {
        "boss": boss,
        "shared": place.open(scopes="public,shared"),
        "desk": place.open(scopes="public", audience="public", agent="desk"),
        "pilot": place.open(scopes="public,shared", audience="public", agent="pilot"),
    }
    assert {name: set(texts(each, "security")) for name, each in seen.items()} == {
        "boss": {
            "The vault is under the bridge.",
            "Tickets cost four crowns.",
            "The desk closes at six.",
            "Mooring is in berth two.",
        },
        "shared": {"Tickets cost four crowns.", "The desk closes at six.", "Mooring is in berth two."},
        "desk": {"The desk closes at six."},
        "pilot": {"Mooring is in berth two."},
    }
    assert seen["desk"].call("compaction_show", purpose="security").total == 1


def test_who_sees_less_compacts_less_and_takes_nothing_from_others(place: Place) -> None:
    boss, guest = place.open(), place.open(scopes="public", role="agent", agent="guest")
    boss.remember("The vault is under the bridge.", scope="admin")
    boss.remember("Tickets cost four crowns.", scope="public")
    boss.call("compact", purpose="security")
    assert guest.call("compact", purpose="security").memories == 1
    assert len(texts(boss, "security")) == 2


def test_what_is_sensitive_is_never_compacted(place: Place) -> None:
    boss = place.open(sensitive="true")
    boss.remember("Mira has a cough.", sensitive=True)
    boss.remember("Tickets cost four crowns.")
    boss.call("compact", purpose="security")
    assert texts(boss, "security") == ["Tickets cost four crowns."]


def test_a_memory_that_was_closed_to_others_since_is_closed_here_too(place: Place) -> None:
    boss, guest = place.open(), place.open(scopes="public")
    kept = boss.remember("The desk closes at six.", scope="public")
    boss.remember("Tickets cost four crowns.", scope="public")
    boss.call("compact", purpose="security")
    assert len(texts(guest, "security")) == 2
    (node,) = boss.ctx.store.nodes(boss.ctx.viewer, NOW, [kept.id])
    closed = replace(assertion_of(node), scope="admin")
    boss.ctx.append([Draft(kind="graph.asserted", payload=Asserted(nodes=(closed,)))])
    assert texts(guest, "security") == ["Tickets cost four crowns."]


def test_an_erasure_leaves_nothing_in_projections_or_their_files(harbour: weft.Memory, tmp_path: Path) -> None:
    harbour.add_entity("Orlaith Quay", kind="Person")
    harbour.remember("Orlaith Quay decided to sell the tug.")
    file, other = tmp_path / "a.compaction.json", tmp_path / "b.compaction.json"
    harbour.call("compact", purpose="coding", output=str(file))
    harbour.call("compact", purpose="coding", query="pump", output=str(other))
    assert "Orlaith" in file.read_text()
    told = harbour.erase(subject="Orlaith Quay")
    assert str(file) in told.files
    assert file.exists()
    harbour.erase(subject="Orlaith Quay", yes=True, confirm="default")
    assert not file.exists()
    assert other.exists()
    assert "Orlaith" not in "".join(texts(harbour, "coding"))
    harbour.call("compact", purpose="coding")
    assert harbour.call("log_verify").problem is None


def test_selections_stand_beside_the_whole(harbour: weft.Memory) -> None:
    harbour.call("record_turns", session="s1", turns=["ana: the bell rings", "ben: twice"])
    whole = harbour.call("compact", purpose="review")
    some = harbour.call("compact", purpose="review", query="pump")
    talk = harbour.call("compact", purpose="review", session="s1")
    assert (some.memories, talk.memories) == (1, 2)
    assert not {*whole.projections} & {*some.projections, *talk.projections}
    with pytest.raises(NotFound):
        harbour.call("compact", purpose="review", session="nobody")
    with pytest.raises(NotFound):
        harbour.call("compact", purpose="review", query="zeppelin")


def test_a_file_is_written_whole_and_never_over_anothers(harbour: weft.Memory, tmp_path: Path) -> None:
    file = tmp_path / "ferry.compaction.json"
    harbour.call("compact", purpose="coding", output=str(file))
    body = msgspec.json.decode(file.read_bytes())
    assert body["covered"]["head"] >= 36
    assert all(record["sources"] and record["event_ref"] and record["projection_id"] for record in body["records"])
    harbour.call("compact", purpose="coding", output=str(file))
    file.write_text('{"mine": true}')
    with pytest.raises(Conflict):
        harbour.call("compact", purpose="coding", output=str(file))
    assert file.read_text() == '{"mine": true}'
    link = tmp_path / "link.compaction.json"
    link.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Conflict):
        harbour.call("compact", purpose="coding", output=str(link))
    with pytest.raises(Invalid):
        harbour.call("compact", purpose="coding", output=str(tmp_path / "ferry.json"))


def test_a_rebuilt_store_has_the_same_projections(harbour: weft.Memory) -> None:
    harbour.call("compact", purpose="coding")
    operator = harbour.ctx.operator("look")
    before, told = graph_digest(harbour.ctx.store.graph_rows(operator)), texts(harbour, "coding")
    harbour.call("rebuild")
    assert graph_digest(harbour.ctx.store.graph_rows(operator)) == before
    assert texts(harbour, "coding") == told


def test_a_checkout_finds_a_projection_by_itself_and_cites_the_sources(harbour: weft.Memory) -> None:
    for number in range(12):
        harbour.remember(f"The pump of boat {number} was oiled and tested by the crew in the yard.")
    kept = harbour.remember("We decided that the pump is never run dry.")
    given = {"query": "the pump of the boats in the yard", "purpose": "coding", "limit": 3}
    before = harbour.call("memory_checkout", **given)
    assert kept.citation not in {line.citation for line in before.evidence}
    harbour.call("compact", purpose="coding")
    after = harbour.call("memory_checkout", **given)
    assert kept.citation in {line.citation for line in after.evidence}
    assert [line.citation for line in after.evidence].count(kept.citation) == 1
    assert all(line.citation for line in after.evidence)
    harbour.forget(kept.id)
    assert kept.citation not in {line.citation for line in harbour.call("memory_checkout", **given).evidence}


def test_a_checkout_brings_the_briefing_of_its_session(harbour: weft.Memory) -> None:
    harbour.call("session_compact", session="s1", in_progress=["Fit the new seal"])
    assert "Fit the new seal" in harbour.call("memory_checkout", query="the pump", session="s1").prompt
    assert "Fit the new seal" not in harbour.call("memory_checkout", query="the bell", session="s2").prompt


def since(memory: weft.Memory) -> int:
    shown = memory.call("compaction_show", purpose="coding")
    assert bool(shown.since) == any("came since" in note for note in shown.notes)
    return int(shown.since)


def test_it_is_of_today_when_only_what_others_see_was_changed(place: Place) -> None:
    boss = place.open()
    for scope in ("public", "admin"):
        for text in CALM[:12]:
            boss.remember(f"{scope}: {text}", scope=scope)
    boss.call("compact", purpose="coding")
    place.clock.step(60_000_000)
    boss.remember("The new pump failed twice under load.", scope="admin")
    assert since(boss) == 1
    assert since(place.open(scopes="public")) == 0
    boss.call("compact", purpose="coding")
    assert since(boss) == 0
    # A memory that stands behind another changes no record: it is taken in all the same.
    for kept in boss.recall("calm passengers", limit=20).hits:
        boss.ctx.append(
            [Draft(kind="graph.asserted", payload=Asserted(nodes=(assertion_of(kept_node(boss, kept.node.id)),)))]
        )
    assert since(boss) > 1
    boss.call("compact", purpose="coding")
    assert since(boss) == 0


def test_a_narrower_compaction_does_not_make_the_whole_one_old_or_new(place: Place) -> None:
    boss = place.open()
    for text in CALM[:10]:
        boss.remember(text)
    boss.call("compact", purpose="coding", query="passengers")
    assert since(boss) == 0
    assert any("only parts" in note for note in boss.call("compaction_show", purpose="coding").notes)
    boss.call("compact", purpose="coding")
    place.clock.step(60_000_000)
    boss.remember("Bells ring at noon.")
    boss.call("compact", purpose="coding", query="passengers calm")
    assert since(boss) == 1
    boss.call("compact", purpose="coding")
    assert since(boss) == 0


def test_what_is_never_compacted_does_not_make_it_old(place: Place) -> None:
    boss = place.open(sensitive="on")
    boss.remember("The hull is blue.")
    boss.call("compact", purpose="coding")
    place.clock.step(60_000_000)
    boss.remember("Ana is ill.", sensitive=True)
    assert since(boss) == 0


def kept_node(memory: weft.Memory, node_id: str) -> Any:
    return memory.ctx.store.nodes(memory.ctx.viewer, NOW, [node_id])[0]
