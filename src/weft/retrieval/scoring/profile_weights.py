"""Counts each source as a profile says, against `balanced`, which is how the recipe is tuned.

part = weight · (profile's weight of its source / balanced's) · raw
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool, ScorePart
from weft.retrieval.profiles import BALANCED, PART_SOURCES, Profile
from weft.runtime.call_context import CallContext


class Weigh(Struct, frozen=True):
    """After all stages that score, before scores are put on one scale. Balanced leaves the pool as it is."""

    profile: Profile = BALANCED
    name: str = "weigh"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        pool = answer.pool
        factors = {part.name: _factor(self.profile, part.name) for part in pool.parts}
        bonus = self.profile.traversal_bonus - BALANCED.traversal_bonus
        if not pool.nodes or (not bonus and all(factor == 1.0 for factor in factors.values())):
            return answer
        name = self.profile.name
        parts = tuple(_times(part, factors[part.name], name) for part in pool.parts)
        return replace(answer, pool=_with_bonus(replace(pool, parts=parts), bonus, name))


def _factor(profile: Profile, part: str) -> float:
    source = PART_SOURCES.get(part, "adjusted")
    return 1.0 if source == "adjusted" else profile.of(source) / BALANCED.of(source)


def _times(part: ScorePart, factor: float, profile: str) -> ScorePart:
    if factor == 1.0:
        return part
    told = f"x {factor:.2f} by profile {profile}"
    detail: Callable[[int], str] | None = part.detail

    def words(at: int) -> str:
        before = detail(at) if detail is not None else ""
        return f"{before}; {told}" if before else told

    return replace(part, weight=part.weight * factor, detail=words)


def _with_bonus(pool: Pool, bonus: float, profile: str) -> Pool:
    """Scales the bonus from relations, to at most the relation's own contribution."""
    import numpy as np

    given = [part.values for part in pool.parts if PART_SOURCES.get(part.name) == "traversal"]
    if not bonus or not given:
        return pool
    raw = np.clip(np.sum(given, axis=0), 0.0, 1.0)
    if not raw.any():
        return pool
    return pool.with_part("traversal bonus", raw, bonus, lambda at: f"reached by relations; profile {profile}")
