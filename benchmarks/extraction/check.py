"""Whether the annotations fit the data they point at, and how many there are of each class.

    python -m benchmarks.extraction.check [--data DIR]

The data is not in this repository: `--data` (or `WEFT_BENCH_DATA`) is the folder that holds `<set>/corpus.jsonl`.
Only counts and places are printed, never text. Leaves with 1 if anything does not fit.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CLASSES = ("names", "dates", "quantities", "identifiers", "facts", "preferences", "causes")
PREDICATES = frozenset(
    {
        "age",
        "born_in",
        "born_on",
        "capital_of",
        "creator",
        "died_in",
        "died_on",
        "elevation",
        "father",
        "founded_on",
        "head",
        "lives_in",
        "located_in",
        "mother",
        "name",
        "nationality",
        "owner",
        "partner",
        "released_on",
        "role",
        "spouse",
        "status",
        "works_at",
    }
)

Annotation = dict[str, Any]


def load(path: Path = HERE / "annotations.jsonl") -> list[Annotation]:
    """Every annotated sentence, in the order of the file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def texts(data: Path, wanted: list[Annotation]) -> dict[tuple[str, str], str]:
    """The texts of the rows that the annotations name, by set and row id; rows that do not exist are left out."""
    keys = {(one["set"], one["row"]) for one in wanted}
    found: dict[tuple[str, str], str] = {}
    for name in sorted({name for name, _ in keys}):
        path = data / name / "corpus.jsonl"
        if not path.is_file():
            continue
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if (name, row["id"]) in keys:
                    found[name, row["id"]] = row["text"]
    return found


def spans(one: Annotation) -> Iterator[tuple[str, list[int]]]:
    """Every span of one annotated sentence, with the class it belongs to; a holder or subject `speaker` has none."""
    for kind in ("names", "quantities", "identifiers"):
        for span in one[kind]:
            yield kind, span
    for when in one["dates"]:
        yield "dates", [when["start"], when["end"]]
    for kind in ("facts", "preferences", "causes"):
        for item in one[kind]:
            for key in ("subject", "object", "holder", "cause", "effect"):
                if key in item and item[key] != "speaker":
                    yield kind, item[key]


def _values(one: Annotation) -> Iterator[str]:
    for when in one["dates"]:
        start, end = when["from"], when["to"]
        if (start is None) != (end is None):
            yield "a date with one end"
        elif start is not None and date.fromisoformat(start) >= date.fromisoformat(end):
            yield f"an empty date {start}..{end}"
    for fact in one["facts"]:
        if fact["predicate"] not in PREDICATES:
            yield f"an unknown predicate {fact['predicate']}"
    for preference in one["preferences"]:
        if preference["polarity"] not in (1, -1):
            yield f"a polarity {preference['polarity']}"


def faults(one: Annotation, text: str | None) -> Iterator[str]:
    """What does not fit between one annotated sentence and its row's text, None where there is no such row."""
    if text is None:
        yield "no such row"
        return
    start, end = one["start"], one["end"]
    if not 0 <= start < end <= len(text):
        yield f"the sentence {start}..{end} lies outside the row's {len(text)} characters"
        return
    if text[start].isspace() or text[end - 1].isspace():
        yield "the sentence begins or ends with white space"
    for kind, (first, last) in spans(one):
        if not start <= first < last <= end:
            yield f"{kind}: {first}..{last} lies outside the sentence {start}..{end}"
        elif text[first].isspace() or text[last - 1].isspace():
            yield f"{kind}: {first}..{last} begins or ends with white space"
        elif _splits_word(text, first) or _splits_word(text, last):
            yield f"{kind}: {first}..{last} cuts a word"
    yield from _values(one)


def _splits_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _report(found: list[Annotation]) -> None:
    sets = Counter(one["set"] for one in found)
    print(f"{len(found)} sentences: " + ", ".join(f"{name} {count}" for name, count in sorted(sets.items())))
    for kind in CLASSES:
        counts = [len(one[kind]) for one in found]
        print(f"{kind:12} {sum(counts):4} in {sum(map(bool, counts)):4} sentences")
    bare = [one for one in found if not any(one[kind] for kind in CLASSES[1:])]
    print(f"nothing, or names only: {len(bare)}; nothing at all: {sum(not one['names'] for one in bare)}")
    print(f"unresolved dates: {sum(when['from'] is None for one in found for when in one['dates'])}")
    predicates = Counter(fact["predicate"] for one in found for fact in one["facts"])
    print("predicates: " + ", ".join(f"{name} {count}" for name, count in predicates.most_common()))
    polarities = Counter(preference["polarity"] for one in found for preference in one["preferences"])
    print(f"preferences: likes {polarities[1]}, dislikes {polarities[-1]}")


def main() -> int:
    """Check, print the counts, and say by the exit code whether everything fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("WEFT_BENCH_DATA"), help="folder of the sets")
    data: Path | None = parser.parse_args().data
    if data is None:
        parser.error("no data: give --data or set WEFT_BENCH_DATA")
    found = load()
    rows = texts(Path(data), found)
    wrong = [
        f"line {number} ({one['set']} {one['row']}): {fault}"
        for number, one in enumerate(found, start=1)
        for fault in faults(one, rows.get((one["set"], one["row"])))
    ]
    repeated = Counter((one["set"], one["row"], one["start"]) for one in found)
    wrong += [f"annotated {count} times: {key}" for key, count in repeated.items() if count > 1]
    _report(found)
    print("\n".join(wrong) if wrong else "everything fits")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
