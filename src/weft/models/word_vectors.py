"""Vectors of single words: the packaged model's own table of word pieces, read without running it.

A word's vector is the mean of its pieces'. It depends on the word alone, so it needs no index, reveals nothing of other
texts, and is independent of the configured embedder. It suffices to tell that "puppy" and "dog" are similar.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DIMENSIONS = 384
MAX_WORDS_KEPT = 20_000
MAX_WORD_CHARACTERS = 40
_kept: list[dict[str, NDArray[np.float16]]] = [{}]  # cached words; a full cache is replaced
_DIRECTORY = Path(__file__).parent / "minilm_l6_v2"
_TABLE = "we_quantized"


def word_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """One unit row per word, in order; zeros for a word without pieces in the model."""
    import numpy as np

    if not words:
        return np.zeros((0, DIMENSIONS), np.float32)
    kept = _kept[0]  # another thread may replace the cache
    missing = [word for word in dict.fromkeys(words) if word not in kept]
    made = _made(missing) if missing else {}
    found = np.stack([made[word] if word in made else kept[word] for word in words]).astype(np.float32)
    if len(kept) + len(made) > MAX_WORDS_KEPT:
        _kept[0] = dict(made)
    else:
        kept.update(made)
    return found


def _made(words: Sequence[str]) -> dict[str, NDArray[np.float16]]:
    """Vectors of words, computed together."""
    import numpy as np

    tokenizer, table, middle = _loaded()
    cut = [word[:MAX_WORD_CHARACTERS] for word in words]
    pieces = [read.ids for read in tokenizer.encode_batch(cut, add_special_tokens=False)]
    counts = np.array([len(ids) for ids in pieces])
    rows = table[[each for ids in pieces for each in ids or (0,)]].astype(np.float32)
    starts = np.cumsum(np.maximum(counts, 1)) - np.maximum(counts, 1)
    means = np.add.reduceat(rows, starts, axis=0) / np.maximum(counts, 1)[:, None] - middle
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    units = np.where((counts > 0)[:, None] & (lengths > 0), means / np.maximum(lengths, 1e-9), 0.0).astype(np.float16)
    return dict(zip(words, units, strict=True))


@lru_cache(maxsize=1)
def _loaded() -> tuple[Tokenizer, NDArray[np.uint8], NDArray[np.float32]]:
    """The tokenizer, the table as stored in the model's file, and its mean (subtracted: all words share it)."""
    import numpy as np

    from weft.models.packaged import initializer, packaged_tokenizer

    with (_DIRECTORY / "model.onnx").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    table = np.frombuffer(initializer(mapped, _TABLE), np.uint8).reshape(-1, DIMENSIONS)
    middle = table[:: max(1, len(table) // 2_000)].astype(np.float32).mean(axis=0)
    return packaged_tokenizer(), table, middle
