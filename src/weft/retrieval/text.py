"""Finds nodes by their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.pipeline import Answer, Find, candidates_wanted
from weft.types import TextQuery


class Text(Struct, frozen=True):
    """BM25 over name, summary and body."""

    name: str = "text"

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask = answer.ask
        if not answer.terms:
            return answer
        query = TextQuery(terms=answer.terms, projects=ask.projects, kinds=ask.kinds)
        matches = loom.store.search_text(loom.viewer, ask.when, query, limit=candidates_wanted(ask))
        found = tuple(
            Find(
                source=self.name,
                node=hit.node,
                rank=rank,
                raw=hit.score,
                detail=", ".join(f"{term} {part:.2f}" for term, part in hit.parts),
            )
            for rank, hit in enumerate(matches.hits, start=1)
        )
        notes = answer.notes
        if matches.dropped:
            notes += (f"common words left out of the text search: {', '.join(matches.dropped)}",)
        if matches.truncated:
            notes += ("more texts match than were scored; name something rarer to narrow it down",)
        return replace(answer, found=answer.found + found, notes=notes)
