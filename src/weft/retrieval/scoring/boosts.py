"""A boost for nodes with a compiled truth, and for nodes with backlinks."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.scoring.factors import best_rows
from weft.runtime.call_context import CallContext

# Of a note, which its own mentions and causes point at: that orders near-equals only.
OF_A_NOTE = 0.2
AT_LEAST = 16  # rows that are looked at, and three for each that is asked for


class Boosts(Struct, frozen=True):
    """Adds `truth` of its score to a node with a compiled truth, 5 to 25 % to one with backlinks, less to a note.

    Only the best rows are read.
    """

    name: str = "boosts"
    truth: float = 0.15

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        scores = pool.scores()
        rows = best_rows(scores, max(3 * answer.ask.limit, AT_LEAST))
        if not rows:
            return answer
        told = [at for at in rows if _says(pool.nodes[at].props.get("compiled_truth"))]
        counts = ctx.store.backlinks(ctx.viewer, answer.ask.when, [pool.nodes[at].id for at in rows])
        if told:
            raw = np.zeros(len(scores))
            raw[told] = scores[told] * self.truth
            detail = f"has a compiled truth: x {1.0 + self.truth:.2f}"
            pool = pool.with_part("compiled_truth", raw, 1.0, lambda at: detail)
        if counts:
            known = {at: counts[pool.nodes[at].id] for at in rows if pool.nodes[at].id in counts}
            raw = np.zeros(len(scores))
            bonus = {at: backlink_bonus(count, pool.nodes[at].kind) for at, count in known.items()}
            for at, share in bonus.items():
                raw[at] = scores[at] * share
            pool = pool.with_part("backlinks", raw, 1.0, lambda at: _pointed(known[at], bonus[at]))
        return answer if pool is answer.pool else replace(answer, pool=pool)


def backlink_bonus(count: int, kind: str) -> float:
    """The share of its score that a node gains for its number of backlinks."""
    share = min(max(0.05 + 0.05 * math.log10(count), 0.05), 0.25)
    return share * OF_A_NOTE if kind in DATED_KINDS else share


def _says(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _pointed(count: int, share: float) -> str:
    return f"{count} point{'s' if count == 1 else ''} at it: x {1.0 + share:.3f}"
