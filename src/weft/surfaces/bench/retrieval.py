"""`weft bench retrieval`: speed of ingestion and recall over a corpus, and the run file for scoring."""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from weft.core.errors import Invalid
from weft.core.types import MAX_LIMIT
from weft.files.paths import read_path
from weft.retrieval import recipes
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.surfaces.bench.asking import Asked, Ingestion, ask_all, ingest_all
from weft.surfaces.bench.files import RunFile, read_corpus, read_questions
from weft.surfaces.bench.place import bench_of

FilePath = Annotated[str, Meta(min_length=1, max_length=4096)]
MAX_NOTES = 20
_NUMBER = re.compile(r"\d+")


class BenchRetrieval(Struct, frozen=True, kw_only=True):
    """Input of `bench_retrieval`."""

    corpus: Annotated[FilePath, Meta(description="rows to ingest, one JSON object a line: id, scope, text, …")]
    queries: Annotated[FilePath, Meta(description="questions, one JSON object a line: id, scope, query, asked_at")]
    out: Annotated[FilePath, Meta(description="where to write {question id: [row ids, best first]}")]
    recipe: Annotated[str, Meta(min_length=1, max_length=64, description="the recipe to ask with")] = "default"
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="how many rows a question gets")] = 20
    store: Annotated[FilePath | None, Meta(description="keep the store in this directory, and use it again")] = None
    cache: Annotated[FilePath | None, Meta(description="keep embeddings in this directory, and use them again")] = None


class RetrievalBenched(Struct, frozen=True, kw_only=True):
    """The measurements. Ingestion figures are null if the store was filled already."""

    out: str
    recipe: str
    limit: int
    embedder: str | None
    rows: int
    scopes: int
    skipped_rows: int
    ingest_seconds: float | None
    ingest_rows_per_second: float | None
    questions: int
    empty: int
    refused: dict[str, int]
    query_p50_ms: float | None
    query_p95_ms: float | None
    peak_memory_mb: float
    store_bytes: int
    text_bytes: int
    notes: tuple[str, ...]


def bench_retrieval(ctx: CallContext, given: BenchRetrieval) -> RetrievalBenched:
    """Ingests a corpus, asks every question, writes what was found, and says how long it took.

    Rows go through ordinary ingestion, a scope as a project; questions go through ordinary recall, asked_at as the
    time of asking. Only id, scope, query and asked_at of a question are read. The store is temporary, unless
    --store names a directory to keep it in; the next run over the same corpus then skips ingestion.
    """
    check_recipe(given.recipe)
    questions = read_questions(read_path(given.queries))
    corpus = read_corpus(read_path(given.corpus))
    run = RunFile(given.out)
    try:
        with bench_of(ctx, corpus, kept=_path(given.store), cache=_path(given.cache)) as bench:
            ingestion = ingest_all(bench, corpus)
            asked = ask_all(bench.memory, questions, limit=given.limit, recipe=given.recipe)
            store_bytes = bench.store_bytes
        run.write(asked.ranked)
    finally:
        run.drop()
    strange = sum(question.scope not in corpus.rows for question in questions)
    return RetrievalBenched(
        out=str(run.path),
        recipe=given.recipe,
        limit=given.limit,
        embedder=bench.label.model,
        rows=corpus.count,
        scopes=len(corpus.rows),
        skipped_rows=ingestion.skipped_rows,
        ingest_seconds=ingestion.seconds,
        ingest_rows_per_second=ingestion.rows_per_second,
        questions=len(questions),
        empty=sum(status == "empty" for status in asked.statuses.values()),
        refused=dict(asked.refused),
        query_p50_ms=percentile(asked.milliseconds.values(), 0.5),
        query_p95_ms=percentile(asked.milliseconds.values(), 0.95),
        peak_memory_mb=peak_memory_mb(),
        store_bytes=store_bytes,
        text_bytes=corpus.text_bytes,
        notes=(*_notes_on_figures(given, ingestion, strange), *_notes_of_weft(ingestion, asked)),
    )


def check_recipe(name: str) -> None:
    """Raises Invalid for an unknown recipe."""
    if name not in recipes.RECIPES:
        raise Invalid(f"there is no recipe {name!r}", hint=f"one of {', '.join(recipes.RECIPES)}")


def _path(written: str | None) -> Path | None:
    return None if written is None else read_path(written)


def _notes_on_figures(given: BenchRetrieval, ingestion: Ingestion, strange: int) -> tuple[str, ...]:
    """Notes on the conditions of the figures."""
    notes = []
    if ingestion.seconds is None:
        notes.append("the store was filled by an earlier run: nothing was ingested")
    if given.cache is not None:
        notes.append("embeddings came from a cache where it had them: the measured speeds mean nothing")
    if strange:
        notes.append(f"{strange} questions are of a scope that has no rows")
    return tuple(notes)


def _notes_of_weft(ingestion: Ingestion, asked: Asked) -> tuple[str, ...]:
    """Notes of ingestion and recall, grouped by their beginning, with counts."""
    alike: dict[str, tuple[str, int]] = {}
    for note, count in (*ingestion.notes.items(), *asked.notes.items()):
        beginning = _NUMBER.sub("#", note.partition(":")[0])
        example, before = alike.get(beginning, (note, 0))
        alike[beginning] = (example, before + count)
    said = [f"{count} × {example}" for example, count in alike.values()]
    return (*said[:MAX_NOTES], *([f"and {len(said) - MAX_NOTES} other notes"] if len(said) > MAX_NOTES else []))


OPERATIONS = (
    Operation(
        name="bench_retrieval",
        summary="ingest a corpus, ask questions, write what was found",
        input=BenchRetrieval,
        output=RetrievalBenched,
        effect="read",
        toolset="bench",
        run=bench_retrieval,
    ),
)


def percentile(values: Collection[float], share: float) -> float | None:
    """The quantile `share` of the values; None for no values."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2) if ordered else None


def peak_memory_mb() -> float:
    """Peak resident memory of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024  # the unit differs
    return round(peak_bytes / 1e6, 1)
