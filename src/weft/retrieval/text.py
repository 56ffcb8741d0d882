"""Finds nodes by their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.queries import TextQuery
from weft.retrieval.pipeline import Answer, kinds_to_search


class Text(Struct, frozen=True):
    """BM25 over name, summary and body. Parts of one whole are found one by one, and added up later."""

    name: str = "text"
    leads: int = 400
    report_leads: int = 1_500  # a report holds many words, each in few symbols of the file it is about

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        ask = answer.ask
        if not answer.terms:
            return answer
        query = TextQuery(terms=answer.terms, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses)
        leads = self.report_leads if answer.question.is_report else self.leads
        matches = loom.store.search_text(loom.viewer, ask.when, query, limit=max(leads, 4 * ask.limit))
        notes = answer.notes + matches.notes
        if matches.dropped and len(matches.dropped) >= len(matches.used):
            notes += (f"too common for the text search: {', '.join(matches.dropped[:12])}",)
        if matches.truncated:
            notes += ("more texts match than were scored; name something rarer to narrow it down",)
        return replace(answer, text=matches, notes=notes)
