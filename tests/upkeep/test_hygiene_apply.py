"""Mending what hygiene found: chosen findings only, each as it was found, and every one can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import Place
from tests.upkeep.planted import LONG, hygiene, same_names, stuck_writes, thing, told
from tests.writing.noting import note
from weft.core.errors import Invalid
from weft.core.types import NOW
from weft.testing.clock import DAY_US
from weft.upkeep.hygiene.apply import HygieneApplied
from weft.upkeep.hygiene.findings import Finding


def apply(mem: weft.Memory, action: str, *ids: str, **more: Any) -> HygieneApplied:
    answer = mem.call("hygiene_apply", action=action, ids=list(ids), **more)
    assert isinstance(answer, HygieneApplied)
    return answer


def findings(mem: weft.Memory, check: str) -> dict[str, Finding]:
    """What is found now, by the first node."""
    (only,) = [each for each in hygiene(mem, limit=100).checks if each.check == check]
    return {finding.ids[0]: finding for finding in only.findings}


def events(mem: weft.Memory, after: int) -> list[str]:
    viewer = mem.ctx.operator("look")
    return [event.kind for _, some in mem.ctx.store.log(viewer, after=after, limit=100) for event in some]


def follow(mem: weft.Memory, undo: str) -> HygieneApplied:
    """Does what an answer says undoes it."""
    *command, action, option, name = undo.split()
    assert (command, option) == (["weft", "hygiene", "apply"], "--ids")
    return apply(mem, action, name)


def test_the_older_of_two_that_say_the_same_is_superseded_and_comes_back(memory: weft.Memory) -> None:
    told(memory, "old", LONG, days=3)
    told(memory, "new", f"{LONG}.")
    (finding,) = findings(memory, "duplicate").values()
    before = memory.ctx.store.head(memory.ctx.viewer).pos
    answer = apply(memory, "merge", finding.id, reason="said twice")
    assert (answer.status, answer.done) == ("saved", 1)
    assert events(memory, before) == ["graph.asserted"]
    assert answer.findings[0].citation.startswith("weft://")
    assert [hit.node.id for hit in memory.recall("lorries on the lower deck").hits] == ["new"]
    assert findings(memory, "duplicate") == {}
    again = apply(memory, "merge", finding.id)
    assert (again.status, again.findings[0].status) == ("failed", "stale")
    assert "already superseded" in again.findings[0].why
    assert follow(memory, answer.findings[0].undo).status == "saved"
    assert {hit.node.id for hit in memory.recall("lorries on the lower deck").hits} == {"old", "new"}
    assert list(findings(memory, "duplicate")) == ["old"]
    assert follow(memory, answer.findings[0].undo).status == "failed", "there is nothing left to undo"


def test_what_somebody_else_superseded_is_not_taken_back(memory: weft.Memory) -> None:
    told(memory, "old", LONG, days=3)
    told(memory, "new", f"{LONG}.")
    (finding,) = findings(memory, "duplicate").values()
    told(memory, "new", f"{LONG}.", supersedes=("old",))
    assert apply(memory, "undo", finding.id).findings[0].status == "stale"
    assert [hit.node.id for hit in memory.recall("lorries on the lower deck").hits] == ["new"]


def test_an_old_decision_ends_and_comes_back(memory: weft.Memory, place: Place) -> None:
    told(memory, "dec", "paint the hull red", kind="Decision", days=400)
    finding = findings(memory, "decision")["dec"]
    place.clock.step()
    answer = apply(memory, "end", finding.id)
    assert answer.status == "saved"
    assert memory.show("dec").node is None
    assert memory.ctx.store.history(memory.ctx.viewer, "dec", limit=9), "asked as of then, it still answers"
    assert findings(memory, "decision") == {}
    assert follow(memory, answer.findings[0].undo).status == "saved"
    shown = memory.show("dec").node
    assert shown is not None
    assert shown.valid_to is None
    assert list(findings(memory, "decision")) == ["dec"], "and it is as old as before"


@pytest.mark.parametrize(("check", "kind", "days"), [("decision", "Decision", 180), ("pattern", "Pattern", 90)])
def test_what_is_confirmed_is_not_found_until_it_is_old_again(
    memory: weft.Memory, place: Place, check: str, kind: str, days: int
) -> None:
    told(memory, "kept", "two lookouts in fog", kind=kind, days=400)
    answer = apply(memory, "confirm", findings(memory, check)["kept"].id)
    assert answer.status == "saved"
    assert "memory-edit kept --props last_validated_at=null" in answer.findings[0].undo
    assert findings(memory, check) == {}
    place.clock.step(days * DAY_US)
    assert findings(memory, check) == {}
    place.clock.step(DAY_US)
    assert list(findings(memory, check)) == ["kept"]


def test_a_pattern_is_invalidated_and_comes_back(memory: weft.Memory, place: Place) -> None:
    told(memory, "pat", "swing the lamp", kind="Pattern", days=400)
    place.clock.step()
    answer = apply(memory, "invalidate", findings(memory, "pattern")["pat"].id)
    assert memory.show("pat").node is None
    assert follow(memory, answer.findings[0].undo).status == "saved"
    assert memory.show("pat").node is not None


def test_things_of_one_name_become_one_and_two_again(memory: weft.Memory) -> None:
    expected = same_names(memory)
    found = findings(memory, "entity")
    answer = apply(memory, "merge", *(finding.id for finding in found.values()))
    assert (answer.status, answer.done) == ("saved", len(expected))
    assert findings(memory, "entity") == {}
    fact = memory.show(memory.add_fact("Ida Holm", "lives_in", "Bergen").id).node
    assert fact is not None
    assert fact.props["subject"] == "person:ida holm"
    undo = next(each.undo for each in answer.findings if "ida" in each.id)
    assert undo == "weft split-entities 'mention:ida holm'"
    assert apply(memory, "undo", found["mention:ida holm"].id).status == "saved"
    assert list(findings(memory, "entity")) == ["mention:ida holm"]


def test_stale_findings_are_told_one_by_one_and_the_rest_is_done(memory: weft.Memory) -> None:
    for name in ("changed", "gone", "replaced", "confirmed", "good"):
        told(memory, name, f"the {name} decision", kind="Decision", days=400)
    found = findings(memory, "decision")
    memory.call("memory_edit", id="changed", text="something else")
    memory.call("forget", id="gone")
    told(memory, "newer", "another decision", kind="Decision", supersedes=("replaced",))
    memory.call("memory_feedback", id="confirmed", outcome="confirmed")
    made_up = "decision/nobody/00000000"
    answer = apply(memory, "end", *(finding.id for finding in found.values()), made_up, "all", "decision/x")
    assert (answer.status, answer.done) == ("partial", 1)
    told_of = {each.id.split("/")[1] if "/" in each.id else each.id: each for each in answer.findings}
    assert told_of["good"].status == "saved"
    stale = {name: each.why for name, each in told_of.items() if each.status == "stale"}
    assert stale.keys() == {"changed", "gone", "replaced", "confirmed", "nobody"}
    assert "changed since" in stale["changed"]
    assert "already superseded" in stale["replaced"]
    assert {told_of["all"].status, told_of["x"].status} == {"failed"}
    assert "not the id of a finding" in told_of["all"].why
    assert memory.ctx.store.nodes(memory.ctx.viewer, NOW, ["changed", "replaced", "confirmed"])[2:], "left alone"


def test_a_pair_that_is_no_longer_alike_is_left_alone(memory: weft.Memory) -> None:
    told(memory, "old", LONG, days=3)
    told(memory, "new", f"{LONG}.")
    (finding,) = findings(memory, "duplicate").values()
    memory.call("tag", id="new", agents=["ann"])
    assert apply(memory, "merge", finding.id).findings[0].status == "stale"
    # An id that somebody put together is looked at as any other.
    told(memory, "unlike", "quite another matter")
    from weft.upkeep.hygiene.findings import make, stamp_of

    nodes = memory.ctx.store.nodes(memory.ctx.viewer, NOW, ["old", "unlike"])
    forged = make("duplicate", ("old", "unlike"), stamp_of(*nodes), "")
    answer = apply(memory, "merge", forged.id)
    assert (answer.findings[0].status, answer.findings[0].why) == ("stale", "the two are no longer similar enough")


def test_an_action_that_does_not_fit_is_refused(memory: weft.Memory) -> None:
    told(memory, "dec", "paint the hull red", kind="Decision", days=400)
    answer = apply(memory, "merge", findings(memory, "decision")["dec"].id)
    assert answer.findings[0].status == "failed"
    assert "end, confirm" in answer.findings[0].why
    with pytest.raises(Invalid, match="action"):
        apply(memory, "explode", "decision/dec/00000000")
    with pytest.raises(Invalid, match="ids"):
        apply(memory, "end")


def texts(mem: weft.Memory) -> set[str]:
    return {node.text for node in mem.recent(limit=100).nodes}


def test_a_write_that_is_stuck_is_delivered(memory: weft.Memory, place: Place) -> None:
    note(memory, "first")
    stuck_writes(memory, place)
    first, second = findings(memory, "write").values()
    answer = apply(memory, "retry", second.id)
    assert answer.status == "saved"
    assert texts(memory) >= {"held up", "held up too"}, "those before it go first"
    assert answer.findings[0].undo.startswith("weft forget ")
    assert findings(memory, "write") == {}
    assert apply(memory, "retry", first.id).findings[0].status == "stale"


def test_a_write_that_is_dropped_is_never_delivered_unless_it_is_brought_back(
    memory: weft.Memory, place: Place
) -> None:
    note(memory, "first")
    stuck_writes(memory, place)
    first, _ = findings(memory, "write").values()
    answer = apply(memory, "drop", first.id)
    assert answer.status == "saved"
    memory.call("deliver_pending")
    assert {"held up", "held up too"} & texts(memory) == {"held up too"}
    assert follow(memory, answer.findings[0].undo).status == "saved"
    assert len(findings(memory, "write")) == 1
    note(memory, "later")
    assert "held up" in texts(memory)


def test_a_write_that_the_store_refused_is_tried_again_or_dropped(memory: weft.Memory, place: Place) -> None:
    note(memory, "first")
    stuck_writes(memory, place)
    assert memory.ctx.outbox is not None
    damaged = sorted(Path(memory.ctx.outbox.directory).glob("*.json"))[0]
    damaged.write_text("{")
    memory.call("deliver_pending")
    (finding,) = findings(memory, "write").values()
    assert finding.why.startswith("failed: ")
    again = apply(memory, "retry", finding.id)
    assert again.findings[0].status == "failed"
    (finding,) = findings(memory, "write").values()
    assert apply(memory, "drop", finding.id).status == "saved"
    assert findings(memory, "write") == {}


def test_nobody_touches_the_writes_of_others(place: Place) -> None:
    owner, guest = place.open(), place.open(scopes="shared", agent="guest", role="agent")
    note(owner, "first")
    stuck_writes(owner, place)
    first = next(iter(findings(owner, "write").values()))
    for action in ("drop", "retry", "undo"):
        assert apply(guest, action, first.id).findings[0].status == "stale", "as if it were not there"
    assert len(findings(owner, "write")) == 2


def test_an_agent_may_not_merge_what_it_may_not_see(place: Place) -> None:
    owner, guest = place.open(), place.open(scopes="shared", agent="guest", role="agent")
    told(owner, "old", LONG, days=3)
    told(owner, "new", f"{LONG}.")
    (finding,) = findings(owner, "duplicate").values()
    assert apply(guest, "merge", finding.id).findings[0].status == "stale"
    assert list(findings(owner, "duplicate")) == ["old"]


def test_ids_with_odd_letters_go_there_and_back(memory: weft.Memory) -> None:
    thing(memory, "mention:å/b c%2F", "Mention", "Åse")
    thing(memory, "person:åse", "Person", "Åse")
    (finding,) = findings(memory, "entity").values()
    assert len(finding.fix.split()) == 6, "one word on a command line"
    assert apply(memory, "merge", finding.id).status == "saved"
