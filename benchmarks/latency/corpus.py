"""Synthetic but realistic rows: Zipf-distributed words, sentences of varying length, repeatable by seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

VOCABULARY = 60_000
SYLLABLES = tuple(a + b for a in "bdfgklmnprstv" for b in "aeio")


class Words:
    """Draws words by rank: the n-th word is as likely as 1/n."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = [self._spell(n) for n in range(VOCABULARY)]
        self._weights = list(itertools.accumulate(1 / (n + 1) for n in range(VOCABULARY)))

    @staticmethod
    def _spell(number: int) -> str:
        word = ""
        number += len(SYLLABLES) ** 2
        while number:
            number, digit = divmod(number, len(SYLLABLES))
            word += SYLLABLES[digit]
        return word

    def text(self, low: int = 10, high: int = 40) -> str:
        length = self._random.randint(low, high)
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=length))

    def texts(self, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self.text()

    def question(self, terms: int = 8) -> str:
        """Words of mixed frequency: half common, half rare."""
        common = self._random.choices(self._words, cum_weights=self._weights, k=terms // 2)
        rare = self._random.sample(self._words[500:20_000], terms - len(common))
        return " ".join(common + rare)
