"""How long `context_pack` takes, warm and in one process, over a workspace that is indexed already.

    python -m benchmarks.code.pack_latency --root DIR --store DIR [--tasks 80] [--packs FILE] [--beside] [--save NAME]

Up to two thirds of the tasks are entries of the changelogs of real releases (tasks.jsonl), the others name a symbol
that a file of the workspace defines. Each is asked once to warm up and then once for its time. WEFT_EMBEDDER decides
whether meaning counts: the embedding of the task is part of the time. Wall time and processor time are told, and where
it goes: by stage of the search, and by what the store was asked for. `--packs` writes the ids of every pack, for
comparing two versions of the program; `--beside` times the other code tools and `recall` on the same tasks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import weft
from benchmarks.code.context_pack import tasks as changelog_tasks
from benchmarks.program import report
from weft.operations import operation
from weft.runtime.call_stats import CallStats

DEFINED = re.compile(r"^(?:class|def|async def) ([A-Za-z]\w{5,})", re.MULTILINE)
WORDINGS = (
    "`{name}` in {path} fails when it is called a second time",
    "{name} ignores its default and raises instead",
    "Add a parameter to `{name}` and pass it on to what it calls",
    "Deprecate {name}; its callers should get a warning with the new name",
)
BESIDE = {
    "recall": lambda task, symbol: {"query": task},
    "semantic_slice": lambda task, symbol: {"symbol": symbol},
    "semantic_slice by query": lambda task, symbol: {"query": task},
    "code_explain": lambda task, symbol: {"element": symbol},
    "impact_analyze": lambda task, symbol: {"changed_files": [symbol.partition("::")[0]]},
}


class Timed:
    """A store that notes the processor time of each of its methods."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.took: dict[str, float] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return found(*args, **kwargs)
            finally:
                self.took[name] = self.took.get(name, 0.0) + (time.process_time() - began) * 1000

        return timed


def asked(root: Path, count: int) -> list[str]:
    """So many tasks: entries of changelogs, and wordings about symbols of files, drawn by a hash of their paths."""
    entries = [task.entry for task in changelog_tasks("all", "")][: count - count // 3]
    return [*entries, *list(_about_symbols(root, count - len(entries)))]


def _about_symbols(root: Path, count: int) -> Iterator[str]:
    paths = sorted(
        (path.relative_to(root).as_posix() for path in root.rglob("*.py")),
        key=lambda path: hashlib.sha256(path.encode()).digest(),
    )
    made = 0
    for path in paths:
        if made == count:
            return
        names = DEFINED.findall((root / path).read_text(encoding="utf-8", errors="replace"))
        if names:
            yield WORDINGS[made % len(WORDINGS)].format(name=names[len(names) // 2], path=path)
            made += 1


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """Of milliseconds."""
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)

    return {"p50_ms": round(statistics.median(ordered), 2), "p95_ms": at(0.95), "p99_ms": at(0.99)}


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor time of a call, in milliseconds."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return (time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000


def measure(memory: weft.Memory, tasks: Sequence[str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The times of packs, by stage too, and the ids in each."""
    pack = operation("context_pack")
    packs, first = {}, []
    for task in tasks:
        began = time.perf_counter()
        packs[task] = [each.id for each in memory.run(pack, {"task": task}).core_symbols]  # type: ignore[attr-defined]
        first.append((time.perf_counter() - began) * 1000)
    found = [timed(lambda task=task: memory.run(pack, {"task": task})) for task in tasks]  # type: ignore[misc]
    stages: dict[str, list[float]] = {}
    calls: dict[str, list[float]] = {}
    for task in tasks:
        store, call_stats = Timed(memory.ctx.store), CallStats()
        pack.run(replace(memory.ctx, store=store, call_stats=call_stats), pack.input(task=task))
        for name, milliseconds in call_stats.stages.items():
            stages.setdefault(name, []).append(milliseconds)
        for name, milliseconds in store.took.items():
            calls.setdefault(name, []).append(milliseconds)
    slowest = sorted(zip((wall for wall, _ in found), tasks, strict=True), reverse=True)[:5]
    result = {
        "tasks": len(tasks),
        "wall": percentiles([wall for wall, _ in found]),
        "processor": percentiles([used for _, used in found]),
        "asked for the first time": {"first_ms": round(first[0], 1), **percentiles(first[1:])},
        "stages of the search, wall": _listed(stages),
        "calls of the store, processor": _listed(calls),
        "slowest": [{"ms": round(wall, 1), "task": task[:100]} for wall, task in slowest],
    }
    return result, packs


def _listed(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """By name, what takes most first; what takes next to nothing is left out."""
    told = sorted(((name, percentiles(some)) for name, some in times.items()), key=lambda each: -each[1]["p95_ms"])
    return {name: found for name, found in told if found["p95_ms"] >= 0.1}


def beside(memory: weft.Memory, packs: dict[str, list[str]]) -> dict[str, Any]:
    """The other tools: the same tasks, and the first symbol of each pack."""
    told = {}
    for label, given in BESIDE.items():
        times = []
        for task, ids in packs.items():
            if ids:
                arguments = given(task, ids[0])
                called = operation(label.partition(" ")[0])
                memory.run(called, arguments)
                times.append(timed(lambda called=called, arguments=arguments: memory.run(called, arguments)))  # type: ignore[misc]
        told[label] = {**percentiles([wall for wall, _ in times]), "processor": percentiles([cpu for _, cpu in times])}
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the workspace")
    parser.add_argument("--store", type=Path, required=True, help="the store that it is indexed in")
    parser.add_argument("--tasks", type=int, default=80)
    parser.add_argument("--packs", type=Path, help="where to write the ids of every pack")
    parser.add_argument("--beside", action="store_true", help="the other tools as well")
    parser.add_argument("--save", default="", help="the name of the result")
    given = parser.parse_args()
    with weft.open(f"sqlite://{given.store.resolve()}", directory=given.root) as memory:
        result, packs = measure(memory, asked(given.root, given.tasks))
        known = memory.call("graph_health")
        result = {
            "symbols": getattr(known, "symbols", None),
            "files": getattr(known, "files", None),
            "embedder": memory.ctx.embedding.model,
            **result,
        }
        if given.beside:
            result["beside"] = beside(memory, packs)
    result["most memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if given.packs:
        given.packs.write_text(json.dumps(packs, indent=1), encoding="utf-8")
    report(given.save, result)


if __name__ == "__main__":
    main()
