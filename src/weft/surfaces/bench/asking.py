"""Fills a bench's memory through ordinary ingestion and asks it questions through ordinary `recall`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from weft.core.clock import to_iso
from weft.core.errors import Invalid
from weft.ingest.ingest_records import ingest_records
from weft.memory.facade import Memory
from weft.recall.recall import Recalled
from weft.surfaces.bench.files import BenchQuestion, Corpus
from weft.surfaces.bench.place import Bench
from weft.text.extract.time.dates import read_date


class Ingestion(Struct, frozen=True, kw_only=True):
    """The result of filling the store; no seconds if it was filled already."""

    rows: int
    skipped_rows: int
    seconds: float | None
    notes: Mapping[str, int]

    @property
    def rows_per_second(self) -> float | None:
        return None if self.seconds is None else round(self.rows / max(self.seconds, 1e-6), 1)


class Asked(Struct, frozen=True, kw_only=True):
    """Answers: ranked ids, status and milliseconds by question; refusals and notes with counts."""

    ranked: Mapping[str, list[str]]
    statuses: Mapping[str, str]
    milliseconds: Mapping[str, float]
    refused: Mapping[str, int]
    notes: Mapping[str, int]


def ingest_all(bench: Bench, corpus: Corpus) -> Ingestion:
    """Ingests every row, by scope, unless the store is filled already."""
    if bench.filled:
        return Ingestion(rows=corpus.count, skipped_rows=0, seconds=None, notes={})
    notes: Counter[str] = Counter()
    skipped = 0
    began = time.perf_counter()
    for scope, rows in corpus.rows.items():
        done = ingest_records(bench.memory.ctx, rows, project=scope)
        skipped += done.skipped_rows
        notes.update(f"row {rows[each.row - 1]['id']} was skipped: {each.reason}" for each in done.skipped)
        notes.update(done.notes)
    seconds = time.perf_counter() - began
    bench.mark_whole()
    return Ingestion(rows=corpus.count, skipped_rows=skipped, seconds=round(seconds, 3), notes=notes)


def ask_all(memory: Memory, questions: Sequence[BenchQuestion], *, limit: int, recipe: str) -> Asked:
    """Asks every question in its scope, in order. A question that `recall` refuses has an empty answer."""
    ranked: dict[str, list[str]] = {}
    statuses: dict[str, str] = {}
    milliseconds: dict[str, float] = {}
    refused: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for number, question in enumerate(questions, start=1):
        if question.asked_at is not None and read_date(question.asked_at).at is None:
            notes[f"asked without a time: {question.asked_at[:40]!r} is none"] += 1
        began = time.perf_counter()
        try:
            answer = ask(memory, question, limit=limit, recipe=recipe)
        except Invalid as problem:
            refused[problem.message] += 1
            ranked[question.id], statuses[question.id] = [], "refused"
        else:
            milliseconds[question.id] = (time.perf_counter() - began) * 1000
            ranked[question.id], statuses[question.id] = records_of(answer), answer.status
            notes.update(answer.notes)
        memory.ctx.progress("asking", number, len(questions))
    return Asked(ranked=ranked, statuses=statuses, milliseconds=milliseconds, refused=refused, notes=notes)


def ask(memory: Memory, question: BenchQuestion, *, limit: int, recipe: str, explain: bool = False) -> Recalled:
    """One question through `recall`, in the project that is its scope. Raises what recall raises.

    A time of asking that cannot be parsed is omitted, and `ask_all` notes it.
    """
    at = None if question.asked_at is None else read_date(question.asked_at).at
    return memory.recall(
        question.query,
        project=question.scope,
        asked_at=None if at is None else to_iso(at),
        limit=limit,
        recipe=recipe,
        explain=explain,
    )


def records_of(answer: Recalled) -> list[str]:
    """Ids of the corpus rows behind the hits, best first, without repeats."""
    made_from = (hit.node.props.get("record") for hit in answer.hits)
    return list(dict.fromkeys(str(record) for record in made_from if record is not None))
