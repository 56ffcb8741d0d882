"""Writes docs/benchmarks.md from the newest result of each name under benchmarks/results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quality_tables import quality

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "docs" / "benchmarks.md"

INTRO = """# Benchmarks

Made by `make reference` from the dated files under `benchmarks/results`; nothing here is typed by hand. Figures are of
one small machine (two cores, no accelerator) that is never quite idle: ratios within a run say more than milliseconds.

| command | measures |
|---|---|
| `make bench` | append, bulk, rebuild, text search at 100,000 rows, beside a bare durable insert |
| `python -m benchmarks.latency.scale` | recall, vectors, walks, one-shot answers in large stores |
| `python -m benchmarks.latency.embedding_cost` | ingest and `remember`, beside the embedder alone |
| `python -m benchmarks.latency.contention` | small writes while another process ingests |
| `python -m benchmarks.latency.erasing` | erasing one subject of many to the last byte, and what another writer waits |
| `python -m benchmarks.latency.mcp_start` | MCP start and memory, beside a bare SDK server |
| `weft bench retrieval` | one corpus, one file of questions: ranks, speed, memory ([how](measuring.md)) |
| `make bench-quality` | answer quality on outside data, what each stage is worth, misspelt questions |
| `python -m benchmarks.quality.hnsw_recall` | HNSW against exact search on real embeddings |
"""


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


def page() -> str:
    """The whole page."""
    results = newest()
    parts = [INTRO, quality(results)]
    for name, result in sorted(results.items()):
        if name.startswith("quality-"):
            continue
        parts.append(f"\n## {name}\n\n{result['date']}, {result['machine']}\n\n| what | figures |\n|---|---|\n")
        rows = ((key, value) for key, value in result.items() if key not in ("name", "date", "machine"))
        parts.extend(f"| {key} | {figure(value)} |\n" for key, value in rows)
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
