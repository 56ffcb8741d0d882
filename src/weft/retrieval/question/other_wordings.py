"""Search with other wordings of a question, and their part of the default recipe's score."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextMatches, TextQuery, VectorMatches, VectorQuery
from weft.retrieval.pipeline import Answer, kinds_to_search
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms

MAX_WORDINGS = 5
MAX_WORDING_CHARACTERS = 2_000


class SearchWordings(Struct, frozen=True):
    """Searches each wording by words and, where the question has a vector, by meaning. Before results are gathered.

    Without other wordings nothing changes.
    """

    name: str = "expansion"
    leads: int = 60  # of each wording: enough to find what the question misses

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        asked = answer.query.strip()
        wordings = [each for each in answer.expansions if each[1] > 0.0 and each[0].strip() not in ("", asked)]
        wordings = [(words[:MAX_WORDING_CHARACTERS], weight) for words, weight in wordings[:MAX_WORDINGS]]
        if not wordings:
            return answer
        by_meaning = answer.vector is not None
        for words, _ in wordings if by_meaning else ():
            ctx.embedding.begin(words)  # all of them at once, while the words are looked up
        found, notes = [], []
        for words, weight in wordings:
            text = self._text(ctx, answer, words)
            near, problem = self._near(ctx, answer, words) if by_meaning else (None, "")
            found.append((words, weight, text, near))
            notes += [problem] if problem else []
        return replace(answer, expanded=tuple(found)).noted(*dict.fromkeys(notes))

    def _text(self, ctx: CallContext, answer: Answer, words: str) -> TextMatches | None:
        ask, terms = answer.ask, query_terms(words)
        if not terms:
            return None
        query = TextQuery(terms=terms, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses)
        return ctx.store.search_text(ctx.viewer, ask.when, query, limit=max(self.leads, ask.limit))

    def _near(self, ctx: CallContext, answer: Answer, words: str) -> tuple[VectorMatches | None, str]:
        ask, model = answer.ask, ctx.embedding.model
        data, problem = ctx.embedding.query(words)
        if data is None or model is None:
            return None, problem
        query = VectorQuery(
            model=model, data=data, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses
        )
        return ctx.store.search_vector(ctx.viewer, ask.when, query, limit=max(self.leads, ask.limit)), ""


class ScoreWordings(Struct, frozen=True):
    """A part for results of other wordings by words: at most `share` of the best score so far, times their weight.

    For the default recipe, after all parts of the question itself.
    """

    share: float = 0.1  # measured: more costs first places on short questions
    name: str = "wordings"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if not answer.expanded or not pool.nodes:
            return answer
        places = pool.places
        raw = np.zeros(len(pool.nodes))
        told: dict[int, str] = {}
        for words, weight, text, _ in answer.expanded:
            best = max((hit.score for hit in text.hits), default=0.0) if text is not None else 0.0
            for hit in text.hits if text is not None and best > 0.0 else ():
                at = places.get(hit.node.id, places.get(hit.node.whole or "", -1))
                if at >= 0 and weight * hit.score / best > raw[at]:
                    raw[at] = weight * hit.score / best
                    told[at] = f"found by {words!r}"
        if not raw.any():
            return answer
        top = float(pool.scores().max(initial=0.0)) or 1.0
        return replace(answer, pool=pool.with_part("expansion", raw, self.share * top, lambda at: told.get(at, "")))
