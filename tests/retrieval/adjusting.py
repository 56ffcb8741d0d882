"""A few ferries to ask about, and a recipe with stages put where scores are adjusted."""

from __future__ import annotations

from typing import Any

from tests.properties.running import memory_store
from tests.retrieval.small_worlds import PROJECT, context_over
from weft.core.types import Viewer, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.judging.evidence import EnoughEvidence, Scale
from weft.retrieval.pipeline import Answer, Ask, Candidate, Stage, run
from weft.retrieval.question.understand import Understand
from weft.retrieval.scoring.rank import Rank
from weft.retrieval.scoring.words_and_meaning import WordsAndMeaning
from weft.retrieval.sources.by_meaning import SearchMeaning
from weft.retrieval.sources.by_name import SearchNames
from weft.retrieval.sources.by_time import SearchTime
from weft.retrieval.sources.by_words import SearchWords
from weft.retrieval.sources.gather import Gather
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, iso
from weft.testing.viewers import OPERATOR

QUESTION = "when does the ferry sail?"
FOUND: tuple[Stage, ...] = (
    Understand(),
    SearchWords(),
    SearchNames(),
    SearchMeaning(),
    SearchTime(),
    Gather(),
    WordsAndMeaning(),
    Scale(),
)
SHOWN: tuple[Stage, ...] = (EnoughEvidence(), Rank())


def ferry(node_id: str, text: str = "The ferry sails", *, at: int = -1, **fields: Any) -> Draft:
    """A memory that began to hold on a day; `props` and rights as given."""
    made = {"scope": "public", "project": PROJECT, "kind": "Memory", "valid_from": iso(day(at))} | fields
    return Draft(
        kind="graph.asserted", payload=graph.Asserted(nodes=(graph.NodeAssertion(id=node_id, text=text, **made),))
    )


def harbour(*drafts: Draft, viewer: Viewer = OPERATOR) -> CallContext:
    """A place where these were written. No embedder: what is said by words alone is easily worked out."""
    clock = ManualClock()
    store = memory_store(clock)
    Scribe(store, clock).write(*drafts)
    return context_over(store, clock, viewer=viewer)


def scored(ctx: CallContext, question: str = QUESTION, **options: Any) -> Answer:
    """The answer before anything is adjusted."""
    return run(FOUND, ctx, _ask(question, options))


def asked(
    ctx: CallContext, *stages: Stage, question: str = QUESTION, first: tuple[Stage, ...] = (), **options: Any
) -> Answer:
    """The answer with these stages among the others; `first` are those that follow the reading of the question."""
    return run((FOUND[0], *first, *FOUND[1:], *stages, *SHOWN), ctx, _ask(question, options))


def _ask(question: str, options: dict[str, Any]) -> Ask:
    return Ask(query=question, **{"when": When(), "limit": 10, "projects": (PROJECT, None)} | options)


def ids(answer: Answer) -> list[str]:
    return [each.node.id for each in answer.ranked or ()]


def hit(answer: Answer, node_id: str) -> Candidate:
    return next(each for each in answer.ranked or () if each.node.id == node_id)


def score(answer: Answer, node_id: str) -> float:
    return hit(answer, node_id).score


def why(answer: Answer, node_id: str, part: str) -> str:
    """What the explanation says of one part of a score."""
    return next(source.detail for source in hit(answer, node_id).sources if source.name == part)
