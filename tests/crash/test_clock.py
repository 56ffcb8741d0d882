"""The clock steps back, between and during appends: the log's times never do, and nothing just written hides."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.workload import OPERATOR, SECOND_US, START_US, all_events, assert_sound, opened, remembered, writer
from weft.append.append import append
from weft.backends.memory import MemoryStore
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.core.queries import TextQuery
from weft.core.types import NOW, When
from weft.log.chain import commit_genesis
from weft.log.verify import read_commits
from weft.text import lexical

DAY_US = 86_400 * SECOND_US


class JumpyClock:
    """Mostly goes on, often stands still, now and then steps back by up to a day: at every single look."""

    def __init__(self, seed: int) -> None:
        self._chance, self.now = random.Random(seed), START_US

    def now_us(self) -> int:
        step = self._chance.choice((1, 1_000, 0, 0, -1, -SECOND_US, -self._chance.randrange(DAY_US)))
        self.now += step
        return self.now


@pytest.fixture(params=["sqlite", "memory"])
def store_and_clock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Clock]]:
    clock = JumpyClock(1)
    if request.param == "memory":
        yield MemoryStore(commit_genesis, clock=clock), clock
        return
    with opened(tmp_path / "store", clock=clock) as store:
        yield store, clock


def test_record_time_increases_and_writes_are_visible_at_once(store_and_clock: tuple[Store, Clock]) -> None:
    store, clock = store_and_clock
    for number in range(150):
        node = f"memory:{number}"
        drafts = [remembered(node, f"thread{number} is on the shuttle"), remembered(f"{node}b", "and its pair")]
        done = append(store, writer(f"talk-{number % 4}"), drafts, clock=clock)
        assert [each.id for each in store.nodes(OPERATOR, NOW, (node, f"{node}b"))] == [node, f"{node}b"]
        words = TextQuery(terms=lexical.query_terms(f"thread{number}"))
        assert [hit.node.id for hit in store.search_text(OPERATOR, NOW, words, limit=3).hits] == [node]
        pinned = store.pin(OPERATOR, NOW)
        assert pinned.known_at == done.events[0].recorded_at
        assert [each.id for each in store.nodes(OPERATOR, pinned, (node,))] == [node]
    times = [commit.at for commit, _ in read_commits(store, OPERATOR)]
    assert all(earlier < later for earlier, later in itertools.pairwise(times))
    recorded = [event.recorded_at for event in all_events(store)]
    assert recorded == sorted(recorded)
    assert_sound(store)


def test_answers_pinned_before_a_step_back_do_not_change(store_and_clock: tuple[Store, Clock]) -> None:
    store, clock = store_and_clock
    pins: list[tuple[When, int]] = []
    for number in range(40):
        drafts = [remembered(f"memory:{number}", "on the shuttle")]
        append(store, writer(), drafts, clock=clock)
        pins.append((store.pin(OPERATOR, NOW), number + 1))
    ids = [f"memory:{number}" for number in range(40)]
    for pinned, count in pins:
        assert len(store.nodes(OPERATOR, pinned, ids)) == count
