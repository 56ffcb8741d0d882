"""Whole sessions, scored by their turns.

    g · (words of the user's turns together + best user turn + .3 · best assistant turn)
      + nearest user turn + nearest sentence of the user's + soft words of the best turn and of all together

A question about what the assistant said ("you told me", "remind me") counts the assistant's words fully.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import Lead, TextHit
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.pooling import pooled
from weft.retrieval.scoring.soft_words import soft_words
from weft.retrieval.scoring.words_and_meaning import MIN_GATE
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

TURNS_READ = 6  # of the user, in one session: the nearest
OTHERS = frozenset({"assistant", "ai", "system", "tool"})


class Sessions(Struct, frozen=True):
    """The parts of sessions that are answered as a whole."""

    name: str = "sessions"
    assistant: float = 0.3
    segments: float = 0.3
    soft: float = 0.75
    soft_session: float = 0.3
    gate: float = 0.7

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.has("session"):
            return answer
        mine, others = _sides(answer)
        weights = dict(answer.terms)
        near = _column(pool, lambda lead: pool.cosine(lead.content_hash))
        inner = _column(pool, lambda lead: pool.best_sentence(lead.content_hash))
        gate = 1.0
        if answer.vector is not None:
            gate = self.gate * max(MIN_GATE, 1.0 - max(float(inner.max(initial=0.0)), 0.0))
        told = answer.question.asks_assistant
        users = 0.5 if told else 1.0
        theirs = 1.0 if told else self.assistant
        for name, values, weight in (
            ("user words", pooled(mine, weights), gate * users),
            ("user turn", _best(mine), gate * users),
            ("assistant turn", _best(others), gate * theirs),
            ("assistant words", pooled(others, weights) if told else {}, gate),
            ("segment", _segments(answer, mine, weights), self.segments * gate),
        ):
            raw = pool.shares("session", values)
            if raw.any():
                pool = pool.with_part(name, raw, weight)
        if answer.vector is not None:
            mask = pool.mask("session")
            pool = pool.with_part("nearest turn", np.where(mask, near, 0.0), 1.0)
            pool = pool.with_part("nearest sentence", np.where(mask, inner, 0.0), 1.0)
        return replace(answer, pool=self._soft(ctx, answer, pool))

    def _soft(self, ctx: CallContext, answer: Answer, pool: Pool) -> Pool:
        """Parts for the question's words or near ones, in the best of the user's turns and in all of them."""
        import numpy as np

        owners: dict[str, int] = {}
        for at, shape in enumerate(pool.shapes):
            if shape == "session":
                own = [lead for lead in pool.leads[at] if lead.role not in OTHERS]
                own.sort(key=lambda lead: -pool.best_sentence(lead.content_hash))
                owners |= {lead.id: at for lead in own[:TURNS_READ]}
        turns = ctx.store.nodes(ctx.viewer, answer.ask.when, tuple(owners))
        found = soft_words(answer, [turn.text for turn in turns])
        if found is None:
            return pool
        whose = np.array([owners[turn.id] for turn in turns], int)
        best = np.full(len(pool.nodes), -9.0)
        np.maximum.at(best, whose, found.scores())
        most = np.full((len(pool.nodes), found.held.shape[1]), -9.0, np.float32)
        np.maximum.at(most, whose, found.held)
        read = best > -9.0
        pool = pool.with_part("soft words", np.where(read, best, 0.0), self.soft, lambda at: "words alike")
        return pool.with_part("soft session", np.where(read, most @ found.weights, 0.0), self.soft_session)


Hits = list[tuple[str, TextHit]]


def _sides(answer: Answer) -> tuple[Hits, Hits]:
    """(whole, hit) of the turns found by words: the user's, and the assistant's."""
    mine: Hits = []
    others: Hits = []
    for hit in answer.text.hits if answer.text else ():
        if hit.node.whole is not None and hit.node.kind == "Message":
            (others if hit.node.role in OTHERS else mine).append((hit.node.whole, hit))
    return mine, others


def _best(hits: Iterable[tuple[str, TextHit]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for whole, hit in hits:
        found[whole] = max(found.get(whole, 0.0), hit.score)
    return found


def _segments(answer: Answer, hits: Hits, weights: Mapping[str, float]) -> dict[str, float]:
    """The best match of one of the question's parts, where it names several things."""
    found: dict[str, float] = {}
    for segment in answer.question.segments:
        terms = {term for term, _ in query_terms(segment)}
        other = frozenset(weights) - terms
        scores = pooled(hits, weights, without=other)
        best = max(scores.values(), default=0.0) or 1.0
        for whole, score in scores.items():
            found[whole] = max(found.get(whole, 0.0), score / best)
    return found


def _column(pool: Pool, of: Callable[[Lead], float]) -> Column:
    import numpy as np

    values = np.zeros(len(pool.nodes))
    for at, shape in enumerate(pool.shapes):
        if shape == "session":
            own: list[Lead] = [lead for lead in pool.leads[at] if lead.role not in OTHERS]
            values[at] = max((of(lead) for lead in own), default=0.0)
    return values
