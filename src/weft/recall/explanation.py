"""The answer of `explain`; and the explanation of an answer from the log."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.core.clock import to_iso
from weft.recall.show_values import NodeShown, show_node
from weft.retrieval.pipeline import Answer, ScoreSource, Sighting, StageTrace

Verdict = Literal["answered", "beyond the limit", "too weak", "dropped", "not chosen", "not found", "not asked about"]
NOT_IN_LOG = "the log's own answer has no such node"


class SourceFound(Struct, frozen=True, kw_only=True):
    """A source that found the node: its place there, of how many, with its own score."""

    source: str
    place: int
    of: int
    score: float


class ReceiptHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hit of a receipt: its place, its score, and the parts of that."""

    rank: int
    id: str
    score: float
    why: tuple[ScoreSource, ...] = ()


class Explained(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The rank of a node in an answer, and the reasons.

    `verdict` is one word, `reason` a sentence. `rank` counts among all candidates, `of` so many; the parts in `why` add
    up to `score`. `found_by` are the sources that found it, `seen` the views of the graph that lead to it; `came_in`
    and `lost_at` name stages. For a receipt `kept` holds its hits. `degraded` says why the log was searched instead of
    the graph.
    """

    query: str
    verdict: str
    reason: str
    valid_at: str
    known_at: str
    rank: int | None = None
    of: int = 0
    score: float = 0.0
    node: NodeShown | None = None
    why: tuple[ScoreSource, ...] = ()
    found_by: tuple[SourceFound, ...] = ()
    seen: tuple[Sighting, ...] = ()
    came_in: str = ""
    lost_at: str = ""
    kept: tuple[ReceiptHit, ...] = ()
    stages: tuple[StageTrace, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def explained_by_log(answer: Answer, written: str) -> Explained:
    """The rank of a node, by its id, name or citation, in an answer from the log."""
    ranked, when = answer.ranked or (), answer.ask.when
    known_as = [(each.node.id, each.node.name, answer.citations.get(each.node.event)) for each in ranked]
    at = next((at for at, names in enumerate(known_as) if written in names), None)
    found = None if at is None else ranked[at]
    return Explained(
        query=answer.ask.query,
        verdict="not found" if at is None else "answered",
        reason=NOT_IN_LOG if at is None else f"it is number {at + 1} of {len(ranked)} answers",
        valid_at=to_iso(when.valid_at or 0),
        known_at=to_iso(when.known_at or 0),
        rank=None if at is None else at + 1,
        of=len(ranked),
        score=0.0 if found is None else found.score,
        node=None if found is None else show_node(found.node, answer.citations),
        why=() if found is None else found.sources,
        stages=answer.trace,
        degraded=answer.degraded,
        notes=tuple(dict.fromkeys(filter(None, (*answer.notes, answer.refused)))),
    )
