"""What one process has written, another reads next; whatever their clocks say."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.concurrency.fleet import Hand
from tests.concurrency.member import OPERATOR, open_store
from weft.core.types import NOW
from weft.log.verify import verify

HOUR_US = 3_600_000_000


def test_a_write_is_in_the_next_read_of_every_process(tmp_path: Path) -> None:
    with Hand(tmp_path / "store") as writer, Hand(tmp_path / "store") as reader:
        for number in range(300):  # past where the journal of words is settled
            writer.do("write", node_id=f"n{number}", text=f"shuttle number word{number}")
            assert reader.do("search", words=f"word{number}") == [f"n{number}"]


def test_a_clock_that_is_behind_hides_nothing(tmp_path: Path) -> None:
    with Hand(tmp_path / "store") as right, Hand(tmp_path / "store") as behind:
        recorded = []
        for number in range(10):
            recorded.append(right.do("write", node_id=f"r{number}", text=f"right{number}"))
            recorded.append(behind.do("write", node_id=f"b{number}", text=f"behind{number}", skew_us=-HOUR_US))
            assert right.do("search", words=f"behind{number}") == [f"b{number}"]
            # Its own reads have the machine's clock; the log's time counts where that is later.
            assert behind.do("search", words=f"right{number}") == [f"r{number}"]
    assert all(earlier < later for earlier, later in itertools.pairwise(recorded))
    store = open_store(tmp_path / "store")
    assert verify(store, OPERATOR).problem is None
    assert len(store.nodes(OPERATOR, NOW, [f"{who}{n}" for who in "rb" for n in range(10)])) == 20
    store.close()
