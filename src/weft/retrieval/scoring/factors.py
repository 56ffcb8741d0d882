"""Functions of stages that adjust scores: the best rows, dropping rows, and keeping rows above the cut."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

DAY_US: Final = 86_400_000_000
TAIL: Final = 0.1  # the share of the best below which `rank` cuts
ABOVE: Final = 1e-3  # of its own score that a row keeps above the cut: its order among such rows


def best_rows(scores: Column, most: int) -> list[int]:
    """The rows that score anything, best first."""
    import numpy as np

    return [int(at) for at in np.argsort(-scores, kind="stable")[:most] if scores[at] > 0.0]


def still_shown(before: Column, after: Column) -> Column:
    """Scores `after` an adjustment, none below the cut that was above it `before`.

    Weakening a memory ranks it lower and never drops it; nor may a raised one push others out.
    """
    import numpy as np

    if not len(after):
        return after
    shown = before > TAIL * before.max()
    least = TAIL * (after.max() + ABOVE * np.maximum(after, 0.0))
    return np.where(shown, np.maximum(after, least), after)


def without_rows(answer: Answer, gone: Collection[int]) -> Answer:
    """The answer without these rows and their evidence."""
    rows = [row for row in range(len(answer.pool.nodes)) if row not in gone]
    evidence = answer.evidence[rows] if answer.evidence is not None else None
    return replace(answer, pool=answer.pool.only(rows), evidence=evidence)


def asked_by_id(pool: Pool) -> frozenset[int]:
    """The row whose id is the question, if there is one."""
    import numpy as np

    return frozenset(int(at) for part in pool.parts if part.name == "id" for at in np.flatnonzero(part.raw > 0.0))
