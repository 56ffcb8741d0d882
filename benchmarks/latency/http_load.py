"""Many clients at once over HTTP: how long calls take and how many fail, beside one client alone in the same run.

Clients are a process of their own, with a connection and a token each. In a closed loop each calls again when it is
answered; paced, each calls at its times whether it was answered or not, and a call's time counts from when it was due.

python -m benchmarks.latency.http_load [--clients 32] [--seconds 20] [--rows 10000] [--per-second 50]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import save
from benchmarks.latency.served import Served, filled, head, serving

MIX = {"recall": 0.7, "remember": 0.2, "show": 0.1}
ANSWER_SECONDS = 30.0


class Tally:
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

    def __init__(self, served: Served, number: int, tally: Tally) -> None:
        self._served, self._number, self._tally = served, number, tally
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
            self._tally.failed[type(problem).__name__] += 1
            self._streams = None
            return
        if status == 200:
            self._tally.times[name].append(time.perf_counter() - began)
        else:
            self._tally.failed[str(status)] += 1

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
    tally = Tally()
    callers = [Caller(served, number, tally) for number in range(clients)]
    began = time.perf_counter()
    until = began + seconds
    await asyncio.gather(*(each.loop(until) if every is None else each.paced(until, every) for each in callers))
    found = tally.told()
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


def measure(args: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        filled(scratch, args.rows, args.embedder)
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--per-second", type=float, default=50.0, help="calls of all clients together, when paced")
    parser.add_argument("--embedder", default="builtin")
    parser.add_argument("--as-clients", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_clients:
        told = json.loads(args.as_clients)
        port, tokens = told.pop("served")
        served = Served(port, tuple(tokens))
        print(json.dumps(asyncio.run(load(served, **told))))
        return 0
    found = measure(args)
    print(json.dumps(found, indent=2))
    print(save(f"http-load-{args.clients}", {"rows": args.rows, "embedder": args.embedder, "result": found}))
    return 0 if not any(each["failed"] for each in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
