"""The sets of questions that lie in a directory: `<set>/corpus.jsonl`, `<set>/queries.jsonl`, `<set>/abstention.jsonl`.

The data belongs to others and is never part of this repository; `--data` or WEFT_BENCH_DATA says where it is.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from weft.surfaces.bench.files import BenchQuestion

BESIDE_THE_CHECKOUT = Path(__file__).parents[3] / "shared" / "bench"


class Judged(BenchQuestion, frozen=True, kw_only=True):
    """A question with what the scorer knows of it. weft is asked the plain `BenchQuestion` only."""

    gold: tuple[str, ...]
    type: str = "all"
    latest_gold: str | None = None

    @property
    def asked(self) -> BenchQuestion:
        return BenchQuestion(id=self.id, scope=self.scope, query=self.query, asked_at=self.asked_at)


class Set(Struct, frozen=True, kw_only=True):
    """One set's files."""

    name: str
    corpus: Path
    queries: Path
    unanswerable: Path | None


def data_directory(given: str | None) -> Path:
    """Where the sets are: as given, as the environment says, or beside this checkout. Exits, saying so, if nowhere."""
    named = given or os.environ.get("WEFT_BENCH_DATA")
    directory = Path(named) if named else BESIDE_THE_CHECKOUT
    if not directory.is_dir():
        raise SystemExit(f"there is no {directory}: say where the sets are with --data or WEFT_BENCH_DATA")
    return directory


def find_sets(directory: Path, only: str | None = None) -> list[Set]:
    """Every set below, or those named (a,b,c). Exits, saying so, for a name that is not there."""
    found = {}
    for corpus in sorted(directory.glob("*/corpus.jsonl")):
        queries, unanswerable = corpus.with_name("queries.jsonl"), corpus.with_name("abstention.jsonl")
        if queries.is_file():
            name = corpus.parent.name
            kept = unanswerable if unanswerable.is_file() else None
            found[name] = Set(name=name, corpus=corpus, queries=queries, unanswerable=kept)
    wanted = only.split(",") if only else list(found)
    if missing := [name for name in wanted if name not in found]:
        raise SystemExit(f"there is no set {', '.join(missing)} in {directory}; there are {', '.join(found) or 'none'}")
    return [found[name] for name in wanted]


def read_judged(path: Path) -> list[Judged]:
    """A set's questions with their gold."""
    with path.open("rb") as file:
        return [msgspec.json.decode(line, type=Judged) for line in file if line.strip()]
