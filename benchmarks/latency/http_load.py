"""Many clients at once over HTTP: how long calls take and how many fail, beside one client alone in the same run.

Clients are a process of their own, with a connection and a token each. In a closed loop each calls again when it is
answered; paced, each calls at its times whether it was answered or not, and a call's time counts from when it was due.

With `--workers 2` the same closed loop is also run on a server with so many workers, in turns with one without.

python -m benchmarks.latency.http_load [--clients 32] [--seconds 20] [--rows 10000] [--per-second 50] [--workers 2]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.latency.corpus import Words
from benchmarks.latency.served import Served, filled, head, processor_s, serving
from benchmarks.program import options, run

MIX = {"recall": 0.7, "remember": 0.2, "show": 0.1}
ANSWER_SECONDS = 30.0
TURNS, WARM_SECONDS = 3, 3.0


class CallStats:
    """What became of calls, by operation."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {name: [] for name in MIX}
        self.failed: Counter[str] = Counter()

    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, times in (*self.times.items(), ("all", [each for part in self.times.values() for each in part])):
            ordered = sorted(times) or [0.0]
            found[name] = {
                "calls": len(times),
                "p50_ms": round(ordered[len(ordered) // 2] * 1000, 2),
                "p99_ms": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] * 1000, 2),
            }
        return found | {"failed": dict(self.failed)}


class Caller:
    """One connection."""

    def __init__(self, served: Served, number: int, call_stats: CallStats) -> None:
        self._served, self._number, self._call_stats = served, number, call_stats
        self._random, self._words = random.Random(number), Words(seed=100 + number)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def loop(self, until: float) -> None:
        while time.perf_counter() < until:
            await self._call(time.perf_counter())

    async def paced(self, until: float, every: float) -> None:
        due = time.perf_counter() + self._random.random() * every
        while due < until:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            await self._call(due)
            due += every

    def _next(self) -> tuple[str, dict[str, Any]]:
        name = self._random.choices(list(MIX), list(MIX.values()))[0]
        match name:
            case "recall":
                return name, {"query": self._words.question()}
            case "remember":
                return name, {"text": self._words.text()}
            case _:
                return name, {"id": f"m{self._random.randrange(100)}"}

    async def _call(self, began: float) -> None:
        name, given = self._next()
        body = json.dumps(given).encode()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                status = await self._exchange(head(self._served, name, len(body), self._number) + body)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as problem:
            self._call_stats.failed[type(problem).__name__] += 1
            self._streams = None
            return
        if status == 200:
            self._call_stats.times[name].append(time.perf_counter() - began)
        else:
            self._call_stats.failed[str(status)] += 1

    async def _exchange(self, request: bytes) -> int:
        if self._streams is None or self._streams[0].at_eof():  # the server ends what was idle for long
            self._streams = await asyncio.open_connection("127.0.0.1", self._served.port)
        reader, writer = self._streams
        writer.write(request)
        top = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = next(int(line.split(b":")[1]) for line in top.split(b"\r\n") if line.startswith(b"content-length"))
        await reader.readexactly(length)
        return int(top.split()[1])


async def load(served: Served, clients: int, seconds: float, every: float | None) -> dict[str, Any]:
    """So many clients for so long: in a closed loop, or each with a call `every` so many seconds."""
    call_stats = CallStats()
    callers = [Caller(served, number, call_stats) for number in range(clients)]
    began = time.perf_counter()
    until = began + seconds
    await asyncio.gather(*(each.loop(until) if every is None else each.paced(until, every) for each in callers))
    found = call_stats.told()
    return found | {"clients": clients, "per_second": round(found["all"]["calls"] / (time.perf_counter() - began), 1)}


def as_process(served: Served, clients: int, seconds: float, every: float | None) -> dict[str, Any]:
    """The same, in a process of its own: the server's answers must not wait for this one."""
    told = json.dumps({"served": served, "clients": clients, "seconds": seconds, "every": every})
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.latency.http_load", "--as-clients", told],
        check=True,
        capture_output=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def in_turns(args: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Calls a second of one process and of workers, in turns: others may use the machine too."""
    rates: dict[str, list[float]] = {"1": [], str(args.workers): []}
    used: dict[str, list[float]] = {workers: [] for workers in rates}
    for _ in range(TURNS):
        for workers, found in rates.items():
            with serving(scratch, args.embedder, args.clients, int(workers)) as served:
                as_process(served, args.clients, WARM_SECONDS, None)
                before_s = processor_s(served)
                told = as_process(served, args.clients, args.seconds, None)
                found.append(told["per_second"])
                used[workers].append(round((processor_s(served) - before_s) * 1000 / told["all"]["calls"], 2))
    medians = {workers: statistics.median(each) for workers, each in rates.items()}
    return {
        "calls a second": rates,
        "times as many": round(medians[str(args.workers)] / medians["1"], 2),
        "processor ms a call": {workers: statistics.median(each) for workers, each in used.items()},
    }


def measure(args: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    filled(scratch, args.rows, args.embedder)
    if args.workers > 1:
        return {f"one process, and {args.workers} workers": in_turns(args, scratch)}
    with serving(scratch, args.embedder, args.clients) as served:
        as_process(served, 1, 3.0, None)  # caches
        alone = as_process(served, 1, args.seconds / 2, None)
        closed = as_process(served, args.clients, args.seconds, None)
        paced = as_process(served, args.clients, args.seconds, args.clients / args.per_second)
        again = as_process(served, 1, args.seconds / 2, None)
    return {
        "one client, before": alone,
        "closed loop": closed,
        f"paced, {args.per_second:g} a second in all": paced,
        "one client, after": again,
    }


def main() -> None:
    parser = options(__doc__, clients=32, seconds=20.0, rows=10_000, per_second=50.0, workers=1)
    parser.add_argument("--embedder", default="builtin")
    parser.add_argument("--as-clients", help=argparse.SUPPRESS)  # the process of the clients
    if told := parser.parse_args().as_clients:
        given = json.loads(told)
        port, tokens, process = given.pop("served")
        print(json.dumps(asyncio.run(load(Served(port, tuple(tokens), process), **given))))
        return
    found = run(
        parser,
        "http-load-{clients}-{workers}",
        lambda given, scratch: {"rows": given.rows, "embedder": given.embedder, "result": measure(given, scratch)},
    )
    sys.exit(any(each.get("failed") for each in found["result"].values()))


if __name__ == "__main__":
    main()
