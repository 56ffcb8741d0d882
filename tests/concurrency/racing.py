"""Two processes that write what excludes each other, at the same moment, round after round."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import weft
from tests.concurrency.fleet import expect, start
from tests.concurrency.racer import opened
from weft.core.types import NOW, Find, NodeVersion
from weft.log.verify import verify

LEAD_S = 0.004  # from telling both to the moment they begin
SYLLABLES = tuple(a + b for a in "bdfgklmnprstv" for b in "aeiou")
Told = dict[str, Any]


class CallStats(NamedTuple):
    """How many rounds there were, and in how many both were at it at once."""

    rounds: int
    at_once: int


class Pair:
    """Two processes on one store."""

    def __init__(self, directory: Path, seed: int, agent: str = "") -> None:
        self.directory, self._chance = directory, random.Random(seed)
        self._children = [start("racer", directory, name, agent) for name in ("left", "right")]
        self.rounds = self.at_once = 0

    def race(self, operation: str, left: Told, right: Told) -> list[Told]:
        """Both at once; what each was told, the one that was written first (or at all) in front."""
        told = self.race_apart((operation, left), (operation, right))
        return sorted(told, key=lambda each: (each["status"] != "saved", each["status"]))

    def race_apart(self, left: tuple[str, Told], right: tuple[str, Told]) -> list[Told]:
        """The same for two operations; what each was told, in that order."""
        at_s = time.monotonic() + LEAD_S
        for child, (operation, given) in zip(self._children, (left, right), strict=True):
            assert child.stdin is not None
            child.stdin.write(json.dumps([operation, given, at_s]) + "\n")
            child.stdin.flush()
        told = [self._answer(child) for child in self._children]
        self.rounds += 1
        self.at_once += max(each["began_s"] for each in told) < min(each["ended_s"] for each in told)
        return told

    @staticmethod
    def _answer(child: subprocess.Popen[str]) -> Told:
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line, child.communicate()[1]
        told: Told = json.loads(line)
        return told

    def words(self, count: int = 5) -> str:
        """Words that no other round has."""
        return " ".join("".join(self._chance.choices(SYLLABLES, k=5)) for _ in range(count))

    def ready(self) -> None:
        for child in self._children:
            expect(child, "ready")

    def kill(self) -> None:
        for child in self._children:
            child.kill()
            child.communicate()


@contextmanager
def pair(directory: Path, *, seed: int = 0, agent: str = "") -> Iterator[Pair]:
    """Two processes that are ready, and that are gone in the end."""
    opened(directory).remember("the store is there")
    made = Pair(directory, seed, agent)
    try:
        made.ready()
        yield made
    finally:
        made.kill()


def same_decision(two: Pair) -> None:
    """The same words: one is saved, the other is told where."""
    given = {"title": two.words(), "rationale": two.words(8)}
    first, second = two.race("save_decision", given, given)
    assert (first["status"], second["status"]) == ("saved", "duplicate_skip"), (first, second)
    assert (first["id"], first["citation"]) == (second["id"], second["citation"])


def alike_decisions(two: Pair) -> None:
    """Nearly the same title: whoever comes second replaces the first, which is never passed over."""
    title = two.words()
    first, second = two.race("save_decision", {"title": title}, {"title": f"{title} {two.words(1)}"})
    assert (first["status"], second["status"]) == ("saved", "superseded"), (first, second)
    assert second["supersedes"] == [first["id"]]


def contrary_decisions(two: Pair) -> None:
    """A decision and its opposite: whoever comes second is asked."""
    title = two.words()
    first, second = two.race("save_decision", {"title": title}, {"title": f"never {title}"})
    assert (first["status"], second["status"]) == ("saved", "manual_review"), (first, second)
    assert [alike["id"] for alike in second["candidates"]] == [first["id"]]


def other_decisions(two: Pair) -> None:
    """Decisions that have nothing to do with each other do not get in each other's way."""
    told = two.race("save_decision", {"title": two.words()}, {"title": two.words()})
    assert [each["status"] for each in told] == ["saved", "saved"], told


def one_fact(two: Pair, memory: weft.Memory) -> None:
    """Two values of what has one: the later ends the earlier where it begins; both are in the history."""
    subject, values = two.words(2), (two.words(2), two.words(2))
    given = [{"subject": subject, "predicate": "owner", "object": value} for value in values]
    told = two.race("add_fact", *given)
    assert [each["status"] for each in told] == ["saved", "superseded"], told
    first, second = told
    assert second["supersedes"] == [first["id"]]
    store, viewer = memory.ctx.store, memory.ctx.viewer
    holds = store.find(viewer, NOW, Find(kinds=("Fact",), names=(_fact(memory, second["id"]).name,)), limit=10).nodes
    assert [node.id for node in holds] == [second["id"]]
    older, newer = _fact(memory, first["id"]), _fact(memory, second["id"])
    assert older.interval.valid_to == newer.interval.valid_from
    assert {older.props["object"], newer.props["object"]} == set(values)


def _fact(memory: weft.Memory, node_id: str) -> NodeVersion:
    """The fact as it is known now, whether it holds or not."""
    return memory.ctx.store.history(memory.ctx.viewer, node_id, limit=10)[-1]


def run_rounds(directory: Path, rounds: int, *, seed: int = 0) -> CallStats:
    """Runs all sorts of rounds in turn and checks each; then that the log is whole and holds what was said.

    Runs up to four times as many until both were at it at once in half of `rounds`.
    """
    with pair(directory, seed=seed) as two, opened(directory) as memory:
        while two.rounds < rounds or (two.at_once <= rounds // 2 and two.rounds < 4 * rounds):
            match two.rounds % 6:
                case 0 | 1:
                    same_decision(two)
                case 2:
                    alike_decisions(two)
                case 3:
                    contrary_decisions(two)
                case 4:
                    one_fact(two, memory)
                case _:
                    other_decisions(two)
        assert verify(memory.ctx.store, memory.ctx.operator("check the log")).problem is None
        assert memory.ctx.store.check(memory.ctx.operator("check the files")) == ()
        return CallStats(rounds=two.rounds, at_once=two.at_once)
