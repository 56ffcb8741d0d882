"""The write lock queue: fair, bounded, and free again when its holder dies."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.concurrency.fleet import Hand
from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from tests.concurrency.servant import author, node
from weft.append.append import append
from weft.backends.sqlite.files import write_lock
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.commits import Batch, LockedView
from weft.core.errors import Busy, StoreError

DEADLINE_S = 60.0  # of a condition that comes true in milliseconds, on a machine as busy as it may be


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(tmp_path / "store")
    write(opened, 0)
    yield opened
    opened.close()


def write(store: SqliteStore, number: int) -> int:
    return append(store, author("main"), [node(number)], clock=SystemClock()).events[0].pos


def waiting() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "weft-write-lock"}


def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, however busy the machine is."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "the condition never came true"
        time.sleep(0.005)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("which", ["queue", "lock"])
def test_others_go_on_when_the_holder_is_killed(
    which: str, store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lock, "WAIT_S", DEADLINE_S)
    with Hand(tmp_path / "store") as holder:
        holder.do("hold", which=which)
        ended: list[int] = []
        before = waiting()
        writers = [threading.Thread(target=lambda n=n: (write(store, n), ended.append(n))) for n in (1, 2)]
        for each in writers:
            each.start()
        until(lambda: len(waiting() - before) == 2)
        assert not ended, "nobody writes while it is held"
        holder.kill()
        for each in writers:
            each.join(DEADLINE_S)
    assert sorted(ended) == [1, 2]


@pytest.mark.parametrize("which", ["queue", "lock"])
def test_waiting_is_bounded(which: str, store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_lock, "WAIT_S", 0.2)
    with Hand(tmp_path / "store") as holder:
        holder.do("hold", which=which)
        before, idle = descriptors(), waiting()
        for _ in range(5):
            with pytest.raises(Busy, match=r"not free within 0\.2 s .*try again"):
                write(store, 1)
        assert len(waiting() - idle) == 1, "given up, a wait goes on in its old place"
        assert descriptors() <= before + 2
    monkeypatch.undo()
    assert write(store, 1) == 2, "nothing of the failed ones was written"
    assert descriptors() <= before


def test_a_turn_that_comes_too_late_is_given_on(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hand(tmp_path / "store") as holder, monkeypatch.context() as patch:
        patch.setattr(write_lock, "WAIT_S", 0.1)
        holder.do("hold", which="lock")
        with pytest.raises(Busy):
            write(store, 1)
    with Hand(tmp_path / "store") as other:
        other.do("write", node_id="a", text="not held up by one who gave up")  # or Busy, if the lock stayed taken


def test_threads_take_turns_too(store: SqliteStore) -> None:
    problems: list[Exception] = []
    before = descriptors()

    def work(start: int) -> None:
        try:
            for number in range(start, start + 25):
                write(store, number)
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(1, 5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not problems
    assert store.head(OPERATOR).pos == 101
    connections = 4 * 3  # each thread's database, log and shared memory
    assert descriptors() <= before + connections


def test_two_queues_on_the_same_files(tmp_path: Path) -> None:
    one, two = WriteQueue(tmp_path, "a"), WriteQueue(tmp_path, "a")
    order: list[str] = []
    before = waiting()

    def second() -> None:
        with two.turn():
            order.append("second")

    with one.turn():
        other = threading.Thread(target=second)
        other.start()
        until(lambda: bool(waiting() - before))
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def test_a_write_inside_a_write_is_refused_at_once(store: SqliteStore) -> None:
    def plan(_view: LockedView) -> Batch:
        write(store, 2)
        raise AssertionError("unreachable")

    with pytest.raises(StoreError, match="inside a write"):  # and not Busy, after a wait for itself
        store.commit(ACCOUNT, plan)
    assert write(store, 1) == 2


def test_without_flock_sqlite_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_lock, "HAS_FLOCK", False)
    store = open_store(tmp_path / "store")
    assert write(store, 0) == 1
    assert not list((tmp_path / "store").rglob("*.lock"))
    store.close()


def test_without_lock_files_sqlite_decides(tmp_path: Path) -> None:
    places = tmp_path / "store" / "accounts"
    (places / f"{ACCOUNT}.queue").mkdir(parents=True)  # as where no file can be made
    (tmp_path / "store" / "weft-store.json").write_text("{}")
    store = open_store(tmp_path / "store")
    assert write(store, 0) == 1
    store.close()


def test_a_custom_vfs_has_no_queue(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store", lambda account: bytes(32), vfs="unix")
    assert write(store, 0) == 1
    assert sorted(each.suffix for each in (tmp_path / "store" / "accounts").iterdir()) == [".db", ".db-shm", ".db-wal"]
    store.close()
