"""Scores of episodes: meaning, age, and what they are about; every part is kept for the explanation."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct

DAY_US: Final = 86_400_000_000
FADING_PER_DAY: Final = 0.05


class Weights(Struct, frozen=True, kw_only=True):
    """How much each part counts; together 1."""

    meaning: float
    recency: float
    nearness: float

    @property
    def formula(self) -> str:
        return f"{self.meaning:g}·meaning + {self.recency:g}·exp(-{FADING_PER_DAY:g}·days) + {self.nearness:g}·nearness"


EPISODES: Final = Weights(meaning=0.5, recency=0.3, nearness=0.2)
DECISIONS: Final = Weights(meaning=0.3, recency=0.2, nearness=0.5)


class ScoreParts(Struct, frozen=True, kw_only=True):
    """The parts of a score, each from 0 to 1 before its weight."""

    meaning: float
    recency: float
    nearness: float
    days: float

    def total(self, weights: Weights) -> float:
        """The weighted sum."""
        return weights.meaning * self.meaning + weights.recency * self.recency + weights.nearness * self.nearness


def recency(at_us: int, now_us: int) -> tuple[float, float]:
    """exp(-0.05 · age in days), and the age; what lies ahead is as new as can be."""
    days = max(0.0, (now_us - at_us) / DAY_US)
    return math.exp(-FADING_PER_DAY * days), days


def jaccard(asked: Collection[str], told: Collection[str]) -> float:
    """The share of common members; 0 where nothing is asked for."""
    both, either = set(asked) & set(told), set(asked) | set(told)
    return len(both) / len(either) if asked and either else 0.0


def steps_away(asked: Collection[str], told: Collection[str], beside: Mapping[str, Collection[str]]) -> float:
    """1 for the same node, one inside the other or as a whole; a half for one joined to it; else 0."""
    if not asked or not told:
        return 0.0
    near = 0.0
    for one in asked:
        if one in told or any(each.startswith(f"{one}::") or one.startswith(f"{each}::") for each in told):
            near += 1.0
        elif set(beside.get(one, ())) & set(told):
            near += 0.5
    return near / len(set(asked))
