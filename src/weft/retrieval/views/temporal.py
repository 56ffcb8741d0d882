"""The temporal view: events of the seeds, in order of time."""

from __future__ import annotations

from collections import Counter
from typing import Final

from weft.core.types import LeanStep, Neighbour, NodeVersion
from weft.retrieval.views.seeds import ViewSeeds
from weft.retrieval.views.shared import (
    SEQUENCE,
    ExpandedView,
    GraphReader,
    further,
    onward,
    stopped,
)

FEW: Final = 8  # events of one thing that each say something about it
HAPPENING: Final = frozenset(
    {"Event", "Episode"}
)  # kinds of events that follow one another; turns and sections do too, as text
Window = tuple[int | None, int | None]  # from, and until before; None is open


def expand_times(ground: GraphReader, seeds: ViewSeeds, depth: int, window: Window = (None, None)) -> ExpandedView:
    """Events that involve the seeds, then those that involve the other entities of these, and so on; score 1/(steps +
    1), less for entities with very many events.

    Events are followed to the next and the one before. At most `view_max_nodes`: nearer ones first, of
    equally near the newest. Ordered by when they begin. With a window only events that begin in it, and facts
    that hold in it, count.
    """
    seen = {each.node.id: each for each in seeds.events if _is_within(each.node, window)}
    met = {each.node.id: each for each in seeds.entities}
    entities, latest, taken, notes = list(met), list(seen), 0, []
    for hop in range(1, depth + 1):
        # An entity may have very many events, of which few are read.
        found: dict[str, LeanStep | Neighbour] = {}
        steps = ground.links(entities, ("INVOLVES",), direction="in")
        happened = [each for each in latest if seen[each].node.kind in HAPPENING]
        follows = ground.step(happened, SEQUENCE, direction="both")
        fans = Counter(step.start for step in steps)
        for link in steps:
            if _within(link.kind, link.valid_from, link.valid_to, window):
                taken += 1
                if link.id not in seen:
                    found.setdefault(link.id, link)
        for after in (each for each in follows if each.node.kind in HAPPENING):
            if _is_within(after.node, window):
                taken += 1
                if after.node.id not in seen:
                    found.setdefault(after.node.id, after)
        newest = sorted(found, key=lambda each: (-_begins(found[each]), each))[: ground.max_nodes - len(seen)]
        there = ground.read([each for each in newest if isinstance(found[each], LeanStep)])
        kept = []
        for each in newest:
            step = found[each]
            before = met[step.start] if step.start in met else seen[step.start]
            score = (min(1.0, FEW / fans[step.start]) if step.start in fans else 1.0) / (hop + 1)
            if isinstance(step, Neighbour):
                kept.append(onward(before, step, score=score, depth=hop))
            elif each in there:
                kept.append(further(before, step.rel, there[each], inward=step.inward, score=score, depth=hop))
        seen |= {each.node.id: each for each in kept}
        if len(kept) < len(found):
            notes.append(stopped("temporal", ground.max_nodes))
            break
        latest, entities = [each.node.id for each in kept], []
        if hop == depth or not kept:
            break
        for step in ground.step(latest, ("INVOLVES",), direction="out"):
            if step.node.id not in met:
                met[step.node.id] = onward(seen[step.start], step)
                entities.append(step.node.id)
    nodes = sorted(seen.values(), key=lambda each: (each.node.interval.valid_from, each.node.id))
    return ExpandedView(view="temporal", nodes=tuple(nodes), steps=taken, notes=tuple(notes))


def _begins(step: LeanStep | Neighbour) -> int:
    return step.valid_from if isinstance(step, LeanStep) else step.node.interval.valid_from


def _is_within(node: NodeVersion, window: Window) -> bool:
    return _within(node.kind, node.interval.valid_from, node.interval.valid_to, window)


def _within(kind: str, valid_from: int, valid_to: int | None, window: Window) -> bool:
    begin, end = window
    if end is not None and valid_from >= end:
        return False
    if begin is None or valid_from >= begin:
        return True
    return kind == "Fact" and (valid_to is None or valid_to > begin)
