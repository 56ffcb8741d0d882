"""A small factor for nodes that began near the time asked about."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.scoring.factors import DAY_US
from weft.runtime.call_context import CallContext

YEAR_DAYS = 365.0


class Proximity(Struct, frozen=True):
    """Each score times 1 + weight (p - 1/2), p = 1 / (1 + days / 365) from its beginning to the time asked about.

    Without a time asked about, only where `applies` says always. `weight` is a scoring profile's temporal weight.
    """

    name: str = "proximity"
    weight: float = 0.12
    applies: Literal["as_of", "always"] = "as_of"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool, then = answer.pool, answer.ask.when.valid_at
        if not pool.nodes or then is None or not (answer.ask.as_of or self.applies == "always"):
            return answer
        days = np.array([abs(then - node.interval.valid_from) / DAY_US for node in pool.nodes])
        factors = 1.0 + self.weight * (1.0 / (1.0 + days / YEAR_DAYS) - 0.5)
        pool = pool.with_part(
            self.name,
            pool.scores() * (factors - 1.0),
            1.0,
            lambda at: f"began {days[at]:.0f} days before the time asked about: x {factors[at]:.3f}",
        )
        return replace(answer, pool=pool)
