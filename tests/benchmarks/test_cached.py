"""The embedder that remembers: the same floats as the one inside, which is asked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from weft.core.errors import StoreError
from weft.models.builtin import BuiltinEmbedder
from weft.surfaces.bench.cached import CachedEmbedder

TEXTS = ["the ferry crosses at noon", "", "Ünïcödé 東京", "the ferry crosses at noon", "word " * 600]


class Counting:
    """A small embedder that counts what it is asked."""

    dimensions = 3

    def __init__(self, model: str = "counting") -> None:
        self.model, self.asked = model, list[str]()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        rows = np.array([[len(text), len(self.model), 1] for text in texts], np.float32).reshape(-1, 3)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    return tmp_path / "cache"


def test_vectors_are_those_of_the_embedder_float_for_float(directory: Path) -> None:
    plain = BuiltinEmbedder().embed(TEXTS)
    for _ in range(2):  # made, then found
        cached = CachedEmbedder(BuiltinEmbedder(), directory)
        found = cached.embed(TEXTS)
        cached.close()
        assert found.dtype == plain.dtype
        assert np.array_equal(found, plain)


def test_a_text_is_embedded_once_even_by_another_process(directory: Path) -> None:
    inside = Counting()
    for _ in range(3):
        cached = CachedEmbedder(inside, directory)
        cached.embed(TEXTS)
        cached.embed(TEXTS[::-1])
        cached.close()
    assert inside.asked == list(dict.fromkeys(TEXTS))


def test_models_have_vectors_of_their_own(directory: Path) -> None:
    for model in ("one", "another"):
        inside = Counting(model)
        cached = CachedEmbedder(inside, directory)
        assert np.array_equal(cached.embed(["words"]), inside.embed(["words"]))
        assert (cached.model, cached.dimensions) == (model, 3)
        cached.close()


def test_many_texts_and_none(directory: Path) -> None:
    cached = CachedEmbedder(Counting(), directory)
    texts = [f"text {'x' * number}" for number in range(1_300)]
    assert np.array_equal(cached.embed(texts), Counting().embed(texts))
    assert np.array_equal(cached.embed(texts[::-1]), Counting().embed(texts[::-1]))
    assert cached.embed([]).shape == (0, 3)
    cached.close()


def test_a_place_that_cannot_hold_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StoreError, match="cannot hold a cache"):
        CachedEmbedder(Counting(), tmp_path / "file")
