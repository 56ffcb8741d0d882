"""Maximal marginal relevance: a row similar to one above it moves down.

    next = the row with the most  balance · score / best score - (1 - balance) · likeness to the nearest above it

Likeness is the cosine of stored vectors; where a row has none, the share of stems that two texts have in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.runtime.call_context import CallContext
from weft.text.lexical import stems

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

FEWEST = 16
PER_HIT = 3
STEP = 1e-9  # by which a moved row is above the next, where their scores are equal
MAX_READ_CHARACTERS = 1_000  # of a text that is compared by its stems


class Diverse(Struct, frozen=True):
    """A new order of the best max(3 · limit, 16) by the same scores; the first stays first.

    A balance of 1 leaves the pool as it is. Rows too weak to be shown take no part.
    """

    balance: float = 0.7
    tail: float = 0.1  # of the best score, as in `rank`: moved rows are still shown
    name: str = "diverse"

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        pool, scores = answer.pool, answer.pool.scores()
        top = float(scores.max(initial=0.0))
        if self.balance >= 1.0 or top <= 0.0:
            return answer
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], -pool.nodes[at].row))
        order = [at for at in order if scores[at] > self.tail * top][: max(PER_HIT * answer.ask.limit, FEWEST)]
        alike = likeness(ctx, pool, order)
        places = _varied(scores[order] / top, alike, self.balance)
        if places == sorted(places):
            return answer
        raw = np.zeros(len(scores))
        told: dict[int, str] = {}
        given = float("inf")
        for place, moved in enumerate(places):
            at = order[moved]
            given = min(float(scores[order[place]]), given - STEP)
            raw[at] = given - scores[at]
            if moved != place:
                told[at] = f"place {moved + 1} to {place + 1}, for variety"
        return replace(answer, pool=pool.with_part(self.name, raw, 1.0, lambda at: told.get(at, "")))


def _varied(relevance: Column, alike: Column, balance: float) -> list[int]:
    """Rows in the order chosen, one by one; the first is the best."""
    import numpy as np

    chosen: list[int] = []
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), bool)
    for _ in range(len(relevance)):
        worth = np.where(left, balance * relevance - (1.0 - balance) * nearest, -np.inf)
        at = int(worth.argmax()) if chosen else 0
        chosen.append(at)
        left[at] = False
        nearest = np.maximum(nearest, alike[at])
    return chosen


def likeness(ctx: CallContext, pool: Pool, rows: list[int]) -> Column:
    """The similarity of each two of these rows, 0 to 1: by vector where both have one, else by their stems."""
    import numpy as np

    keys = [_speaks_for(pool, at) for at in rows]
    model = ctx.embedding.model
    found = ctx.store.vectors(ctx.viewer, model, tuple(dict.fromkeys(keys))) if model is not None else {}
    placed = [number for number, key in enumerate(keys) if key in found]
    alike = _by_stems(pool, rows) if len(placed) < len(rows) else np.zeros((len(rows), len(rows)))
    if placed:
        vectors = np.stack([np.frombuffer(found[keys[number]], "<f2").astype(np.float32) for number in placed])
        cosines = np.nan_to_num(vectors @ vectors.T, nan=0.0, posinf=0.0, neginf=0.0)
        alike[np.ix_(placed, placed)] = cosines
    clipped: Column = np.clip(alike, 0.0, 1.0)
    return clipped


def _speaks_for(pool: Pool, at: int) -> bytes:
    """The text by which a row is compared: of a whole its nearest part."""
    leads = pool.leads[at]
    if pool.shapes[at] not in ("session", "file") or not leads:
        return pool.nodes[at].content_hash
    return max(leads, key=lambda lead: pool.best_sentence(lead.content_hash)).content_hash


def _by_stems(pool: Pool, rows: list[int]) -> Column:
    """Stems in common, of all that either holds; 0 for rows without words."""
    import numpy as np

    held = [frozenset(stems(pool.nodes[at].text[:MAX_READ_CHARACTERS])) for at in rows]
    known = {stem: column for column, stem in enumerate(dict.fromkeys(stem for each in held for stem in each))}
    table = np.zeros((len(rows), max(len(known), 1)), np.float32)
    for number, each in enumerate(held):
        table[number, [known[stem] for stem in each]] = 1.0
    common = (table @ table.T).astype(np.float64)
    sizes = table.sum(axis=1)
    either = sizes[:, None] + sizes[None, :] - common
    shared: Column = np.divide(common, either, out=np.zeros_like(common), where=either > 0.0)
    return shared
