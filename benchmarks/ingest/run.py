"""Ingesting a tree against what its embedder alone would take. `python -m benchmarks.ingest.run --tree DIR`.

The floor is the same texts through the same call of the embedder, with nothing else to do. Floor and ingest take turns,
so that a busy machine slows down both. Then the same tree is read again, unchanged. With `--beside`, another process
writes small memories all the while, and says how long each took.
"""

from __future__ import annotations

import argparse
import itertools
import json
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import weft
from benchmarks.latency.measure import percentiles, save
from benchmarks.latency.run import draft
from weft.append.append import AppendOptions, append
from weft.core.clock import SystemClock
from weft.models.builtin import MODEL_NAME, BuiltinEmbedder
from weft.models.embedding import Embedding
from weft.writing.build.embedding_ahead import BATCH_TEXTS

GOAL_SHARE, GOAL_AGAIN = 0.8, 0.02
PAUSE_S = 0.02
Texts = Sequence[tuple[bytes, str, str]]


def opened(place: Path, store: str, embedder: str) -> weft.Memory:
    environment = {"HOME": str(place), "WEFT_EMBEDDER": embedder, "WEFT_AUDIT": "off"}
    return weft.open(f"sqlite://{place}/{store}", directory=place / "tree", environment=environment)


def texts_of(place: Path) -> Texts:
    """Every text that the tree brings, as the embedder gets it; and warm caches for all that follows."""
    with opened(place, "words", "none") as memory:
        memory.ingest(place / "tree")
        viewer = memory.ctx.operator("measure")
        found: list[tuple[bytes, str, str]] = []
        after = 0
        while page := memory.ctx.store.unembedded(viewer, MODEL_NAME, after=after, limit=1_000):
            found += [(key, words, body) for _, key, words, body in page]
            after = page[-1][0]
        return found


class Took(NamedTuple):
    """Seconds by the clock on the wall, and of processor time: the machine's other work counts in the first only."""

    wall: float
    cpu: float


def now() -> Took:
    return Took(time.perf_counter(), time.process_time())


def since(began: Took) -> Took:
    ended = now()
    return Took(ended.wall - began.wall, ended.cpu - began.cpu)


def embed_alone(texts: Texts) -> Took:
    embedding = Embedding(BuiltinEmbedder(), SystemClock())
    began = now()
    for start in range(0, len(texts), BATCH_TEXTS):
        _, problem = embedding.of_pairs(texts[start : start + BATCH_TEXTS])
        if problem:
            raise SystemExit(problem)
    return since(began)


def ingest(place: Path, store: str, *, beside: bool) -> tuple[Took, Took, dict[str, float]]:
    """What the first ingest took and the second, and what a writer beside the first one says."""
    waits: dict[str, float] = {}
    with opened(place, store, "builtin") as memory:
        memory.remember("something, so that the store is there")
        other = start_writer(place, store) if beside else None
        began = now()
        done = memory.ingest(place / "tree")
        first = since(began)
        if other is not None:
            said, _ = other.communicate("stop\n")
            waits = json.loads(said)
        began = now()
        again = memory.ingest(place / "tree")
        second = since(began)
        if again.documents or not done.documents or done.notes:
            raise SystemExit(f"not what was to be measured: {done.notes} {again}")
    shutil.rmtree(place / store)
    return first, second, waits


def start_writer(place: Path, store: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.ingest.run", "--writer", str(place), "--store", store]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def write_beside(place: Path, store: str) -> None:
    """Writes one small memory after another, until it is told to stop; then says how long they took."""
    with opened(place, store, "none") as memory:
        ctx = memory.ctx
        write = partial(append, ctx.store, ctx.writer, clock=ctx.clock, options=AppendOptions(viewer=ctx.viewer))

        def calls() -> Iterator[Callable[[], object]]:
            for number in itertools.count():
                if select.select([sys.stdin], [], [], PAUSE_S)[0]:
                    return
                yield partial(write, [draft(number, f"small write number {number}")])

        print(json.dumps(percentiles(calls())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, help="a directory of documents")
    parser.add_argument("--every", type=int, default=1, help="take only every so manieth file")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--store", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer is not None:
        write_beside(given.writer, given.store)
        return
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        files = sorted(path for path in given.tree.rglob("*") if path.is_file())[:: given.every]
        for path in files:
            copy = place / "tree" / path.relative_to(given.tree)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        report(place, given.turns, beside=given.beside, keep=given.save)


def report(place: Path, turns: int, *, beside: bool, keep: bool) -> None:
    texts = texts_of(place)
    embed_alone(texts[:8])  # loads the model
    floors, firsts, seconds = [], [], []
    waits: dict[str, float] = {}
    for turn in range(turns):
        floors.append(embed_alone(texts))
        first, second, waits = ingest(place, f"store{turn}", beside=beside)
        firsts.append(first)
        seconds.append(second)
        print(f"turn {turn + 1}: floor {floors[-1].wall:.1f} s, ingest {first.wall:.1f} s, again {second.wall:.3f} s")
    floor, whole, again = (Took(*map(statistics.mean, zip(*took, strict=True))) for took in (floors, firsts, seconds))
    result = {
        "texts": len(texts),
        "floor_texts_per_second": round(len(texts) / floor.wall, 1),
        "ingest_texts_per_second": round(len(texts) / whole.wall, 1),
        "share_of_floor": round(floor.wall / whole.wall, 3),
        "share_of_floor_by_processor": round(floor.cpu / whole.cpu, 3),
        "share_goal": GOAL_SHARE,
        "again_share": round(again.wall / whole.wall, 4),
        "again_goal": GOAL_AGAIN,
        **({"small_write_beside": waits} if waits else {}),
    }
    print(json.dumps(result, indent=2))
    if keep:
        print(save("ingest", result))


if __name__ == "__main__":
    main()
