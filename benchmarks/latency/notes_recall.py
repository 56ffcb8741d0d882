"""Recall among 2,000 notes of everyday life, with the built-in models: by the clock, by processor time, by stage.

    python -m benchmarks.latency.notes_recall --store /some/where [--notes 2000] [--questions 105] [--dry]

Notes are those of the everyday histories, then sentences of the documentation; questions are those of the histories.
The store is built once per directory and kept there. Each question is asked for the first time, then once more: by then
its vector and the verdicts on its notes are kept.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import weft
from benchmarks.code.pack_latency import percentiles, timed
from benchmarks.everyday.run import HISTORIES, histories
from benchmarks.program import report, warn_if_busy
from weft.recall import recall
from weft.retrieval.pipeline import Answer, Stage
from weft.runtime.call_context import CallContext
from weft.text.sentences import sentence_spans

DOCS = Path(__file__).parents[2] / "docs"
SETS = (HISTORIES, HISTORIES.parent / "held_out", HISTORIES.parent / "blind")
AT_ONCE = 100
LEAST_CHARACTERS = 40
WARM = 5


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


class Watched:
    """A stage whose processor time is noted, that of its threads included."""

    def __init__(self, stage: Stage, took_ms: dict[str, list[float]]) -> None:
        self.name = stage.name
        self._stage, self._took_ms = stage, took_ms.setdefault(stage.name, [])

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        began_s = time.process_time()
        try:
            return self._stage(ctx, answer)
        finally:
            self._took_ms.append((time.process_time() - began_s) * 1000)


def measure(directory: Path, judge: str, asked: list[str]) -> dict[str, Any]:
    own = environment(directory) | {"WEFT_ANSWER_JUDGE": judge, "WEFT_AUDIT": "off"}
    stages: dict[str, list[float]] = {}
    recipe = [Watched(stage, stages) for stage in recall.recipe_named("default")]
    recall.recipe_named = lambda name: recipe
    with weft.open(directory=directory, environment=own) as memory:
        for question in asked[:WARM]:
            memory.recall(question)
        stages_of_warming = {name: len(times) for name, times in stages.items()}
        first, again = (
            [timed(partial(memory.recall, question)) for question in asked[WARM:]] for _ in ("first", "again")
        )
    calls = len(asked) - WARM
    by_stage = {
        name: round(sum(times[stages_of_warming[name] :][:calls]) / calls, 2)
        for name, times in stages.items()
        if len(times) > stages_of_warming[name]
    }
    return {
        "calls": calls,
        **{
            label: {
                "wall": percentiles([wall for wall, _ in found]),
                "processor": percentiles([used for _, used in found]),
            }
            for label, found in (("asked first", first), ("asked again", again))
        },
        "processor ms by stage": {name: ms for name, ms in by_stage.items() if ms >= 0.1},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=105)
    parser.add_argument("--name", default="notes-recall")
    parser.add_argument("--dry", action="store_true", help="print the result, and save none")
    given = parser.parse_args()
    warn_if_busy()
    given.store.mkdir(parents=True, exist_ok=True)
    fill(given.store, given.notes)
    asked = questions(given.questions)
    load = round(os.getloadavg()[0], 1)
    found = {f"answer judge: {judge}": measure(given.store, judge, asked) for judge in ("none", "builtin")}
    report("" if given.dry else given.name, {"notes": given.notes, "load of the machine": load, **found})


if __name__ == "__main__":
    main()
