"""How calls and files grow with the number of nodes: one store of each size, the same calls on all of them.

    python -m benchmarks.latency.growth --vectors real.npy --sizes 1000 10000 100000 [--edges 5] [--calls 60]

Stores are filled as by `benchmarks.latency.scale`: Zipf text, a heavy-tailed degree distribution, one node in ten
asserted twice, vectors made of real ones. Each call is told by wall time and by processor time of all threads of the
process: the second holds on a machine that does other things as well. `remember` embeds; each text is a new one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.scale import environment, fill
from benchmarks.program import report, warn_if_busy
from weft.operations import operation

WARM = 10  # calls before those that are told
PROCESSES = 5  # started for the first answer of a process

FIRST = """
import sys, weft
from pathlib import Path
from benchmarks.latency.scale import environment
here = Path(sys.argv[1])
with weft.open(directory=here, environment=environment(here)) as mem:
    mem.recall("what was said about the harbour")
"""


def timed(calls: Iterable[Callable[[], object]]) -> dict[str, float]:
    """Milliseconds of each call, by the wall and by the processor."""
    wall, used = [], []
    for call in calls:
        began, before = time.perf_counter(), time.process_time()
        call()
        wall.append((time.perf_counter() - began) * 1000)
        used.append((time.process_time() - before) * 1000)
    return {
        "p50_ms": _at(wall, 0.5),
        "p95_ms": _at(wall, 0.95),
        "processor_p50_ms": _at(used, 0.5),
        "processor_p95_ms": _at(used, 0.95),
    }


def _at(times: list[float], share: float) -> float:
    return round(sorted(times)[min(len(times) - 1, int(share * len(times)))], 2)


def first_answer(directory: Path) -> dict[str, float]:
    """A process from its start to the end of its first recall."""
    wall, used = [], []
    for _ in range(PROCESSES):
        began, before = time.perf_counter(), _children_s()
        subprocess.run([sys.executable, "-c", FIRST, str(directory)], check=True)
        wall.append((time.perf_counter() - began) * 1000)
        used.append((_children_s() - before) * 1000)
    return {"p50_ms": _at(wall, 0.5), "processor_p50_ms": _at(used, 0.5)}


def _children_s() -> float:
    told = os.times()
    return told.children_user + told.children_system


def bytes_below(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


def of_size(directory: Path, nodes: int, edges: int, calls: int, real: np.ndarray) -> dict[str, Any]:
    """One store: filled, published, and asked."""
    with weft.open(directory=directory, environment=environment(directory) | {"WEFT_EMBEDDER": "none"}) as mem:
        filled = fill(mem, nodes, nodes * edges, real)
        mem.ctx.store.reindex(mem.ctx.operator("measure"), progress=lambda done, total: None)
    told: dict[str, Any] = {"filled, nodes a second": filled["per_second"]}
    size = bytes_below(directory)
    told["file, MB"] = round(size / 1_000_000, 1)
    told["file, bytes a node"] = round(size / nodes)
    words, checkout = Words(seed=12), operation("memory_checkout")
    questions = [words.question() for _ in range(calls)]
    texts = list(words.texts(calls + WARM))
    with weft.open(directory=directory, environment=environment(directory)) as mem:
        for question in [words.question() for _ in range(WARM)]:
            mem.recall(question)
            mem.run(checkout, {"query": question, "purpose": "coding"})
            mem.remember(texts.pop())
        told["recall"] = timed(lambda q=q: mem.recall(q) for q in questions)  # type: ignore[misc]
        told["checkout"] = timed(
            lambda q=q: mem.run(checkout, {"query": q, "purpose": "coding"})  # type: ignore[misc]
            for q in questions
        )
        told["remember"] = timed(lambda t=t: mem.remember(t) for t in texts)  # type: ignore[misc]
    told["first recall of a process"] = first_answer(directory)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--edges", type=int, default=5, help="of each node")
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--directory", default=None, help="where to put stores (a temporary directory if unset)")
    parser.add_argument("--save", default="", help="the name of the result")
    given = parser.parse_args()
    warn_if_busy()
    real = np.load(given.vectors).astype(np.float32)
    result: dict[str, Any] = {
        "edges of a node": given.edges,
        "calls": given.calls,
        "load": round(os.getloadavg()[0], 1),
    }
    for nodes in given.sizes:
        with tempfile.TemporaryDirectory(dir=given.directory) as scratch:
            result[f"{nodes:,} nodes"] = of_size(Path(scratch), nodes, given.edges, given.calls, real)
            print(nodes, result[f"{nodes:,} nodes"], file=sys.stderr, flush=True)
    report(given.save, result)


if __name__ == "__main__":
    main()
