"""A few ferries to ask about, and a recipe with stages put where scores are adjusted."""

from __future__ import annotations

from typing import Any

from tests.properties.running import memory_store

from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.retrieval.dated import Dated
from weft.retrieval.enough import Enough, Scale
from weft.retrieval.gated import Gated
from weft.retrieval.gather import Gather
from weft.retrieval.naming import Names
from weft.retrieval.pipeline import Answer, Ask, Candidate, Stage, run
from weft.retrieval.rank import Rank
from weft.retrieval.text import Text
from weft.retrieval.understand import Understand
from weft.retrieval.vector import Vector
from weft.testing.clock import ManualClock, day
from weft.testing.scribe import Scribe, iso
from weft.testing.viewers import OPERATOR
from weft.types import Viewer, When

from .small_worlds import PROJECT, loom_over

QUESTION = "when does the ferry sail?"
FOUND: tuple[Stage, ...] = (Understand(), Text(), Names(), Vector(), Dated(), Gather(), Gated(), Scale())
SHOWN: tuple[Stage, ...] = (Enough(), Rank())


def ferry(node_id: str, text: str = "The ferry sails", *, at: int = -1, **fields: Any) -> Draft:
    """A memory that began to hold on a day; `props` and rights as given."""
    made = {"scope": "public", "project": PROJECT, "kind": "Memory", "valid_from": iso(day(at))} | fields
    return Draft(
        kind="graph.asserted", payload=graph.Asserted(nodes=(graph.NodeAssertion(id=node_id, text=text, **made),))
    )


def harbour(*drafts: Draft, viewer: Viewer = OPERATOR) -> Loom:
    """A place where these were written. No embedder: what is said by words alone is easily worked out."""
    clock = ManualClock()
    store = memory_store(clock)
    Scribe(store, clock).write(*drafts)
    return loom_over(store, clock, viewer=viewer)


def scored(loom: Loom, question: str = QUESTION, **options: Any) -> Answer:
    """The answer before anything is adjusted."""
    return run(FOUND, loom, _ask(question, options))


def asked(
    loom: Loom, *stages: Stage, question: str = QUESTION, first: tuple[Stage, ...] = (), **options: Any
) -> Answer:
    """The answer with these stages among the others; `first` are those that follow the reading of the question."""
    return run((FOUND[0], *first, *FOUND[1:], *stages, *SHOWN), loom, _ask(question, options))


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
