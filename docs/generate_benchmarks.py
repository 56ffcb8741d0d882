"""Writes docs/benchmarks.md, and the table in docs/code.md, from the newest result of each name under
benchmarks/results.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from code_tables import RESULTS as CODE_RESULTS
from code_tables import judged_table
from quality_tables import quality

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "docs" / "benchmarks.md"
CODE = ROOT / "docs" / "code.md"
MOST_CHARACTERS = 1_500
BEGINS, ENDS = "<!-- judged: made by `make reference` -->\n", "<!-- end of judged -->\n"

INTRO = """# Benchmarks

Made by `make reference` from the dated files under `benchmarks/results`. Only the figures marked "given" are typed by
hand. All were measured on one small machine (two cores, no accelerator) with other programs running, so ratios within
a run say more than milliseconds.

| command | measures |
|---|---|
| `make bench` | append, bulk, rebuild, text search at 100,000 rows, beside a bare durable insert |
| `python -m benchmarks.latency.scale` | recall, vectors, walks, one-shot answers in large stores |
| `python -m benchmarks.latency.growth` | calls and files by the number of nodes |
| `python -m benchmarks.latency.crowd` | N processes that write and N that read, on one store |
| `python -m benchmarks.latency.notes_recall` | recall among 2,000 notes of everyday life: processor time, by stage |
| `python -m benchmarks.latency.near_copies CORPUS...` | near copies that `remember` notices, and what looking costs |
| `python -m benchmarks.latency.embedding_cost` | ingest and `remember`, beside the embedder alone |
| `python -m benchmarks.latency.same_answers` | whether recall answers as before a change: ids, scores, contexts |
| `python -m benchmarks.latency.http_load --workers 2` | calls a second over HTTP: one process, and workers |
| `python -m benchmarks.latency.hooks` | a hook from its start to its answer: alone, and beside a live process |
| `python -m benchmarks.latency.contention` | small writes while another process ingests |
| `python -m benchmarks.latency.erasing` | erasing one subject of many to the last byte, and what another writer waits |
| `python -m benchmarks.latency.mcp_start` | MCP start and memory, beside a bare SDK server |
| `weft bench retrieval` | one corpus, one file of questions: ranks, speed, memory ([how](measuring.md)) |
| `make bench-quality` | answer quality on outside data, what each stage is worth, misspelt questions |
| `python -m benchmarks.everyday.run` | everyday questions to small histories ([how](recall.md#everyday-questions)) |
| `python -m benchmarks.quality.hnsw_recall` | HNSW against exact search on real embeddings |
| `python -m benchmarks.code.indexing` | indexing source code, beside parsing alone |
| `python -m benchmarks.code.context_pack`, `.pack_latency` | packs: right files, tokens, time |
| `python -m benchmarks.code.watch` | from a saved file to an answer |
| `python -m benchmarks.fleet.contend`, `.recalling` | agents at work: claims, recall ([what](fleet.md#figures)) |
| `python -m benchmarks.code.oracle_…`, `.rust_oracle` | edges, by judges of each language ([table](code.md)) |
"""


STAGES = """
## Recall by stage, before and after

2,000 notes, everyday questions asked for the first time; milliseconds of processor time, all threads. Both were
measured one after the other while other programs used the same machine, which slows both by about the same.
Before: exact vector search on threads that wait for each other by spinning, and models as they were exported. Flame
graphs of today, made by py-spy: [recall](flames/recall.svg), [with the answer judge](flames/recall-judged.svg),
[remember](flames/remember.svg).

| stage | before | after |
|---|---|---|
"""
COMPARED = ("notes-recall-before", "notes-recall")


def newest() -> dict[str, dict[str, Any]]:
    """The latest result of each name."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["name"]] = result
    return found


def figure(value: Any) -> str:
    """A value as a reader wants it."""
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {figure(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(figure, value))
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def shortened(told: str, name: str) -> str:
    """Figures of very many things stay where they are."""
    return told if len(told) <= MOST_CHARACTERS else f"in the newest `benchmarks/results/…-{name}.json`"


def by_stage(results: dict[str, dict[str, Any]]) -> str:
    """A table of the stages of a recall, with the answer judge, in two results."""
    before, after = (results[name]["answer judge: builtin"] for name in COMPARED)
    stages = "processor ms by stage"
    names = dict.fromkeys([*before[stages], *after[stages]])
    rows = [(name, before[stages].get(name, 0), after[stages].get(name, 0)) for name in names]
    for label in ("asked first", "asked again"):
        rows.append((f"whole call, {label}, p50", *(each[label]["processor"]["p50_ms"] for each in (before, after))))
    return STAGES + "".join(f"| {name} | {was:.2f} | {now:.2f} |\n" for name, was, now in rows)


def page() -> str:
    """The whole page."""
    results = newest()
    parts = [INTRO, quality(results), by_stage(results)]
    for name, result in sorted(results.items()):
        if name.startswith("quality-") or name in (*CODE_RESULTS, COMPARED[0]):  # the tables of those stand elsewhere
            continue
        parts.append(f"\n## {name}\n\n{result['date']}, {result['machine']}\n\n| what | figures |\n|---|---|\n")
        rows = ((key, value) for key, value in result.items() if key not in ("name", "date", "machine"))
        parts.extend(f"| {key} | {shortened(figure(value), name)} |\n" for key, value in rows)
    return "".join(parts)


def code_page() -> str:
    """docs/code.md with its table of judges made anew."""
    before, _, rest = CODE.read_text(encoding="utf-8").partition(BEGINS)
    return f"{before}{BEGINS}{judged_table(newest())}{ENDS}{rest.partition(ENDS)[2]}"


if __name__ == "__main__":
    for target, text in ((TARGET, page()), (CODE, code_page())):
        if "--check" not in sys.argv:
            target.write_text(text, encoding="utf-8")
            print(f"wrote {target.relative_to(ROOT)}")
        elif target.read_text(encoding="utf-8") != text:
            sys.exit(f"{target.relative_to(ROOT)} is out of date: run `make reference`")
