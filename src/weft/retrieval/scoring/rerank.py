"""Reranking: the best candidates are read beside the question by a model, and reordered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Misconfigured, ModelError, WeftError
from weft.core.ports import Reranker
from weft.core.types import NodeVersion
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.runtime.call_context import CallContext
from weft.text.lexical import text_to_embed

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

PARTS_READ: Final = 3  # of a session or a file: those that were found and are nearest
STEP: Final = 1e-9  # of the best score, between neighbours


class Rerank(Struct, frozen=True):
    """Reorders the best `among` by (1 - weight) x their score + weight x the reranker's.

    Both scaled to 0 to 1 over the rows it scored. Its own reranker, else the caller's; without any, nothing changes. A
    failure leaves the order as it was, with a note. It gets only texts that the viewer may see, at most `characters` of
    each: of a long text the surroundings of the nearest place.
    """

    name: str = "rerank"
    reranker: Reranker | None = None
    among: int = 50
    weight: float | None = None
    characters: int = 2_000

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        reranker = self.reranker if self.reranker is not None else ctx.reranker
        if reranker is None or self.weight == 0.0:
            return answer
        weight = self.weight if self.weight is not None else reranker.weight
        if not 0.0 <= weight <= 1.0:
            raise Misconfigured(f"a reranker's weight is from 0 to 1, not {weight}")
        rows = self._rows(answer.pool)[: reranker.most]
        texts = self._texts(ctx, answer, rows)
        rows, texts = _with_words(rows, texts)
        if len(rows) < 2:
            return answer
        try:
            said = _checked(reranker.rank(answer.query, texts), len(rows))
        except WeftError as problem:
            return answer.noted(f"the reranker failed, so its step was skipped: {problem.message}")
        scored = {row: score for row, score in zip(rows, said, strict=True) if score is not None}
        if len(scored) < len(rows):
            answer = answer.noted(
                f"the reranker scored only {len(scored)} of {len(rows)} hits: the others keep their places"
            )
        return replace(answer, pool=_dealt(answer.pool, scored, weight, reranker)) if scored else answer

    def _rows(self, pool: Pool) -> list[int]:
        """The best rows, best first, as `Rank` orders them. A row whose id is the question needs no second reading."""
        scores = pool.scores().tolist()
        itself = {at for part in pool.parts if part.name == "id" for at in range(len(scores)) if part.values[at] > 0.0}
        good = [at for at, score in enumerate(scores) if score > 0.0 and at not in itself]
        return sorted(good, key=lambda at: (-scores[at], -pool.nodes[at].row))[: self.among]

    def _texts(self, ctx: CallContext, answer: Answer, rows: Sequence[int]) -> list[str]:
        """The text of each row: its own words, or those of the found parts of a session or file."""
        pool = answer.pool
        found: dict[int, list[str]] = {}
        for at in rows:
            leads = [lead for lead in pool.leads[at] if lead.id != pool.nodes[at].id]
            leads.sort(key=lambda lead: -pool.best_sentence(lead.content_hash))
            found[at] = sorted({lead.id: None for lead in leads[:PARTS_READ]})
        ids = tuple({part: None for parts in found.values() for part in parts})
        read = {node.id: node for node in ctx.store.nodes(ctx.viewer, answer.ask.when, ids)} if ids else {}
        return [self._text(pool, at, [read[part] for part in found[at] if part in read]) for at in rows]

    def _text(self, pool: Pool, at: int, parts: Sequence[NodeVersion]) -> str:
        node = pool.nodes[at]
        if not parts:
            return _excerpt(pool, node, self.characters)
        said = [_excerpt(pool, part, self.characters // len(parts)) for part in parts]
        return "\n".join([node.name, *said] if node.name else said)[: self.characters]


def _excerpt(pool: Pool, node: NodeVersion, characters: int) -> str:
    """A node's words, name first; of a long body the surroundings of its nearest sentence."""
    body, near = node.text, pool.nearness.get(node.content_hash)
    if len(body) > characters and near is not None and near.parts:
        start, end, _ = max(near.parts, key=lambda part: part[2])
        first = max(0, min((start + end - characters) // 2, len(body) - characters))
        body = body[first : first + characters]
    return text_to_embed(node.name, node.summary, body)[:characters]


def _with_words(rows: Sequence[int], texts: Sequence[str]) -> tuple[list[int], list[str]]:
    kept = [(row, text) for row, text in zip(rows, texts, strict=True) if text.strip()]
    return [row for row, _ in kept], [text for _, text in kept]


def _checked(scores: Sequence[float | None], count: int) -> Sequence[float | None]:
    """The scores, as the port promises them. Raises ModelError for any others: rerankers come from outside too."""
    if len(scores) != count:
        raise ModelError(f"it gave {len(scores)} scores for {count} texts")
    if not all(score is None or math.isfinite(score) for score in scores):
        raise ModelError("it gave a score that is not finite")
    return scores


def _dealt(pool: Pool, scored: dict[int, float], weight: float, reranker: Reranker) -> Pool:
    """The pool with a part that distributes the scores of the scored rows anew among these rows, best first.

    The set of scores stays the same, so a row that was not scored keeps its place, and none comes above a reranked one:
    a lowered row takes the score of another reranked row. Equal scores are separated by small steps upwards, and the
    lowest is one step above where it was, so that the new order also holds against equal rows outside.
    """
    import numpy as np

    rows = list(scored)  # in the order so far
    before = pool.scores()[rows]
    blended = (1.0 - weight) * _from_0_to_1(before) + weight * _from_0_to_1(np.array([*scored.values()]))
    step = STEP * float(before.max())
    places = np.sort(before)  # upwards
    below = float(places[0])
    raw = np.zeros(len(pool.nodes))
    order = np.argsort(-blended, kind="stable")
    for at, place in zip(order[::-1].tolist(), places.tolist(), strict=True):
        below = max(place, below) + step
        raw[rows[at]] = below - before[at]
    ranks = {row: rank for rank, row in enumerate(sorted(rows, key=lambda row: -scored[row]), start=1)}

    def detail(at: int) -> str:
        if at not in scored:
            return ""
        said = f"{scored[at]:.3g}, rank {ranks[at]} of {len(rows)}, weight {weight:g}"
        return f"{reranker.name} ({reranker.strategy}): {said}"

    return pool.with_part("rerank", raw, 1.0, detail)


def _from_0_to_1(values: Column) -> Column:
    """The values scaled from their least to their most; all 0 where they are equal."""
    import numpy as np

    values = np.asarray(values, np.float64)
    values = values / (float(np.abs(values).max()) or 1.0)  # first: the range of very large values may be infinite
    least, most = float(values.min()), float(values.max())
    return np.asarray((values - least) / (most - least) if most > least else np.zeros(len(values)))
