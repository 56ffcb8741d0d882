"""Where two of the best say the same at different times, the newer one comes first and the older one is marked.

Both are shown: similarity is no proof that one replaces the other, and the past may be what is asked about. Then, and
where advice or the assistant's own words are asked for, the order stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.instants import to_iso
from weft.loom import Loom
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.sessions import OTHERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Kinds that tell how things are, and so may tell it anew. A turn of a talk or a passage of a text does not.
CHANGING = frozenset({"Memory", "Fact", "Preference", "Decision", "Pattern", "Learning", "Event"})
STEP = 1e-6  # by how much the newer one is put above the older


class Fresh(Struct, frozen=True):
    """Pairs among the best `among`: alike in what they say, close in score, apart in time."""

    name: str = "fresh"
    among: int = 5
    ratio: float = 0.75
    alike: float = 0.55

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool, question, model = answer.pool, answer.question, loom.embedding.model
        if model is None or answer.vector is None or question.asks_assistant or question.asks_advice:
            return answer
        scores = pool.scores()
        order = [
            int(at)
            for at in np.argsort(-scores, kind="stable")[: self.among]
            if scores[at] > 0.0 and (pool.shapes[at] == "session" or pool.nodes[at].kind in CHANGING)
        ]
        if len(order) < 2:
            return answer
        hashes = {at: _says(pool, at) for at in order}
        found = loom.store.vectors(loom.viewer, model, tuple(set(hashes.values())))
        vectors = {
            at: np.frombuffer(found[key], "<f2").astype(np.float32) for at, key in hashes.items() if key in found
        }
        moved, older = self._sorted(answer, order, scores, vectors)
        marks = {**pool.marks}
        for old, new in older.items():
            when = to_iso(pool.nodes[new].interval.valid_from)[:10]
            marks[pool.nodes[old].id] = (f"a newer one says the like: {pool.nodes[new].id} of {when}",)
        raw = np.zeros(len(pool.nodes))
        if moved != order:
            for place, (at, before) in enumerate(zip(moved, sorted(scores[moved].tolist(), reverse=True), strict=True)):
                raw[at] = before - place * STEP - scores[at]
        pool = pool.with_part(self.name, raw, 1.0, lambda at: "newer of two that say the like") if raw.any() else pool
        return replace(answer, pool=replace(pool, marks=marks))

    def _sorted(
        self, answer: Answer, order: list[int], scores: NDArray[np.float64], vectors: Mapping[int, NDArray[np.float32]]
    ) -> tuple[list[int], dict[int, int]]:
        """The order with newer ones above older ones that say the like, and which is older than which."""
        begins = {at: answer.pool.nodes[at].interval.valid_from for at in order}
        moved = list(order)
        older: dict[int, int] = {}
        for new in order:
            if new not in vectors or begins[new] > answer.asked_at:
                continue
            for old in order:
                if old not in vectors or begins[old] >= begins[new] or scores[new] < self.ratio * scores[old]:
                    continue
                if float(vectors[new] @ vectors[old]) < self.alike:
                    continue
                older.setdefault(old, new)
                if not answer.question.asks_past and moved.index(new) > moved.index(old):
                    moved.remove(new)
                    moved.insert(moved.index(old), new)
        return moved, older


def _says(pool: Pool, at: int) -> bytes:
    """The text that speaks for a row: its own, or of a whole the part nearest to the question."""
    own = [lead for lead in pool.leads[at] if lead.role not in OTHERS] if pool.shapes[at] == "session" else []
    if not own:
        return pool.nodes[at].content_hash
    return max(own, key=lambda lead: pool.best_sentence(lead.content_hash)).content_hash
