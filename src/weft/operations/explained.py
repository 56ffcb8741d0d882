"""What `explain` tells of a node; and where the graph cannot be read, what the log's own answer tells of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from weft.instants import to_iso
from weft.operations.showing import NodeShown, show_node
from weft.retrieval.pipeline import Answer, Sighting, Source, StageTrace

Verdict = Literal["answered", "beyond the limit", "too weak", "dropped", "not chosen", "not found", "not asked about"]
NOT_IN_LOG = "the log's own answer has no such node"


class Found(Struct, frozen=True, kw_only=True):
    """A source that found the node: at which place, of how many, with what score of its own."""

    source: str
    place: int
    of: int
    score: float


class Kept(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hit of a receipt: its place, its score, and what that was made of."""

    rank: int
    id: str
    score: float
    why: tuple[Source, ...] = ()


class Explained(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a node came in an answer and why.

    `verdict` says it in a word, `reason` in a sentence. `rank` counts among all candidates, `of` so many; the parts in
    `why` add up to `score`. `found_by` are the sources that found it, `seen` the views of the graph that lead to it;
    `came_in` and `lost_at` name stages. For a receipt `kept` holds its hits. `degraded` says why the graph could not
    answer and the log did.
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
    why: tuple[Source, ...] = ()
    found_by: tuple[Found, ...] = ()
    seen: tuple[Sighting, ...] = ()
    came_in: str = ""
    lost_at: str = ""
    kept: tuple[Kept, ...] = ()
    stages: tuple[StageTrace, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def explained_by_log(answer: Answer, written: str) -> Explained:
    """Where a node, by its id, name or citation, came in an answer from the log."""
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
        notes=tuple(dict.fromkeys(answer.notes)),
    )
