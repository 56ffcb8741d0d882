"""Purging what was deleted, and retiring a project."""

from __future__ import annotations

import json

import pytest

import weft
from tests.erasure.erased import FILLER, everything_said, filled, sound
from tests.places import Place
from weft.core.errors import Invalid, NotFound
from weft.testing.clock import DAY_US, ManualClock

# ---- purging what was deleted


def test_purge_takes_only_what_is_over(memory: weft.Memory, clock: ManualClock) -> None:
    filled(memory)
    old, new = memory.remember("The old crane."), memory.remember("The new crane.")
    memory.call("delete", target=old.id)
    clock.step(6 * DAY_US)
    memory.call("delete", target=new.id)
    assert memory.call("purge", yes=True).notes == ("nothing is due for purging",)
    clock.step(2 * DAY_US)
    told = memory.call("purge")
    assert (told.status, told.nodes) == ("previewed", 1)
    done = memory.call("purge", yes=True)
    assert (done.status, done.nodes) == ("erased", 1)
    assert "The old crane" not in everything_said(memory)
    with pytest.raises(NotFound):
        memory.call("restore", id=old.id)
    assert memory.call("restore", id=new.id).status == "saved"
    sound(memory)


def test_purge_now_takes_what_is_named_and_only_if_it_is_deleted(memory: weft.Memory) -> None:
    filled(memory)
    kept = memory.remember("The crane of Ana.")
    with pytest.raises(NotFound):
        memory.call("purge", now=kept.id, yes=True)
    memory.call("delete", target=kept.id)
    assert memory.call("purge", now=kept.id, dry_run=True).status == "previewed"
    assert memory.call("purge", now=kept.id, yes=True).status == "erased"
    assert "The crane of Ana" not in everything_said(memory)


def test_grace_is_a_setting(place: Place, clock: ManualClock) -> None:
    memory = filled(place.open(grace_days="0"))
    kept = memory.remember("A crane.")
    memory.call("delete", target=kept.id)
    clock.step(DAY_US)
    assert memory.call("purge", yes=True).nodes == 1


# ---- retiring a project


def test_clearing_is_confirmed_reversible_and_exact(place: Place) -> None:
    memory, mill = filled(place.open()), place.open(project="mill")
    mill.remember("The mill wheel turns.")
    memory.add_entity("Ana Berg")
    before = {row.id for row in memory.ctx.store.graph_rows(memory.ctx.operator("look")) if hasattr(row, "kind")}
    alone = memory.remember("Forgotten before.")
    memory.call("forget", id=alone.id)
    for confirm in ("", "yes", "mill"):
        told = memory.call("clear_graph", confirm=confirm)
        assert (told.status, told.nodes > 4) == ("failed", True)
    assert memory.recall("mill docks boats").hits
    done = memory.call("clear_graph", confirm="ferry")
    assert done.status == "saved"
    assert memory.recall("docks boats paint").status == "empty"
    assert mill.recall("wheel").hits
    assert memory.show("entity:ana berg").node is not None, "things belong to no project"
    memory.remember("Written after.")
    back = memory.call("clear_graph", undo=True)
    assert back.nodes == done.nodes
    assert len(memory.recall("mill docks boats nets fog").hits) >= len(FILLER)
    assert not memory.recall("forgotten before").hits or alone.id not in {
        hit.node.id for hit in memory.recall("forgotten before").hits
    }
    assert before
    with pytest.raises(NotFound):
        memory.call("clear_graph", undo=True)
    sound(memory)


def test_what_was_cleared_is_never_purged(memory: weft.Memory, clock: ManualClock) -> None:
    filled(memory)
    memory.call("clear_graph", confirm="ferry")
    clock.step(400 * DAY_US)
    assert memory.call("purge", yes=True).notes == ("nothing is due for purging",)
    memory.call("clear_graph", undo=True)
    assert memory.recall("mill").hits


def test_global_memories_are_cleared_apart(memory: weft.Memory) -> None:
    filled(memory)
    memory.remember("Known everywhere: tides.", level="global")
    with pytest.raises(Invalid):
        memory.call("clear_graph", level="global", project="ferry")
    memory.call("clear_graph", level="global", confirm="global")
    assert not memory.recall("tides everywhere").hits
    assert memory.recall("mill").hits
    memory.call("clear_graph", level="global", undo=True)
    assert memory.recall("tides everywhere").hits


def test_what_is_read_again_after_clearing_comes_alone(memory: weft.Memory, place: Place) -> None:
    filled(memory)
    rows = [{"id": "r1", "title": "Ferry", "text": "The crane ferry leaves at nine."}]
    (place.root / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    memory.ingest(place.root / "rows.jsonl")
    memory.call("clear_graph", confirm="ferry")
    memory.ingest(place.root / "rows.jsonl")
    assert memory.recall("crane").hits
    assert not memory.recall("mill docks").hits
