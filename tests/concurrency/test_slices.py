"""One change in many commits: resumed after a crash, invisible until whole, beside the small writes of others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.append import append
from weft.errors import Conflict, Invalid, NotFound
from weft.instants import SystemClock
from weft.log.draft import Draft
from weft.log.kinds import transaction
from weft.log.verify import verify
from weft.ports import Store
from weft.projection.digest import graph_digest
from weft.projection.weave import weave
from weft.slices import Sliced, append_in_slices
from weft.types import NOW, Event, Tx

from .fleet import Hand
from .member import OPERATOR, open_store
from .servant import author, node

COUNT = 400


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "store")
    yield opened
    opened.close()


def sliced(store: Store, drafts: Iterator[Draft], **options: object) -> Sliced:
    asked = {"clock": SystemClock(), "viewer": OPERATOR, "tx_kind": "incremental", **options}
    return append_in_slices(store, author("long"), drafts, **asked)


def broken_off(count: int) -> Iterator[Draft]:
    """Drafts up to a point, then an error of the caller's."""
    yield from map(node, range(count))
    raise ZeroDivisionError


def left_open(store: Store, count: int = COUNT) -> Tx:
    """A change that its writer did not finish."""
    with pytest.raises(ZeroDivisionError):
        sliced(store, broken_off(count))
    (change,) = [each for each in store.transactions(OPERATOR, limit=100) if each.closed_pos is None]
    return change


def visible(store: Store) -> int:
    return len(store.nodes(OPERATOR, NOW, [f"long:{n}" for n in range(COUNT)]))


def all_events(store: Store) -> list[Event]:
    found: list[Event] = []
    while page := store.log(OPERATOR, after=len(found), limit=1_000):
        found += [event for _, events in page for event in events]
    return found


def test_slices_make_one_change(store: Store) -> None:
    done = sliced(store, map(node, range(COUNT)), git_commit="0123456789", files=("a.py",))
    assert (done.drafts, done.skipped) == (COUNT, 0)
    assert done.commits > 2
    assert visible(store) == COUNT
    (change,) = store.transactions(OPERATOR, limit=10)
    assert (change.id, change.kind, change.git_commit, change.files) == (
        done.tx,
        "incremental",
        "0123456789",
        ("a.py",),
    )
    assert change.counts["nodes"] == COUNT
    assert change.duration_ms is not None
    events = all_events(store)
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds.count("tx.opened"), kinds.count("tx.closed")) == ("tx.opened", 1, 1)
    assert kinds.count("tx.continued") == done.commits - 2
    assert len(events) == COUNT + done.commits


@pytest.mark.parametrize("count", [0, 1])
def test_a_change_of_next_to_nothing(count: int, store: Store) -> None:
    done = sliced(store, map(node, range(count)))
    assert (done.drafts, done.commits, visible(store)) == (count, 2, count)


def test_slices_shrink_when_they_take_long(store: Store) -> None:
    quick = sliced(store, map(node, range(COUNT)), slice_ms=2)
    slow = sliced(store, map(node, range(COUNT, 2 * COUNT)), slice_ms=2_000)
    assert quick.commits > 2 * slow.commits


def test_nothing_shows_until_it_is_closed(store: Store) -> None:
    change = left_open(store)
    assert visible(store) == 0
    done = sliced(store, map(node, range(COUNT)), resume=change.id)
    assert (done.tx, visible(store)) == (change.id, COUNT)
    assert done.skipped > 0
    assert done.skipped + done.drafts == COUNT
    payloads = [event.payload for event in all_events(store) if not event.kind.startswith("tx.")]
    assert len(payloads) == len(set(payloads)) == COUNT


def test_a_change_killed_again_and_again_is_whole_in_the_end(tmp_path: Path) -> None:
    tx = None
    store = open_store(tmp_path / "store")
    for die_after in (60, 61, 150, 300, 399):
        with Hand(tmp_path / "store") as hand:
            hand.begin("slices", count=COUNT, die_after=die_after, resume=tx)
            assert hand.wait_for_death() == -9
        (change,) = store.transactions(OPERATOR, limit=10)
        assert tx in (None, change.id)
        tx = change.id
        assert change.closed_pos is None
        assert visible(store) == 0
    with Hand(tmp_path / "store") as hand:
        done = hand.do("slices", count=COUNT, resume=tx)
    assert done["skipped"] + done["drafts"] == COUNT
    assert visible(store) == COUNT
    written = [event.payload for event in all_events(store) if not event.kind.startswith("tx.")]
    assert len(written) == len(set(written)) == COUNT, "nothing doubled, nothing missing"
    assert verify(store, OPERATOR).problem is None
    before = graph_digest(store.graph_rows(OPERATOR))
    store.rebuild(OPERATOR, weave, progress=lambda done, total: None)
    assert graph_digest(store.graph_rows(OPERATOR)) == before
    store.close()


def test_two_that_resume_at_once_do_not_double_anything(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    change = left_open(store, 100)
    with Hand(tmp_path / "store") as one, Hand(tmp_path / "store") as two:
        for hand in (one, two):
            hand.begin("slices", count=COUNT, resume=change.id, slice_ms=5)
        told = [one.result(), two.result()]
    assert [each["error"] for each in told if "error" in each] in ([], ["conflict"])
    assert visible(store) == COUNT
    written = [event.payload for event in all_events(store) if not event.kind.startswith("tx.")]
    assert len(written) == len(set(written)) == COUNT
    store.close()


def test_what_cannot_be_resumed(store: Store) -> None:
    with pytest.raises(NotFound, match="no change 'tx-none'"):
        sliced(store, map(node, range(3)), resume="tx-none")
    own = range(COUNT, COUNT + 3)  # what is kept for all projects is not written twice by an agent
    done = sliced(store, map(node, own))
    with pytest.raises(Conflict, match="closed already"):
        sliced(store, map(node, own), resume=done.tx)
    change = left_open(store)
    with pytest.raises(Invalid, match="fewer now"):
        sliced(store, map(node, range(3)), resume=change.id)
    opening = Draft(kind="tx.opened", payload=transaction.Opened(tx_kind="maintenance"))
    other = f"tx-{append(store, author('x'), [opening], clock=SystemClock()).events[0].hash.hex()[:16]}"
    going_on = Draft(kind="tx.continued", payload=transaction.Continued(tx=other, cursor="page two"))
    append(store, author("x"), [going_on], clock=SystemClock())
    with pytest.raises(Conflict, match="other means"):
        sliced(store, map(node, range(3)), resume=other)


def test_a_change_writes_its_own_marks(store: Store) -> None:
    mark = Draft(kind="tx.noted", payload=transaction.Noted(tx_kind="maintenance"))
    with pytest.raises(Invalid, match=r"tx\.noted inside"):
        sliced(store, iter([mark]))


def test_small_writes_go_between_slices(tmp_path: Path) -> None:
    """A small write beside a long change is there long before that is closed, and has waited for a slice or so."""
    with Hand(tmp_path / "store") as long, Hand(tmp_path / "store") as small:
        long.begin("slices", count=4_000)
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
