"""Fills a bench's memory through ordinary ingestion and asks it questions through ordinary `recall`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from weft.bench.files import Corpus, Question
from weft.bench.place import Bench
from weft.errors import Invalid
from weft.extract.dates import read_date
from weft.instants import to_iso
from weft.memory import Memory
from weft.operations.recalling import Recalled
from weft.operations.records import ingest_records


class Ingestion(Struct, frozen=True, kw_only=True):
    """How filling the store went. No seconds where it was filled already."""

    rows: int
    skipped_rows: int
    seconds: float | None
    notes: Mapping[str, int]

    @property
    def rows_per_second(self) -> float | None:
        return None if self.seconds is None else round(self.rows / max(self.seconds, 1e-6), 1)


class Asked(Struct, frozen=True, kw_only=True):
    """What came back: ranked ids, status and milliseconds by question; what was refused or noted, and how often."""

    ranked: Mapping[str, list[str]]
    statuses: Mapping[str, str]
    milliseconds: Mapping[str, float]
    refused: Mapping[str, int]
    notes: Mapping[str, int]


def ingest_all(bench: Bench, corpus: Corpus) -> Ingestion:
    """Ingests every row, scope by scope, unless the bench holds them already."""
    if bench.filled:
        return Ingestion(rows=corpus.count, skipped_rows=0, seconds=None, notes={})
    notes: Counter[str] = Counter()
    skipped = 0
    began = time.perf_counter()
    for scope, rows in corpus.rows.items():
        done = ingest_records(bench.memory.loom, rows, project=scope)
        skipped += done.skipped_rows
        notes.update(f"row {rows[each.row - 1]['id']} was skipped: {each.reason}" for each in done.skipped)
        notes.update(done.notes)
    seconds = time.perf_counter() - began
    bench.mark_whole()
    return Ingestion(rows=corpus.count, skipped_rows=skipped, seconds=round(seconds, 3), notes=notes)


def ask_all(memory: Memory, questions: Sequence[Question], *, limit: int, recipe: str) -> Asked:
    """Asks every question in its own scope, one after another. What `recall` refuses has an empty answer."""
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
        memory.loom.progress("asking", number, len(questions))
    return Asked(ranked=ranked, statuses=statuses, milliseconds=milliseconds, refused=refused, notes=notes)


def ask(memory: Memory, question: Question, *, limit: int, recipe: str, explain: bool = False) -> Recalled:
    """One question through `recall`, in the project that is its scope. Raises what recall raises.

    Files write the time of asking in many ways; one that cannot be read is left out, and `ask_all` says so.
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
    """Ids of the corpus rows that the hits were made from, best first, each once."""
    made_from = (hit.node.props.get("record") for hit in answer.hits)
    return list(dict.fromkeys(str(record) for record in made_from if record is not None))
