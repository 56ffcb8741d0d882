"""Other ways to make one score of many lists, instead of the gated recipe's own stages. Right after `gather`.

    weighted   w1 · vector + w2 · text, each from 0 (the last of its list) to 1 (the best)
    rrf        (k + 1) / lists · sum of 1 / (k + rank) over the lists: 1 for the first of all of them
    profile    best + .5 · (1 - Π (1 - other)) + temporal · in time + bonus · traversal

with, in `profile`, every source's share (0 to 1) times what the profile counts it for. The best source counts fully:
what only one of them knows is not pushed down by those that cannot know it. The others together add at most a half, so
scores stay between 0 and about 1.7 and can be compared, however many sources there are.

A list that is not there (no vectors, no text index) takes no part: the others count as if they were all.
A whole (a session, a file) scores by its best part. A question that is an id means that node, above all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Invalid
from weft.core.queries import Lead
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.profiles import BALANCED, MAX_WEIGHT, SOURCE_NAMES, Profile, SourceName
from weft.retrieval.sources.gather import joined
from weft.retrieval.sources.graph_walk import ONLY_NESTED, REACHED, SEEDS
from weft.retrieval.sources.name_links import HEADING, SINGLE_WORD
from weft.runtime.call_context import CallContext
from weft.text.extract.question.intent import RetrievalClass

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

Strategy = Literal["weighted", "rrf", "profile"]
STRATEGIES: Final[tuple[Strategy, ...]] = ("weighted", "rrf", "profile")
CLASS_WEIGHTS: Final[Mapping[RetrievalClass, tuple[float, float]]] = {  # vector, text
    "entity": (0.85, 0.15),
    "temporal": (0.3, 0.7),
    "event": (0.0, 1.0),
    "general": (0.7, 0.3),
    "none": (0.7, 0.3),
}
AGREEING: Final = 0.5  # of a score from all sources but the best together
OWN_PARTS: Final = frozenset({*SOURCE_NAMES, "traversal bonus"})
ITSELF: Final = 2.0  # more than any other score
SURE: Final = 0.5  # the least score from which relations are followed


class SourceList(Struct, frozen=True, kw_only=True):
    """The results of one source in the pool: its score by row, and the place from 1; 0 for other rows."""

    source: SourceName
    raw: Column
    ranks: Column
    told: Mapping[int, str] = {}

    def shares(self) -> Column:
        """From 0 for the last to 1 for the best; 1 for all where all are equal, or there is only one."""
        import numpy as np

        held = self.ranks > 0
        if not held.any():
            return np.zeros(len(self.raw))
        low, high = float(self.raw[held].min()), float(self.raw[held].max())
        if high <= low:
            return np.where(held, 1.0, 0.0)
        return np.where(held, (self.raw - low) / (high - low), 0.0)

    def detail(self, at: int) -> str:
        """Its own score and place, in words."""
        more = f", {self.told[at]}" if at in self.told else ""
        return f"{self.source} {self.raw[at]:.3f}, place {int(self.ranks[at])}{more}"


class Fuse(Struct, frozen=True):
    """One score of the lists. Without weights of the caller, `weighted` uses those of the retrieval class."""

    strategy: Strategy = "weighted"
    profile: Profile = BALANCED
    vector_weight: float | None = None
    text_weight: float | None = None
    k: int = 60
    name: str = "fuse"

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise Invalid(f"there is no fusion {self.strategy!r}", hint=f"known: {', '.join(STRATEGIES)}")
        given = [each for each in (self.vector_weight, self.text_weight) if each is not None]
        if any(not math.isfinite(each) or not 0.0 <= each <= MAX_WEIGHT for each in given):
            raise Invalid("a weight of fusion is from 0 to 2", hint="vector 0.7 and text 0.3, for example")
        if len(given) == 2 and not sum(given):
            raise Invalid("both weights of fusion are 0", hint="vector 0.7 and text 0.3, for example")
        if not 1 <= self.k <= 10_000:
            raise Invalid(f"k of rrf is {self.k}", hint="give 1 to 10000; 60 is usual")

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        if not answer.pool.nodes:
            return answer
        match self.strategy:
            case "weighted":
                answer = replace(answer, pool=self._weighted(answer))
            case "rrf":
                answer = replace(answer, pool=self._reciprocal(answer))
            case _:
                answer = self._walked(ctx, replace(answer, pool=self._profiled(answer, None)))
        return replace(answer, pool=with_id(answer))

    def weights(self, wanted: RetrievalClass) -> tuple[float, float]:
        """Vector and text: the caller's, or by the class of question. Where one is given, the other is the rest."""
        if self.vector_weight is None and self.text_weight is None:
            return CLASS_WEIGHTS[wanted]
        vector = max(1.0 - (self.text_weight or 0.0), 0.0) if self.vector_weight is None else self.vector_weight
        return vector, max(1.0 - vector, 0.0) if self.text_weight is None else self.text_weight

    def _weighted(self, answer: Answer) -> Pool:
        """Both lists; the gain by another wording is a part of its own."""
        import numpy as np

        pool = answer.pool
        lists = (near_list(answer, pool), text_list(answer, pool))
        wordings = [by_wordings(answer, pool, source) for source in ("vector", "keyword")]
        weights = np.array(self.weights(answer.retrieval_class))
        there = np.array([bool(each.ranks.any() or other.any()) for each, other in zip(lists, wordings, strict=True)])
        if not (weights * there).any():  # all weight is on a missing source
            weights = np.ones(2)
        weights = weights * there / max(float((weights * there).sum()), 1e-9)
        more = np.zeros(len(pool.nodes))
        for listed, other, weight in zip(lists, wordings, weights.tolist(), strict=True):
            shares = listed.shares()
            pool = pool.with_part(listed.source, shares, weight, listed.detail)
            more += weight * np.maximum(other - shares, 0.0)
        return pool.with_part("expansion", more, 1.0, lambda at: "by another wording") if more.any() else pool

    def _reciprocal(self, answer: Answer) -> Pool:
        """Words, meaning, names, dates, and the other wordings, which count as one list by their best."""
        import numpy as np

        pool = answer.pool
        lists = [
            each
            for each in (
                exact_list(answer, pool),
                near_list(answer, pool),
                text_list(answer, pool),
                dated_list(answer, pool),
            )
            if each.ranks.any()
        ]
        wordings = reciprocal_wordings(answer, pool, self.k)
        count = len(lists) + (max((weight for _, weight, *_ in answer.expanded), default=0.0) if wordings.any() else 0)
        scale = (self.k + 1) / max(count, 1e-9)
        for each in lists:
            raw = np.where(each.ranks > 0, 1.0 / (self.k + np.maximum(each.ranks, 1.0)), 0.0)
            pool = pool.with_part(each.source, raw, scale, each.detail)
        if wordings.any():
            pool = pool.with_part("expansion", wordings, scale, lambda at: "by another wording")
        return pool

    def _profiled(self, answer: Answer, walked: SourceList | None) -> Pool:
        import numpy as np

        pool, profile = answer.pool, self.profile
        lists = [exact_list(answer, pool), near_list(answer, pool), text_list(answer, pool)]
        shares = [lists[0].raw, lists[1].shares(), lists[2].shares()]
        wordings = np.maximum(by_wordings(answer, pool, "vector"), by_wordings(answer, pool, "keyword"))
        lists += [listed("expansion", wordings)] + ([walked] if walked is not None else [])
        shares += [wordings] + ([walked.raw] if walked is not None else [])
        counted = np.stack([profile.of(each.source) * share for each, share in zip(lists, shares, strict=True)])
        best, rows = counted.argmax(axis=0), np.arange(len(pool.nodes))
        others = counted.copy()
        others[best, rows] = 0.0
        bonus = AGREEING * (1.0 - np.prod(1.0 - np.clip(others, 0.0, 1.0), axis=0))
        parts = others * (bonus / np.maximum(others.sum(axis=0), 1e-12))
        parts[best, rows] = counted[best, rows]
        # After a walk these parts are computed anew; parts of other stages stay.
        pool = replace(pool, parts=tuple(part for part in pool.parts if part.name not in OWN_PARTS))
        for each, share, part in zip(lists, shares, parts, strict=True):
            if share.any():
                weight = np.divide(part, share, out=np.zeros(len(share)), where=share > 0.0)
                pool = pool.with_part(each.source, share, weight, each.detail)
        inside = dated_list(answer, pool)
        if inside.raw.any():
            pool = pool.with_part("temporal", inside.raw, profile.temporal, inside.detail)
        if walked is not None and profile.traversal_bonus:
            pool = pool.with_part("traversal bonus", walked.raw, profile.traversal_bonus, walked.detail)
        return pool

    def _walked(self, ctx: CallContext, answer: Answer) -> Answer:
        """With nodes related to the best: by a walk over the graph, and by the views."""
        import numpy as np

        pool, scores = answer.pool, answer.pool.scores()
        best = [int(at) for at in np.argsort(-scores, kind="stable")[:SEEDS] if scores[at] >= SURE]
        seeds = {pool.nodes[at].id: float(scores[at]) for at in best}
        reached: dict[str, float] = {}
        if any(pool.nodes[at].kind not in ONLY_NESTED for at in best):
            walked = ctx.store.walk(ctx.viewer, answer.ask.when, seeds, limit=REACHED + SEEDS)
            answer = answer.noted(*walked.notes)
            found = {node: score for node, score in walked.scores if node not in seeds}
            most = max(found.values(), default=0.0)
            reached = {node: score / most for node, score in found.items() if most > 0.0}
        for node, seen in answer.sightings.items():
            by_views = [each.score for each in seen if each.view != "semantic"]
            reached[node] = max([reached.get(node, 0.0), *(min(max(score, 0.0), 1.0) for score in by_views)])
        if not any(reached.values()):
            return answer
        answer = replace(answer, pool=joined(ctx, answer, reached))
        raw = np.array([reached.get(node.id, 0.0) for node in answer.pool.nodes])
        return replace(answer, pool=self._profiled(answer, listed("traversal", raw)))


