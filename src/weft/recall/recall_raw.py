"""`recall_raw`: the steps of a recall as data: how the question was read, what each view found."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weft.context.relations import ties_of
from weft.core.clock import to_iso
from weft.core.errors import StoreError
from weft.core.types import NodeVersion
from weft.recall.answer_limits import OUTPUT_CHARACTERS, bounded, size
from weft.recall.recall import RecallRaw, recipe_named
from weft.recall.request import asks_of_then, flagged, notes_of, read_ask, show_hits
from weft.retrieval.pipeline import VIEW_NAMES, Answer, Sighting, StageTrace, View, run
from weft.retrieval.views.chains import chains_of
from weft.retrieval.views.shared import label, thin
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation

FEWER = (25, 12, 6, 3, 1)  # nodes of one view


class RawNode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node in one view: its score there, how many steps from a seed, and the way."""

    id: str
    kind: str
    name: str
    score: float
    depth: int = 0
    path: str = ""


class RawView(Struct, frozen=True, kw_only=True):
    """The nodes of one view, best first."""

    view: View
    nodes: tuple[RawNode, ...]


class RawMerged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of the merged answer: its score, its views, its citation."""

    id: str
    kind: str
    name: str
    score: float
    citation: str
    views: tuple[View, ...] = ()
    flags: tuple[str, ...] = ()


class RecalledRaw(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that led to an answer. `chains` are ids from cause to effect; `expansions` other wordings, with weights."""

    query: str
    status: str
    intent: str
    retrieval_class: str
    depths: dict[str, int]
    views: tuple[RawView, ...]
    merged: tuple[RawMerged, ...]
    chains: tuple[tuple[str, ...], ...]
    valid_at: str
    known_at: str
    read_as: str = ""
    topic_change: float | None = None
    expansions: tuple[tuple[str, float], ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()
    stages: tuple[StageTrace, ...] = ()


def recall_raw(ctx: CallContext, given: RecallRaw) -> RecalledRaw:
    """Runs recall and returns its structure: intent and depths, what each view found, chains, the merged nodes, stages.

    For agents that assemble a context themselves: pass the merged nodes to `weft linearize-context`.
    """
    ask = read_ask(ctx, given, as_of=given.as_of is not None, history=given.history, intent=given.intent)
    answer = run(recipe_named(given.recipe), ctx, ask)
    hits, unserved = show_hits(ctx, answer, explain=False)
    notes = (*notes_of(ctx, answer, hits, then=asks_of_then(given), explain=True), *unserved)
    chains, problem = _chains(ctx, answer)
    views = _views(answer, ctx.settings.view_max_nodes)
    pinned = answer.ask.when
    depths: dict[str, Any] = {view: getattr(answer.depths, view) for view in answer.depths.__struct_fields__}
    merged = tuple(
        RawMerged(
            id=hit.node.id,
            kind=hit.node.kind,
            name=label(candidate.node),
            score=hit.score,
            citation=hit.node.citation,
            views=tuple(view for view in VIEW_NAMES if any(seen.view == view for seen in candidate.seen)),
            flags=hit.node.flags,
        )
        for hit, candidate in zip(hits, answer.ranked or (), strict=True)
    )
    raw = RecalledRaw(
        query=given.query,
        status="succeeded" if hits else "empty",
        intent=answer.intent,
        retrieval_class=answer.retrieval_class,
        depths=depths,
        views=views,
        merged=merged,
        chains=chains,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        read_as=answer.query if answer.query != given.query else "",
        topic_change=answer.topic_change,
        expansions=answer.expansions,
        degraded=answer.degraded,
        notes=(*notes, *_poor(notes, views, ctx.settings.view_min_nodes), *problem, *flagged(hits)),
        stages=answer.trace,
    )
    return bounded(_with_fewer(raw), "merged")


def _with_fewer(raw: RecalledRaw) -> RecalledRaw:
    """Views and chains with fewer nodes, where they would leave the merged nodes no room."""
    views, chains, room = raw.views, raw.chains, OUTPUT_CHARACTERS // 2
    for most in FEWER:
        if size(views) + size(chains) <= room:
            break
        views = tuple(replace(view, nodes=view.nodes[:most]) for view in raw.views)
        chains = raw.chains[:most]
    if size(raw) <= OUTPUT_CHARACTERS or views is raw.views:
        return raw
    note = (
        f"of each view only the best {max(len(view.nodes) for view in views)} are listed, to stay within the size limit"
    )
    return replace(raw, views=views, chains=chains, notes=(*raw.notes, note))


def _views(answer: Answer, most: int) -> tuple[RawView, ...]:
    """The nodes of each view, best first, at most `most` each."""
    found: dict[View, list[tuple[NodeVersion, Sighting]]] = {view: [] for view in VIEW_NAMES}
    for node in answer.pool.nodes:
        seen = answer.sightings.get(node.id, ())
        near = answer.pool.nearness.get(node.content_hash)
        if not seen and near is not None:
            seen = (Sighting(view="semantic", score=near.cosine),)
        for each in seen:
            found[each.view].append((node, each))
    return tuple(RawView(view=view, nodes=_nodes(seen, most)) for view, seen in found.items())


def _poor(notes: tuple[str, ...], views: tuple[RawView, ...], least: int) -> tuple[str, ...]:
    """Notes on views with few nodes, unless there is one already."""
    thinly = [thin(view.view, len(view.nodes), least) for view in views if view.view != "semantic"]
    return tuple(note for note in thinly if note and not any(note in each for each in notes))


def _nodes(seen: list[tuple[NodeVersion, Sighting]], most: int) -> tuple[RawNode, ...]:
    best = sorted(seen, key=lambda each: (-each[1].score, each[0].id))[:most]
    return tuple(
        RawNode(id=node.id, kind=node.kind, name=label(node), score=sight.score, depth=sight.depth, path=sight.path)
        for node, sight in best
    )


def _chains(ctx: CallContext, answer: Answer) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The causal chains among the nodes of the causal view, and a note if they cannot be read."""
    causal = [
        node for node in answer.pool.nodes if any(each.view == "causal" for each in answer.sightings.get(node.id, ()))
    ]
    if not causal:
        return (), ()
    try:
        ties = ties_of(ctx, answer.ask.when, causal)
    except StoreError as problem:
        return (), (f"causal chains could not be read: {problem.message}",)
    return chains_of([node.id for node in causal], ties.causes).paths, ()


OPERATIONS = (
    Operation(
        name="recall_raw",
        summary="recall as a structure: intent, what each view found, chains, the merged nodes",
        input=RecallRaw,
        output=RecalledRaw,
        effect="read",
        toolset="memory",
        run=recall_raw,
        arguments=("query",),
        priorities={"merged": "required", "views": "medium", "chains": "medium"},
    ),
)
