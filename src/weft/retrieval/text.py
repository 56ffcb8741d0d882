"""Finds nodes by their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Candidate, Source
from weft.types import TextQuery

MAX_CANDIDATES = 50


class Text(Struct, frozen=True):
    """BM25 over name, summary and body, scaled by the best hit's score."""

    name: str = "text"
    weight: float = 0.8

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask = answer.ask
        if not answer.terms:
            return replace(answer, gathered=(*answer.gathered, ()))
        query = TextQuery(terms=answer.terms, projects=ask.projects, kinds=ask.kinds)
        limit = min(MAX_CANDIDATES, 4 * ask.limit) if ask.limit <= MAX_CANDIDATES else ask.limit
        matches = loom.store.search_text(loom.viewer, ask.when, query, limit=limit)
        best = matches.hits[0].score if matches.hits else 1.0
        found = tuple(
            Candidate(
                node=hit.node,
                sources=(
                    Source(
                        name=self.name,
                        rank=rank,
                        raw=hit.score,
                        weight=self.weight,
                        part=self.weight * hit.score / best,
                        detail=", ".join(f"{term} {part:.2f}" for term, part in hit.parts),
                    ),
                ),
            )
            for rank, hit in enumerate(matches.hits, start=1)
        )
        notes = answer.notes
        if matches.dropped:
            notes += (f"common words left out of the text search: {', '.join(matches.dropped)}",)
        if matches.truncated:
            notes += ("more texts match than were scored; name something rarer to narrow it down",)
        return replace(answer, gathered=(*answer.gathered, found), notes=notes)
