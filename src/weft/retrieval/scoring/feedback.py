"""Feedback: memories found useful rank higher, wrong ones lower, and so do memories with the same cues.

Feedback is kept as records that point at a memory (see `weft.writing.feedback`). Without feedback on any candidate and
without cues, the answer is returned unchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import FEEDBACK_KIND, FEEDBACK_RELATION, MULTIPLIERS
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.scoring.factors import DAY_US, asked_by_id, best_rows, still_shown
from weft.runtime.call_context import CallContext

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

READ_OF_EACH: Final = 50  # the latest records on one memory; older ones have faded
LEAST, MOST = 0.01, 10.0  # bounds of salience
CUES: Final = ("mission", "workspace", "tool", "phase")
REACHED = 60


class FeedbackRecord(Struct, frozen=True, kw_only=True):
    """One piece of feedback on a memory."""

    at: int
    outcome: str
    multiplier: float


class Feedback(Struct, frozen=True):
    """Each score times the memory's salience, plus the share of common cues, plus its relations to reinforced ones.

    `cue` is a share of the best score, for the same cues; `spread` one of the best reinforced score, for the strongest
    relation to it (a blend of 0.8 of the rank so far and 0.2 of a walk). Weakened memories stay in the answer. A
    question that is a node's id is answered as it is.
    """

    name: str = "cognitive"
    among: int = 50
    half_life_days: float = 30.0
    cue: float = 0.25
    spread: float = 0.2 / 0.8

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool, now = answer.pool, answer.ask.when.valid_at or 0
        scores = pool.scores()
        rows = best_rows(scores, self.among)
        if not rows or asked_by_id(pool):
            return answer
        given = feedback_on(ctx, answer, rows)
        factors = np.ones(len(scores))
        for at, records in given.items():
            factors[at] = exempted(pool.nodes[at], salience(records, now, self.half_life_days))
        bonus = self.cue * float(scores.max()) * self._cues(answer, rows)
        if not bonus.any() and not (factors != 1.0).any():
            return answer
        answer, drawn = self._spread(ctx, answer, scores, factors)
        total = scores * factors + bonus + drawn
        shown = still_shown(scores, total)
        if (weighed := scores * (factors - 1.0) + (shown - total)).any():
            pool = pool.with_part(self.name, weighed, 1.0, lambda at: _told(factors[at], given.get(at, ())))
        if bonus.any():
            pool = pool.with_part("cues", bonus, 1.0, lambda at: "kept where the question is asked")
        if drawn.any():
            pool = pool.with_part("spread", drawn, 1.0, lambda at: "related to a memory found useful")
        return replace(answer, pool=pool)

    def _cues(self, answer: Answer, rows: Sequence[int]) -> Column:
        """The common share of mission, workspace, tool and phase (Jaccard index)."""
        import numpy as np

        shares = np.zeros(len(answer.pool.nodes))
        asked = _cues_of(answer.ask.cues)
        for at in rows if asked else ():
            own = _cues_of(answer.pool.nodes[at].props)
            shares[at] = len(asked & own) / len(asked | own)
        return shares

    def _spread(self, ctx: CallContext, answer: Answer, scores: Column, factors: Column) -> tuple[Answer, Column]:
        """The scores of a graph walk from the reinforced rows."""
        import numpy as np

        drawn, raised = np.zeros(len(scores)), np.flatnonzero(factors > 1.0).tolist()
        if not raised:
            return answer, drawn
        seeds = {answer.pool.nodes[at].id: float(factors[at] - 1.0) for at in raised}
        walked = ctx.store.walk(ctx.viewer, answer.ask.when, seeds, limit=REACHED)
        stays = dict(walked.scores)
        # At most the strength of the feedback, and below its own memory.
        strength = self.spread * float(scores[raised].max()) * min(1.0, max(seeds.values()))
        for at, node in enumerate(answer.pool.nodes):
            if node.id in stays and node.id not in seeds and scores[at] > 0.0:
                drawn[at] = strength * stays[node.id] / max(stays.values())
        return answer.noted(*walked.notes), drawn


def feedback_on(ctx: CallContext, answer: Answer, rows: Sequence[int]) -> dict[int, tuple[FeedbackRecord, ...]]:
    """The latest visible feedback by row, given before the time asked about."""
    places = {answer.pool.nodes[at].id: at for at in rows}
    steps = ctx.store.neighbours(
        ctx.viewer,
        answer.ask.when,
        tuple(places),
        rels=(FEEDBACK_RELATION,),
        direction="in",
        limit=READ_OF_EACH,
    )
    found: dict[int, tuple[FeedbackRecord, ...]] = {}
    for step in steps:
        if step.node.kind == FEEDBACK_KIND and (given := _given(step.node)) is not None:
            at = places[step.start]
            found[at] = (*found.get(at, ()), given)
    return found


def _given(record: NodeVersion) -> FeedbackRecord | None:
    """The values of a record; None where it has none."""
    outcome, multiplier = record.props.get("outcome"), record.props.get("multiplier")
    known = MULTIPLIERS.get(outcome) if isinstance(outcome, str) else None
    if isinstance(multiplier, int | float) and not isinstance(multiplier, bool) and multiplier > 0.0:
        known = float(multiplier)
    if known is None:
        return None
    bounded = min(max(known, LEAST), MOST)
    return FeedbackRecord(at=record.interval.valid_from, outcome=str(outcome or "feedback"), multiplier=bounded)


def salience(given: Sequence[FeedbackRecord], now: int, half_life_days: float = 30.0) -> float:
    """The product of the multipliers, each fading to 1 with age: m to the power of 0.5 ^ (days / half-life).

    Old feedback no longer counts, so a memory confirmed a year ago is not worse off than one without feedback. Bounded;
    without feedback exactly 1.
    """
    shares = [0.5 ** (max(0, now - each.at) / DAY_US / half_life_days) for each in given]
    product = math.prod(math.pow(each.multiplier, share) for each, share in zip(given, shares, strict=True))
    return min(max(product, LEAST), MOST)


def exempted(node: NodeVersion, weight: float) -> float:
    """A weight that never weakens pinned or accepted memories."""
    return max(1.0, weight) if is_pinned(node) or node.props.get("status") == "accepted" else weight


def is_pinned(node: NodeVersion) -> bool:
    """Whether a node is pinned."""
    return node.props.get("pinned") is True


def _cues_of(told: Mapping[str, object]) -> frozenset[tuple[str, str]]:
    values = ((cue, told.get(cue)) for cue in CUES)
    return frozenset(
        (cue, value.strip().casefold()) for cue, value in values if isinstance(value, str) and value.strip()
    )


def _told(factor: float, given: Sequence[FeedbackRecord]) -> str:
    if not given:
        return "has the cues of a memory found useful"
    outcomes = Counter(each.outcome for each in given)
    said = ", ".join(f"{outcome} {count} x" for outcome, count in sorted(outcomes.items()))
    return f"salience {factor:.3f}: {said}"
