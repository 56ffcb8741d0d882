"""The stage that follows the graph views from the best matches: entities, times, causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.core.kinds import VIEWS
from weft.core.types import NodeVersion
from weft.retrieval.judging.evidence import evidence
from weft.retrieval.pipeline import Answer, Sighting, View
from weft.retrieval.pool import DATED_KINDS
from weft.retrieval.sources.gather import joined
from weft.retrieval.sources.graph_walk import ONLY_NESTED
from weft.retrieval.views.causal import expand_causes
from weft.retrieval.views.entity import expand_entities
from weft.retrieval.views.merge import MergedSighting, merge
from weft.retrieval.views.seeds import ViewSeeds, best_matches, match_scores, seeds_from
from weft.retrieval.views.shared import ExpandedView, GraphReader, distinct, thin
from weft.retrieval.views.temporal import expand_times
from weft.runtime.call_context import CallContext
from weft.text.extract.question.intent import MAX_DEPTH, Depths, Intent

if TYPE_CHECKING:
    from weft.retrieval.pool import Column, Pool

DEEPEST: Mapping[Intent, View] = {"WHY": "causal", "WHEN": "temporal", "WHO": "entity", "WHAT": "entity"}
TURNS_ON: Mapping[Intent, View] = {intent: view for intent, view in DEEPEST.items() if intent != "WHAT"}


class Views(Struct, frozen=True):
    """The nodes of the views from the best matches gain up to `weight` of the best score, and join if they are new.

    Where the views find nothing, nothing changes.
    """

    name: str = "views"
    weight: float = 0.3
    own: float = 1.5

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        scores, settings = answer.pool.scores(), ctx.settings
        order = [int(at) for at in np.argsort(-scores, kind="stable")[: settings.view_top_k] if scores[at] > 0.0]
        if not order:
            return answer
        match = match_scores(answer)
        matches = [(answer.pool.nodes[at], float(match[at])) for at in order]
        chosen, weak = best_matches(matches, top=settings.view_top_k, least=settings.view_min_score)
        ground = GraphReader(ctx=ctx, when=answer.ask.when, projects=answer.ask.projects)
        seeds = seeds_from(ground, [node for node, _ in chosen])
        views = expand(ground, seeds, answer.depths) if seeds.any else ()
        if not seeds.steps and not any(each.steps for each in views):
            return _nothing(answer, settings.view_min_nodes)
        begun = weak if answer.ask.intent is not None else ()  # only for a caller that set the intent
        return self._merged(ctx, answer, views, float(scores.max())).detailed(
            *begun, *_notes(answer, views, settings.view_min_nodes)
        )

    def _merged(self, ctx: CallContext, answer: Answer, views: Sequence[ExpandedView], best: float) -> Answer:
        import numpy as np

        sides = _sides(views)
        # A match that nothing but itself leads to was not found by a view: it has its score already.
        # Not so a link of the chain that is asked for.
        chain = {link for each in views for path in each.chains for link in path} if answer.intent == "WHY" else set()
        # Texts and turns that share a name are weighed against each other by the stages that know them.
        texts = {each.node.id for expanded in views for each in expanded.nodes if each.node.kind in ONLY_NESTED}
        led = {
            node: seen
            for node, seen in sides.items()
            if node in chain or any(len(side.way) > 1 for side in seen.values())
            if node not in texts
        }
        found = [(view, node, side.score) for node, seen in led.items() for view, side in seen.items()]
        matched = zip(answer.pool.nodes, match_scores(answer).tolist(), strict=True)
        found += [("semantic", node.id, score) for node, score in matched if node.id in led and score > 0.0]
        merged = merge(found, boost=ctx.settings.view_boost, max_nodes=ctx.settings.view_max_nodes)
        by_id = {each.id: each for each in merged.nodes}
        pool = joined(ctx, answer, by_id)
        answer = replace(answer, evidence=_evidence(answer, pool))
        raw = np.array([self._worth(answer, node, by_id.get(node.id)) for node in pool.nodes])
        told = {at: _told(by_id[node.id], sides[node.id]) for at, node in enumerate(pool.nodes) if node.id in by_id}
        pool = pool.with_part(self.name, raw, self.weight * best, lambda at: told.get(at, ""))
        return replace(answer, pool=pool, sightings=_sightings(answer, pool, sides))

    def _worth(self, answer: Answer, node: NodeVersion, merged: MergedSighting | None) -> float:
        """The share of the weight that a row gains: more if the view of the question's intent found it.

        A causal chain is understood only as a whole, so causes may gain more than all of it and are not crowded out.
        """
        if merged is None:
            return 0.0
        own = TURNS_ON.get(answer.intent)
        if node.kind in DATED_KINDS and answer.intent != "EXPLORE" and DEEPEST.get(answer.intent) not in merged.views:
            return 0.0  # that something has a cause is no merit where none is asked for
        if own not in merged.views or node.kind not in VIEWS[own]:
            return min(merged.score, 1.0)
        return min(merged.score, 1.0) * self.own if own == "causal" else min(merged.score * self.own, 1.0)


def expand(ground: GraphReader, seeds: ViewSeeds, depths: Depths) -> tuple[ExpandedView, ...]:
    """The graph views from these seeds, each as deep as asked (at most 5; 0 leaves a view out)."""
    found = []
    if depths.entity:
        found.append(expand_entities(ground, seeds.entities, min(depths.entity, MAX_DEPTH)))
    if depths.temporal:
        found.append(expand_times(ground, seeds, min(depths.temporal, MAX_DEPTH)))
    if depths.causal:
        found.append(expand_causes(ground, seeds, min(depths.causal, MAX_DEPTH)))
    return tuple(found)


def _nothing(answer: Answer, least: int) -> Answer:
    """Unchanged; with a detail for a caller that set the intent."""
    view = DEEPEST.get(answer.ask.intent) if answer.ask.intent is not None else None
    return answer if view is None else answer.detailed(thin(view, 0, least))


def _notes(answer: Answer, views: Sequence[ExpandedView], least: int) -> tuple[str, ...]:
    """Notes of the views; on small ones only of the view of the intent."""
    said = [note for each in views for note in each.notes]
    turns_on = TURNS_ON.get(answer.intent)
    poor = [
        thin(each.view, len(each.nodes), least)
        for each in views
        if answer.ask.intent is not None or each.view == turns_on
    ]
    told = "; ".join(filter(None, poor))
    return distinct([*said, *([told] if told else [])])


def _sides(views: Sequence[ExpandedView]) -> dict[str, dict[View, Sighting]]:
    """Every node found, by view."""
    found: dict[str, dict[View, Sighting]] = {}
    for expanded in views:
        for each in expanded.nodes:
            side = Sighting(view=expanded.view, score=each.score, depth=each.depth, path=each.path, way=each.way)
            found.setdefault(each.node.id, {})[expanded.view] = side
    return found


def _told(merged: MergedSighting, sides: Mapping[View, Sighting]) -> str:
    """The views, and the path in the most confident one."""
    best = max(sides.values(), key=lambda side: (side.score, side.depth))
    return f"{' + '.join(merged.views)}: {best.path}"


def _evidence(answer: Answer, pool: Pool) -> Column | None:
    """The evidence for each row, with the rows that joined."""
    import numpy as np

    known: Column | None = answer.evidence
    if known is None or len(known) == len(pool.nodes):
        return known
    return np.concatenate([known, evidence(answer, pool)[len(known) :]])


def _sightings(
    answer: Answer, pool: Pool, sides: Mapping[str, Mapping[View, Sighting]]
) -> dict[str, tuple[Sighting, ...]]:
    """By node id, how each view found the rows, with the cosine if known."""
    found = dict(answer.sightings)
    for node in pool.nodes:
        near = pool.nearness.get(node.content_hash)
        seen = [] if near is None else [Sighting(view="semantic", score=near.cosine)]
        seen += sides.get(node.id, {}).values()
        if seen:
            found[node.id] = (*found.get(node.id, ()), *seen)
    return found
