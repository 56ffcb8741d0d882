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
    """A symbol or file that is reached: the relation, the distance, and the path to it from the nearest step on."""

    name: str
    relation: str
    file: str
    line: int
    citation: str
    distance: int = 1
    via: tuple[str, ...] = ()


class ReachedNode(Struct, frozen=True, kw_only=True):
    """A reached node and how it is shown."""

    node: NodeVersion
    told: ReachedSymbol


class Reach(Struct, frozen=True, kw_only=True):
    """Reached symbols, nearest first, each once. `more` says whether there is more code, and whether more tests."""

    steps: tuple[ReachedNode, ...]
    more_code: bool = False
    more_tests: bool = False
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> list[ReachedNode]:
        return [each for each in self.steps if not is_test(each.node)]

    @property
    def tests(self) -> list[ReachedNode]:
        """Tests, and other symbols in test files; a test file itself only if none of its symbols is included."""
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
    """Searches up to `depth` steps, with separate limits for code and for tests.

    `former` are the first steps from starts that no longer exist.
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
    """(start, step, whether that start has more steps than were read), start by start."""
    for some in in_slices(starts, AT_ONCE):
        steps, cut = all_joined(ctx, when, some, rels, direction)
        for start in some:
            for step in (*former.get(start, ()), *steps.get(start, ())):
                yield start, step, start in cut


def _reached(found: Sequence[ReachedNode], over: set[bool], hubs: Iterable[str]) -> Reach:
    notes = [f"{each} has more than {MOST_OF_ONE:,} of one relation; only these are followed" for each in hubs]
    return Reach(steps=tuple(found), more_code=False in over, more_tests=True in over, notes=tuple(notes[:3]))


def in_words(count: int, *, more: bool) -> str:
    """A count in words; "more than" if it was cut."""
    return f"more than {count:,}" if more else f"{count:,}"


def listed_note(what: str, listed: int, count: int, *, more: bool = False) -> str:
    """A note that a list is incomplete; empty if it is complete."""
    return f"{what}: the first {listed} of {in_words(count, more=more)} are listed" if more or listed < count else ""


def _told(step: Neighbour, distance: int, way: tuple[str, ...]) -> ReachedSymbol:
    """Each reached node with the line of its reference; nodes that are used, with the line where they begin."""
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
