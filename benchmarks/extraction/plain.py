"""How many facts of plain everyday sentences are found, and how many of those found are right.

    python -m benchmarks.extraction.plain [--part dev|held] [--misses]

The sentences of `plain_sentences.txt` were written for this; half of them were kept apart while the rules were written.
A fact is right if its predicate is the annotated one and its subject and object share words with the annotated ones.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.extraction.score import SPEAKER, CallStats, Item, matched, touching
from weft.text.extract.extraction import extract
from weft.writing.checks.predicates import predicate_of

SENTENCES: Final = Path(__file__).with_name("plain_sentences.txt")
AT: Final = 1_790_000_000_000_000  # 2026-09-21, a Monday


class Plain(NamedTuple):
    """A sentence and the facts that it states, as spans of it."""

    part: str
    text: str
    facts: tuple[Item, ...]


def sentences(part: str | None = None) -> list[Plain]:
    """The annotated sentences, in order. Raises ValueError if an annotation does not stand in its sentence."""
    read = []
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        which, _, rest = line.partition(": ")
        text, _, told = rest.partition(" => ")
        facts = tuple(_fact(text, fact) for fact in told.split(" ; ") if fact)
        if part in (None, which):
            read.append(Plain(which, text, facts))
    return read


def _fact(text: str, written: str) -> Item:
    subject, predicate, value = written.split(" | ")
    who = SPEAKER if subject == "speaker" else _span(text, subject)
    return (who, predicate_of(predicate), _span(text, value))


def _span(text: str, words: str) -> tuple[int, int]:
    start = text.lower().index(words.lower())
    return (start, start + len(words))


def found_in(text: str) -> list[Item]:
    """The facts that the extractor finds in a sentence, in the form of the annotations."""
    return [
        (
            SPEAKER if fact.subject == SPEAKER else fact.subject_span,
            predicate_of(fact.predicate),
            fact.object_span,
        )
        for fact in extract(text, at=AT, speaker=SPEAKER).facts
    ]


def score(read: list[Plain], *, misses: bool = False) -> CallStats:
    """The counts over these sentences; `misses` prints each that was not read as annotated."""
    tally = CallStats()
    for each in read:
        found = found_in(each.text)
        right = matched(found, each.facts, touching, exact=False)
        tally.found += len(found)
        tally.wanted += len(each.facts)
        tally.right += right
        tally.exact += matched(found, each.facts, touching, exact=True)
        if misses and not right == len(found) == len(each.facts):
            told = [
                tuple(each.text[slice(*part)] if isinstance(part, tuple) else part for part in item) for item in found
            ]
            print(f"{each.text}  found {told}")
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "held"), help="only this half")
    parser.add_argument("--misses", action="store_true", help="print the sentences that are not read as annotated")
    asked = parser.parse_args()
    for part in (asked.part,) if asked.part else ("dev", "held"):
        read = sentences(part)
        row = score(read, misses=asked.misses).figures()
        print(
            f"{part:<5} {len(read)} sentences, {row['annotated']} facts: found {row['found']}, right {row['right']},"
            f" precision {row['precision']:.3f}, recall {row['recall']:.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
