"""Recall, walks and one-shot answers in a large store, with guards on, retired rows, and a second process writing.

    python -m benchmarks.latency.scale --nodes 100000 --edges 500000 --vectors real.npy --directory /some/where

`--vectors` is an array of real embeddings (see `benchmarks.latency.embed_dev`); they are repeated with noise. The store
is built once per directory and kept there.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import weft
from benchmarks.latency.corpus import Words
from benchmarks.latency.measure import percentiles, rate, save
from weft.core.queries import TextQuery, TextVector, VectorQuery
from weft.core.types import Find, When
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.operations import operation
from weft.text.lexical import content_hash, query_terms

SLICE = 1_000
MODEL = "minilm-l6-v2/int8"
SCOPES = ("public", "shared", "admin")


def environment(directory: Path) -> dict[str, str]:
    return {"HOME": str(directory), "WEFT_STORE": f"sqlite://{directory}/store", "WEFT_PROJECT": "scale"}


def fill(mem: weft.Memory, nodes: int, edges: int, real: np.ndarray) -> dict[str, Any]:
    """Zipf text, a heavy-tailed degree distribution, three scopes, one node in ten asserted twice (so retired once)."""
    words, chance = Words(seed=11), random.Random(11)
    noise = np.random.default_rng(11)
    per_node = edges / nodes

    def work() -> None:
        for first in range(0, nodes, SLICE):
            assertions, joins, vectors = [], [], []
            for number in range(first, min(first + SLICE, nodes)):
                text = words.text(8, 30)
                scope = SCOPES[number % 3]
                assertions.append(
                    graph.NodeAssertion(id=f"n{number}", kind="Memory", text=text, project="scale", scope=scope)
                )
                vector = real[number % len(real)] + noise.normal(scale=0.02, size=real.shape[1])
                vector /= np.linalg.norm(vector)
                data = vector.astype("<f2").tobytes()
                vectors.append(TextVector(model=MODEL, content_hash=content_hash("", "", text), data=data))
                for _ in range(min(int(per_node), number)):
                    target = int(number * chance.random() ** 2)  # older nodes are joined more often
                    if target != number:
                        joins.append(
                            graph.EdgeAssertion(
                                src=f"n{number}", rel="INVOLVES", dst=f"n{target}", project="scale", scope=scope
                            )
                        )
            again = [replace_text(each, words.text(8, 30)) for each in assertions if chance.random() < 0.1]
            drafts = [
                Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(assertions[at : at + 200])))
                for at in range(0, len(assertions), 200)
            ]
            drafts += [
                Draft(kind="graph.asserted", payload=graph.Asserted(edges=tuple(joins[at : at + 500])))
                for at in range(0, len(joins), 500)
            ]
            if again:
                drafts.append(Draft(kind="graph.asserted", payload=graph.Asserted(nodes=tuple(again))))
            mem.ctx.append(drafts)
            mem.ctx.store.put_vectors("default", vectors)

    return rate(nodes, work)


def replace_text(node: graph.NodeAssertion, text: str) -> graph.NodeAssertion:
    return graph.NodeAssertion(id=node.id, kind=node.kind, text=text, project=node.project, scope=node.scope)


def measure(mem: weft.Memory, directory: Path, real: np.ndarray, nodes: int) -> dict[str, Any]:
    words, chance = Words(seed=12), random.Random(12)
    viewer, store = mem.ctx.viewer, mem.ctx.store
    questions = [words.question() for _ in range(200)]
    result: dict[str, Any] = {}
    for text in questions[:10]:  # warm
        mem.recall(text)
    result["recall, embedding included"] = percentiles([lambda q=q: mem.recall(q) for q in questions])
    checkout = operation("memory_checkout")
    result["memory_checkout, for coding"] = percentiles(
        [lambda q=q: mem.run(checkout, {"query": q, "purpose": "coding"}) for q in questions]
    )
    stored = store.nodes(viewer, When(), [f"n{chance.randrange(nodes)}" for _ in range(200)])
    known = [" ".join(chance.sample(node.text.split(), min(6, len(node.text.split())))) for node in stored]
    result["memory_checkout, for coding, by words of one text"] = percentiles(
        [lambda q=q: mem.run(checkout, {"query": q, "purpose": "coding"}) for q in known]
    )
    rare = (Find(kinds=("Task",)), Find(projects=("quiet",)))
    result["find of a rare kind, and in a quiet project"] = percentiles(
        [lambda f=f: store.find(viewer, When(), f, limit=50) for f in rare * 50]
    )
    vectors = [real[chance.randrange(len(real))].astype("<f4").tobytes() for _ in range(200)]
    result["vector search"] = percentiles(
        [lambda v=v: store.search_vector(viewer, When(), VectorQuery(model=MODEL, data=v), limit=50) for v in vectors]
    )
    result["text search, 8 terms"] = percentiles(
        [lambda q=q: store.search_text(viewer, When(), TextQuery(terms=query_terms(q)), limit=50) for q in questions]
    )
    seeds = [{f"n{chance.randrange(nodes)}": 1.0 for _ in range(10)} for _ in range(200)]
    store.walk(viewer, When(), seeds[0], limit=50)
    result["walk, 10 seeds"] = percentiles([lambda s=s: store.walk(viewer, When(), s, limit=50) for s in seeds])
    narrow = weft.open(directory=directory, environment=environment(directory) | {"WEFT_SCOPES": "public"})
    result["recall of a viewer of one scope in three"] = percentiles(
        [lambda q=q: narrow.recall(q) for q in questions[:100]]
    )
    narrow.close()
    result["peak memory MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return result


def one_shot(directory: Path) -> dict[str, float]:
    """A fresh process from start to answer."""
    command = [str(Path(sys.executable).parent / "weft"), "recall", "what was said about the harbour", "--json"]
    env = environment(directory) | {"PATH": "/usr/bin:/bin"}
    return percentiles(
        [lambda: subprocess.run(command, env=env, cwd=directory, check=True, capture_output=True) for _ in range(12)]
    )


WRITER = """
import sys, time, weft
from pathlib import Path
from benchmarks.latency.scale import environment
here = Path(sys.argv[1])
own = {"WEFT_EMBEDDER": "none", "WEFT_SESSION": "noise"}
with weft.open(directory=here, environment=environment(here) | own) as mem:
    while True:
        mem.remember("noise from another process")
        time.sleep(0.02)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--directory", required=True)
    chosen = parser.parse_args()
    directory = Path(chosen.directory)
    directory.mkdir(parents=True, exist_ok=True)
    real = np.load(chosen.vectors).astype(np.float32)
    result: dict[str, Any] = {"nodes": chosen.nodes, "edges": chosen.edges}
    done = directory / "filled"
    if not done.exists():
        # Vectors are given, not made: what the embedder costs is measured elsewhere.
        with weft.open(directory=directory, environment=environment(directory) | {"WEFT_EMBEDDER": "none"}) as mem:
            result["fill, nodes a second"] = fill(mem, chosen.nodes, chosen.edges, real)
            began = time.perf_counter()
            made = mem.ctx.store.reindex(mem.ctx.operator("measure"), progress=lambda done, total: None)
            result["publish indexes"] = {"seconds": round(time.perf_counter() - began, 1), "made": list(made)}
            done.touch()
    with weft.open(directory=directory, environment=environment(directory)) as mem:
        result["stats"] = {"edges": mem.ctx.store.stats(mem.ctx.viewer).edges}
        result |= {f"quiet: {name}": value for name, value in measure(mem, directory, real, chosen.nodes).items()}
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)])
        try:
            time.sleep(2)
            busy = measure(mem, directory, real, chosen.nodes)
        finally:
            writer.kill()
        result |= {f"with a writer: {name}": value for name, value in busy.items()}
    result["one-shot recall, process start to answer"] = one_shot(directory)
    for name, figures in result.items():
        print(f"{name:55} {figures}")
    print(save(f"scale-{chosen.nodes}", result))


if __name__ == "__main__":
    main()
