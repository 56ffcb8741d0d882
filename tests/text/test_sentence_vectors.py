"""Sentences packed small, the model's tokens among its outputs, and rows that stay the same with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.models import builtin as builtin_module
from weft.models.builtin import DIMENSIONS, BuiltinEmbedder
from weft.models.packaged import initializer
from weft.text.sentence_vectors import pack_parts, part_cosines
from weft.text.sentences import sentence_spans

TEXTS = (
    "The ferry to Ysolde sails at nine. It is often late.\nBring a coat, the deck is cold.",
    "one sentence only",
    "",
    "Ferries. " + "The harbour master counts the boats every morning and writes them down. " * 60 + "Then he sleeps.",
    "東京 駅。次は 終点。",
)


def units(generator: np.random.Generator, count: int, dimensions: int) -> np.ndarray:
    made = generator.standard_normal((count, dimensions)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


# ---- packed places


@pytest.mark.parametrize("dimensions", [384, 385, 386, 387, 768])
def test_a_cosine_of_packed_places_is_nearly_exact(dimensions: int) -> None:
    generator = np.random.default_rng(dimensions)
    question, vectors = units(generator, 1, dimensions)[0], units(generator, 300, dimensions)
    vectors[::2] = vectors[::2] + question  # half of them point about where the question does
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    (found,) = part_cosines([pack_parts([(n, n + 1) for n in range(300)], vectors)], question)
    apart = np.abs(np.array([cosine for *_, cosine in found]) - vectors @ question)
    assert apart.mean() < 0.03
    assert apart.max() < 0.15


@settings(max_examples=50)
@given(st.lists(st.integers(0, 6), max_size=5), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_places_come_back_with_their_spans_text_by_text(counts: list[int], dimensions: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    spans = [[(10 * n, 10 * n + 7) for n in range(count)] for count in counts]
    packed = [pack_parts(each, units(generator, len(each), dimensions)) for each in spans]
    question = units(generator, 1, dimensions)[0]
    together = part_cosines(packed, question)
    assert together == [part_cosines([each], question)[0] for each in packed]
    for placed, asked in zip(together, spans, strict=True):
        expected = asked if len(asked) > 1 else []  # one sentence says what the whole text says
        assert [(start, end) for start, end, _ in placed] == expected
        for *_, cosine in placed:
            assert np.isfinite(cosine)


def test_a_place_of_zeros_is_no_trouble() -> None:
    (found,) = part_cosines([pack_parts([(0, 1), (1, 2)], np.zeros((2, 8), np.float32))], np.ones(8, np.float32))
    assert all(np.isfinite(cosine) for *_, cosine in found)


# ---- the model's file


MODEL = Path(builtin_module.__file__).parent / "minilm_l6_v2" / "model.onnx"


@pytest.mark.parametrize("data", [b"", b"not a model", b"\xff" * 100, b"\x00" * 100, b"\x08\x07", b"PK\x03\x04" * 9])
def test_garbage_is_no_model(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"ONNX|no constant"):
        initializer(data, "table")


def test_a_constant_of_another_name_is_missed_by_name() -> None:
    with pytest.raises(ValueError, match="no constant 'no such table'"):
        initializer(MODEL.read_bytes(), "no such table")


# ---- rows with and without parts


def test_rows_are_the_same_with_parts_and_without() -> None:
    embedder = BuiltinEmbedder()
    spans = [sentence_spans(text) for text in TEXTS]
    rows, parts = embedder.embed_with_parts(TEXTS, spans)
    assert np.array_equal(rows, embedder.embed(TEXTS)), "a vector is a function of its text alone"
    for placed, vectors in zip(spans, parts, strict=True):
        assert vectors.shape == (len(placed), DIMENSIONS)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
    rows, parts = embedder.embed_with_parts(TEXTS, [[] for _ in TEXTS])
    assert np.array_equal(rows, embedder.embed(TEXTS))
    assert [len(vectors) for vectors in parts] == [0] * len(TEXTS)


def test_a_sentence_lies_where_it_speaks_of() -> None:
    embedder = BuiltinEmbedder()
    text = "The cat slept on the warm windowsill all day. Our database index was rebuilt with larger pages."
    _, (vectors,) = embedder.embed_with_parts([text], [sentence_spans(text)])
    cat, database = embedder.embed(["a sleeping kitten", "rebuilding the index of a database"])
    assert vectors[0] @ cat > vectors[1] @ cat
    assert vectors[1] @ database > vectors[0] @ database
