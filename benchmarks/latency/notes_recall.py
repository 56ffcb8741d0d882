"""Recall among 2,000 notes of everyday life, with the built-in models: by the clock, by processor time, by stage.

    python -m benchmarks.latency.notes_recall --store /some/where [--notes 2000] [--questions 150] [--dry]

Notes are those of the everyday histories, then sentences of the documentation; questions are those of the histories.
The store is built once per directory and kept there. Each question is asked once before its time is taken: words, rows
and a first verdict of the models are then cached as in any process that has run for a while, unless `--new`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import weft
from benchmarks.code.pack_latency import percentiles, timed
from benchmarks.everyday.run import HISTORIES, histories
from benchmarks.program import report, warn_if_busy
from weft.operations import operation
from weft.recall.recall import Recall
from weft.runtime.call_stats import CallStats
from weft.text.sentences import sentence_spans

DOCS = Path(__file__).parents[2] / "docs"
SETS = (HISTORIES, HISTORIES.parent / "held_out", HISTORIES.parent / "blind")
AT_ONCE = 100
LEAST_CHARACTERS = 40


def environment(directory: Path) -> dict[str, str]:
    return {"HOME": str(directory), "WEFT_STORE": f"sqlite://{directory}/store", "WEFT_PROJECT": "notes"}


def texts() -> Iterator[str]:
    """Notes of people and agents, then sentences about software."""
    for folder in SETS:
        for _, history in histories(folder, None):
            yield from (text for _, _, text in history.notes)
    for page in sorted(DOCS.rglob("*.md")):
        words = page.read_text(encoding="utf-8")
        for start, end in sentence_spans(words):
            sentence = " ".join(words[start:end].split())
            if len(sentence) >= LEAST_CHARACTERS and sentence[0].isalpha():
                yield sentence


def fill(directory: Path, notes: int) -> None:
    if (directory / "store").exists():
        return
    with weft.open(directory=directory, environment=environment(directory)) as memory:
        found = list(islice(dict.fromkeys(texts()), notes))
        for start in range(0, len(found), AT_ONCE):
            memory.remember_many([{"text": text, "scope": "shared"} for text in found[start : start + AT_ONCE]])


def questions(count: int) -> list[str]:
    asked = [each.q for folder in SETS for _, history in histories(folder, None) for each in history.questions]
    return random.Random(5).sample(list(dict.fromkeys(asked)), count)


def measure(directory: Path, judge: str, asked: list[str], new: bool) -> dict[str, Any]:
    own = environment(directory) | {"WEFT_ANSWER_JUDGE": judge, "WEFT_AUDIT": "off"}
    stages: dict[str, list[float]] = {}
    with weft.open(directory=directory, environment=own) as memory:
        for question in asked[:5] if new else asked:
            memory.recall(question)
        times = [timed(partial(memory.recall, question)) for question in (asked[5:] if new else asked)]
        for question in () if new else asked:
            call_stats = CallStats()
            operation("recall").run(replace(memory.ctx, call_stats=call_stats), Recall(query=question))
            for name, milliseconds in call_stats.stages.items():
                stages.setdefault(name, []).append(milliseconds)
    told = sorted(((name, percentiles(some)) for name, some in stages.items()), key=lambda each: -each[1]["p50_ms"])
    return {
        "calls": len(times),
        "wall": percentiles([wall for wall, _ in times]),
        "processor": percentiles([used for _, used in times]),
        "stages, wall, p50 ms": {name: found["p50_ms"] for name, found in told if found["p50_ms"] >= 0.1},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--new", action="store_true", help="ask each question only once, for its time")
    parser.add_argument("--dry", action="store_true", help="print the result, and save none")
    given = parser.parse_args()
    warn_if_busy()
    given.store.mkdir(parents=True, exist_ok=True)
    fill(given.store, given.notes)
    asked = questions(given.questions)
    load = round(os.getloadavg()[0], 1)
    found = {f"answer judge: {judge}": measure(given.store, judge, asked, given.new) for judge in ("none", "builtin")}
    report("" if given.dry else "notes-recall", {"notes": given.notes, "load of the machine": load, **found})


if __name__ == "__main__":
    main()
