"""Scores several texts as one: the turns of a session, the symbols of a file.

A whole has no text of its own in the index; how often a term occurs in it is the sum over its parts that were found.
Which terms are rare is counted over the wholes that were found.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from weft.core.queries import TextHit

K1 = 1.5


def pooled(
    hits: Iterable[tuple[str, TextHit]],
    weights: Mapping[str, float],
    *,
    lengths: Mapping[str, float] | None = None,
    without: frozenset[str] = frozenset(),
    b: float = 0.75,
) -> dict[str, float]:
    """BM25 of each whole, from (whole, hit of a part) pairs. `lengths` are relative to the mean, where known."""
    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for whole, hit in hits:
        held = counts[whole]
        for term, count in hit.counts:
            if term not in without:
                held[term] += count
    frequency: dict[str, int] = defaultdict(int)
    for held in counts.values():
        for term in held:
            frequency[term] += 1
    population = len(counts)
    rarity = {
        term: weights.get(term, 1.0) * math.log(1.0 + (population - df + 0.5) / (df + 0.5))
        for term, df in frequency.items()
    }
    scores = {}
    for whole, held in counts.items():
        norm = K1 * (1.0 - b + b * lengths.get(whole, 1.0)) if lengths else K1
        scores[whole] = sum(rarity[term] * count * (K1 + 1.0) / (count + norm) for term, count in held.items())
    return scores
