"""Append, bulk, rebuild and text search, beside the floor each stands on.

python -m benchmarks.latency.run --rows 100000
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles, rate
from benchmarks.program import options, run
from weft.core.queries import TextQuery
from weft.core.types import When
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.text.lexical import query_terms

BULK = 500


def draft(number: int, text: str) -> Draft:
    """One event that makes one node with its text."""
    return Draft(kind="memory.remembered", payload=memory.Remembered(id=f"m{number}", text=text, project="bench"))


def full_shape(number: int, text: str) -> Draft:
    """One event that makes four nodes, three edges and a text."""
    things = tuple(
        graph.NodeAssertion(id=f"t{number}-{n}", kind="Entity", name=f"thing {number} {n}") for n in range(3)
    )
    edges = tuple(graph.EdgeAssertion(src=f"f{number}", rel="INVOLVES", dst=thing.id) for thing in things)
    payload = memory.Remembered(id=f"f{number}", text=text, project="bench", entities=things, edges=edges)
    return Draft(kind="memory.remembered", payload=payload)


def floor_append(directory: Path, texts: list[str]) -> dict[str, float]:
    """Bare SQLite: one durable transaction per event row, nothing else."""
    db = apsw.Connection(str(directory / "floor.db"))
    for name, value in (("journal_mode", "wal"), ("synchronous", "full")):
        db.pragma(name, value)
    db.execute("CREATE TABLE event(pos INTEGER PRIMARY KEY, payload BLOB, hash BLOB)")

    def work() -> None:
        for text in texts:
            raw = text.encode()
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO event(payload, hash) VALUES (?, ?)", (raw, hashlib.sha256(raw).digest()))
            db.execute("COMMIT")

    return rate(len(texts), work)


def in_batches(mem: weft.Memory, drafts: list[Draft]) -> Callable[[], None]:
    def work() -> None:
        for start in range(0, len(drafts), BULK):
            mem.ctx.append(drafts[start : start + BULK])

    return work


def singly(mem: weft.Memory, drafts: list[Draft]) -> Callable[[], None]:
    def work() -> None:
        for each in drafts:
            mem.ctx.append([each])

    return work


def start_time() -> dict[str, float]:
    command = [str(Path(sys.executable).parent / "weft"), "--help"]
    return percentiles([lambda: subprocess.run(command, check=True, capture_output=True) for _ in range(15)])


def measure(rows: int, directory: Path) -> dict[str, Any]:
    words = Words(seed=7)
    result: dict[str, Any] = {"rows": rows}
    small = max(500, rows // 50)
    environment = {"HOME": str(directory), "WEFT_EMBEDDER": "none"}
    result["floor: bare durable insert"] = floor_append(directory, list(words.texts(small)))
    with weft.open(f"sqlite://{directory}/store", directory=directory, environment=environment) as mem:
        bulk = [draft(n, text) for n, text in enumerate(words.texts(rows))]
        result["bulk: event + node + text"] = rate(rows, in_batches(mem, bulk))
        single = [draft(rows + n, text) for n, text in enumerate(words.texts(small))]
        result["durable append: event + node + text"] = rate(small, singly(mem, single))
        texts = list(words.texts(small))
        result["remember, without embedding"] = rate(small, lambda: [mem.remember(text) for text in texts])
        shapes = [full_shape(n, text) for n, text in enumerate(words.texts(small))]
        result["bulk: full shape (4 nodes, 3 edges, text)"] = rate(small, in_batches(mem, shapes))
        viewer, store = mem.ctx.viewer, mem.ctx.store
        asked = [words.question() for _ in range(300)]
        queries = [TextQuery(terms=query_terms(question), projects=("bench", None)) for question in asked]
        result["text search, 8 terms"] = percentiles(
            [lambda q=q: store.search_text(viewer, When(), q, limit=50) for q in queries]
        )
        result["recall"] = percentiles([lambda q=q: mem.recall(q, project="bench") for q in asked])
        events = store.head(viewer).pos
        operator = mem.ctx.operator("measure")
        from weft.graph.apply_moves import apply_events

        result["rebuild"] = rate(
            events, lambda: store.rebuild(operator, apply_events, progress=lambda done, total: None)
        )
        size = sum(file.stat().st_size for file in (directory / "store" / "accounts").iterdir())
        text_bytes = sum(len(d.payload.text) for d in (*bulk, *single, *shapes)) + sum(map(len, texts))  # type: ignore[attr-defined]
        result["size"] = {"bytes": size, "text_bytes": text_bytes, "ratio": round(size / text_bytes, 2)}
    result["weft --help"] = start_time()
    return result


if __name__ == "__main__":
    run(options(__doc__, rows=100_000), "latency-{rows}", lambda given, scratch: measure(given.rows, scratch))
