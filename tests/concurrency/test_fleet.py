"""Many writers and readers at once. `benchmarks/chaos/many.py` does the same for minutes."""

from __future__ import annotations

from pathlib import Path

from tests.concurrency.fleet import FAIR, check_fleet, run_fleet
from tests.concurrency.member import SMALL_BOUND_BYTES
from weft.backends.sqlite.files.wal import WAL_BOUND_BYTES

PAGES_PER_WRITE = 4  # at least: a leaf of the log, of the graph, of each index


def test_eight_writers_and_eight_readers(tmp_path: Path) -> None:
    report = run_fleet(tmp_path / "store", writers=8, readers=8, seconds=10)
    check_fleet(tmp_path / "store", report)
    assert report.unfairness <= FAIR, report
    assert all(told["seen"] for told in report.readers), "every reader saw something"
    assert report.wal_peak_bytes <= WAL_BOUND_BYTES


def test_four_writers_get_equal_shares(tmp_path: Path) -> None:
    report = run_fleet(tmp_path / "store", writers=4, readers=0, seconds=3)
    check_fleet(tmp_path / "store", report)
    assert report.unfairness <= 1.5, report


def test_the_write_ahead_log_stays_short_while_others_read(tmp_path: Path) -> None:
    for seconds in (6, 15, 40):  # until enough was written to fill the bound, however busy the machine
        store = tmp_path / f"store-{seconds}"
        report = run_fleet(store, writers=2, readers=4, seconds=seconds, options=("small-log",))
        check_fleet(store, report)
        written_bytes = sum(told["written"] for told in report.writers.values()) * PAGES_PER_WRITE * 4096
        if written_bytes > SMALL_BOUND_BYTES:
            break
    assert written_bytes > SMALL_BOUND_BYTES, "too slow to tell"
    # Twice: on a busy machine a reader may hold its view over one more turn of the writers.
    assert report.wal_peak_bytes <= 2 * SMALL_BOUND_BYTES
