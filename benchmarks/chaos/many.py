"""Many writers and readers on one store for minutes: `python benchmarks/chaos/many.py --minutes 10`.

Every writer numbers its events; afterwards none may be missing, doubled or out of order, the chain verifies, the shares
are fair, and the write-ahead log never grew past its bound. Any error in any process ends the run with it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from concurrency.fleet import FAIR, check_fleet, run_fleet
from weft.backends.sqlite.files.wal import WAL_BOUND_BYTES

MEGABYTE = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--readers", type=int, default=8)
    given = parser.parse_args()
    kept = Path(tempfile.mkdtemp(prefix="weft-many-"))
    report = run_fleet(kept / "store", writers=given.writers, readers=given.readers, seconds=given.minutes * 60)
    written = [int(told["written"]) for told in report.writers.values()]
    print(f"{sum(written)} events by {given.writers} writers, shares {written}, ratio {report.unfairness:.2f}")
    print(f"{int(sum(told['reads'] for told in report.readers))} rounds of reads by {given.readers} readers")
    p99_ms = max(told["p99_ms"] for told in report.writers.values())
    print(f"a write took {p99_ms} ms (p99 of the slowest writer), {report.worst_wait_ms} ms at worst")
    print(
        f"write-ahead log at most {report.wal_peak_bytes / MEGABYTE:.1f} MB, bound {WAL_BOUND_BYTES / MEGABYTE:.1f} MB"
    )
    try:
        check_fleet(kept / "store", report)
        assert report.wal_peak_bytes <= WAL_BOUND_BYTES, "the write-ahead log grew past its bound"
        assert report.unfairness <= FAIR, "the shares are not fair"
    except AssertionError:
        print(f"failed; the store is kept in {kept}", file=sys.stderr)
        raise
    shutil.rmtree(kept)
    print("no error, nothing lost or doubled, every chain verified")
    return 0


if __name__ == "__main__":
    sys.exit(main())
