"""What the audit costs: the same questions over one store with and without it, in turns, and the command as a process.

python -m benchmarks.latency.audit [--rows 10000] [--rounds 20] [--processes 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.run import draft, in_batches
from benchmarks.program import options, run
from weft.memory.call_record import CallRecord
from weft.operations import operation as operation_named
from weft.runtime.audit_log import BATCH

GOAL_RATIO = 1.05
QUESTIONS = 100  # of one round: so many that a batch and more is written meanwhile
SIDES = ("off", "on")


def opened(scratch: Path, audit: str) -> weft.Memory:
    environment = {"HOME": str(scratch), "WEFT_AUDIT": audit, "WEFT_PROJECT": "bench"}
    return weft.open(f"sqlite://{scratch / 'store'}", directory=scratch, environment=environment)


def filled(scratch: Path, rows: int) -> None:
    """A store with texts, their vectors and the indexes over them."""
    words = Words(seed=1)
    with opened(scratch, "off") as memory:
        in_batches(memory, [draft(number, text) for number, text in enumerate(words.texts(rows))])()
        weft_command(scratch, "reindex")


def weft_command(scratch: Path, *arguments: str, audit: str = "off") -> float:
    """Runs the command; seconds from its start to its end."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(scratch),
        "WEFT_STORE": f"sqlite://{scratch / 'store'}",
        "WEFT_PROJECT": "bench",
        "WEFT_AUDIT": audit,
    }
    command = [str(Path(sys.executable).with_name("weft")), *arguments]
    began = time.perf_counter()
    subprocess.run(command, cwd=scratch, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def in_turns(rounds: int, work: Callable[[str], Sequence[float]]) -> dict[str, list[float]]:
    """Many short rounds of both sides, now the one first, now the other: what the machine does meanwhile hits both."""
    done: dict[str, list[float]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for side in SIDES if number % 2 else SIDES[::-1]:
            done[side] += work(side)
    return done


def compared(done: dict[str, list[float]]) -> dict[str, Any]:
    """p50 and p95 of all calls of both sides, and how many times the one is of the other."""
    found: dict[str, Any] = {"calls of each": len(done["on"])}
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        both = {side: sorted(times)[int(share * len(times))] for side, times in done.items()}
        found |= {f"{name}_ms, audit {side}": round(both[side], 3) for side in SIDES}
        found[f"{name}, ratio"] = round(both["on"] / both["off"], 3)
    return found


def recalls(scratch: Path, rounds: int) -> dict[str, Any]:
    """Questions one after the other, without a pause: the thread that writes has no time of its own."""
    questions = [Words(seed=2 + number).question() for number in range(QUESTIONS)]
    sides = {side: opened(scratch, side) for side in SIDES}

    processor: dict[str, list[float]] = {side: [] for side in SIDES}

    def ask(side: str) -> list[float]:
        began_s = time.process_time()
        times = [timed(partial(sides[side].recall, question)) for question in questions]
        assert sides["on"].ctx.audit is not None
        sides["on"].ctx.audit.flush()  # so that nothing of this round is written in the other's
        processor[side].append(time.process_time() - began_s)
        return times

    try:
        for side in SIDES:
            ask(side)  # caches
        for times in processor.values():
            times.clear()
        found = compared(in_turns(rounds, ask))
        # Of all threads, writing included: unlike times by the clock, much the same on a busy machine.
        ratios = [on / off for on, off in zip(processor["on"], processor["off"], strict=True)]
        found["processor, ratio"] = round(statistics.median(ratios), 3)
        return found | own_work(sides["on"], questions[0])
    finally:
        for memory in sides.values():
            memory.close()


def own_work(memory: weft.Memory, question: str) -> dict[str, Any]:
    """What a call costs while its answer waits, and what writing it costs afterwards, a batch at a time."""
    audit, answer = memory.ctx.audit, memory.recall(question)
    operation = operation_named("recall")
    assert audit is not None
    audit.flush()
    noting, writing = [], []
    for _ in range(20):
        for _ in range(BATCH - 1):  # one less than what wakes the thread
            record = CallRecord(memory.ctx, operation, {"query": question}, surface="python")
            noting.append(timed(partial(record.end, answer)))
        writing.append(timed(audit.flush) / (BATCH - 1))
    return {"noted_us": round(statistics.median(noting) * 1000), "written_us": round(statistics.median(writing) * 1000)}


def starts(scratch: Path, rounds: int) -> dict[str, Any]:
    """`weft recall` as a whole process, to its end."""

    processor: dict[str, list[float]] = {side: [] for side in SIDES}

    def run(side: str) -> list[float]:
        before = os.times()
        took = weft_command(scratch, "recall", "bada fego", audit=side) * 1000
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        processor[side].append(used * 1000)
        return [took]

    for side in SIDES:
        run(side)
    for times in processor.values():
        times.clear()
    found = compared(in_turns(rounds, run))
    used = {side: round(statistics.median(times), 1) for side, times in processor.items()}
    found |= {f"processor_ms, audit {side}": used[side] for side in SIDES}
    return found | {"processor, ratio": round(used["on"] / used["off"], 3)}


def timed(call: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def measure(given: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    filled(scratch, given.rows)
    return {
        "rows": given.rows,
        "rounds": given.rounds,
        "goal_ratio": GOAL_RATIO,
        "recall, without a pause": recalls(scratch, given.rounds),
        "weft recall, a process": starts(scratch, given.processes),
    }


if __name__ == "__main__":
    run(options(__doc__, rows=10_000, rounds=20, processes=20), "audit", measure)
