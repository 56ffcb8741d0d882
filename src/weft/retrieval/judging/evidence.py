"""Evidence: whether the best hits answer the question at all.

Scores rank the candidates of one question against each other, and say nothing of that. Evidence is how near a candidate
is to the question, plus the share of the question's words in it, rarer words counting more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.judging.answers import asks_to_be_told
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS, Pool
from weft.retrieval.scoring.factors import without_rows
from weft.runtime.call_context import CallContext

if TYPE_CHECKING:
    from weft.retrieval.pool import Column, Mask

HELD = 0.5  # of all the question's words together, against a cosine of 1
FIRST, BY_SIZE = 0.14, 0.036  # least evidence: among N texts the nearest of those that do not answer comes nearer
LEAST = 0.01
IN_TIME = 0.25  # lying in the time that the question names
NOT_NEAR = "no memory is close enough to the question"
NAME_ONLY = 0.5  # of a node with a name and no words


class Scale(Struct, frozen=True):
    """Puts turns, sessions, files and texts on one scale: the best of a shape scores the most that speaks for it.

    Stages add up other things for each shape. Among rows of one shape the order stays.
    """

    name: str = "scale"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        shown, scores = evidence(answer, pool), pool.scores()
        factors = np.ones(len(scores))
        itself = _asked_by_id(pool)
        for shape in set(pool.shapes):
            rows = np.flatnonzero(pool.mask(shape) & ~itself)
            best = float(scores[rows].max(initial=0.0))
            if best > 0.0:
                factors[rows] = max(float(shown[rows].max()), LEAST) / best
        factors[itself] = (1.0 + HELD) / np.maximum(scores[itself], LEAST)  # as much as there can be for any
        return replace(answer, pool=pool.scaled(factors), evidence=shown)


def _asked_by_id(pool: Pool) -> Mask:
    """The row, if there is one, whose id is the question."""
    import numpy as np

    given = [part.raw > 0.0 for part in pool.parts if part.name == "id"]
    return np.asarray(given[0]) if given else np.zeros(len(pool.nodes), bool)


class EnoughEvidence(Struct, frozen=True):
    """Drops all candidates where not even the best has enough evidence, unless the question names one of them.

    Notes, which the answer judge will read, need less of it by themselves.
    """

    name: str = "enough"
    least: float | None = None
    judged: float = 0.3  # of the least evidence, for notes that the answer judge will read

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        least = answer.ask.min_score if answer.ask.min_score is not None else self.least
        if least is None:
            least = least_evidence(answer.text.population if answer.text else len(pool.nodes))
        if not answer.terms and not answer.mentions and answer.ask.min_score is None:
            return replace(answer, pool=Pool())  # nothing was asked that could be answered
        if answer.vector is None and answer.ask.min_score is None:
            return answer  # evidence by words alone is not on this scale: every match is shown
        shown = answer.evidence if answer.evidence is not None else evidence(answer, pool)
        for part in pool.parts:
            if part.name in ("name", "id", "exact"):
                shown = np.maximum(shown, np.where(part.values > 0, 1.0, 0.0))
        best = float(shown.max(initial=0.0))
        notes = np.array([node.kind in DATED_KINDS for node in pool.nodes])
        if best >= least or (notes.any() and answer.frame.frame == "listing"):  # listed by time, however near
            return answer
        by_judge = ctx.judge is not None and answer.ask.min_score is None and asks_to_be_told(answer)
        if by_judge and float(shown[notes].max(initial=0.0)) >= self.judged * least:
            return without_rows(answer, np.flatnonzero(~notes).tolist())
        note = f"{NOT_NEAR} (evidence {best:.3f} of {least:.3f} needed): min_score 0 shows the closest"
        return replace(answer, pool=Pool(), refused=note)


def least_evidence(population: int) -> float:
    """How much evidence there must be among so many texts. Measured: see docs/decisions."""
    return FIRST + BY_SIZE * math.log(max(population, 1))


def evidence(answer: Answer, pool: Pool) -> Column:
    """How much speaks for each row: its nearest sentence or part, and the share of the question's words in it."""
    import numpy as np

    near = np.zeros(len(pool.nodes))
    for at, node in enumerate(pool.nodes if pool.nearness else ()):  # without a vector nothing is near
        hashes = [node.content_hash, *(lead.content_hash for lead in pool.leads[at])]
        near[at] = max(max(pool.cosine(each), pool.best_sentence(each)) for each in hashes)
    held = np.zeros(len(pool.nodes))
    if answer.text is not None and answer.text.used:
        rarity = {stat.term: stat.weight * stat.idf for stat in answer.text.used}
        everything = sum(rarity.values()) or 1.0
        places = pool.places
        for hit in answer.text.hits:
            row = places.get(hit.node.id, places.get(hit.node.whole or "", -1))
            if row >= 0:
                share = sum(rarity.get(term, 0.0) for term, _ in hit.parts) / everything
                held[row] = max(held[row], share)
    inside = next((part.raw for part in pool.parts if part.name == "when"), np.zeros(len(pool.nodes)))
    full = np.array(
        [1.0 if node.text or leads else NAME_ONLY for node, leads in zip(pool.nodes, pool.leads, strict=True)]
    )
    return np.asarray((near + HELD * held + IN_TIME * inside) * full)
