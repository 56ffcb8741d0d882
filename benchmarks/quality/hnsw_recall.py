"""How many of the ten nearest the HNSW index finds, against exact search, on real embeddings.

    python -m benchmarks.quality.hnsw_recall real.npy

`real.npy` comes from `benchmarks.latency.embed_dev`. The index is made with the store's own settings.
"""

from __future__ import annotations

import numpy as np

from benchmarks.program import options, run
from weft.backends.sqlite.search import vectors

ASKED = 500


def measure(real: np.ndarray) -> dict[str, float]:
    index = vectors._new_index(real.shape[1])
    for start in range(0, len(real), vectors.ADD_AT_ONCE):
        some = slice(start, start + vectors.ADD_AT_ONCE)
        index.add(np.arange(len(real))[some], real[some], threads=1 if start == 0 else 0)
    chance = np.random.default_rng(1)
    asked = real[chance.choice(len(real), ASKED, replace=False)]
    noisy = asked + chance.normal(scale=0.02, size=asked.shape).astype(np.float32)
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    exact = np.argsort(-(noisy @ real.T), axis=1, kind="stable")[:, :10]
    found = index.search(noisy, 10).keys
    overlaps = [len(set(mine) & set(theirs)) / 10 for mine, theirs in zip(found, exact, strict=True)]
    return {"vectors": len(real), "asked": ASKED, "recall_at_10": round(float(np.mean(overlaps)), 4)}


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("vectors")
    run(parser, "hnsw-recall", lambda given, _: measure(np.load(given.vectors).astype(np.float32)))


if __name__ == "__main__":
    main()
