"""Search for nodes of the time that the question names, however little they resemble it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextQuery, VectorQuery
from weft.retrieval.pipeline import Answer, kinds_to_search
from weft.runtime.call_context import CallContext

DAY_US = 86_400_000_000


class SearchTime(Struct, frozen=True):
    """The best by words and by meaning within each window, unless it is very wide."""

    name: str = "dated"
    leads: int = 60
    widest_days: int = 100
    windows: int = 2  # of a question that names more times: each costs two searches

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        ask, model = answer.ask, ctx.embedding.model
        for window in answer.windows[: self.windows]:
            begins = (window.begin_us, max(window.told_us, window.end_us) + DAY_US)
            if window.kind == "recent" or begins[1] - begins[0] > self.widest_days * DAY_US:
                continue
            if answer.text is not None:
                words = TextQuery(
                    terms=answer.terms,
                    projects=ask.projects,
                    kinds=kinds_to_search(ask),
                    focuses=ask.focuses,
                    begins=begins,
                )
                more = ctx.store.search_text(ctx.viewer, ask.when, words, limit=self.leads)
                known = {hit.node.row for hit in answer.text.hits}
                hits = tuple(hit for hit in more.hits if hit.node.row not in known)
                answer = replace(
                    answer,
                    text=replace(answer.text, hits=answer.text.hits + hits),
                    dated=answer.dated + tuple(hit.node for hit in more.hits),
                )
            if answer.vector is not None and answer.near is not None and model is not None:
                query = VectorQuery(
                    model=model,
                    data=answer.vector,
                    projects=ask.projects,
                    kinds=kinds_to_search(ask),
                    focuses=ask.focuses,
                    begins=begins,
                )
                near = ctx.store.search_vector(ctx.viewer, ask.when, query, limit=self.leads)
                answer = replace(answer, dated=answer.dated + tuple(hit.node for hit in near.hits))
        return answer
