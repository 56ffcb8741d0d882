"""One change in many commits: invisible until it is closed, whole after kills, beside the small writes of others."""

from __future__ import annotations

from pathlib import Path

from tests.concurrency.fleet import Hand
from tests.concurrency.member import OPERATOR, open_store
from weft.core.ports import Store
from weft.core.types import MAX_READ_EVENTS, NOW, Event
from weft.graph.apply_moves import apply_events
from weft.graph.digest import graph_digest
from weft.log.verify import verify

COUNT = 400


def visible(store: Store) -> int:
    return len(store.nodes(OPERATOR, NOW, [f"long:{n}" for n in range(COUNT)]))


def all_events(store: Store) -> list[Event]:
    return [event for _, events in store.log(OPERATOR, after=0, limit=MAX_READ_EVENTS) for event in events]


def test_a_change_killed_again_and_again_is_whole_in_the_end(tmp_path: Path) -> None:
    tx = None
    store = open_store(tmp_path / "store")
    for die_after in (50, 75, 150, 300, 375):
        with Hand(tmp_path / "store") as hand:
            hand.begin("long_change", count=COUNT, die_after=die_after, resume=tx)
            assert hand.wait_for_death() == -9
        (change,) = store.transactions(OPERATOR, limit=10)
        assert tx in (None, change.id)
        tx = change.id
        assert change.closed_pos is None
        assert visible(store) == 0, "an open change is invisible"
    with Hand(tmp_path / "store") as hand:
        done = hand.do("long_change", count=COUNT, resume=tx)
    assert done["skipped"] + done["drafts"] == COUNT
    assert done["skipped"] == 375, "what was committed before the last kill is there"
    assert visible(store) == COUNT
    written = [event.payload for event in all_events(store) if not event.kind.startswith("tx.")]
    assert len(written) == len(set(written)) == COUNT, "nothing doubled, nothing missing"
    (change,) = store.transactions(OPERATOR, limit=10)
    assert (change.kind, change.counts["nodes"]) == ("incremental", COUNT)
    assert verify(store, OPERATOR).problem is None
    before = graph_digest(store.graph_rows(OPERATOR))
    store.rebuild(OPERATOR, apply_events, progress=lambda done, total: None)
    assert graph_digest(store.graph_rows(OPERATOR)) == before
    store.close()


def test_small_writes_go_between_the_commits_of_a_long_change(tmp_path: Path) -> None:
    """A small write beside a long change is readable long before the change is closed."""
    with Hand(tmp_path / "store") as long, Hand(tmp_path / "store") as small:
        long.begin("long_change", count=4_000)
        for number in range(20):
            small.do("write", node_id=f"small{number}", text=f"small{number}")
            assert small.do("search", words=f"small{number}") == [f"small{number}"]
        assert long.result()["answer"]["drafts"] == 4_000
    store = open_store(tmp_path / "store")
    events = all_events(store)
    closing = next(event.pos for event in events if event.kind == "tx.closed")
    between = [event for event in events if event.session == "small" and event.pos < closing]
    assert len(between) == 20
    store.close()
