"""Retention at the time of reading: nothing is removed from the log or the graph."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import MAX_INSTANT_US, parse_instant
from weft.core.errors import Invalid
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.purposes import PURPOSES
from weft.retrieval.scoring.factors import DAY_US, best_rows, still_shown, without_rows
from weft.retrieval.scoring.feedback import FeedbackRecord, feedback_on, is_pinned
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import RetentionPolicy

Policy = RetentionPolicy
READ_FEEDBACK_OF = 200
BY_EACH, AT_MOST = 0.03, 0.25  # added to a memory's weight by reinforcements


class Lasting(Struct, frozen=True, kw_only=True):
    """The policy's numbers: the half-life of a memory, and the weight of an expired one."""

    half_life_days: float
    expired_weight: float


class Retention(Struct, frozen=True):
    """`filter_expired` drops memories that expired by the time asked about; `decay` ranks older ones lower.

    Fields of None are the settings. Under `decay` nothing is dropped. An unreadable property `expires_at` is ignored,
    with a note.
    """

    name: str = "retention"
    policy: Policy | None = None
    half_life_days: float | None = None
    expired_weight: float | None = None

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        policy = self.policy or ctx.settings.retention
        if policy == "none" or not answer.pool.nodes:
            return answer
        now = answer.ask.when.valid_at or 0
        ends, unreadable = _expiries(answer.pool.nodes)
        if unreadable:
            answer = answer.noted(
                f"{unreadable} memories have an expires_at that is not a date: they are treated as never expiring"
            )
        expired = {at for at, end in ends.items() if end <= now}
        if policy == "decay":
            return self._decayed(ctx, answer, now, expired)
        if not expired:
            return answer
        kept = without_rows(replace(answer, expired=len(expired)), expired)
        return kept.noted(f"{len(expired)} expired memories are left out")

    def _decayed(self, ctx: CallContext, answer: Answer, now: int, expired: set[int]) -> Answer:
        import numpy as np

        pool, settings = answer.pool, ctx.settings
        lasting = Lasting(
            half_life_days=settings.half_life_days if self.half_life_days is None else self.half_life_days,
            expired_weight=settings.expired_weight if self.expired_weight is None else self.expired_weight,
        )
        scores = pool.scores()
        given = feedback_on(ctx, answer, best_rows(scores, READ_FEEDBACK_OF))
        told = [
            weigh(node, now, lasting, given.get(at, ()), expired=at in expired) for at, node in enumerate(pool.nodes)
        ]
        factors = np.array([factor for factor, _ in told])
        if not (factors != 1.0).any():
            return answer
        raw = still_shown(scores, scores * factors) - scores
        return replace(answer, pool=pool.with_part(self.name, raw, 1.0, lambda at: told[at][1]))


def weigh(
    node: NodeVersion, now: int, lasting: Lasting, given: Sequence[FeedbackRecord] = (), *, expired: bool = False
) -> tuple[float, str]:
    """The weight of a memory at a time, from 0 to 1, and why.

    Halved every half-life since its last reinforcement or its beginning, times its importance; every reinforcement adds
    a little. A memory kept for a purpose lasts longer, and keeps a minimum after it expired.
    """
    if is_pinned(node):
        return 1.0, "pinned"
    purpose = PURPOSES.get(str(node.props.get("purpose")))
    half_life = max(lasting.half_life_days, purpose.half_life_days if purpose else 0.0)
    helped = [each.at for each in given if each.multiplier > 1.0]
    days = max(0, now - max(helped, default=node.interval.valid_from)) / DAY_US
    importance = _importance(node)
    weight = min(1.0, 0.5 ** (days / half_life) * importance + min(AT_MOST, BY_EACH * len(helped)))
    why = f"{days:.0f} days old, half-life {half_life:.0f}, importance {importance:g}, {len(helped)} reinforcements"
    if expired:
        floor = purpose.expired_floor if purpose else 0.0
        weight = max(weight * lasting.expired_weight, floor)
        why += f", expired: x {lasting.expired_weight:g}, at least {floor:g}"
    return weight, f"{why}: x {weight:.3f}"


def _importance(node: NodeVersion) -> float:
    value = node.props.get("importance")
    return max(0.0, float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else 1.0


def expires_at(node: NodeVersion) -> int:
    """The time it expires; after all times where it does not, or where that is unreadable."""
    ends, _ = _expiries([node])
    return ends.get(0, MAX_INSTANT_US + 1)


def _expiries(nodes: Sequence[NodeVersion]) -> tuple[dict[int, int], int]:
    """The expiry times of rows, and how many are unreadable."""
    ends: dict[int, int] = {}
    unreadable = 0
    for at, node in enumerate(nodes):
        written = node.props.get("expires_at")
        if written is None:
            continue
        try:
            ends[at] = parse_instant(written if isinstance(written, str) else repr(written))
        except Invalid:
            unreadable += 1
    return ends, unreadable
