"""Raises what has a compiled truth, and what others point at."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.factors import best_rows
from weft.retrieval.pipeline import Answer

AT_LEAST = 16  # rows that are looked at, and three for each that is asked for


class Boosts(Struct, frozen=True):
    """Adds `truth` of its score to a node with a compiled truth, and 5 to 25 % to one with backlinks.

    Only the best rows are looked at; where none of them has either, the answer is returned as it came.
    """

    name: str = "boosts"
    truth: float = 0.15

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        scores = pool.scores()
        rows = best_rows(scores, max(3 * answer.ask.limit, AT_LEAST))
        if not rows:
            return answer
        told = [at for at in rows if _says(pool.nodes[at].props.get("compiled_truth"))]
        counts = loom.store.backlinks(loom.viewer, answer.ask.when, [pool.nodes[at].id for at in rows])
        if told:
            raw = np.zeros(len(scores))
            raw[told] = scores[told] * self.truth
            detail = f"has a compiled truth: x {1.0 + self.truth:.2f}"
            pool = pool.with_part("compiled_truth", raw, 1.0, lambda at: detail)
        if counts:
            known = {at: counts[pool.nodes[at].id] for at in rows if pool.nodes[at].id in counts}
            raw = np.zeros(len(scores))
            for at, count in known.items():
                raw[at] = scores[at] * backlink_bonus(count)
            pool = pool.with_part("backlinks", raw, 1.0, lambda at: _pointed(known[at]))
        return answer if pool is answer.pool else replace(answer, pool=pool)


def backlink_bonus(count: int) -> float:
    """The share of its score that a node gains when so many, one or more, point at it."""
    return min(max(0.05 + 0.05 * math.log10(count), 0.05), 0.25)


def _says(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _pointed(count: int) -> str:
    return f"{count} point{'s' if count == 1 else ''} at it: x {1.0 + backlink_bonus(count):.3f}"
