"""Questions whose gold is missed, what was ranked instead, and how each came to its score: for reading, not for tuning.

    python -m benchmarks.quality.misses locomo [--k 5] [--type multi-hop] [--first 50] [--out FILE]

The file holds texts of the data, which belongs to others: it goes to the system's temporary directory, and never into
this repository.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import weft
from benchmarks.quality.score import collapsed
from benchmarks.quality.sets import Judged, data_directory, find_sets, read_judged
from weft.core.types import MAX_LIMIT
from weft.memory.facade import Memory
from weft.recall.recall import Hit, Recalled
from weft.surfaces.bench.asking import ask, ask_all, ingest_all
from weft.surfaces.bench.files import Corpus, read_corpus
from weft.surfaces.bench.place import bench_of

REPOSITORY = Path(__file__).parents[2]
LIMIT = 20
CHARACTERS = 300  # of a text


def excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CHARACTERS else line[: CHARACTERS - 1] + "…"


def texts_of(corpus: Corpus) -> dict[str, str]:
    """Each row's date and text, by id."""
    return {
        row["id"]: f"[{row['date']}] {row['text']}" if row.get("date") else row["text"]
        for rows in corpus.rows.values()
        for row in rows
    }


def explained(hit: Hit) -> Iterator[str]:
    yield f"      score {hit.score:.3f}  {hit.node.kind} {hit.node.id}"
    for why in hit.why:
        made = f"rank {why.rank}, raw {why.raw:.3f}, weight {why.weight:.3f}"
        yield f"        {why.part:+.3f} {why.name}, {made}  {why.detail}"


def hit_of(answer: Recalled, record: str) -> tuple[int, Hit] | None:
    """The first hit made from a row, and its rank from 1."""
    ranks = enumerate(answer.hits, start=1)
    return next(((rank, hit) for rank, hit in ranks if str(hit.node.props.get("record")) == record), None)


def described(memory: Memory, question: Judged, ranked: list[str], texts: Mapping[str, str], k: int) -> Iterator[str]:
    """One missed question: its gold, then what stands in the first k instead."""
    # Deeper than the ranking itself was asked for: where the gold is, if it is anywhere.
    answer = ask(memory, question.asked, limit=MAX_LIMIT, recipe="default", explain=True)
    asked_at = f"  asked {question.asked_at}" if question.asked_at else ""
    yield f"== {question.id}  {question.type}{asked_at}\n{excerpt(question.query)}"
    for note in answer.notes:
        yield f"  note: {note}"
    for gold in question.gold:
        place = f"rank {ranked.index(gold) + 1}" if gold in ranked else f"not in the first {LIMIT}"
        yield f"  gold {gold}: {place}\n    {excerpt(texts.get(gold, '(no such row)'))}"
        found = hit_of(answer, gold)
        if found is None:
            yield f"      not in the first {MAX_LIMIT} either"
        else:
            yield f"      rank {found[0]} of {len(answer.hits)}"
            yield from explained(found[1])
    for rank, record in enumerate(ranked[:k], start=1):
        mark = "*" if record in question.gold else " "
        yield f"  {rank:2}{mark} {record}\n    {excerpt(texts.get(record, ''))}"
        found = hit_of(answer, record)
        if found is not None and rank == 1:
            yield from explained(found[1])
    yield f"  stages: {', '.join(f'{each.stage} {each.count}' for each in answer.stages)}\n"


def report(chosen: argparse.Namespace) -> Iterator[str]:
    (one,) = find_sets(data_directory(chosen.data), chosen.set)
    corpus = read_corpus(one.corpus)
    questions = [each for each in read_judged(one.queries) if chosen.type in (None, each.type)]
    kept = None if chosen.store_root is None else Path(chosen.store_root) / one.name
    cache = None if chosen.cache is None else Path(chosen.cache)
    with weft.open() as mine, bench_of(mine.ctx, corpus, kept=kept, cache=cache) as bench:
        ingest_all(bench, corpus)
        asked = ask_all(bench.memory, [each.asked for each in questions], limit=LIMIT, recipe="default")
        ranked = {each.id: collapsed(asked.ranked[each.id], each.gold) for each in questions}
        missed = [each for each in questions if not set(each.gold) <= set(ranked[each.id][: chosen.k])]
        yield f"{len(missed)} of {len(questions)} questions of {one.name} lack gold in their first {chosen.k}\n"
        texts = texts_of(corpus)
        for question in missed[: chosen.first]:
            yield from described(bench.memory, question, ranked[question.id], texts, chosen.k)


def target(written: str | None, name: str) -> Path:
    """Where the report goes. Exits, saying so, for a place inside this repository."""
    path = Path(written) if written else Path(tempfile.mkdtemp(prefix="weft-misses-")) / f"{name}.txt"
    if path.resolve().is_relative_to(REPOSITORY):
        raise SystemExit(f"{path} is inside this repository, and texts of the data are not for it: name another place")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set")
    parser.add_argument("--k", type=int, default=5, help="gold must be in the first k")
    parser.add_argument("--type", help="only questions of this type")
    parser.add_argument("--first", type=int, default=50, help="describe at most this many")
    parser.add_argument("--out", help="the file to write (a new one in the temporary directory if unset)")
    parser.add_argument("--data", help="the directory of the sets (or WEFT_BENCH_DATA)")
    parser.add_argument("--store-root", help="keep a store for each set below this directory, and use it again")
    parser.add_argument("--cache", help="keep embeddings in this directory, and use them again")
    chosen = parser.parse_args()
    path = target(chosen.out, chosen.set)
    with path.open("w", encoding="utf-8") as file:
        for line in report(chosen):
            file.write(line + "\n")
    print(path)


if __name__ == "__main__":
    main()
