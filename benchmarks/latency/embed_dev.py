"""Embeds texts of a corpus (JSON lines with a `text`) with the built-in model, for realistic vectors at scale.

python -m benchmarks.latency.embed_dev corpus.jsonl out.npy --limit 5000
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from weft.models.builtin import BuiltinEmbedder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("out")
    parser.add_argument("--limit", type=int, default=5_000)
    chosen = parser.parse_args()
    texts: list[str] = []
    for corpus in chosen.corpus:
        lines = Path(corpus).read_text(encoding="utf-8").splitlines()
        texts.extend(json.loads(line)["text"][:400] for line in lines[: chosen.limit // len(chosen.corpus)])
    np.save(chosen.out, BuiltinEmbedder().embed(texts))
    print(f"{len(texts)} vectors to {chosen.out}")


if __name__ == "__main__":
    main()
