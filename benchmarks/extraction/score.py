"""How much of what a careful reader finds the extractor finds, and how much of what it finds is right.

    python -m benchmarks.extraction.score [--data DIR] [--json FILE]

Every annotated sentence is read by itself, with its row's date and speaker. One found item answers at most one
annotated one. "Overlap" asks for spans that share half of their union; "exact" for equal ones. Dates must also name the
same days, facts the same predicate, preferences the same holder and polarity. Times that the reader could not resolve
must not be found. Nothing of the data is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.extraction.check import CLASSES, Annotation, load
from weft.core.clock import parse_instant
from weft.text.extract.extraction import Extraction, extract
from weft.text.extract.time.dates import read_date

SPEAKER = "the speaker"
HALF = 0.5
ROUNDS = 5  # how often all sentences are read to measure the speed
_SPEAKER_LABEL = re.compile(r"(?:^|\n)(user|assistant): ")

Span = tuple[int, int]
Item = tuple[Any, ...]  # the spans or values that make up one finding of a class
Agrees = Callable[[Item, Item, bool], bool]


@dataclass(frozen=True)
class Sentence:
    """One annotated sentence with its text and the moment it was written."""

    text: str
    start: int
    at: int | None
    gold: Annotation


@dataclass
class CallStats:
    """Counts of one class."""

    found: int = 0
    wanted: int = 0
    right: int = 0
    exact: int = 0

    def figures(self) -> dict[str, float]:
        precision = self.right / self.found if self.found else 0.0
        recall = self.right / self.wanted if self.wanted else 0.0
        both = precision + recall
        return {
            "annotated": self.wanted,
            "found": self.found,
            "right": self.right,
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "f1": round(2 * precision * recall / both, 3) if both else 0.0,
            "exact": self.exact,
        }


def sentences(data: Path) -> list[Sentence]:
    """The annotated sentences, in the order of the file; those whose row is not in the data are left out."""
    wanted = load()
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    keys = {(one["set"], one["row"]) for one in wanted}
    for name in sorted({name for name, _ in keys}):
        with (data / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if (name, row["id"]) in keys:
                    rows[name, row["id"]] = row
    read = []
    for one in wanted:
        if row := rows.get((one["set"], one["row"])):
            at = read_date(row["date"]).at if row.get("date") else None
            read.append(Sentence(row["text"][one["start"] : one["end"]], one["start"], at, one))
    return read


# ---- what counts as the same


def shared(one: Span, other: Span) -> float:
    """The share of two spans' union that both cover."""
    both = min(one[1], other[1]) - max(one[0], other[0])
    return max(both, 0) / (max(one[1], other[1]) - min(one[0], other[0]) or 1)


def same(one: Any, other: Any, exact: bool) -> bool:
    if isinstance(one, str) or isinstance(other, str):  # the speaker, a predicate, a polarity
        return bool(one == other)
    return bool(one == other) if exact else shared(one, other) >= HALF


def all_same(found: Item, gold: Item, exact: bool) -> bool:
    return all(same(one, other, exact) for one, other in zip(found, gold, strict=True))


def touching(found: Item, gold: Item, exact: bool) -> bool:
    """Subjects, holders and objects need only touch: how much of a phrase belongs to it is a matter of taste."""
    if exact:
        return all_same(found, gold, exact)
    return all(
        one == other if isinstance(one, str) or isinstance(other, str) else shared(one, other) > 0
        for one, other in zip(found, gold, strict=True)
    )


def same_days(found: Item, gold: Item, exact: bool) -> bool:
    span, *days = found
    other, *other_days = gold
    return days == other_days and (span == other if exact else shared(span, other) > 0)


AGREES: dict[str, Agrees] = {
    "names": all_same,
    "dates": same_days,
    "quantities": all_same,
    "identifiers": all_same,
    "facts": touching,
    "preferences": touching,
    "causes": all_same,
}


# ---- what was annotated and what was found, in one form


