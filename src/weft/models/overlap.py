"""The built-in reranker: overlap of words and adjacent word pairs. Offline and deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from weft.text.lexical import idf, stems

PAIRS = 0.25  # weight of all adjacent pairs, against 1 for all words


class LexicalReranker:
    """Prefers texts with more of the query's words; rarer words count more."""

    name = "lexical"
    strategy = "lexical"
    weight = 0.8
    most = 1_000

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The share of the query's stems in a text, weighted by inverse document frequency among these texts.

        Plus PAIRS times the share of the query's adjacent pairs that are adjacent in the text. From 0 to 1 + PAIRS; 0
        for all if the query has no content words.
        """
        asked = stems(query)
        pairs = set(pairwise(asked))
        read = [stems(text) for text in texts]
        spread = Counter(term for words in read for term in set(words).intersection(asked))
        weights = {term: idf(len(texts), count) for term, count in spread.items()}
        everything = sum(weights.values()) or 1.0
        scores = []
        for words in read:
            held = sum(weights[term] for term in set(words).intersection(weights)) / everything
            together = len(pairs.intersection(pairwise(words))) / len(pairs) if pairs else 0.0
            scores.append(held + PAIRS * together)
        return scores
