"""Two rebuilds at once: one goes on, the other stops, and no node is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from tests.concurrency.servant import author, node
from weft.append.append import append
from weft.backends.sqlite import store as stores
from weft.backends.sqlite.files import write_lock as turnstile
from weft.backends.sqlite.store import SqliteStore
from weft.backends.sqlite.write import rebuild as rebuilding
from weft.core.clock import SystemClock
from weft.core.errors import Conflict
from weft.core.types import NOW
from weft.graph.apply_moves import apply_events

COUNT = 60


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    monkeypatch.setattr(rebuilding, "SLICE_EVENTS", 5)
    monkeypatch.setattr(stores, "NEAR_THE_END", 10)
    opened = open_store(tmp_path / "store")
    for number in range(COUNT):
        append(opened, author("main"), [node(number)], clock=SystemClock())
    yield opened
    opened.close()


def visible(store: SqliteStore) -> int:
    return len(store.nodes(OPERATOR, NOW, [f"long:{n}" for n in range(COUNT)]))


def rebuild(store: SqliteStore, progress: object = None) -> None:
    store.rebuild(OPERATOR, apply_events, progress=progress or (lambda done, of: None))


def in_a_thread(work: object) -> list[BaseException]:
    """What it raised: a connection belongs to one thread, so another rebuild needs one of its own."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as problem:
            raised.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return raised


def test_the_second_is_turned_away(store: SqliteStore) -> None:
    turned_away: list[BaseException] = []

    def once(done: int, of: int) -> None:
        if not turned_away:
            turned_away.extend(in_a_thread(lambda: rebuild(store)))

    rebuild(store, once)
    assert [type(problem) for problem in turned_away] == [Conflict]
    assert "another process is rebuilding" in str(turned_away[0])
    assert visible(store) == COUNT
    rebuild(store)
    assert visible(store) == COUNT


@pytest.mark.parametrize("second", ["only begins", "finishes"])
def test_without_flock_the_first_stops(second: str, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "HAS_FLOCK", False)
    began: list[int] = []

    def begin_another() -> None:
        if second == "finishes":
            rebuild(store)
            return
        with store._writing(ACCOUNT) as db:
            rebuilding.SideTableRebuild(db, ACCOUNT, b"", apply_events).begin()

    def once(done: int, of: int) -> None:
        if not began:
            began.append(done)
            assert in_a_thread(begin_another) == []

    with pytest.raises(Conflict, match="another process has begun to rebuild"):
        rebuild(store, once)
    assert 0 < began[0] < COUNT
    assert visible(store) == COUNT, "nothing was swapped in by the one that lost"
    rebuild(store)
    assert visible(store) == COUNT
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'side_*'"
    assert store._connection(ACCOUNT).execute(tables).fetchall() == []
