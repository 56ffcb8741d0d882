"""Whether what was found is enough to answer at all: a question about what is not there gets no answer.

Scores rank candidates of one question against each other, so they say nothing of that. Evidence does: how near a
candidate is to the question, and how much of what the question says it holds, rarer words counting more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

HELD = 0.5  # what all the question's words together count, against a cosine of 1
FIRST, BY_SIZE = 0.14, 0.036  # least evidence: among N texts the nearest of those that do not answer comes nearer
LEAST = 0.01


class Scale(Struct, frozen=True):
    """Puts turns, sessions, files and texts on one scale: the best of a shape scores the most that speaks for it.

    Stages add up other things for each shape. Among rows of one shape the order stays.
    """

    name: str = "scale"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        shown, scores = evidence(answer, pool), pool.scores()
        factors = np.ones(len(scores))
        for shape in set(pool.shapes):
            rows = np.flatnonzero(pool.mask(shape))
            best = float(scores[rows].max())
            if best > 0.0:
                factors[rows] = max(float(shown[rows].max()), LEAST) / best
        return replace(answer, pool=pool.scaled(factors), evidence=shown)


class Enough(Struct, frozen=True):
    """Drops candidates with too little evidence, unless the question names them or leads to them by name."""

    name: str = "enough"
    least: float | None = None

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not pool.nodes:
            return answer
        least = answer.ask.min_score if answer.ask.min_score is not None else self.least
        if least is None:
            least = least_evidence(answer.text.population if answer.text else len(pool.nodes))
        if answer.vector is None and answer.ask.min_score is None:
            return answer  # what words alone tell is not on this scale: whatever holds one is shown
        shown = answer.evidence if answer.evidence is not None else evidence(answer, pool)
        for part in pool.parts:
            if part.name in ("name", "id"):
                shown = np.maximum(shown, np.where(part.values > 0, 1.0, 0.0))
        best = float(shown.max(initial=0.0))
        if best >= least:
            return answer
        note = f"nothing comes near enough to answer: the best shows {best:.2f} of evidence, {least:.2f} are wanted"
        return replace(answer, pool=Pool()).noted(note)


def least_evidence(population: int) -> float:
    """How much evidence there must be among so many texts. Measured: see docs/decisions."""
    return FIRST + BY_SIZE * math.log(max(population, 1))


def evidence(answer: Answer, pool: Pool) -> Column:
    """How much speaks for each row: its nearest sentence or part, and the share of the question's words in it."""
    import numpy as np

    near = np.zeros(len(pool.nodes))
    for at, node in enumerate(pool.nodes):
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
    return near + HELD * held
