"""Many processes on one store: N that write and N that read beside them.

    python -m benchmarks.latency.crowd --counts 1 2 4 8 --seconds 8 [--notes 5000] [--save NAME]

Each process has the store open and calls without a pause, by words alone: embedding is work for a processor, outside
any lock. Told are calls a second of all processes together, milliseconds of single calls by the wall, and processor
milliseconds a call: on a busy machine only the last ones say something of weft. Writers write different texts. The last
row of each count is the check that nothing was lost: acknowledged writes, and events in the log since.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.program import report, warn_if_busy

BATCH = 200  # notes in one call, while the store is filled
START_S = 8.0  # and two more a process of each kind: for all of them to have the store open, on a busy machine


def opened(directory: Path, session: str) -> weft.Memory:
    own = {"HOME": str(directory), "WEFT_EMBEDDER": "none", "WEFT_SESSION": session}
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment=own)


def act(directory: Path, role: str, number: int, from_s: float, until_s: float) -> dict[str, Any]:
    """One process: calls from a moment to another, each timed."""
    words = Words(seed=round(until_s) * 100 + number)  # texts that nobody has written before
    with opened(directory, f"{role}-{number}") as mem:
        texts = words.texts(1_000_000)
        mem.recall(words.question())
        if role == "write":  # what a process loads for its first write is not told
            mem.remember(next(texts))
        while time.time() < from_s:
            time.sleep(0.01)
        times, before = [], time.process_time()
        while time.time() < until_s:
            began = time.perf_counter()
            mem.remember(next(texts)) if role == "write" else mem.recall(words.question())
            times.append((time.perf_counter() - began) * 1000)
        return {"times": times, "processor_s": time.process_time() - before}


def crowd(directory: Path, count: int, seconds: float) -> dict[str, Any]:
    """So many writers and so many readers for so long."""
    from_s = time.time() + START_S + 2 * count
    span = [str(from_s), str(from_s + seconds)]
    me = [sys.executable, "-m", "benchmarks.latency.crowd", "--act", str(directory)]
    with opened(directory, "count") as mem:
        before = mem.ctx.store.head(mem.ctx.operator("measure")).pos
    started = {
        role: [subprocess.Popen([*me, role, str(at), *span], stdout=subprocess.PIPE) for at in range(count)]
        for role in ("write", "read")
    }
    told: dict[str, Any] = {}
    acknowledged = 0
    for role, processes in started.items():
        answers = []
        for process in processes:
            said, _ = process.communicate()
            if process.returncode:
                raise SystemExit(f"a process that was to {role} ended with {process.returncode}")
            answers.append(json.loads(said))
        times = sorted(each for answer in answers for each in answer["times"])
        acknowledged = acknowledged or len(times)
        told[role] = {
            "per_second": round(len(times) / seconds, 1),
            "p50_ms": _at(times, 0.5),
            "p99_ms": _at(times, 0.99),
            "slowest_ms": _at(times, 1.0),
            "processor_ms": round(1000 * sum(each["processor_s"] for each in answers) / len(times), 2),
        }
    with opened(directory, "count") as mem:
        rows = mem.ctx.store.head(mem.ctx.operator("measure")).pos - before
    told["written"] = {"acknowledged": acknowledged, "events": rows - count}
    return told


def _at(times: list[float], share: float) -> float:
    return round(times[min(len(times) - 1, int(share * len(times)))], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--notes", type=int, default=5_000, help="in the store at first")
    parser.add_argument("--save", default="", help="the name of the result")
    parser.add_argument("--act", nargs=5, help=argparse.SUPPRESS)  # one of the processes
    given = parser.parse_args()
    if given.act:
        place, role, number, from_s, until_s = given.act
        print(json.dumps(act(Path(place), role, int(number), float(from_s), float(until_s))))
        return
    warn_if_busy()
    result: dict[str, Any] = {"seconds": given.seconds, "notes": given.notes, "load": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as scratch:
        with opened(Path(scratch), "fill") as mem:
            texts = list(Words(seed=7).texts(given.notes))
            for start in range(0, len(texts), BATCH):
                mem.call("remember_many", items=[{"text": each} for each in texts[start : start + BATCH]])
        for count in given.counts:
            result[f"{count} writing, {count} reading"] = crowd(Path(scratch), count, given.seconds)
            print(count, result[f"{count} writing, {count} reading"], file=sys.stderr, flush=True)
    report(given.save, result)


if __name__ == "__main__":
    main()
