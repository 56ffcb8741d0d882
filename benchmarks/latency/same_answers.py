"""Whether recall gives the same answers as before a change: ids, order, scores, parts and contexts.

    python -m benchmarks.latency.same_answers keep DIRECTORY answers.json --questions queries.jsonl
    python -m benchmarks.latency.same_answers compare DIRECTORY answers.json

`DIRECTORY` holds a store as `benchmarks.latency.scale` builds it. Questions are those of a file (JSON lines with a
`query`), and words of stored texts. Scores may differ in the last bits: sums of numbers in another order.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.scale import environment
from weft.core.types import Find, When

CLOSE = 1e-6
CLOSE_NOW = 1e-3  # answers of the moment: what is a minute older weighs less
WORDS = 8
ASKED_AT = "2027-01-01T00:00:00Z"


def stored_words(mem: weft.Memory, count: int) -> list[str]:
    """Questions made of words of stored texts."""
    chance = random.Random(12)
    found = mem.ctx.store.find(mem.ctx.viewer, When(), Find(kinds=("Memory",)), limit=4 * count).nodes
    return [
        " ".join(chance.sample(words, min(WORDS, len(words)))) for node in found[::4] if (words := node.text.split())
    ]


def answers(mem: weft.Memory, questions: list[str]) -> dict[str, Any]:
    return {each: answer(mem, each) for each in questions}


def answer(mem: weft.Memory, question: str) -> dict[str, Any]:
    found = mem.recall(question, explain=True, as_of=ASKED_AT, known_at=ASKED_AT)
    hits = [
        {"id": hit.node.id, "score": hit.score, "parts": {each.name: each.part for each in hit.why}}
        for hit in found.hits
    ]
    now = mem.recall(question)
    return {
        "hits": hits,
        "context": found.context,
        "notes": list(found.notes),
        "now": [[hit.node.id, hit.score] for hit in now.hits],
    }


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    """Where two values differ, by more than the last bits of a number."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [line for key in before for line in differences(before[key], after[key], f"{where}/{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [line for at, (one, other) in pairs for line in differences(one, other, f"{where}/{at}")]
    if isinstance(before, float) and isinstance(after, float):
        return (
            []
            if abs(before - after) <= (CLOSE_NOW if "/now/" in where else CLOSE)
            else [f"{where}: {before} and now {after}"]
        )
    return [] if before == after else [f"{where}: {before!r:.120} and now {after!r:.120}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["keep", "compare"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("kept", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--judge", choices=["builtin", "none"], default="none")
    chosen = parser.parse_args()
    own = environment(chosen.directory) | {"WEFT_ANSWER_JUDGE": chosen.judge, "WEFT_AUDIT": "off"}
    with weft.open(directory=chosen.directory, environment=own) as mem:
        if chosen.what == "keep":
            asked = stored_words(mem, chosen.count)
            if chosen.questions:
                rows = chosen.questions.read_text(encoding="utf-8").splitlines()
                asked += [json.loads(row)["query"] for row in rows[: chosen.count]]
            chosen.kept.write_text(json.dumps(answers(mem, asked)))
            print(f"{len(asked)} questions kept")
            return
        before = json.loads(chosen.kept.read_text())
        found = differences(before, answers(mem, list(before)))
        print(f"{len(before)} questions, {len(found)} differences", *found[:20], sep="\n")
        raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
