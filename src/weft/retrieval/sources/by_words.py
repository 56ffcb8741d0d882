"""Finds nodes by their words."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextQuery
from weft.retrieval.pipeline import Answer, kinds_to_search
from weft.runtime.call_context import CallContext


class SearchWords(Struct, frozen=True):
    """BM25 over name, summary and body. Parts of one whole are found one by one, and added up later."""

    name: str = "text"
    leads: int = 400
    report_leads: int = 1_500  # a report holds many words, each in few symbols of the file it is about

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        ask = answer.ask
        if not answer.terms:
            return answer
        query = TextQuery(terms=answer.terms, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses)
        leads = self.report_leads if answer.question.is_report else self.leads
        matches = ctx.store.search_text(ctx.viewer, ask.when, query, limit=max(leads, 4 * ask.limit))
        answer = replace(answer, text=matches).noted(*matches.notes)
        if matches.dropped and len(matches.dropped) >= len(matches.used):
            answer = answer.detailed(f"too common to be searched for: {', '.join(matches.dropped[:12])}")
        if matches.truncated:
            answer = answer.noted("more texts match than could be ranked: ask with rarer words")
        return answer
