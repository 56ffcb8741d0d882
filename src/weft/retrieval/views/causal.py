"""The causal view: recorded chains of causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from weft.core.types import Neighbour
from weft.retrieval.views.chains import MAX_CHAINS, chains_of, in_causal_order
from weft.retrieval.views.seeds import ViewSeeds
from weft.retrieval.views.shared import CAUSES, ExpandedView, GraphReader, SeenNode, ids_of, onward, stopped

Towards = Literal["upstream", "downstream", "both"]
_SIDES: Final[Mapping[Towards, tuple[Literal["in", "out"], ...]]] = {
    "upstream": ("in",),
    "downstream": ("out",),
    "both": ("in", "out"),
}


def expand_causes(ground: GraphReader, seeds: ViewSeeds, depth: int, towards: Towards = "both") -> ExpandedView:
    """The causes of the seeds, their own causes upstream and their effects downstream, `depth` steps each way.

    The view begins with the given causes, those that affect a seed and those that refer to a seed event. A cause's
    score is the product of the confidences on the surest way to it. Events that causes refer to come with the same
    score. At most `view_max_nodes`, causes before their effects, events last.
    """
    most = ground.max_nodes
    starts, taken = _starts(ground, seeds)
    seen = dict(starts)
    full = len(starts) >= most
    for side in _SIDES[towards]:
        reached, more = _follow(ground, starts, side, depth, room=most - len(seen))
        taken += len(reached)
        full = full or more
        for node_id, here in reached.items():
            if node_id not in seen or here.score > seen[node_id].score:
                seen[node_id] = here
    ranked = sorted(seen.values(), key=lambda each: (-each.score, each.depth, each.node.id))
    ids = ids_of(ranked)
    steps = ground.step(ids, (CAUSES,), direction="out")
    pairs = [(step.start, step.node.id) for step in steps if step.node.id in seen]
    chains = chains_of(ids, pairs)
    order = in_causal_order(ids, pairs)
    causes = [seen[each] for each in (*order, *(each for each in ids if each not in set(order)))]
    told = _told(ground.step(ids_of(causes), ("REFERS_TO",), direction="out"), seen)
    events = told[: most - len(causes)]
    notes = [stopped("causal", most)] if full or len(events) < len(told) else []
    if chains.cut:
        notes.append(f"causal view: causes form a cycle, which was cut ({len(chains.cut)} times)")
    if chains.more:
        notes.append(f"causal view: only the first {MAX_CHAINS} chains are listed")
    return ExpandedView(
        view="causal",
        nodes=(*causes, *events),
        steps=taken + len(pairs) + len(told),
        notes=tuple(notes),
        chains=chains.paths,
    )


def confidence(props: Mapping[str, Any]) -> float:
    """The confidence of a causal relation; 1 where it has none."""
    said = props.get("confidence", 1.0)
    return min(1.0, max(0.0, float(said))) if isinstance(said, int | float) and not isinstance(said, bool) else 1.0


def _starts(ground: GraphReader, seeds: ViewSeeds) -> tuple[dict[str, SeenNode], int]:
    """The causes to begin with, and how many steps led to them."""
    found = {each.node.id: each for each in seeds.causes[: ground.max_nodes]}
    begun = {each.node.id: each for each in (*seeds.entities, *seeds.events)}
    steps = ground.step(ids_of(seeds.entities), ("AFFECTS",), direction="in")
    steps += ground.step(ids_of(seeds.events), ("REFERS_TO",), direction="in")
    causes = [step for step in steps if step.node.kind == "Cause"]
    for step in causes:
        if len(found) < ground.max_nodes:
            found.setdefault(step.node.id, onward(begun[step.start], step))
    return found, len(causes)


def _follow(
    ground: GraphReader, starts: Mapping[str, SeenNode], side: Literal["in", "out"], depth: int, *, room: int
) -> tuple[dict[str, SeenNode], bool]:
    """The nodes on one side of the starts, each by its surest way, and whether there was room for all."""
    best = dict(starts)
    frontier = list(starts)
    full = False
    for hop in range(1, depth + 1):
        better: dict[str, SeenNode] = {}
        for step in ground.step(frontier, (CAUSES,), direction=side):
            before, there = best[step.start], step.node
            score = before.score * confidence(step.edge.props)
            known = better.get(there.id) or best.get(there.id)
            if there.kind != "Cause" or (known is not None and known.score >= score):
                continue
            if known is None and len(best) + len(better.keys() - best.keys()) >= len(starts) + room:
                full = True
                continue
            better[there.id] = onward(before, step, score=score, depth=hop)
        best |= better
        frontier = list(better)
        if not frontier:
            break
    return {node_id: here for node_id, here in best.items() if node_id not in starts}, full


def _told(steps: Iterable[Neighbour], seen: Mapping[str, SeenNode]) -> list[SeenNode]:
    """The events that causes refer to, each with the best of its causes, best first."""
    found: dict[str, SeenNode] = {}
    for step in steps:
        cause = seen[step.start]
        if step.node.id in seen or (step.node.id in found and found[step.node.id].score >= cause.score):
            continue
        found[step.node.id] = onward(cause, step, score=cause.score, depth=cause.depth + 1)
    return sorted(found.values(), key=lambda each: (-each.score, each.node.id))
