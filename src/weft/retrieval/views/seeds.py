"""Seeds of the views: the entities, events and causes that the best matches are, or lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from weft.core.types import NodeVersion
from weft.retrieval.judging.evidence import HELD, evidence
from weft.retrieval.pipeline import Answer
from weft.retrieval.views.shared import CROSS_VIEW, ENTITY_KINDS, GraphReader, SeenNode, as_seed, onward

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

TOLD_OF: Final = frozenset({"Event", "Memory", "Decision", "Episode"})  # kinds that causes refer to
OF_WEAK: Final = 3  # taken where none scores enough


class ViewSeeds(Struct, frozen=True, kw_only=True):
    """The seeds by view. `links` are the entities of each match, by its id; `steps` counts relations followed."""

    entities: tuple[SeenNode, ...] = ()
    events: tuple[SeenNode, ...] = ()
    causes: tuple[SeenNode, ...] = ()
    links: Mapping[str, tuple[str, ...]] = {}
    steps: int = 0

    @property
    def any(self) -> bool:
        return bool(self.entities or self.events or self.causes)


def best_matches(
    matches: Iterable[tuple[NodeVersion, float]], *, top: int, least: float
) -> tuple[list[tuple[NodeVersion, float]], tuple[str, ...]]:
    """The first `top` rows with enough score, best first; if there are none, the first few, with a note."""
    ranked = list(matches)
    strong = [(node, score) for node, score in ranked if score >= least][:top]
    if strong or not ranked:
        return strong, ()
    weak = ranked[: min(OF_WEAK, top)]
    return weak, (f"no match scores {least:g} or more: the graph is followed from the best {len(weak)}",)


def seeds_from(ground: GraphReader, nodes: Sequence[NodeVersion]) -> ViewSeeds:
    """The entities that these nodes are or are about, and those that are events or causes. At most `view_max_nodes`.

    REPRESENTS, INVOLVES and AFFECTS lead to entities; REFERS_TO to an event, and on to its entities.
    """
    by_id = {node.id: node for node in nodes}
    entities = {node.id: as_seed(node) for node in by_id.values() if node.kind in ENTITY_KINDS}
    events = {node.id: as_seed(node) for node in by_id.values() if node.kind in TOLD_OF}
    links: dict[str, dict[str, None]] = {each: {each: None} for each in entities}
    first = ground.step(list(by_id), CROSS_VIEW, direction="out")
    told: dict[str, tuple[str, SeenNode]] = {}  # event -> the match that refers to it, and the way
    for step in first:
        there = onward(as_seed(by_id[step.start]), step)
        if step.edge.rel == "REFERS_TO":
            told.setdefault(step.node.id, (step.start, there))
            events.setdefault(step.node.id, there)
        else:
            entities.setdefault(step.node.id, there)
            links.setdefault(step.start, {})[step.node.id] = None
    second = ground.step(list(told), ("INVOLVES",), direction="out")
    for step in second:
        match, event = told[step.start]
        entities.setdefault(step.node.id, onward(event, step))
        links.setdefault(match, {})[step.node.id] = None
    return ViewSeeds(
        entities=tuple(entities.values())[: ground.max_nodes],
        events=tuple(events.values())[: ground.max_nodes],
        causes=tuple(as_seed(node) for node in by_id.values() if node.kind == "Cause"),
        links={match: tuple(found) for match, found in links.items()},
        steps=len(first) + len(second),
    )


def match_scores(answer: Answer) -> Column:
    """How well each row of the pool matches, from 0 to 1: 1 where the question names it, else its evidence.

    That is its cosine plus half the share of the question's words; by words alone, the share of them.
    """
    import numpy as np

    pool = answer.pool
    shown = answer.evidence
    if shown is None or len(shown) != len(pool.nodes):
        shown = evidence(answer, pool)
    scores = np.clip(shown if answer.vector is not None else shown / HELD, 0.0, 1.0)
    for part in pool.parts:
        if part.name in ("name", "id"):
            scores = np.where(part.values > 0.0, 1.0, scores)
    return np.asarray(scores)
