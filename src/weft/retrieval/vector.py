"""Finds nodes by meaning."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Find, candidates_wanted
from weft.types import VectorQuery


class Vector(Struct, frozen=True):
    """Cosine to the question, in the configured embedder's space. Without one, a note says so and words decide."""

    name: str = "vector"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask, model = answer.ask, loom.embedding.model
        if not ask.query.strip():
            return answer
        data, problem = loom.embedding.query(ask.query)
        if data is None or model is None:
            return replace(answer, notes=(*answer.notes, problem))
        query = VectorQuery(model=model, data=data, projects=ask.projects, kinds=ask.kinds)
        matches = loom.store.search_vector(loom.viewer, ask.when, query, limit=candidates_wanted(ask))
        found = tuple(
            Find(source=self.name, node=hit.node, rank=rank, raw=hit.cosine, detail=f"cosine {hit.cosine:.2f}")
            for rank, hit in enumerate(matches.hits, start=1)
        )
        notes = answer.notes + matches.notes
        if matches.pending:
            notes += (f"{matches.pending} texts have no vector yet and are found by words only: `weft reindex`",)
        return replace(answer, vector=data, found=answer.found + found, notes=notes)
