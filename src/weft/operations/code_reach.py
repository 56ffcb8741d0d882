"""Who is reached from symbols over relations of code, step by step, with the way there. Bounded in steps and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from weft.loom import Loom
from weft.operations.code_lookup import called_at, joined
from weft.operations.code_slices import citation_of, line_of, path_of
from weft.types import Direction, Neighbour, NodeVersion, When

MAX_DEPTH: Final = 5
STEPS_OF_ONE: Final = 60  # from one node
AT_ONCE: Final = 200  # nodes of one step that are looked at together


class Reached(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol or file that is reached: how, how far away it is, and by way of what, from the nearest on."""

    name: str
    relation: str
    file: str
    line: int
    citation: str
    distance: int = 1
    via: tuple[str, ...] = ()


class Step(Struct, frozen=True, kw_only=True):
    """A node that was reached, and how that is told."""

    node: NodeVersion
    told: Reached


def reach(
    loom: Loom,
    when: When,
    starts: Sequence[NodeVersion],
    rels: tuple[str, ...],
    direction: Direction,
    *,
    depth: int,
    most: int,
) -> tuple[list[Step], tuple[str, ...]]:
    """What is reached within `depth` steps, the nearest first, each once, at most so many; a note if there is more."""
    seen = {node.id for node in starts}
    ways: dict[str, tuple[str, ...]] = {node.id: () for node in starts}
    found: list[Step] = []
    edge = [node.id for node in starts]
    for distance in range(1, depth + 1):
        further: list[str] = []
        for at in range(0, len(edge), AT_ONCE):
            some = edge[at : at + AT_ONCE]
            steps = joined(loom, when, some, rels, direction, limit=STEPS_OF_ONE)
            for start in some:
                for step in steps.get(start, ()):
                    if step.node.id in seen:
                        continue
                    if len(found) == most:
                        return found, (f"there is more than the first {most} that were reached",)
                    seen.add(step.node.id)
                    ways[step.node.id] = (*ways[start], step.node.name)
                    found.append(Step(node=step.node, told=_told(step, distance, ways[start])))
                    if step.edge.rel != "DEPENDS_ON":  # a file that imports a name: who imports the file may not use it
                        further.append(step.node.id)
        edge = further
    return found, ()


def _told(step: Neighbour, distance: int, way: tuple[str, ...]) -> Reached:
    """By the line where it uses what it was reached from; where it is used itself, by where it begins."""
    into = step.edge.dst == step.start
    line = (called_at(step) if into else 0) or line_of(step.node)
    return Reached(
        name=step.node.name,
        relation=step.edge.rel,
        file=path_of(step.node),
        line=line,
        citation=citation_of(step.node, line) or step.node.id,
        distance=distance,
        via=way,
    )
