"""What HTTP adds to a call: the same operation on the same store, over a kept connection and in this process, in turns.

python -m benchmarks.latency.http_overhead [--rows 1000] [--rounds 20] [--calls 50]
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.served import Served, environment, filled, serving
from benchmarks.program import options, run
from weft.operations import OPERATIONS

GOAL_MS = 5.0
SIDES = ("http", "here")


def over_http(served: Served) -> Callable[[str, dict[str, Any]], float]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}

    def call(name: str, given: dict[str, Any]) -> float:
        began = time.perf_counter()
        connection.request("POST", f"/api/{name}", json.dumps(given), headers)
        response = connection.getresponse()
        response.read()
        took = time.perf_counter() - began
        assert response.status == 200, response.status
        return took * 1000

    return call


def in_process(memory: weft.Memory) -> Callable[[str, dict[str, Any]], float]:
    known = {each.name: each for each in OPERATIONS}

    def call(name: str, given: dict[str, Any]) -> float:
        began = time.perf_counter()
        memory.run(known[name], given, surface="python")
        return (time.perf_counter() - began) * 1000

    return call


def compared(sides: dict[str, Callable[[str, dict[str, Any]], float]], args: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, given in (("show", {"id": "m1"}), ("recall", {"query": Words(seed=3).question()})):
        times: dict[str, list[float]] = {side: [] for side in SIDES}
        for side in SIDES:
            for _ in range(20):
                sides[side](name, given)  # caches
        for number in range(args.rounds):
            for side in SIDES if number % 2 else SIDES[::-1]:
                times[side] += [sides[side](name, given) for _ in range(args.calls)]
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            both = {side: sorted(each)[int(share * len(each))] for side, each in times.items()}
            found |= {f"{name} {label}_ms, {side}": round(both[side], 3) for side in SIDES}
        found[f"{name} overhead_ms"] = round(statistics.median(times["http"]) - statistics.median(times["here"]), 3)
    return found


def measured(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    filled(scratch, given.rows, "none")
    with (
        serving(scratch, "none") as served,
        weft.open(directory=scratch, environment=environment(scratch, "none")) as memory,
    ):
        found = compared({"http": over_http(served), "here": in_process(memory)}, given)
    return {"rows": given.rows, "result": found | {"goal, overhead_ms": GOAL_MS}}


if __name__ == "__main__":
    made = run(options(__doc__, rows=1_000, rounds=20, calls=50), "http-overhead", measured)
    sys.exit(made["result"]["show overhead_ms"] > GOAL_MS)