def listed(source: SourceName, raw: Column, held: Column | None = None, told: Mapping[int, str] = {}) -> SourceList:
    """A list of rows with a score (or `held`); equals share their place."""
    import numpy as np

    given = raw > 0.0 if held is None else held
    order = np.sort(-raw[given])
    ranks = np.where(given, np.searchsorted(order, -raw, side="left") + 1.0, 0.0)
    return SourceList(source=source, raw=raw, ranks=ranks, told=told)


def row_of(places: Mapping[str, int], lead: Lead) -> int:
    """The row of a search result: its own, or its whole's; -1 if there is none."""
    return places.get(lead.id, places.get(lead.whole or "", -1))


def best_by_row(pool: Pool, found: Sequence[tuple[Lead, float]]) -> Column:
    """The best score of each row's parts."""
    import numpy as np

    places, raw = pool.places, np.zeros(len(pool.nodes))
    for lead, score in found:
        if (at := row_of(places, lead)) >= 0:
            raw[at] = max(raw[at], score)
    return raw


def text_list(answer: Answer, pool: Pool) -> SourceList:
    """BM25 of each row; for a composite row that of its best part."""
    hits = answer.text.hits if answer.text is not None else ()
    return listed("keyword", best_by_row(pool, [(hit.node, hit.score) for hit in hits]))


