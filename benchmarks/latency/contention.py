"""A small write while another process ingests. `python -m benchmarks.latency.contention --calls 1000`.

The other process appends rows without end through `append_in_slices`, one logical change after another. Between two
small writes there is a random pause: they come at any moment of a slice. Neither embeds: that is work for a processor,
outside the lock. The same disk's bare durable insert, alone, is the floor.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles, save
from benchmarks.latency.run import draft, floor_append
from weft.append import append
from weft.slices import append_in_slices

GOAL_MS = 50.0
ROWS_PER_CHANGE = 20_000
MOST_PAUSE_S = 0.02
WARM_UP_S = 3.0


def opened(directory: Path) -> weft.Memory:
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment={"HOME": str(directory)})


def ingest(directory: Path) -> None:
    """Appends until it is stopped; says how it goes after each change."""
    words = Words(seed=11)
    loom = opened(directory).loom
    for change in itertools.count():
        began = time.perf_counter()
        drafts = (
            draft(change * ROWS_PER_CHANGE + n, text) for n, text in enumerate(words.texts(ROWS_PER_CHANGE), 10_000_000)
        )
        done = append_in_slices(
            loom.store, loom.writer, drafts, clock=loom.clock, viewer=loom.viewer, tx_kind="full_rebuild"
        )
        rate = done.drafts / (time.perf_counter() - began)
        print(f"{done.drafts} rows in {done.commits} commits, {rate:.0f}/s, longest hold {done.longest_hold_ms} ms")


def small_writes(directory: Path, calls: int, seed: int) -> dict[str, float]:
    words, chance = Words(seed=seed), random.Random(seed)
    loom = opened(directory).loom
    write = partial(append, loom.store, loom.writer, clock=loom.clock, viewer=loom.viewer)  # without embedding

    def paused() -> Iterator[Callable[[], object]]:
        for number in range(calls):
            time.sleep(chance.random() * MOST_PAUSE_S)
            small = draft(seed * 1_000_000 + number, words.text())
            yield partial(write, [small])

    figures = percentiles(paused())
    loom.store.close()
    return figures


def measure(calls: int, directory: Path) -> dict[str, Any]:
    result: dict[str, Any] = {"calls": calls, "goal_p99_ms": GOAL_MS, "load": os.getloadavg()[0]}
    result["floor: bare durable insert"] = floor_append(directory, list(Words(seed=7).texts(500)))
    result["small write, alone"] = small_writes(directory, calls, 1)
    command = [sys.executable, "-u", "-m", "benchmarks.latency.contention", "--ingest", str(directory)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(WARM_UP_S)
        store = opened(directory).loom.store
        viewer = opened(directory).loom.operator("measure")
        began, before = time.perf_counter(), store.head(viewer).pos
        result["small write, beside ingest"] = small_writes(directory, calls, 2)
        rows = store.head(viewer).pos - before - calls
        result["ingest, beside small writes"] = {"per_second": round(rows / (time.perf_counter() - began), 1)}
        assert child.poll() is None, "the ingest stopped by itself"
    finally:
        child.terminate()
        result["changes"] = child.communicate()[0].splitlines()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--directory", default=None, help="where to put the store (a temporary one if unset)")
    parser.add_argument("--ingest", default=None, help="used by itself: be the other process")
    chosen = parser.parse_args()
    if chosen.ingest:
        ingest(Path(chosen.ingest))
    with tempfile.TemporaryDirectory(dir=chosen.directory or os.environ.get("TMPDIR")) as scratch:
        result = measure(chosen.calls, Path(scratch))
    for name, figures in result.items():
        print(f"{name:35} {figures}")
    print(save("contention", result))


if __name__ == "__main__":
    main()
