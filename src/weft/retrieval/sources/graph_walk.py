"""Personalised PageRank over the graph from the best hits."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.scoring.words_and_meaning import scored
from weft.retrieval.sources.gather import joined
from weft.runtime.call_context import CallContext

# Kinds with no relations but to their whole: a walk from these alone gained nothing on any set of
# questions, and takes some milliseconds.
ONLY_NESTED = frozenset({"Document", "Section", "Chunk", "Session", "Message", "File", "Class", "Function", "Test"})
SEEDS = 10
REACHED = 50


class Walk(Struct, frozen=True):
    """Adds up to `weight` by personalised PageRank from the best; new nodes bring their own score."""

    name: str = "walk"
    weight: float = 0.15

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        scores = answer.pool.scores()
        best = [int(at) for at in np.argsort(-scores, kind="stable")[:SEEDS] if scores[at] > 0.0]
        seeds = {answer.pool.nodes[at].id: float(scores[at]) for at in best}
        if all(answer.pool.nodes[at].kind in ONLY_NESTED for at in best):
            return answer
        walked = ctx.store.walk(ctx.viewer, answer.ask.when, seeds, limit=REACHED + SEEDS)
        answer = answer.noted(*walked.notes)
        reached = {node: score for node, score in walked.scores if node not in seeds}
        if not reached:
            return answer
        pool = joined(ctx, answer, reached)
        if pool is not answer.pool:
            pool = scored(answer, pool)
        most = max(reached.values())
        raw = np.array([reached.get(node.id, 0.0) for node in pool.nodes])
        return replace(
            answer, pool=pool.with_part(self.name, raw, self.weight / most, lambda at: "joined to the best hits")
        )
