"""All memories of a time or of a kind, for a question that asks to have them listed: no word of theirs is in it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextQuery
from weft.core.types import Find
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.sources.gather import joined
from weft.runtime.call_context import CallContext
from weft.text.extract.question.kinds_asked import WORDS_OF, tells_kind
from weft.text.extract.question.time_frame import TimeFrame, read_times
from weft.text.lexical import query_terms

TOLD: Final = 60  # notes that tell a kind in their own words


class Listing(Struct, frozen=True):
    """Adds the latest memories of the listed kind and time. Where there is none of the kind, none is asked for."""

    name: str = "listed"
    most: int = 300

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        frame, ask = answer.frame, answer.ask
        if frame.frame != "listing" or ask.kinds is not None:
            return answer
        begins = _hull(frame)
        kinds = (frame.kind,) if frame.kind else tuple(sorted(DATED_KINDS))
        find = Find(kinds=kinds, projects=ask.projects, focuses=ask.focuses, begins=begins)
        nodes = ctx.store.find(ctx.viewer, ask.when, find, limit=self.most).nodes
        if len(nodes) == self.most:
            answer = answer.noted(f"only the {self.most} that were written last are looked at: ask for a shorter time")
        ids = [node.id for node in nodes]
        if told := WORDS_OF.get(frame.kind):
            words = TextQuery(
                terms=tuple(query_terms(told)),
                projects=ask.projects,
                kinds=("Memory",),
                focuses=ask.focuses,
                begins=begins,
            )
            ids += [hit.node.id for hit in ctx.store.search_text(ctx.viewer, ask.when, words, limit=TOLD).hits]
        answer = replace(answer, pool=joined(ctx, answer, ids))
        there = not frame.kind or any(is_of_kind(node.kind, node.text, frame.kind) for node in answer.pool.nodes)
        return answer if there else replace(answer, frame=read_times(answer.query, answer.windows))


def is_of_kind(kind: str, text: str, wanted: str) -> bool:
    """Whether it is of a kind, or a note that tells something of it."""
    return kind == wanted or (kind == "Memory" and tells_kind(text, wanted))


def _hull(frame: TimeFrame) -> tuple[int, int] | None:
    if not frame.windows:
        return None
    return min(each.begin_us for each in frame.windows), max(each.end_us for each in frame.windows)