def near_list(answer: Answer, pool: Pool) -> SourceList:
    """The cosine of each row; for a composite row that of its nearest part; rows without a vector are not listed."""
    import numpy as np

    raw, held = np.zeros(len(pool.nodes)), np.zeros(len(pool.nodes), bool)
    for at, node in enumerate(pool.nodes) if answer.vector is not None else ():
        hashes = [node.content_hash, *(lead.content_hash for lead in pool.leads[at])]
        cosines = [pool.cosine(each) for each in hashes if each in pool.nearness]
        if cosines:
            raw[at], held[at] = max(cosines), True
    return listed("vector", raw, held)


def exact_list(answer: Answer, pool: Pool) -> SourceList:
    """The nodes that the question names, by how sure the name is."""
    import numpy as np

    places, raw = pool.places, np.zeros(len(pool.nodes))
    told: dict[int, str] = {}
    for mention in answer.mentions:
        for each in mention.nodes:
            at = places.get(each.node.id, -1)
            sure = each.weight * (1.0 if mention.end - mention.start > 1 else SINGLE_WORD)
            sure *= HEADING if each.node.kind == "Section" else 1.0
            if at >= 0 and sure > raw[at]:
                raw[at], told[at] = min(sure, 1.0), f"named {mention.key!r}"
    return listed("exact", raw, told=told)


def with_id(answer: Answer) -> Pool:
    """The pool with a part for the node whose id the question is: above all others."""
    import numpy as np

    asked = answer.ask.query.strip()
    itself = np.array([float(node.id == asked) for node in answer.pool.nodes])
    return answer.pool.with_part("id", itself, ITSELF) if itself.any() else answer.pool


def dated_list(answer: Answer, pool: Pool) -> SourceList:
    """The results in the time that the question names, in order."""
    import numpy as np

    places, order = pool.places, dict[int, int]()
    for lead in answer.dated:
        if (at := row_of(places, lead)) >= 0:
            order.setdefault(at, len(order) + 1)
    ranks = np.array([float(order.get(at, 0)) for at in range(len(pool.nodes))])
    told = dict.fromkeys(order, "within the time that is asked about")
    return SourceList(source="temporal", raw=np.where(ranks > 0, 1.0, 0.0), ranks=ranks, told=told)


def wording_lists(answer: Answer, pool: Pool, source: SourceName) -> list[tuple[float, SourceList]]:
    """The results of each other wording, by words or by meaning, with the wording's weight."""
    found = []
    for _, weight, text, near in answer.expanded:
        if source == "keyword" and text is not None:
            raw = best_by_row(pool, [(hit.node, hit.score) for hit in text.hits])
            found.append((min(weight, 1.0), listed("keyword", raw)))
        elif source == "vector" and near is not None:
            raw = best_by_row(pool, [(hit.node, hit.cosine) for hit in near.hits])
            found.append((min(weight, 1.0), listed("vector", raw)))
    return found


def by_wordings(answer: Answer, pool: Pool, source: SourceName) -> Column:
    """The best share that any other wording gives each row, times its weight."""
    import numpy as np

    best = np.zeros(len(pool.nodes))
    for weight, each in wording_lists(answer, pool, source):
        best = np.maximum(best, weight * each.shares())
    return best


def reciprocal_wordings(answer: Answer, pool: Pool, k: int) -> Column:
    """The best reciprocal rank that any other wording gives each row, times its weight."""
    import numpy as np

    best = np.zeros(len(pool.nodes))
    for source in ("keyword", "vector"):
        for weight, each in wording_lists(answer, pool, source):
            best = np.maximum(best, np.where(each.ranks > 0, weight / (k + np.maximum(each.ranks, 1.0)), 0.0))
    return best
