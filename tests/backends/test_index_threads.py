"""Threads share what a process holds of the indexes: each answer comes from one whole state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.backends.test_index_files import COUNT, asked, directions, filled, small_generations, store_at, vector
from weft.backends.sqlite.search import vectors
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR

__all__ = ["filled", "small_generations"]

READERS = 4
STEP = 5


def test_readers_a_writer_and_an_indexer_share_one_store(tmp_path: Path) -> None:
    store = store_at(tmp_path / "store")
    Scribe(store, ManualClock()).write(*(node(f"n{n}", f"text {n}") for n in range(COUNT)))
    rows = directions()
    store.put_vectors(OPERATOR.account, [vector(n, rows[n]) for n in range(STEP)])
    done, written, problems = threading.Event(), [STEP], []

    def write() -> None:
        for start in range(STEP, COUNT, STEP):
            store.put_vectors(OPERATOR.account, [vector(n, rows[n]) for n in range(start, start + STEP)])
            written[0] = start + STEP
        done.set()

    def index() -> None:
        while not done.is_set():
            store.reindex(OPERATOR, progress=lambda _done, _total: None)

    def read() -> None:
        while not done.is_set():
            last = written[0] - 1
            names, notes = asked(store, OPERATOR, last)
            assert names[0] == f"n{last}"
            assert not any("another store" in note for note in notes)

    def kept(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                work()
            except Exception as problem:
                problems.append(problem)
                done.set()

        return run

    threads = [threading.Thread(target=kept(work)) for work in (write, index, *[read] * READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    store.close()


def test_an_index_published_amid_a_search_does_not_change_what_is_searched(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The indexer takes the tail away at the worst moment: after its cosines are known, before its keys are read."""
    store = store_at(filled)
    expected, _ = asked(store, OPERATOR, 7)
    best, made = vectors._top, []

    def publish_first(scores: np.ndarray, count: int) -> np.ndarray:
        monkeypatch.setattr(vectors, "_top", best)
        indexer = threading.Thread(target=lambda: made.extend(store.reindex(OPERATOR, progress=lambda *_: None)))
        indexer.start()
        indexer.join()
        return best(scores, count)

    monkeypatch.setattr(vectors, "_top", publish_first)
    assert asked(store, OPERATOR, 7)[0] == expected
    assert any(line.startswith("vectors-") for line in made)
    store.close()
