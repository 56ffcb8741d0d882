"""What it costs to look whether a decision is there already, and what a fence adds to an append.

python -m benchmarks.latency.dedup --rows 100000
"""

from __future__ import annotations

import itertools
import os
import random
from functools import partial
from pathlib import Path
from typing import Any

import weft
from benchmarks.latency.corpus import VOCABULARY, Words
from benchmarks.latency.measure import percentiles, rate
from benchmarks.latency.run import in_batches
from benchmarks.program import options, run
from weft.append.append import Fence
from weft.core.types import Guard
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.operations import OPERATIONS
from weft.writing.checks.dedup import HASH, NewEntry, judge_entry

GOAL_MS = 5.0
CALLS = 400
STOP_WORDS = 150  # the commonest words: in titles of our own they would be "the" and "for", by which nothing is found


class Titles:
    """Titles of four to nine words, by rank like all words, from where the stop words end."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = [Words._spell(number) for number in range(STOP_WORDS, VOCABULARY)]
        self._weights = list(itertools.accumulate(1 / (number + 1) for number in range(STOP_WORDS, VOCABULARY)))

    def word(self) -> str:
        return self._chance.choices(self._words, cum_weights=self._weights)[0]

    def title(self) -> str:
        return " ".join(self.word() for _ in range(self._chance.randint(4, 9)))


def entry_of(title: str, rationale: str, project: str) -> NewEntry:
    return NewEntry(kind="Decision", title=title, words=rationale, guard=Guard(project=project))


def draft_of(node_id: str, entry: NewEntry) -> Draft:
    props = {"status": "accepted", HASH: entry.content_hash}
    payload = memory.Remembered(
        id=node_id,
        node_kind="Decision",
        name=entry.title,
        text=entry.words,
        props=props,
        project=entry.guard.project,
    )
    return Draft(kind="memory.remembered", payload=payload)


def alike(entry: NewEntry, chance: random.Random, titles: Titles, words: Words) -> NewEntry:
    """The same title with one word put in, another rationale."""
    title = entry.title.split()
    title.insert(chance.randrange(len(title) + 1), titles.word())
    return entry_of(" ".join(title), words.text(), entry.guard.project or "")


def fence_cost(mem: weft.Memory, titles: Titles, words: Words, project: str) -> dict[str, Any]:
    """The same appends with and without a fence."""
    entries = (entry_of(titles.title(), words.text(), project) for _ in range(2 * CALLS))
    drafts = [draft_of(f"f{number}", entry) for number, entry in enumerate(entries)]
    return {
        "append, plain": percentiles([partial(mem.ctx.append, [draft]) for draft in drafts[:CALLS]]),
        "append, behind a fence": percentiles([partial(_behind_a_fence, mem, draft) for draft in drafts[CALLS:]]),
    }


def _behind_a_fence(mem: weft.Memory, draft: Draft) -> None:
    pos = mem.ctx.store.head(mem.ctx.viewer).pos
    fence = Fence(pos=pos, kinds=("Decision",), concerns=lambda _node: False)
    mem.ctx.append([draft], fence=fence)


def measure(rows: int, directory: Path) -> dict[str, Any]:
    words, titles, chance = Words(seed=7), Titles(seed=7), random.Random(7)
    environment = {"HOME": str(directory), "WEFT_EMBEDDER": "none"}
    result: dict[str, Any] = {"rows": rows, "goal_p95_ms": GOAL_MS, "load": os.getloadavg()[0]}
    with weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment) as mem:
        project = mem.ctx.settings.project
        entries = [entry_of(titles.title(), words.text(), project) for _ in range(rows)]
        drafts = [draft_of(f"d{number}", entry) for number, entry in enumerate(entries)]
        result["bulk"] = rate(rows, in_batches(mem, drafts))
        some = chance.sample(entries, CALLS)
        asked = {
            "a copy": some,
            "one like another": [alike(entry, chance, titles, words) for entry in some],
            "a new one": [entry_of(titles.title(), words.text(), project) for _ in some],
        }
        for name, wanted in asked.items():
            judge_entry(mem.ctx, wanted[0], by_title=True)
            result[f"dedup check, {name}"] = percentiles(
                [partial(judge_entry, mem.ctx, entry, by_title=True) for entry in wanted]
            )
            outcomes = [judge_entry(mem.ctx, entry, by_title=True).outcome for entry in wanted]
            result[f"outcomes, {name}"] = {each: outcomes.count(each) for each in sorted(set(outcomes))}
        result |= fence_cost(mem, titles, words, project)
        save_decision = next(each for each in OPERATIONS if each.name == "save_decision")
        given = [{"title": titles.title(), "rationale": words.text()} for _ in range(CALLS)]
        result["save_decision"] = percentiles([partial(mem.run, save_decision, each) for each in given])
    return result


if __name__ == "__main__":
    run(options(__doc__, rows=100_000), "dedup-{rows}", lambda given, scratch: measure(given.rows, scratch))
