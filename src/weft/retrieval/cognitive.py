"""What was found useful before ranks higher, and what was found wrong ranks lower; so does what stands where one is.

Feedback is kept as records that point at a memory (see `weft.operations.feedback`). With no feedback on anything that
was found and no cues given, the answer is returned as it came, to the bit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.loom import Loom
from weft.retrieval.factors import DAY_US, asked_by_id, best_rows, still_shown
from weft.retrieval.pipeline import Answer
from weft.types import NodeVersion

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

MULTIPLIERS: Final[Mapping[str, float]] = {"confirmed": 1.5, "surfaced": 1.05, "promoted": 2.0, "invalidated": 0.2}
FEEDBACK_KIND: Final = "Feedback"
FEEDBACK_RELATION: Final = "ABOUT"
READ_OF_EACH: Final = 50  # the latest records on one memory; older ones have faded
LEAST, MOST = 0.01, 10.0  # bounds of salience
CUES: Final = ("mission", "workspace", "tool", "phase")
REACHED = 60


class Given(Struct, frozen=True, kw_only=True):
    """One piece of feedback on a memory."""

    at: int
    outcome: str
    multiplier: float


class Cognitive(Struct, frozen=True):
    """Each score times the memory's salience, plus what its cues share with the asker's, plus what it is joined to.

    `cue` is a share of the best score, for the same cues; `spread` one of the best that was reinforced, for the
    strongest tie to it (a blend of 0.8 of the rank so far and 0.2 of a walk). What weighs less stays in the answer. A
    question that is a node's id is answered as it is.
    """

    name: str = "cognitive"
    among: int = 50
    half_life_days: float = 30.0
    cue: float = 0.25
    spread: float = 0.2 / 0.8

    def __call__(self, loom: Loom, answer: Answer) -> Answer:
        import numpy as np

        pool, now = answer.pool, answer.ask.when.valid_at or 0
        scores = pool.scores()
        rows = best_rows(scores, self.among)
        if not rows or asked_by_id(pool):
            return answer
        given = feedback_on(loom, answer, rows)
        factors = np.ones(len(scores))
        for at, records in given.items():
            factors[at] = exempted(pool.nodes[at], salience(records, now, self.half_life_days))
        bonus = self.cue * float(scores.max()) * self._cues(answer, rows)
        if not bonus.any() and not (factors != 1.0).any():
            return answer
        answer, drawn = self._spread(loom, answer, scores, factors)
        total = scores * factors + bonus + drawn
        shown = still_shown(scores, total)
        if (weighed := scores * (factors - 1.0) + (shown - total)).any():
            pool = pool.with_part(self.name, weighed, 1.0, lambda at: _told(factors[at], given.get(at, ())))
        if bonus.any():
            pool = pool.with_part("cues", bonus, 1.0, lambda at: "kept where the question is asked")
        if drawn.any():
            pool = pool.with_part("spread", drawn, 1.0, lambda at: "joined to what was found useful")
        return replace(answer, pool=pool)

    def _cues(self, answer: Answer, rows: Sequence[int]) -> Column:
        """How much of the asker's mission, workspace, tool and phase is the memory's too: Jaccard's share."""
        import numpy as np

        shares = np.zeros(len(answer.pool.nodes))
        asked = _cues_of(answer.ask.cues)
        for at in rows if asked else ():
            own = _cues_of(answer.pool.nodes[at].props)
            shares[at] = len(asked & own) / len(asked | own)
        return shares

    def _spread(self, loom: Loom, answer: Answer, scores: Column, factors: Column) -> tuple[Answer, Column]:
        """What a walk from the reinforced rows brings to the others; with none, nothing is walked."""
        import numpy as np

        drawn, raised = np.zeros(len(scores)), np.flatnonzero(factors > 1.0).tolist()
        if not raised:
            return answer, drawn
        seeds = {answer.pool.nodes[at].id: float(factors[at] - 1.0) for at in raised}
        walked = loom.store.walk(loom.viewer, answer.ask.when, seeds, limit=REACHED)
        stays = dict(walked.scores)
        # As strong as the feedback is, and below what it is about: to have been seen once says little of the rest.
        strength = self.spread * float(scores[raised].max()) * min(1.0, max(seeds.values()))
        for at, node in enumerate(answer.pool.nodes):
            if node.id in stays and node.id not in seeds and scores[at] > 0.0:
                drawn[at] = strength * stays[node.id] / max(stays.values())
        return answer.noted(*walked.notes), drawn


def feedback_on(loom: Loom, answer: Answer, rows: Sequence[int]) -> dict[int, tuple[Given, ...]]:
    """By row, the latest feedback that the viewer may see and that had been given by the moment asked about."""
    places = {answer.pool.nodes[at].id: at for at in rows}
    steps = loom.store.neighbours(
        loom.viewer,
        answer.ask.when,
        tuple(places),
        rels=(FEEDBACK_RELATION,),
        direction="in",
        limit=READ_OF_EACH,
    )
    found: dict[int, tuple[Given, ...]] = {}
    for step in steps:
        if step.node.kind == FEEDBACK_KIND and (given := _given(step.node)) is not None:
            at = places[step.start]
            found[at] = (*found.get(at, ()), given)
    return found


def _given(record: NodeVersion) -> Given | None:
    """A record as it says of itself; None where it says nothing that counts."""
    outcome, multiplier = record.props.get("outcome"), record.props.get("multiplier")
    known = MULTIPLIERS.get(outcome) if isinstance(outcome, str) else None
    if isinstance(multiplier, int | float) and not isinstance(multiplier, bool) and multiplier > 0.0:
        known = float(multiplier)
    if known is None:
        return None
    bounded = min(max(known, LEAST), MOST)
    return Given(at=record.interval.valid_from, outcome=str(outcome or "feedback"), multiplier=bounded)


def salience(given: Sequence[Given], now: int, half_life_days: float = 30.0) -> float:
    """The product of the multipliers, each fading to 1 as it ages: m to the power of 0.5 ^ (days / half-life).

    Fresh feedback counts in full and old feedback no more, so that a memory confirmed a year ago is never worse off
    than one that nobody spoke of. Bounded; without feedback exactly 1.
    """
    shares = [0.5 ** (max(0, now - each.at) / DAY_US / half_life_days) for each in given]
    product = math.prod(math.pow(each.multiplier, share) for each, share in zip(given, shares, strict=True))
    return min(max(product, LEAST), MOST)


def exempted(node: NodeVersion, weight: float) -> float:
    """A weight that never weakens what is pinned or accepted."""
    return max(1.0, weight) if is_pinned(node) or node.props.get("status") == "accepted" else weight


def is_pinned(node: NodeVersion) -> bool:
    """Whether somebody pinned it."""
    return node.props.get("pinned") is True


def _cues_of(told: Mapping[str, object]) -> frozenset[tuple[str, str]]:
    values = ((cue, told.get(cue)) for cue in CUES)
    return frozenset(
        (cue, value.strip().casefold()) for cue, value in values if isinstance(value, str) and value.strip()
    )


def _told(factor: float, given: Sequence[Given]) -> str:
    if not given:
        return "kept beside what was found useful"
    outcomes = Counter(each.outcome for each in given)
    said = ", ".join(f"{outcome} {count} x" for outcome, count in sorted(outcomes.items()))
    return f"salience {factor:.3f}: {said}"
