"""Merging of views: a node in several views counts more. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from weft.retrieval.pipeline import VIEW_NAMES, View


class MergedSighting(Struct, frozen=True, kw_only=True):
    """A node in all views that found it: the mean of their scores x boost^(views - 1)."""

    id: str
    score: float
    views: tuple[View, ...]


class MergedViews(Struct, frozen=True, kw_only=True):
    """Nodes, best first, each once. `weak` fell below the least score, `over` were beyond the most nodes."""

    nodes: tuple[MergedSighting, ...]
    weak: int = 0
    over: int = 0


def merge(
    found: Iterable[tuple[View, str, float]],
    *,
    boost: float,
    max_nodes: int,
    min_score: float = 0.0,
) -> MergedViews:
    """(view, node, score) in any order. Of one view, the better score of a node counts."""
    best: dict[str, dict[View, float]] = {}
    for view, node, score in found:
        of_node = best.setdefault(node, {})
        of_node[view] = max(score, of_node.get(view, score))
    merged = []
    for node, scores in best.items():
        views = tuple(view for view in VIEW_NAMES if view in scores)
        # An exact sum: in whichever order views come, the last bit is the same.
        mean = math.fsum(scores.values()) / len(scores)
        merged.append(MergedSighting(id=node, score=mean * boost ** (len(views) - 1), views=views))
    strong = sorted((each for each in merged if each.score >= min_score), key=lambda each: (-each.score, each.id))
    return MergedViews(
        nodes=tuple(strong[:max_nodes]), weak=len(merged) - len(strong), over=max(0, len(strong) - max_nodes)
    )
