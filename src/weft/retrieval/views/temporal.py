"""The temporal view: events of the seeds, in order of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from weft.core.types import NodeVersion
from weft.retrieval.views.seeds import ViewSeeds
from weft.retrieval.views.shared import MAX_NODES, SEQUENCE, ExpandedView, GraphReader, SeenNode, onward, stopped

FEW: Final = 8  # events of one thing that each say something about it
HAPPENING: Final = frozenset(
    {"Event", "Episode"}
)  # kinds of events that follow one another; turns and sections do too, as text
Window = tuple[int | None, int | None]  # from, and until before; None is open


def expand_times(ground: GraphReader, seeds: ViewSeeds, depth: int, window: Window = (None, None)) -> ExpandedView:
    """Events that involve the seeds, then those that involve the other entities of these, and so on; score 1/(steps +
    1), less for entities with very many events.

    Events are followed to the next and the one before. At most 50: nearer ones first, of equally near the newest.
    Ordered by when they begin. With a window only events that begin in it, and facts that hold in it, count.
    """
    seen = {each.node.id: each for each in seeds.events if _within(each.node, window)}
    met = {each.node.id: each for each in seeds.entities}
    entities, latest, taken, notes = list(met), list(seen), 0, []
    for hop in range(1, depth + 1):
        found: dict[str, SeenNode] = {}
        steps = ground.step(entities, ("INVOLVES",), direction="in")
        happened = [each for each in latest if seen[each].node.kind in HAPPENING]
        follows = ground.step(happened, SEQUENCE, direction="both")
        fans = Counter(step.start for step in steps)
        for step in (*steps, *(each for each in follows if each.node.kind in HAPPENING)):
            before = met[step.start] if step.start in met else seen[step.start]
            if _within(step.node, window):
                taken += 1
                if step.node.id not in seen and step.node.id not in found:
                    told = min(1.0, FEW / fans[step.start]) if step.start in fans else 1.0
                    found[step.node.id] = onward(before, step, score=told / (hop + 1), depth=hop)
        room = MAX_NODES - len(seen)
        kept = _newest(found.values())[:room]
        seen |= {each.node.id: each for each in kept}
        if len(kept) < len(found):
            notes.append(stopped("temporal"))
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


def _newest(found: Iterable[SeenNode]) -> list[SeenNode]:
    return sorted(found, key=lambda each: (-each.node.interval.valid_from, each.node.id))


def _within(node: NodeVersion, window: Window) -> bool:
    begin, end = window
    interval = node.interval
    if end is not None and interval.valid_from >= end:
        return False
    if begin is None or interval.valid_from >= begin:
        return True
    return node.kind == "Fact" and (interval.valid_to is None or interval.valid_to > begin)
