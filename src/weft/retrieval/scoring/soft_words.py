"""Soft words: how well a text holds each word of the question, in its own words or in near ones.

    M[i, t] = the best cosine of a word of text i to word t of the question
    A[i, t] = (M - mean of M) / (1 - mean of M), over the texts compared: 1 where the very word is held
    m[i]    = sum of A[i, t] by how rare t is

Words are compared by the packaged model's table (`weft.models.word_vectors`): no index, no run of the model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from weft.models.word_vectors import word_vectors
from weft.retrieval.pipeline import Answer
from weft.text.lexical import STOP_WORDS, fold_case, stems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

MAX_TEXT_CHARACTERS = 4_000
MAX_QUESTION_WORDS = 24
UNKNOWN_RARITY = 1.0  # of words too common to be looked up
_WORD = re.compile(r"[^\W_]+")


class Soft(NamedTuple):
    """A[i, t] and the weight of each word t, which add up to 1."""

    held: Matrix
    weights: Matrix

    def scores(self) -> Matrix:
        """m[i]."""
        scores: Matrix = self.held @ self.weights
        return scores


def content_words(text: str) -> tuple[str, ...]:
    """A text's content words, each once, up to a limit."""
    return _content_words(text[:MAX_TEXT_CHARACTERS])


@lru_cache(maxsize=16_384)
def _content_words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(fold_case(text))
    return tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())))


def soft_words(answer: Answer, texts: Sequence[str], without: Collection[str] = ()) -> Soft | None:
    """How well each text covers the question's words; None if the question has none, or there is no text."""
    import numpy as np

    asked = [word for word in content_words(answer.query) if word not in without][:MAX_QUESTION_WORDS]
    held = [[word for word in content_words(text) if word not in without] for text in texts]
    if not asked or not any(held):
        return None
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(word for words in held for word in words))}
    cosines = word_vectors(tuple(vocabulary)) @ word_vectors(asked).T
    best = np.zeros((len(texts), len(asked)), np.float32)
    full = [at for at, words in enumerate(held) if words]
    places = np.array([vocabulary[word] for at in full for word in held[at]])
    starts = np.cumsum([0, *(len(held[at]) for at in full[:-1])])
    best[full] = np.maximum.reduceat(cosines[places], starts, axis=0)
    mean = best[full].mean(axis=0)
    scaled = (best - mean) / np.maximum(1.0 - mean, 1e-6)
    rarity = {stat.term: stat.idf for stat in answer.text.used} if answer.text else {}
    weights = np.array([_rarity(word, rarity) for word in asked])
    return Soft(scaled.astype(np.float32), (weights / weights.sum()).astype(np.float32))


def _rarity(word: str, known: Mapping[str, float]) -> float:
    return max((known.get(stem, UNKNOWN_RARITY) for stem in stems(word)), default=UNKNOWN_RARITY)
