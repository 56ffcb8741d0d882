"""Memories move between stores: the same log, the same graph, as often as it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.neo4j_fixtures import store_at
from weft.append.import_log import copy_account
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import Conflict
from weft.core.ports import Store
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, closed, deleted, edge, memory_of, node
from weft.testing.viewers import ACCOUNT, OPERATOR


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def filled(tmp_path: Path, clock: ManualClock) -> Iterator[Scribe]:
    scribe = Scribe(SqliteStore(tmp_path / "store", commit_genesis, clock=clock), clock)
    scribe.one(node("ada", "lives in Paris", kind="Person", name="Ada", at=day(-30)))
    scribe.one(node("ada", "lives in Berlin", kind="Person", name="Ada", at=day(-3)), session="two")
    scribe.one(memory_of("m", "the ferry leaves at ten", sensitive=True, agents=("ann",)))
    scribe.one(edge("m", "MENTIONS", "ada"))
    scribe.one(deleted("m"))
    scribe.write(closed(scribe.open_change(node("late", "comes with its closing"))))
    yield scribe
    scribe.store.close()


def moved(source: Store, target: Store, clock: ManualClock) -> tuple[int, int]:
    done = copy_account(source, target, ACCOUNT, clock=clock)
    assert done.head == source.head(OPERATOR).digest.hex()
    return done.events, done.already_there


def test_to_a_server_and_back(neo4j_url: str, filled: Scribe, clock: ManualClock, tmp_path: Path) -> None:
    there = store_at(neo4j_url, clock)
    events = filled.store.head(OPERATOR).pos
    assert moved(filled.store, there, clock) == (events, 0)
    assert Scribe(there, clock).texts("ada", "late") == {"ada": "lives in Berlin", "late": "comes with its closing"}
    back = SqliteStore(tmp_path / "back", commit_genesis, clock=clock)
    assert moved(there, back, clock) == (events, 0)
    assert Scribe(back, clock).digest() == filled.digest()
    back.close()
    there.close()


def test_an_interrupted_move_goes_on_and_a_repeated_one_does_nothing(filled: Scribe, clock: ManualClock) -> None:
    class Interrupted(MemoryStore):
        left = 3

        def commit(self, account, plan):  # type: ignore[no-untyped-def]
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return super().commit(account, plan)

    target = Interrupted(commit_genesis, clock=clock)
    with pytest.raises(KeyboardInterrupt):
        copy_account(filled.store, target, ACCOUNT, clock=clock)
    there = target.head(OPERATOR).pos
    assert there == 3
    target.left = -1
    events = filled.store.head(OPERATOR).pos
    assert moved(filled.store, target, clock) == (events - there, there)
    assert moved(filled.store, target, clock) == (0, events)
    filled.one(node("new", "written after the move"))
    assert moved(filled.store, target, clock) == (1, events)


def test_a_target_with_a_history_of_its_own_is_refused(filled: Scribe, clock: ManualClock) -> None:
    other = Scribe(MemoryStore(commit_genesis, clock=clock), clock)
    other.one(node("ada", "somebody else"), session="elsewhere")
    with pytest.raises(Conflict):
        copy_account(filled.store, other.store, ACCOUNT, clock=clock)
    assert other.texts("ada") == {"ada": "somebody else"}
    assert other.store.head(OPERATOR).pos == 1
