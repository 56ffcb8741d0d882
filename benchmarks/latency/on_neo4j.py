"""The same work on a Neo4j server on this machine: bulk load, single appends, reads, and what guards add.

WEFT_STORE_PASSWORD=… python -m benchmarks.latency.on_neo4j --url bolt://127.0.0.1:7687 --rows 20000

Each run uses a store of its own in the database, and leaves it there.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles, rate
from benchmarks.latency.run import draft, full_shape, in_batches, singly
from benchmarks.program import options, run
from weft.core.queries import TextQuery, TextVector, VectorQuery
from weft.core.types import NOW
from weft.text.lexical import content_hash, query_terms

DIMENSIONS = 384
MODEL = "bench/384"
AT_ONCE = 1_000


def vectors(texts: list[str], random: np.random.Generator) -> list[TextVector]:
    """Unit vectors around a few hundred centres, as texts of some subjects have."""
    centres = np.random.default_rng(1).normal(size=(300, DIMENSIONS))
    made = centres[random.integers(0, 300, len(texts))] + 0.6 * random.normal(size=(len(texts), DIMENSIONS))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return [
        TextVector(model=MODEL, content_hash=content_hash("", "", text), data=row.astype("<f2").tobytes())
        for text, row in zip(texts, made, strict=True)
    ]


def measure(url: str, rows: int, directory: Path) -> dict[str, Any]:
    words, random = Words(seed=7), np.random.default_rng(7)
    result: dict[str, Any] = {"rows": rows}
    environment = {
        "HOME": str(directory),
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
        "WEFT_STORE_PASSWORD": os.environ.get("WEFT_STORE_PASSWORD", ""),
    }
    place = f"{url}?space=bench-{uuid.uuid4().hex[:8]}" if "://" in url and not url.startswith("sqlite") else url
    with weft.open(place, directory=directory, environment=environment) as mem:
        store, viewer = mem.ctx.store, mem.ctx.viewer
        texts = list(words.texts(rows))
        result["bulk: event + node + text"] = rate(rows, in_batches(mem, [draft(n, t) for n, t in enumerate(texts)]))
        few = list(words.texts(200))
        result["single append"] = rate(200, singly(mem, [draft(rows + n, text) for n, text in enumerate(few)]))
        some = max(500, rows // 10)
        shapes = [full_shape(n, text) for n, text in enumerate(words.texts(some))]
        result["bulk: full shape (4 nodes, 3 edges, text)"] = rate(some, in_batches(mem, shapes))
        made = vectors(texts, random)

        def put() -> None:
            for start in range(0, rows, AT_ONCE):
                store.put_vectors(viewer.account, made[start : start + AT_ONCE])

        result["vectors of 384 dimensions"] = rate(rows, put)
        questions = [words.question() for _ in range(100)]
        queries = [TextQuery(terms=query_terms(q), projects=("bench", None)) for q in questions]
        result["text search, 8 terms"] = percentiles(
            [lambda q=q: store.search_text(viewer, NOW, q, limit=50) for q in queries]
        )
        asked = [
            VectorQuery(model=MODEL, data=np.frombuffer(v.data, "<f2").astype("<f4").tobytes()) for v in made[:100]
        ]
        store.search_vector(viewer, NOW, asked[0], limit=50)
        result["vector search"] = percentiles(
            [lambda q=q: store.search_vector(viewer, NOW, q, limit=50) for q in asked]
        )
        result["recall of vectors against exact"] = _recall(store, viewer, asked[:30], made)
        seeds = [{f"f{n}": 1.0} for n in range(min(some, 100))]
        result["first walk, reads the graph"] = percentiles([lambda: store.walk(viewer, NOW, seeds[0], limit=50)])
        result["walk"] = percentiles([lambda s=s: store.walk(viewer, NOW, s, limit=50) for s in seeds])
        ids = [f"m{n}" for n in random.integers(0, rows, 100)]
        result["one node"] = percentiles([lambda i=i: store.nodes(viewer, NOW, (i,)) for i in ids])
        mem.recall(questions[0], project="bench")
        result["recall"] = percentiles([lambda q=q: mem.recall(q, project="bench") for q in questions])
    return result


def _recall(store: Any, viewer: Any, asked: list[VectorQuery], made: list[TextVector]) -> float:
    """The share of the 10 nearest that a search finds."""
    every = np.stack([np.frombuffer(vector.data, "<f2").astype(np.float32) for vector in made])
    found = 0
    for query in asked:
        best = np.argsort(-(every @ np.frombuffer(query.data, "<f4")))[:10]
        exact = {made[n].content_hash for n in best}
        hits = store.search_vector(viewer, NOW, query, limit=10).hits
        found += len(exact & {hit.node.content_hash for hit in hits})
    return round(found / (10 * len(asked)), 3)


if __name__ == "__main__":
    parser = options(__doc__, rows=20_000)
    parser.add_argument("--url", default="bolt://127.0.0.1:7687")
    run(parser, "neo4j-{rows}", lambda given, scratch: measure(given.url, given.rows, scratch))
