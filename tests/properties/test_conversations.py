"""However rows of conversations arrive, in what portions and by what routes, they become the same turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.core.clock import MAX_INSTANT_US, to_iso
from weft.core.types import SCOPES, Find, Viewer, When
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.ingest.ingest_records import ingest_records
from weft.testing.clock import ManualClock

Row = dict[str, Any]
OPERATOR = Viewer(account="default", scopes=frozenset(SCOPES), sensitive=True)
LATEST = When(valid_at=MAX_INSTANT_US)


@st.composite
def conversations(draw: st.DrawFn) -> list[Row]:
    """Dated rows of a few sessions, some of them whole."""
    rows: list[Row] = []
    for number in range(draw(st.integers(1, 12))):
        date = to_iso(draw(st.integers(0, 50)) * 86_400_000_000)
        speaker = draw(st.sampled_from(["Mira", "user", "assistant"]))
        words = draw(st.sampled_from(["the ferry is late", "walk", "again"]))
        if draw(st.booleans()):
            rows.append(
                {"id": f"t{number}", "session": draw(st.integers(1, 3)), "text": f"{speaker}: {words}", "date": date}
            )
        else:
            turns = draw(st.integers(2, 4))
            text = "\n\n".join(f"{'user' if turn % 2 == 0 else 'assistant'}: {words} {turn}" for turn in range(turns))
            rows.append({"id": f"w{number}", "text": text, "date": date})
    return rows


def opened() -> weft.Memory:
    environment = {"HOME": "/nonexistent", "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    return weft.open("memory://", directory=Path(__file__).parent, environment=environment, clock=ManualClock())


def state(memory: weft.Memory) -> set[tuple[Any, ...]]:
    store = memory.ctx.store
    found = store.find(OPERATOR, LATEST, Find(), limit=1_000).nodes
    edges = store.neighbours(OPERATOR, LATEST, [node.id for node in found], direction="out", limit=100)
    return {
        (node.id, node.kind, node.text, tuple(sorted(node.props.items())), node.interval.valid_from) for node in found
    } | {(step.edge.src, step.edge.rel, step.edge.dst, step.edge.interval.valid_from) for step in edges}


def take(memory: weft.Memory, rows: list[Row]) -> int:
    done = ingest_records(memory.ctx, rows, project="p")
    assert done.skipped == ()
    return done.records


@given(conversations(), st.data())
def test_portions_and_the_order_of_sessions_make_no_difference(rows: list[Row], data: st.DataObject) -> None:
    with opened() as at_once, opened() as bit_by_bit:
        take(at_once, rows)
        queues: dict[Any, list[Row]] = {}
        for row in rows:
            queues.setdefault(row.get("session", row["id"]), []).append(row)
        while queues:
            name = data.draw(st.sampled_from(sorted(queues, key=str)))
            portion = data.draw(st.integers(1, len(queues[name])))
            take(bit_by_bit, queues[name][:portion])
            queues[name] = queues[name][portion:]
            if not queues[name]:
                del queues[name]
        assert state(at_once) == state(bit_by_bit)


@given(conversations(), conversations())
def test_again_is_nothing_and_corrections_leave_the_corrected(before: list[Row], after: list[Row]) -> None:
    """Rows told wrong first, then right, say what they would had they been right at once."""
    with opened() as memory:
        take(memory, before)
        kept = {row["id"]: row for row in before}
        corrections = [
            row for row in after if row["id"] in kept and row.get("session") == kept[row["id"]].get("session")
        ]
        take(memory, corrections)
        assert take(memory, corrections) == 0
        right = {**kept, **{row["id"]: row for row in corrections}}
        assert take(memory, list(right.values())) == 0
        with opened() as fresh:
            take(fresh, list(right.values()))
            assert _messages(memory) == _messages(fresh)


def _messages(memory: weft.Memory) -> set[tuple[Any, ...]]:
    found = memory.ctx.store.find(OPERATOR, LATEST, Find(kinds=("Message",)), limit=1_000).nodes
    ignored = ("seq",)
    return {
        (node.text, tuple(sorted((k, v) for k, v in node.props.items() if k not in ignored)), node.interval.valid_from)
        for node in found
    }


@given(conversations(), conversations())
def test_a_rebuild_is_equal(before: list[Row], after: list[Row]) -> None:
    with opened() as memory:
        take(memory, before)
        take(memory, [row for row in after if not row["id"].startswith("w") or row in before])
        store = memory.ctx.store
        digest = graph_digest(store.graph_rows(OPERATOR))
        store.rebuild(OPERATOR, apply_events, progress=lambda _done, _all: None)
        assert graph_digest(store.graph_rows(OPERATOR)) == digest
