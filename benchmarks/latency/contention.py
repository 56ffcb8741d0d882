"""A small write while another process ingests. `python -m benchmarks.latency.contention --calls 1000`.

The other process appends rows without end, ROWS_PER_COMMIT at a time. Between two
small writes there is a random pause: they come at any moment of a commit. Neither embeds: that is work for a processor,
outside the lock. The same disk's bare durable insert, alone, is the floor.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles
from benchmarks.latency.run import draft, floor_append
from benchmarks.program import options, run
from weft.append.append import AppendOptions, append

GOAL_MS = 50.0
ROWS_PER_ROUND = 20_000
ROWS_PER_COMMIT = 50
MOST_PAUSE_S = 0.02
WARM_UP_S = 3.0


def opened(directory: Path) -> weft.Memory:
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment={"HOME": str(directory)})


def ingest(directory: Path) -> None:
    """Appends until it is stopped; prints the rate of each round."""
    words = Words(seed=11)
    ctx = opened(directory).ctx
    for round_number in itertools.count():
        began = time.perf_counter()
        texts = list(words.texts(ROWS_PER_ROUND))
        first = 10_000_000 + round_number * ROWS_PER_ROUND
        for start in range(0, ROWS_PER_ROUND, ROWS_PER_COMMIT):
            rows = enumerate(texts[start : start + ROWS_PER_COMMIT], first + start)
            drafts = [draft(number, text) for number, text in rows]
            append(ctx.store, ctx.writer, drafts, clock=ctx.clock, options=AppendOptions(viewer=ctx.viewer))
        rate = ROWS_PER_ROUND / (time.perf_counter() - began)
        print(f"{ROWS_PER_ROUND} rows in commits of {ROWS_PER_COMMIT}, {rate:.0f}/s")


def small_writes(directory: Path, calls: int, seed: int) -> dict[str, float]:
    words, chance = Words(seed=seed), random.Random(seed)
    ctx = opened(directory).ctx
    without_embedding = AppendOptions(viewer=ctx.viewer)
    write = partial(append, ctx.store, ctx.writer, clock=ctx.clock, options=without_embedding)

    def paused() -> Iterator[Callable[[], object]]:
        for number in range(calls):
            time.sleep(chance.random() * MOST_PAUSE_S)
            small = draft(seed * 1_000_000 + number, words.text())
            yield partial(write, [small])

    figures = percentiles(paused())
    ctx.store.close()
    return figures


def measure(calls: int, directory: Path) -> dict[str, Any]:
    result: dict[str, Any] = {"calls": calls, "goal_p99_ms": GOAL_MS, "load": os.getloadavg()[0]}
    result["floor: bare durable insert"] = floor_append(directory, list(Words(seed=7).texts(500)))
    result["small write, alone"] = small_writes(directory, calls, 1)
    command = [sys.executable, "-u", "-m", "benchmarks.latency.contention", "--ingest", str(directory)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(WARM_UP_S)
        store = opened(directory).ctx.store
        viewer = opened(directory).ctx.operator("measure")
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
    parser = options(__doc__, calls=1_000)
    parser.add_argument("--ingest", help=argparse.SUPPRESS)  # the other process of the measurement
    if other := parser.parse_args().ingest:
        ingest(Path(other))
    run(parser, "contention", lambda given, scratch: measure(given.calls, scratch))


if __name__ == "__main__":
    main()
