"""Source code: functions and classes by themselves, files by what they define.

A question in plain words is answered by meaning (the words of code are not the words of people); one that holds
identifiers by them. A file counts as its words together and as its best symbol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.gated import MIN_GATE, hits_by_id
from weft.retrieval.gather import nearness
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.pooling import pooled

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

PLAIN_GATE = 0.1


class Code(Struct, frozen=True):
    """Parts of files and symbols."""

    name: str = "code"
    file_words: float = 0.8
    best_symbol: float = 0.8
    title: float = 0.5

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        if answer.pool.has("code"):
            answer = replace(answer, pool=self._symbols(answer))
        if answer.pool.has("file"):
            answer = replace(answer, pool=self._files(loom, answer))
        return answer

    def _symbols(self, answer: Answer) -> Pool:
        import numpy as np

        pool, mask, hits = answer.pool, answer.pool.mask("code"), hits_by_id(answer)
        near = np.array([pool.cosine(node.content_hash) for node in pool.nodes])
        text = np.array([hits[node.id].score if node.id in hits else 0.0 for node in pool.nodes])
        gate = 1.0
        if answer.vector is not None:
            gate = max(MIN_GATE, 1.0 - max(float(near[mask].max(initial=0.0)), 0.0))
            gate = gate if answer.question.identifiers else PLAIN_GATE
        best = float(text[mask].max(initial=0.0)) or 1.0
        pool = pool.with_part("symbol text", np.where(mask, text, 0.0), gate / best)
        return pool.with_part("symbol", np.where(mask, near, 0.0), 1.0)

    def _files(self, loom: Loom, answer: Answer) -> Pool:

        pool, mask = answer.pool, answer.pool.mask("file")
        hits = [(hit.node.whole or hit.node.id, hit) for hit in (answer.text.hits if answer.text else ())]
        files = {node.id for node, shape in zip(pool.nodes, pool.shapes, strict=True) if shape == "file"}
        hits = [(whole, hit) for whole, hit in hits if whole in files]
        words = pooled(hits, dict(answer.terms))
        best: dict[str, float] = {}
        for whole, hit in hits:
            best[whole] = max(best.get(whole, 0.0), hit.score)
        near = _nearest(pool, {key: each.cosine for key, each in pool.nearness.items()})
        gate = 1.0
        if answer.vector is not None:
            gate = max(MIN_GATE, 1.0 - max(float(near[mask].max(initial=0.0)), 0.0))
        pool = pool.with_part("file words", _scaled(pool, words), gate * self.file_words)
        pool = pool.with_part("best symbol", _scaled(pool, best), gate * self.best_symbol)
        if answer.title_vector is None:
            return pool.with_part("nearest symbol", near, 1.0)
        hashes = [lead.content_hash for leads in pool.leads for lead in leads]
        hashes += [node.content_hash for node in pool.nodes]
        titled = nearness(loom, answer.title_vector, hashes)
        by_title = _nearest(pool, {key: each.cosine for key, each in titled.items()})
        pool = pool.with_part("nearest symbol", near, 1.0 - self.title)
        return pool.with_part("nearest to title", by_title, self.title)


def _nearest(pool: Pool, cosines: dict[bytes, float]) -> Column:
    """The cosine of each file's nearest symbol."""
    import numpy as np

    values = np.zeros(len(pool.nodes))
    for at, shape in enumerate(pool.shapes):
        if shape == "file":
            own = [cosines.get(lead.content_hash, 0.0) for lead in pool.leads[at]]
            values[at] = max([*own, cosines.get(pool.nodes[at].content_hash, 0.0)])
    return values


def _scaled(pool: Pool, scores: dict[str, float]) -> Column:
    import numpy as np

    best = max(scores.values(), default=0.0) or 1.0
    return np.array([scores.get(node.id, 0.0) / best for node in pool.nodes])
