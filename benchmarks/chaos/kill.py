"""Kills writing processes at random moments, round after round: `python benchmarks/chaos/kill.py --rounds 1000`.

Each round starts one or two writers, kills them with SIGKILL, then checks that everything acknowledged is there, that
the chain verifies, and that the graph is what a rebuild makes of the log. Stops at the first failure and keeps the
store.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from crash.killing import check_round, run_round

LIVES = 10  # rounds that one store goes through before a new one is begun
SHARE_OF_TWO = 0.3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    began = time.monotonic()
    kept = Path(tempfile.mkdtemp(prefix="weft-chaos-"))
    requests = events = kills = silent = 0
    for number in range(given.rounds):
        if number % LIVES == 0:
            store, acknowledged, killed = kept / "store", dict[str, list[str]](), 0
            shutil.rmtree(store, ignore_errors=True)
        writers = 2 if chance.random() < SHARE_OF_TWO else 1
        done = run_round(store, chance, writers=writers, number=number)
        acknowledged |= done.acknowledged
        killed += done.killed
        kills, requests, silent = (
            kills + done.killed,
            requests + len(done.acknowledged),
            silent + (not done.acknowledged),
        )
        try:
            held = check_round(store, acknowledged, killed=killed)
        except Exception:
            print(f"round {number} failed (seed {given.seed}); the store is kept in {store}", file=sys.stderr)
            raise
        if number % LIVES == LIVES - 1 or number == given.rounds - 1:
            events += held
            print(f"{number + 1:>5} rounds  {requests:>7} acknowledged  {time.monotonic() - began:6.0f} s", flush=True)
    shutil.rmtree(kept)
    print(f"{given.rounds} rounds, {kills} processes killed, {silent} rounds before their first acknowledgement")
    print(f"{requests} requests acknowledged ({events} events), none lost")
    print("every chain verified, every graph equal to a rebuild")
    return 0


if __name__ == "__main__":
    sys.exit(main())