def annotated(one: Annotation, kind: str) -> list[Item]:
    def who(value: Any) -> Any:
        return SPEAKER if value == "speaker" else tuple(value)

    items = one[kind]
    if kind == "dates":
        return [
            ((item["start"], item["end"]), parse_instant(item["from"]), parse_instant(item["to"]))
            for item in items
            if item["from"] is not None
        ]
    if kind == "facts":
        return [(who(item["subject"]), item["predicate"], who(item["object"])) for item in items]
    if kind == "preferences":
        return [(who(item["holder"]), str(item["polarity"]), tuple(item["object"])) for item in items]
    if kind == "causes":
        return [(tuple(item["cause"]), tuple(item["effect"])) for item in items]
    return [(tuple(item),) for item in items]


def findings(found: Extraction, kind: str, by: int) -> list[Item]:
    def moved(span: Span) -> Span:
        return (span[0] + by, span[1] + by)

    if kind == "dates":
        return [(moved(date.span), date.from_us, date.to_us) for date in found.dates]
    if kind == "facts":
        return [
            (SPEAKER if fact.subject == SPEAKER else moved(fact.subject_span), fact.predicate, moved(fact.object_span))
            for fact in found.facts
        ]
    if kind == "preferences":
        return [
            (
                SPEAKER if each.holder == SPEAKER else moved(each.holder_span),
                "1" if each.polarity == "likes" else "-1",
                moved(each.span),
            )
            for each in found.preferences
        ]
    if kind == "causes":
        return [(moved(cause.cause), moved(cause.effect)) for cause in found.causes]
    items = {"names": found.names, "quantities": found.quantities, "identifiers": found.marks}[kind]
    return [(moved(item.span),) for item in items]  # type: ignore[attr-defined]


def matched(found: Sequence[Item], gold: Sequence[Item], agrees: Agrees, *, exact: bool) -> int:
    """How many annotated items are answered, each by another found one."""
    left = list(found)
    count = 0
    for item in gold:
        for candidate in left:
            if agrees(candidate, item, exact):
                left.remove(candidate)
                count += 1
                break
    return count


def score(read: Iterable[Sentence]) -> dict[str, CallStats]:
    tallies = {kind: CallStats() for kind in CLASSES}
    for sentence in read:
        found = extract(sentence.text, at=sentence.at, speaker=SPEAKER)
        for kind, call_stats in tallies.items():
            items, gold = findings(found, kind, sentence.start), annotated(sentence.gold, kind)
            call_stats.found += len(items)
            call_stats.wanted += len(gold)
            call_stats.right += matched(items, gold, AGREES[kind], exact=False)
            call_stats.exact += matched(items, gold, AGREES[kind], exact=True)
    return tallies


def speed(read: Sequence[Sentence]) -> int:
    """Sentences per second of one core."""
    began = time.process_time()
    for _ in range(ROUNDS):
        for sentence in read:
            extract(sentence.text, at=sentence.at, speaker=SPEAKER)
    return round(ROUNDS * len(read) / max(time.process_time() - began, 1e-9))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("WEFT_BENCH_DATA"), help="holds <set>/corpus.jsonl")
    parser.add_argument("--json", type=Path, help="write the figures here")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("say where the data is: --data DIR or WEFT_BENCH_DATA=DIR")
    read = sentences(Path(asked.data))
    if not read:
        print("no annotated sentence was found in the data", file=sys.stderr)
        return 1
    figures = {kind: call_stats.figures() for kind, call_stats in score(read).items()}
    report = {"sentences": len(read), "sentences_per_s": speed(read), "classes": figures}
    print(f"{'class':<12} annotated  found  right precision  recall     f1  exact")
    for kind, row in figures.items():
        print(
            f"{kind:<12} {row['annotated']:>9} {row['found']:>6} {row['right']:>6} {row['precision']:>9.3f}"
            f" {row['recall']:>7.3f} {row['f1']:>6.3f} {row['exact']:>6}"
        )
    print(f"{report['sentences']} sentences, {report['sentences_per_s']:,} per second on one core")
    if asked.json:
        asked.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
