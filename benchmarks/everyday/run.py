"""Everyday questions to small histories: is the first line right, is the rest on the subject, is nothing made up?

    python -m benchmarks.everyday.run [--only NAME] [--misses] [--histories DIR] [--save]

A history is a TOML file: dated notes, kept with `remember`, and questions, asked with `recall` at `asked_at`. A
question names the notes that may come first and those that may also appear; all others must not. `kind` is one of now,
then, when, window, who, why, what, and none, where nothing answers and the answer must say so.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, convert

import weft
from benchmarks.latency.measure import save
from weft.recall.show_values import NodeShown

HISTORIES = Path(__file__).parent / "histories"


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """One question and what its answer may hold, by the names of notes."""

    q: str
    kind: str
    first: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    may: tuple[str, ...] = ()

    @property
    def expected(self) -> frozenset[str]:
        """All that may stand in the answer."""
        return frozenset((*self.first, *self.tells, *self.also, *self.may))


class History(Struct, frozen=True, forbid_unknown_fields=True):
    """Notes as (name, date, text), facts as (name, subject, predicate, value, since), and what is asked of them."""

    title: str
    asked_at: str
    notes: tuple[tuple[str, str, str], ...]
    questions: tuple[Question, ...]
    facts: tuple[tuple[str, str, str, str, str], ...] = ()


class Outcome(Struct, frozen=True):
    """The notes of an answer in order, and how they compare with what was wanted."""

    history: str
    question: Question
    lines: tuple[str, ...]

    @property
    def right(self) -> bool:
        if self.question.kind == "none":
            return not self.lines
        return bool(self.lines) and self.lines[0] in self.question.first

    @property
    def padding(self) -> int:
        return len([each for each in self.lines if each not in self.question.expected])


def histories(directory: Path, only: str | None) -> Iterator[tuple[str, History]]:
    for file in sorted(directory.glob("*.toml")):
        if only is None or only in file.stem:
            yield file.stem, convert(tomllib.loads(file.read_text(encoding="utf-8")), History)


def ask(name: str, history: History) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as place, weft.open(f"sqlite:///{place}") as memory:
        named = {}
        for note, date, text in history.notes:
            memory.remember(text, occurred_at=date, scope="shared")
            named[text] = note
        for fact, subject, predicate, value, since in history.facts:
            memory.add_fact(subject, predicate=predicate, object=value, valid_from=since, scope="shared")
            named[f"{subject} {predicate.replace('_', ' ')} {value}"] = fact
        found = []
        for question in history.questions:
            hits = memory.recall(question.q, asked_at=history.asked_at).hits
            found.append(Outcome(name, question, tuple(dict.fromkeys(_line(hit.node, named) for hit in hits))))
    return found


def _line(node: NodeShown, named: Mapping[str, str]) -> str:
    """The name of the note that a line shows; of a line that shows none, such as an entity, what it is."""
    shown = node.text and (note for text, note in named.items() if node.text in text)
    return next(iter(shown or ()), f"{node.kind}:{node.name or node.text}")


def figures(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """By kind of question: how many, the share of right first lines, and lines beside the subject a question."""
    rows = defaultdict(list)
    for each in outcomes:
        rows[each.question.kind].append(each)
    asked = [each for each in outcomes if each.question.kind != "none"]
    found = {}
    for kind, group in (*sorted(rows.items()), ("answerable", asked)):
        right = 100 * sum(each.right for each in group) / len(group)
        padding = sum(each.padding for each in group) / len(group)
        found[kind] = {"n": len(group), "first line right": round(right, 1), "padding": round(padding, 2)}
    found["answerable"]["refused"] = round(100 * sum(not each.lines for each in asked) / max(len(asked), 1), 1)
    return found


def show(found: Mapping[str, Mapping[str, float]]) -> None:
    print(f"{'kind':10} {'n':>4} {'first line right':>17} {'padding a question':>19}")
    for kind, row in found.items():
        print(f"{kind:10} {row['n']:4} {row['first line right']:16.1f}% {row['padding']:19.2f}")
    print(f"wrongly refused: {found['answerable']['refused']}% of {found['answerable']['n']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="histories whose name holds this")
    parser.add_argument("--histories", default=str(HISTORIES), help="the directory of the histories")
    parser.add_argument("--misses", action="store_true", help="print every question whose answer is not as wanted")
    parser.add_argument("--save", action="store_true", help="save the figures as a dated result")
    chosen = parser.parse_args()
    outcomes: list[Outcome] = []
    for name, history in histories(Path(chosen.histories), chosen.only):
        outcomes += ask(name, history)
    for each in outcomes if chosen.misses else ():
        if not each.right or each.padding:
            wanted = "nothing" if each.question.kind == "none" else "/".join(each.question.first)
            print(f"{each.history}: {each.question.q!r} wanted {wanted}, got {' '.join(each.lines) or 'nothing'}")
    found = figures(outcomes)
    show(found)
    if chosen.save:
        print(f"saved {save(f'everyday-{Path(chosen.histories).name}', found).name}")


if __name__ == "__main__":
    main()
