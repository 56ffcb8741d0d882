"""Dates the events by which a question bounds its time: "since the outage" is read as "since 2026-09-22".

The note that tells the event gives the date, and the answer says which note that was. Where no note tells it, the
answer says so: nothing can be said of what came after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import to_iso
from weft.core.errors import WeftError
from weft.core.queries import TextQuery, VectorQuery
from weft.core.types import NodeVersion
from weft.models.embedding import asked
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.question.understand import Understand
from weft.runtime.call_context import CallContext
from weft.text.extract.question.event_bounds import EventBound, event_bounds, names_event
from weft.text.extract.question.question_names import names_in
from weft.text.extract.question.time_frame import is_listing
from weft.text.extract.time.calendar import DAY_US
from weft.text.lexical import query_terms, stems, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMED: Final = 0.05  # least probability of a note with all the words of the event
MEANT: Final = 0.85  # and of one that tells it in other words
AS_SURE: Final = 0.8  # of the best probability: tells the same
BESIDE: Final = 0.5  # of its probability, for a note that only says something of the event
RETOLD_DAYS: Final = 14  # notes this near to one another tell of one event
SHOWN_CHARACTERS: Final = 90
_CLAUSE: Final = re.compile(
    r"^(?!the |our |my |his |her |their |its )(?:(?:I|we|you|he|she|they|[A-Z]\w+(?: [A-Z]\w+)?)\s+[a-z]+|\w+ing\b)",
    re.I,
)
_ARTICLES: Final = frozenset(["the", "our", "my", "his", "her", "their", "this", "that"])
_BESIDE: Final = frozenset(["of", "after", "since", "before", "from", "for", "until", "till", "about", "during"])
_LATEST: Final = frozenset(["last", "latest"])
_EARLIEST: Final = frozenset(["first"])


class EventTold(Struct, frozen=True):
    """The note that tells of an event, with the probability that it does, and whether it has all its words."""

    node: NodeVersion
    sure: float
    named: bool


class DateEvents(Struct, frozen=True):
    """Replaces the events that bound a question's time by their dates, and reads the question again.

    Where one is told by no note, nothing is searched for, unless the question asks for a value that came before or
    after another: those are found without dates.
    """

    name: str = "date_events"
    read: int = 12  # notes by words, and as many by meaning

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        if answer.question.is_report:
            return answer
        bounds = event_bounds(answer.query, answer.windows)
        if not bounds:
            return answer
        of_values = bounds[0].joint in ("after", "before") and not is_listing(answer.query, bounds)
        query, told = answer.query, []
        for bound in reversed(bounds):
            words = names_event(answer.query, bound)
            found = _told(ctx, answer, bound, words, self.read)
            if found is None:
                missing = f'no note tells when "{words}" was: ask with a date instead'
                if of_values or answer.ask.min_score is not None:
                    return answer.noted(missing)
                return replace(answer, skip=f"nothing was searched: {missing}")
            if of_values and found.named:  # its note is among the candidates: see `time_frame`
                return answer
            date = to_iso(found.node.happens_at)[:10]
            query = f"{query[: bound.start]}{date}{query[bound.stop :]}"
            told.append(f'"{words}" is taken to be {date}: {_beginning(found.node)}')
        return Understand()(ctx, replace(answer, query=query)).noted(*reversed(told))


def _told(ctx: CallContext, answer: Answer, bound: EventBound, words: str, most: int) -> EventTold | None:
    """The note that tells of the event: surest first, of the equally sure the first or last in time as it is named."""
    order = {*words.lower().split()[:3]}
    wanted = set(stems(words)) - set(stems(" ".join(_LATEST | _EARLIEST)))
    names = names_in(f"when was {words}")
    nodes = [
        node
        for node in _candidates(ctx, answer, words, most)
        if not bound.windows or any(each.begin_us <= node.happens_at < each.end_us for each in bound.windows)
        if node.happens_at <= answer.asked_at and all(name in f"{node.name} {node.text}" for name in names)
    ]
    clause = _CLAUSE.match(words) is not None
    sure = _how_sure(ctx, words, nodes, clause=clause)
    told = []
    for node in nodes:
        named = wanted <= set(stems(f"{node.name} {node.text}"))
        share = sure.get(node.id, 1.0 if named else 0.0)
        if named and not clause and _only_beside(node, wanted):
            share *= BESIDE
        if share >= (NAMED if named else MEANT):
            told.append(EventTold(node=node, sure=share, named=named))
    if not told:
        return None
    told = [each for each in told if each.named] or told
    best = max(each.sure for each in told)
    as_sure = [each for each in told if each.sure >= AS_SURE * best]
    as_sure.sort(key=lambda each: each.node.happens_at)
    if order & _EARLIEST:
        return as_sure[0]
    recent = as_sure[-1].node.happens_at - RETOLD_DAYS * DAY_US  # of several such events the last is meant
    return max((each for each in as_sure if each.node.happens_at >= recent), key=lambda each: each.sure)


def _only_beside(node: NodeVersion, wanted: Set[str]) -> bool:
    """Whether a note names the event only to say something else of it: the findings of the audit."""
    words = [word for word in tokens(f"{node.name} {node.text}") if word not in _ARTICLES]
    places = [at for at, word in enumerate(words) if not wanted.isdisjoint(stems(word))]
    return all(at > 0 and words[at - 1] in _BESIDE for at in places)


def _candidates(ctx: CallContext, answer: Answer, words: str, most: int) -> Sequence[NodeVersion]:
    """The notes nearest to the words, by words and by meaning."""
    ask, kinds = answer.ask, tuple(sorted(DATED_KINDS))
    query = TextQuery(terms=tuple(query_terms(words)), projects=ask.projects, kinds=kinds, focuses=ask.focuses)
    ids = [hit.node.id for hit in ctx.store.search_text(ctx.viewer, ask.when, query, limit=most).hits]
    data, _ = ctx.embedding.query(asked(words))
    if data is not None and ctx.embedding.model is not None:
        near = VectorQuery(
            model=ctx.embedding.model, data=data, projects=ask.projects, kinds=kinds, focuses=ask.focuses
        )
        ids += [hit.node.id for hit in ctx.store.search_vector(ctx.viewer, ask.when, near, limit=most).hits]
    return ctx.store.nodes(ctx.viewer, ask.when, tuple(dict.fromkeys(ids)))


def _how_sure(ctx: CallContext, words: str, nodes: Sequence[NodeVersion], *, clause: bool) -> Mapping[str, float]:
    """By id, the probability that a note tells when the event was: asked for, and named. Empty without a judge."""
    import numpy as np

    if ctx.judge is None or not nodes:
        return {}
    texts = [f"{node.name}: {node.text}" if node.kind == "Decision" else node.text for node in nodes]
    when = f"When was it that {words}?" if clause else f"When was {words}?"
    try:
        read = [np.clip(ctx.judge.judge(each, texts)[:, 0], 1e-3, 1.0 - 1e-3) for each in (when, f"{words}?")]
    except WeftError:  # `answers` tells it
        return {}
    odds = sum(np.log(share / (1.0 - share)) for share in read) / 2.0
    return dict(zip([node.id for node in nodes], (1.0 / (1.0 + np.exp(-odds))).tolist(), strict=True))


def _beginning(node: NodeVersion) -> str:
    text = " ".join((node.text or node.name).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS].rstrip()} …"
