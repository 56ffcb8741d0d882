"""Breadth-first search over relations of code, with the path to each symbol. Bounded in steps and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from weft.code.ask.lookup import MOST_OF_ONE, all_joined, called_at, is_test
from weft.core.slices import in_slices
from weft.core.types import Direction, Neighbour, NodeVersion, When
from weft.documents.keep.source_lines import citation_of, line_of, path_of
from weft.runtime.call_context import CallContext

MAX_DEPTH: Final = 5
MOST_REACHED: Final = 500  # of code, and of tests
AT_ONCE: Final = 50  # nodes of one step that are looked at together


class ReachedSymbol(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol or file that is reached: how, how far away it is, and by way of what, from the nearest on."""

    name: str
    relation: str
    file: str
    line: int
    citation: str
    distance: int = 1
    via: tuple[str, ...] = ()


class ReachedNode(Struct, frozen=True, kw_only=True):
    """A node that was reached, and how that is told."""

    node: NodeVersion
    told: ReachedSymbol


class Reach(Struct, frozen=True, kw_only=True):
    """What is reached, the nearest first, each once. `more` is whether there is more code, or are more tests."""

    steps: tuple[ReachedNode, ...]
    more_code: bool = False
    more_tests: bool = False
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> list[ReachedNode]:
        """All but tests."""
        return [each for each in self.steps if not is_test(each.node)]

    @property
    def tests(self) -> list[ReachedNode]:
        """Tests, and other symbols in files of tests; such a file itself only where none of its symbols is there."""
        found = [each for each in self.steps if is_test(each.node)]
        own = {path_of(each.node) for each in found if each.node.kind != "File"}
        return [each for each in found if each.node.kind != "File" or path_of(each.node) not in own]


def reach(
    ctx: CallContext,
    when: When,
    starts: Sequence[NodeVersion],
    rels: tuple[str, ...],
    direction: Direction,
    *,
    depth: int,
    most: int = MOST_REACHED,
    former: Mapping[str, Sequence[Neighbour]] = {},
) -> Reach:
    """What is reached within `depth` steps: of code at most so many, of tests as many again.

    `former` are the first steps from starts that are no longer there.
    """
    seen = {node.id for node in starts}
    ways: dict[str, tuple[str, ...]] = {node.id: () for node in starts}
    left = {True: most, False: most}  # for tests, for code
    over: set[bool] = set()
    hubs: dict[str, None] = {}
    found: list[ReachedNode] = []
    edge = list(ways)
    for distance in range(1, depth + 1):
        further: list[str] = []
        for start, step, is_cut in _steps(ctx, when, edge, rels, direction, former):
            if is_cut:
                hubs[start] = None
            test = is_test(step.node)
            if step.node.id in seen or test in over:
                continue
            if not left[test]:
                over.add(test)
                if len(over) == len(left):
                    return _reached(found, over, hubs)
                continue
            left[test] -= 1
            seen.add(step.node.id)
            ways[step.node.id] = (*ways[start], step.node.name)
            found.append(ReachedNode(node=step.node, told=_told(step, distance, ways[start])))
            if step.edge.rel != "DEPENDS_ON":  # a file that imports a name: who imports the file may not use it
                further.append(step.node.id)
        edge = further
    return _reached(found, over, hubs)


def _steps(
    ctx: CallContext,
    when: When,
    starts: Sequence[str],
    rels: tuple[str, ...],
    direction: Direction,
    former: Mapping[str, Sequence[Neighbour]],
) -> Iterator[tuple[str, Neighbour, bool]]:
    """(start, step, whether that start has more than are told), start by start."""
    for some in in_slices(starts, AT_ONCE):
        steps, cut = all_joined(ctx, when, some, rels, direction)
        for start in some:
            for step in (*former.get(start, ()), *steps.get(start, ())):
                yield start, step, start in cut


def _reached(found: Sequence[ReachedNode], over: set[bool], hubs: Iterable[str]) -> Reach:
    notes = [f"{each} has more than {MOST_OF_ONE:,} of one relation; only these are followed" for each in hubs]
    return Reach(steps=tuple(found), more_code=False in over, more_tests=True in over, notes=tuple(notes[:3]))


def in_words(count: int, *, more: bool) -> str:
    """A count as it may be told: what was cut is more than that."""
    return f"more than {count:,}" if more else f"{count:,}"


def listed_note(what: str, listed: int, count: int, *, more: bool = False) -> str:
    """That a list does not hold all; empty where it does."""
    return f"{what}: the first {listed} of {in_words(count, more=more)} are listed" if more or listed < count else ""


def _told(step: Neighbour, distance: int, way: tuple[str, ...]) -> ReachedSymbol:
    """By the line where it uses what it was reached from; where it is used itself, by where it begins."""
    into = step.edge.dst == step.start
    line = (called_at(step) if into else 0) or line_of(step.node)
    return ReachedSymbol(
        name=step.node.name,
        relation=step.edge.rel,
        file=path_of(step.node),
        line=line,
        citation=citation_of(step.node, line) or step.node.id,
        distance=distance,
        via=way,
    )
