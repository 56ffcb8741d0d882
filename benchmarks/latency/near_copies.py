"""Whether `remember` notices a near copy among many texts, and what looking costs the processor.

    python -m benchmarks.latency.near_copies corpus.jsonl [...] --texts 20000 --copies 500

Texts are sentences of corpora (JSON lines with a `text`). Copies have some of their words dropped, replaced or put in.
A copy is found if the memory reported as nearest shares at least as many of its words as the text it was made of does.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.run import in_batches
from benchmarks.program import report
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.text.sentences import sentence_spans
from weft.writing.checks.novelty import check_novelty, gated_words, jaccard

PROJECT = "copies"
CHARACTERS = range(40, 400)
CHANGED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
SHARES = (0.9, 0.6, 0.4)  # of common words, from which on a text is redundant or reinforcing
ROUNDING = 0.001


def sentences(corpora: list[Path]) -> Iterator[str]:
    for corpus in corpora:
        with corpus.open(encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line)["text"]
                found = (" ".join(text[start:end].split()) for start, end in sentence_spans(text))
                yield from (each for each in found if len(each) in CHARACTERS)


def changed(text: str, share: float, words: list[str], chance: random.Random) -> str:
    """The text with that share of its words dropped, replaced or doubled by another, a third each."""
    made: list[str] = []
    for word in text.split():
        what = int(chance.random() / share * 3) if share else 3
        made += {0: [], 1: [chance.choice(words)], 2: [word, chance.choice(words)]}.get(what, [word])
    return " ".join(made) or text


def measure(corpora: list[Path], texts: int, copies: int, directory: Path) -> dict[str, Any]:
    chance = random.Random(7)
    every = list(dict.fromkeys(sentences(corpora)))
    some = chance.sample(every, min(texts, len(every)))
    words = [word for text in some[:2_000] for word in text.split()]
    environment = {"HOME": str(directory), "WEFT_EMBEDDER": "none", "WEFT_PROJECT": PROJECT}
    asked = dict.fromkeys(SHARES, 0)
    found = dict.fromkeys(SHARES, 0)
    used_s = 0.0
    with weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment) as mem:
        payloads = [memory.Remembered(id=f"m{at}", text=text, project=PROJECT) for at, text in enumerate(some)]
        in_batches(mem, [Draft(kind="memory.remembered", payload=each) for each in payloads])()
        for source in chance.sample(some, copies):
            copy = changed(source, chance.choice(CHANGED), words, chance)
            began_s = time.process_time()
            gate = check_novelty(mem.ctx, copy).gate
            used_s += time.process_time() - began_s
            shared = jaccard(gated_words(copy), gated_words(source))
            for share in (each for each in SHARES if shared >= each):
                asked[share] += 1
                found[share] += gate.jaccard >= shared - ROUNDING
    shown = {str(each): round(100 * found[each] / max(asked[each], 1), 1) for each in SHARES}
    return {
        "texts": len(some),
        "copies": copies,
        "found, % of copies that share at least": shown,
        "processor_ms": round(1_000 * used_s / copies, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--copies", type=int, default=500)
    parser.add_argument("--dry", action="store_true", help="print the result, and save none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(given.corpora, given.texts, given.copies, Path(scratch))
    report("" if given.dry else "near-copies", found)


if __name__ == "__main__":
    main()
