"""The built-in reranker: how much of what is asked stands in each text, in the asked order. Offline and pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from weft.lexical import idf, stems

PAIRS = 0.25  # what all pairs of neighbouring words together count, against 1 for all the words


class LexicalReranker:
    """Prefers texts that hold more of the question's words; a word that fewer of the texts hold counts more."""

    name = "lexical"
    strategy = "lexical"
    weight = 0.8
    most = 1_000

    def rank(self, query: str, texts: Sequence[str]) -> list[float]:
        """The share of the question's stems that a text holds, each weighed by how few of the texts hold it.

        To that comes the share of the question's neighbouring pairs that stand side by side in the text. From 0 to
        1 + PAIRS; 0 for all where the question has no words that carry meaning.
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
