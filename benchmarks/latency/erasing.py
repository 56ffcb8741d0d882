"""Erasing one person of many, while another process writes. `python -m benchmarks.latency.erasing --texts 100000`.

Each person has 200 texts that name them, spread over the whole log, with vectors, and facts that were read out of some
of them; every fourth other text names somebody else. `weft erase` is measured as it is called: what goes is looked for
and counted (that alone is the dry run), then the log and the graph are rewritten, and what was derived from them is
swept out of the files, to the last byte. The other process appends one small memory after another, with random pauses,
and says how long each took: that is what an agent waits. Neither embeds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.latency.corpus import Words
from benchmarks.program import options, run
from weft.append.append import AppendOptions, append
from weft.core.queries import TextVector
from weft.erasure.erase import Erasure
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.operations import OPERATIONS
from weft.text.lexical import content_hash

GOAL_S = 5.0
GOAL_WAIT_MS = 100.0
PEOPLE = ("Ada Quillon", "Bea Fennimar", "Cai Obrecht", "Dov Tarnowsk", "Eli Wexelby")
OTHERS = 500
FACT_EVERY = 10
TEXTS_EACH = 200
DIMENSIONS = 384
BULK = 500
ALONE_S = 3.0
MOST_PAUSE_S = 0.02


def opened(directory: Path) -> weft.Memory:
    environment = {"HOME": str(directory), "WEFT_EMBEDDER": "none"}
    return weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment)


def name_of(number: int) -> str:
    return f"m{number:08}"


def draft(number: int, text: str, named: str = "") -> Draft:
    """One event that makes one node with its text, and joins it to whom it names."""
    node = name_of(number)
    mention = f"mention:bench/{named.lower()}"
    payload = memory.Remembered(
        id=node,
        text=text,
        project="bench",
        entities=(graph.NodeAssertion(id=mention, kind="Mention", name=named, project="bench"),) if named else (),
        edges=(graph.EdgeAssertion(src=node, rel="INVOLVES", dst=mention, project="bench"),) if named else (),
    )
    return Draft(kind="memory.remembered", payload=payload)


def fact(number: int, named: str) -> Draft:
    """One event that makes a fact, as it is read out of a text."""
    node = f"{name_of(number)}:claim:0"
    mention = f"mention:bench/{named.lower()}"
    slot = f"fact:bench/{mention}/keeps_{number}"
    payload = memory.Remembered(
        id=node,
        node_kind="Fact",
        name=f"{named} keeps",
        text=f"{named} keeps number {number}",
        project="bench",
        slot=slot,
        props={"derived_from": name_of(number), "predicate": "keeps", "object": f"number {number}", "subject": mention},
        edges=(graph.EdgeAssertion(src=node, rel="INVOLVES", dst=mention, project="bench"),),
    )
    return Draft(kind="memory.remembered", payload=payload)


def subject_of(number: int, texts: int) -> str:
    """Every so many texts one names a person who will be erased, each in turn; of the others every fourth another."""
    apart = texts // (len(PEOPLE) * TEXTS_EACH)
    if number % apart == 0:
        return PEOPLE[number // apart % len(PEOPLE)]
    return f"Tom Number{number // 4 % OTHERS}" if number % 4 == 0 else ""


def fill(directory: Path, texts: int) -> None:
    words, drawn = Words(seed=5), np.random.default_rng(5)
    with opened(directory) as mem:
        for first in range(0, texts, BULK):
            drafts, vectors = [], []
            rows = drawn.normal(size=(BULK, DIMENSIONS)).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            for number in range(first, min(first + BULK, texts)):
                named = subject_of(number, texts)
                text = words.text() + (f" and {named} was there" if named else "")
                drafts.append(draft(number, text, named))
                if named in PEOPLE and number % FACT_EVERY == 0:
                    drafts.append(fact(number, named))
                data = rows[number - first].astype("<f2").tobytes()
                vectors.append(TextVector(model="given", content_hash=content_hash("", "", text), data=data))
            mem.ctx.append(drafts)
            mem.ctx.store.put_vectors(mem.ctx.writer.account, vectors)


def write_on(directory: Path) -> None:
    """Appends until its input ends; then says when each append began, and how long it took."""
    words, chance, told = Words(seed=8), random.Random(8), []
    ctx = opened(directory).ctx
    write = partial(append, ctx.store, ctx.writer, clock=ctx.clock, options=AppendOptions(viewer=ctx.viewer))
    os.set_blocking(sys.stdin.fileno(), False)
    number = 10_000_000
    while sys.stdin.buffer.raw.read(1) != b"":  # type: ignore[attr-defined]
        number += 1
        time.sleep(chance.random() * MOST_PAUSE_S)
        small = draft(number, words.text())
        began = time.monotonic()
        write([small])
        told.append((began, time.monotonic() - began))
    print(json.dumps(told))


def erase_one(mem: weft.Memory, person: str) -> dict[str, float]:
    """`weft erase --subject`, as a dry run and then for good."""
    swept: list[float] = []

    def progress(step: str, done: int, total: int) -> None:
        if step == "sweeping" and not swept:
            swept.append(time.monotonic())

    operation = next(each for each in OPERATIONS if each.name == "erase")
    began = time.monotonic()
    told = mem.run(operation, {"subject": person})
    tried, worked = time.monotonic(), time.process_time()
    done = mem.run(operation, {"subject": person, "yes": True}, progress=progress)
    ended = time.monotonic()
    assert isinstance(told, Erasure)
    assert isinstance(done, Erasure)
    assert (told.kinds["Memory"], done.kinds["Memory"]) == (TEXTS_EACH, TEXTS_EACH), (told, done)
    worked = time.process_time() - worked
    return {"dry": began, "began": tried, "swept": swept[0], "ended": ended, "worked": worked}


def waits(told: list[tuple[float, float]], start: float, end: float) -> dict[str, float]:
    took = sorted(seconds * 1000 for began, seconds in told if began + seconds > start and began < end)
    return {
        "writes": len(took),
        "p50_ms": round(statistics.median(took), 2),
        "p95_ms": round(took[int(0.95 * (len(took) - 1))], 2),
        "longest_ms": round(took[-1], 2),
    }


def measure(texts: int, directory: Path) -> dict[str, Any]:
    result: dict[str, Any] = {"texts": texts, "texts_erased": TEXTS_EACH, "load": os.getloadavg()[0]}
    result |= {"goal_seconds": GOAL_S, "goal_longest_wait_ms": GOAL_WAIT_MS}
    if not (directory / "store").exists():
        fill(directory, texts)
    database = directory / "store" / "accounts" / "default.db"
    result["database_mb"] = database.stat().st_size >> 20
    command = [sys.executable, "-m", "benchmarks.latency.erasing", "--write", str(directory)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    runs = []
    with opened(directory) as mem:
        time.sleep(ALONE_S)
        alone = time.monotonic()
        time.sleep(ALONE_S)
        for person in PEOPLE:
            runs.append(erase_one(mem, person))
            time.sleep(0.5)
        told = json.loads(child.communicate()[0])
        began = time.monotonic()
        assert mem.ctx.store.sweep(mem.ctx.operator("measure"), progress=lambda done, total: None) == ()
        result["sweep with nothing to do, seconds"] = round(time.monotonic() - began, 2)
    result["write, before"] = waits(told, alone, runs[0]["dry"])
    for name, start, end in (
        ("a dry run", "dry", "began"),
        ("erase", "began", "ended"),
        ("its sweep", "swept", "ended"),
    ):
        seconds = [round(run[end] - run[start], 2) for run in runs]
        result[f"{name}, seconds"] = {"median": statistics.median(seconds), "runs": seconds}
        each = [waits(told, run[start], run[end])["longest_ms"] for run in runs]
        result[f"longest wait of a writer during {name}, ms"] = {"median": statistics.median(each), "runs": each}
    result["erase, processor seconds"] = [round(run["worked"], 2) for run in runs]
    result["write, meanwhile"] = waits(told, runs[0]["began"], runs[-1]["ended"])
    return result


def main() -> None:
    parser = options(__doc__, texts=100_000)
    parser.add_argument("--write", help=argparse.SUPPRESS)  # the other process of the measurement
    if other := parser.parse_args().write:
        write_on(Path(other))
        return
    run(parser, "erasing-{texts}", lambda given, scratch: measure(given.texts, scratch))


if __name__ == "__main__":
    main()
