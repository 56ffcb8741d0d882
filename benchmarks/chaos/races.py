"""Two processes write what excludes each other, at once: `python benchmarks/chaos/races.py --rounds 1000`.

Of the same decision only one is saved; of nearly the same one the second replaces the first; of a decision and its
opposite the second is asked about; of two values of one fact exactly one holds, and both are in the history.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from concurrency.racing import run_rounds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="weft-races-") as scratch:
        tally = run_rounds(Path(scratch), given.rounds, seed=given.seed)
    seconds = time.monotonic() - began
    print(f"{tally.rounds} rounds in {seconds:.0f} s, {tally.at_once} of them with both at it at once; none lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
