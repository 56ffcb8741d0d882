"""Finds nodes by meaning."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import VectorHit, VectorQuery
from weft.models.embedding import ASKED_CHARACTERS, asked
from weft.retrieval.pipeline import Answer, kinds_to_search
from weft.runtime.call_context import CallContext


class SearchMeaning(Struct, frozen=True):
    """Cosine to the question, in the configured embedder's space. Without one, a note says that only words are
    searched.

    A report is searched for by its first line as well: its title.
    """

    name: str = "vector"
    leads: int = 150

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        ask, model = answer.ask, ctx.embedding.model
        if not answer.query.strip():
            return answer
        data, problem = ctx.embedding.query(asked(answer.query))
        if data is None or model is None:
            return answer.noted(problem)
        limit = max(self.leads, 2 * ask.limit)
        query = VectorQuery(
            model=model, data=data, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses
        )
        matches = ctx.store.search_vector(ctx.viewer, ask.when, query, limit=limit)
        title: bytes | None = None
        if answer.question.is_report and answer.question.first_line.strip():
            title, _ = ctx.embedding.query(asked(answer.question.first_line))
            if title is not None:
                more = ctx.store.search_vector(ctx.viewer, ask.when, replace(query, data=title), limit=limit)
                known = {hit.node.row for hit in matches.hits}
                hits = tuple(VectorHit(node=hit.node, cosine=0.0) for hit in more.hits if hit.node.row not in known)
                matches = replace(matches, hits=matches.hits + hits)
        notes = answer.notes + ctx.embedding.notes + matches.notes
        if len(answer.query) > ASKED_CHARACTERS:
            notes += (f"the question is long: only its first {ASKED_CHARACTERS:,} characters are compared by meaning",)
        if matches.pending:
            some = "1 text has" if matches.pending == 1 else f"{matches.pending:,} texts have"
            found = "is found" if matches.pending == 1 else "are found"
            notes += (f"{some} no vector yet and {found} by words only: run `weft reindex`",)
        return replace(answer, vector=data, title_vector=title, near=matches, notes=notes)
