"""Past values of the facts that were found: where Ana lived before, for a question about the past."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.clock import MIN_INSTANT_US
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import ScorePart
from weft.retrieval.scoring.factors import best_rows
from weft.runtime.call_context import CallContext
from weft.text.extract.question.question_names import names_in

FACTS: Final = 5  # of the best rows, whose slots are looked at
MAX_VALUES: Final = 20  # of one slot
NAMED: Final = 0.02  # more for a value that the question names


class PastValues(Struct, frozen=True):
    """Adds the ended values of a found fact's slot, with the scores of the one that was found."""

    name: str = "past_values"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool = answer.pool
        if answer.frame.frame in ("any", "now", "listing") or not pool.nodes:
            return answer
        scores = pool.scores()
        facts = [at for at in best_rows(scores, answer.ask.limit) if pool.nodes[at].kind == "Fact"][:FACTS]
        known = {node.id for node in pool.nodes}
        found: dict[str, tuple[NodeVersion, int]] = {}
        for at in facts:
            for node in ctx.store.current_in_slot(
                ctx.viewer, pool.nodes[at].slot, after=MIN_INSTANT_US, limit=MAX_VALUES
            ):
                if node.id not in known and node.interval.valid_to is not None:
                    found.setdefault(node.id, (node, at))
        if not found:
            return answer
        nodes, beside = [node for node, _ in found.values()], [at for _, at in found.values()]
        rows = [*range(len(scores)), *beside]
        pool = pool.extended(nodes, [()] * len(nodes), {})
        pool = replace(pool, parts=tuple(_like(part, rows) for part in pool.parts))
        raw = np.zeros(len(rows))
        for at in range(len(scores), len(rows)):
            old, current = pool.nodes[at].text, pool.nodes[rows[at]].text
            if any(name in old and name not in current for name in names_in(answer.query)):
                raw[at] = NAMED
        pool = pool.with_part(self.name, raw, 1.0, lambda at: "an earlier value, which the question names")
        evidence = answer.evidence
        if evidence is not None:
            evidence = evidence[rows]
        return replace(answer, pool=pool, evidence=evidence)


def _like(part: ScorePart, rows: list[int]) -> ScorePart:
    """A column in which each added row gets the value of the row that led to it."""

    def of(column: Any) -> Any:
        return column[rows] if getattr(column, "ndim", 0) else column

    detail = part.detail
    told = None if detail is None else lambda at: detail(rows[at])
    return replace(part, raw=of(part.raw), weight=of(part.weight), detail=told)
