"""Questions with their notes and labels, from histories."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

TELLS, SUPPORTS, UNRELATED, UNKNOWN = 2, 1, 0, -1
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-zà-ž]{2,}\b")  # a capitalised word inside a sentence


@dataclass(frozen=True)
class Case:
    """A question, the notes of its history in order of time, and a label for each."""

    history: str
    question: str
    kind: str
    notes: tuple[str, ...]
    dates: tuple[str, ...]
    labels: tuple[int, ...]
    first: tuple[bool, ...]
    asked: str  # the question as written, whatever `varied` makes of it


def cases(directory: Path) -> list[Case]:
    """The questions of all histories in a directory, but for those about a period, which dates alone answer."""
    found = []
    for file in sorted(directory.glob("*.toml")):
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        notes = data["notes"] + [
            [name, since, f"{subject} {predicate.replace('_', ' ')} {value}"]
            for name, subject, predicate, value, since in data.get("facts", ())
        ]
        for each in data["questions"]:
            if each["kind"] == "window":
                continue
            first, tells = set(each.get("first", ())), set(each.get("tells", ()))
            also, may = set(each.get("also", ())), set(each.get("may", ()))
            labels = tuple(
                TELLS if name in first | tells else SUPPORTS if name in also else UNKNOWN if name in may else UNRELATED
                for name, *_ in notes
            )
            found.append(
                Case(
                    f"{directory.name}/{file.stem}",
                    each["q"],
                    each["kind"],
                    tuple(note[2] for note in notes),
                    tuple(note[1] for note in notes),
                    labels,
                    tuple(note[0] in first for note in notes),
                    each["q"],
                )
            )
    return found


def names(found: Sequence[Case]) -> list[str]:
    return sorted({name for case in found for name in _NAME.findall(case.question)})


def beside(question: str, note: str) -> str:
    """A question together with a note that tells it: what else tells the same of the same thing?"""
    return f"{question} {note}"


def with_note(case: Case, chance: random.Random) -> Case | None:
    """The question beside one of the notes that tell it, as the second reading of the judge sees it.

    Of a question that nothing tells, the note is any, so that a note beside it is no sign that others tell it too.
    """
    telling = [at for at, label in enumerate(case.labels) if label == TELLS]
    known = telling or [at for at, label in enumerate(case.labels) if label == UNRELATED]
    if not known:
        return None
    at = chance.choice(known)
    labels = tuple(UNKNOWN if place == at else label for place, label in enumerate(case.labels))
    return replace(case, question=beside(case.question, case.notes[at]), labels=labels)


def varied(case: Case, chance: random.Random, others: Sequence[str]) -> Case:
    """The question as people also type it, or about somebody of whom the notes say nothing."""
    asked = _NAME.findall(case.question)
    if asked and others and chance.random() < 0.08:
        name, stranger = chance.choice(asked), chance.choice(others)
        if any(name in note for note in case.notes) and not any(stranger in note for note in case.notes):
            labels = tuple(UNRELATED if each == TELLS else each for each in case.labels)
            labels = tuple(UNKNOWN if each == SUPPORTS else each for each in labels)
            return replace(case, question=case.question.replace(name, stranger), kind="none", labels=labels)
    question, roll = case.question, chance.random()
    if roll < 0.15:
        question = question.lower()
    if 0.1 < roll < 0.25:
        question = question.rstrip("?")
    return replace(case, question=question)
