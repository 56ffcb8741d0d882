"""Answer quality on outside data: ranks, costs, what each stage is worth, misspelt questions, unanswerable ones.

    python -m benchmarks.quality.run [--data DIR] [--sets a,b] [--no-ablations] [--store-root DIR] [--cache DIR]

A run over all stages with fresh stores is saved as a dated result for each set; a quick one is only printed, unless
`--save` is given. Results hold figures, never texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import weft
from benchmarks.latency.measure import save
from benchmarks.quality.misspell import lower, misspelt
from benchmarks.quality.score import newest_first, score, score_by_type
from benchmarks.quality.sets import Judged, Set, data_directory, find_sets, read_judged
from benchmarks.quality.variants import offered, variants, works
from weft.memory.facade import Memory
from weft.retrieval import recipes
from weft.runtime.call_context import CallContext
from weft.surfaces.bench.asking import Asked, Ingestion, ask_all, ingest_all
from weft.surfaces.bench.files import Corpus, read_corpus, read_questions
from weft.surfaces.bench.place import Bench, bench_of
from weft.surfaces.bench.retrieval import percentile

LIMIT = 20
NOTES_SHOWN = 5
ABLATED_AT_MOST = 60  # questions of a set that every variant is asked
COMPARED = ("R@5", "R@10", "MRR")  # of variants: enough to see what a stage is worth
Figures = dict[str, Any]


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def ask(memory: Memory, questions: Sequence[Judged], recipe: str = "default") -> Asked:
    return ask_all(memory, [question.asked for question in questions], limit=LIMIT, recipe=recipe)


def costs(bench: Bench, corpus: Corpus, ingestion: Ingestion, asked: Asked) -> Figures:
    return {
        "query_p50_ms": percentile(asked.milliseconds.values(), 0.5),
        "query_p95_ms": percentile(asked.milliseconds.values(), 0.95),
        "ingest_rows_per_second": ingestion.rows_per_second,
        "store_bytes_per_text_byte": round(bench.store_bytes / max(corpus.text_bytes, 1), 2),
    }


def robustness(memory: Memory, questions: Sequence[Judged], plain: Asked) -> Figures:
    """How the questions that a change touches are answered, plain and changed."""
    changes: dict[str, Callable[[Judged], str | None]] = {
        "one typo in a name": lambda question: misspelt(question.query, seed=question.id),
        "all lower case": lambda question: lower(question.query),
    }
    found: Figures = {}
    for name, change in changes.items():
        pairs = [(question, written) for question in questions if (written := change(question)) is not None]
        touched = [question for question, _ in pairs]
        asked = ask(memory, [replace(question, query=written) for question, written in pairs])
        found[name] = {"plain": score(plain.ranked, touched), "changed": score(asked.ranked, touched)}
    return found


def abstention(memory: Memory, unanswerable: Path, answerable: Asked) -> Figures:
    """How often weft says that it has nothing: when that is right, and when it is wrong."""
    questions = read_questions(unanswerable)
    asked = ask_all(memory, questions, limit=LIMIT, recipe="default")
    return {"unanswerable": share_empty(asked), "answerable": share_empty(answerable)}


def share_empty(asked: Asked) -> Figures:
    empty = sum(status == "empty" for status in asked.statuses.values())
    return {"n": len(asked.statuses), "empty": round(100 * empty / len(asked.statuses), 2)}


def ablations(memory: Memory, questions: Sequence[Judged]) -> Figures:
    """What other recipes reach; None for those that answer nothing, which lack a stage that cannot be spared.

    On a part of the questions, the same for all: every so many-th, so that it holds every type.
    """
    found: Figures = {}
    questions = questions[:: -(-len(questions) // ABLATED_AT_MOST)]
    for name, recipe in {"default": recipes.DEFAULT, **variants()}.items():
        with offered(recipe) as variant:
            if not works(memory, [question.asked for question in questions], variant):
                found[name] = None
                continue
            asked = ask(memory, questions, variant)
        scores = score(asked.ranked, questions)
        found[name] = {"n": len(questions)} | {measure: scores[measure] for measure in COMPARED}
        found[name]["query_p50_ms"] = percentile(asked.milliseconds.values(), 0.5)
        if newest := newest_first(asked.ranked, questions):
            found[name]["newest_first"] = newest["share"]
        say(f"    {name}: {found[name]}")
    return found


def measure(chosen: argparse.Namespace, ctx: CallContext, one: Set) -> Figures:
    corpus, questions = read_corpus(one.corpus), read_judged(one.queries)
    kept = None if chosen.store_root is None else Path(chosen.store_root) / one.name
    cache = None if chosen.cache is None else Path(chosen.cache)
    with bench_of(ctx, corpus, kept=kept, cache=cache) as bench:
        say(f"{one.name}: {corpus.count} rows")
        ingestion = ingest_all(bench, corpus)
        say(f"{one.name}: {len(questions)} questions")
        asked = ask(bench.memory, questions)
        result: Figures = {
            "set": one.name,
            "rows": corpus.count,
            "embedder": bench.label.model,
            "cached": cache is not None,
            "overall": score(asked.ranked, questions),
            "by_type": score_by_type(asked.ranked, questions),
            "costs": costs(bench, corpus, ingestion, asked),
            "refused": sum(asked.refused.values()),
            "skipped_rows": ingestion.skipped_rows,
        }
        for note in (*islice(ingestion.notes, NOTES_SHOWN), *islice(asked.notes, NOTES_SHOWN)):
            say(f"    note: {note}")  # an embedder that is down must not pass for a bad recipe
        say(f"    {result['overall']}")
        if newest := newest_first(asked.ranked, questions):
            result["newest_first"] = newest
        if one.unanswerable is not None:
            result["abstention"] = abstention(bench.memory, one.unanswerable, asked)
        if not chosen.no_robustness:
            result["robustness"] = robustness(bench.memory, questions, asked)
        if not chosen.no_ablations:
            result["ablations"] = ablations(bench.memory, questions)
    return result


def show(result: Figures) -> None:
    """The figures of a set, one line each."""
    print(f"{result['set']}: {result['rows']} rows, embedder {result['embedder']}")
    for name, scores in (("all", result["overall"]), *result["by_type"].items()):
        print(f"  {name:26} " + "  ".join(f"{measure} {value}" for measure, value in scores.items()))
    for name in ("newest_first", "costs", "abstention"):
        if name in result:
            print(f"  {name:26} {result[name]}")
    for name, pair in result.get("robustness", {}).items():
        gone = ", ".join(f"{each} {pair['plain'][each]} → {pair['changed'][each]}" for each in COMPARED)
        print(f"  {name:26} n {pair['changed']['n']}, {gone}")
    for name, scores in result.get("ablations", {}).items():
        print(f"  {name:26} {scores if scores is not None else 'answers nothing'}")


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="the directory of the sets (or WEFT_BENCH_DATA)")
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--no-ablations", action="store_true", help="only the default recipe")
    parser.add_argument("--no-robustness", action="store_true", help="no misspelt questions")
    parser.add_argument("--store-root", help="keep a store for each set below this directory, and use it again")
    parser.add_argument("--cache", help="keep embeddings in this directory, and use them again")
    parser.add_argument("--save", action="store_true", help="save the result of a quick run too")
    return parser


def main() -> None:
    chosen = options().parse_args()
    quick = chosen.no_ablations or chosen.no_robustness or chosen.cache or chosen.store_root
    with weft.open() as mine:  # for its settings: the benches have stores of their own
        for one in find_sets(data_directory(chosen.data), chosen.sets):
            result = measure(chosen, mine.ctx, one)
            show(result)
            if chosen.save or not quick:
                print(save(f"quality-{one.name}", result))


if __name__ == "__main__":
    main()
