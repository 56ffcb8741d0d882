"""`recall_raw`: what recall goes through, as a structure: how the question was read, what each view found."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from weft.context.ties import ties_of
from weft.errors import StoreError
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.asking import asks_of_then, flagged, notes_of, read_ask, show_hits
from weft.operations.bounds import OUTPUT_CHARACTERS, bounded, size
from weft.operations.recalling import RecallRaw, recipe_named
from weft.operations.registry import Operation
from weft.retrieval.pipeline import VIEW_NAMES, Answer, Sighting, StageTrace, View, run
from weft.retrieval.views.chains import chains_of
from weft.retrieval.views.ground import MAX_NODES, label, thin
from weft.types import NodeVersion

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
    """What one view found, best first."""

    view: View
    nodes: tuple[RawNode, ...]


class RawMerged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node of the merged answer: its score, the views that found it, where it comes from."""

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


def recall_raw(loom: Loom, given: RecallRaw) -> RecalledRaw:
    """Runs recall and returns its structure: intent and depths, what each view found, chains, the merged nodes, stages.

    For agents that put a context together themselves: `weft linearize-context` takes the merged nodes as they are.
    """
    ask = read_ask(loom, given, as_of=given.as_of is not None, history=given.history, intent=given.intent)
    answer = run(recipe_named(given.recipe), loom, ask)
    hits, unserved = show_hits(loom, answer, explain=False)
    notes = (*notes_of(loom, answer, hits, then=asks_of_then(given)), *unserved)
    chains, problem = _chains(loom, answer)
    views = _views(answer)
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
        notes=(*notes, *_poor(notes, views), *problem, *flagged(hits)),
        stages=answer.trace,
    )
    return bounded(_with_fewer(raw), "merged")


def _with_fewer(raw: RecalledRaw) -> RecalledRaw:
    """Views with fewer nodes, and chains with fewer of them, where they would leave the merged nodes no room."""
    views, chains, room = raw.views, raw.chains, OUTPUT_CHARACTERS // 2
    for most in FEWER:
        if size(views) + size(chains) <= room:
            break
        views = tuple(replace(view, nodes=view.nodes[:most]) for view in raw.views)
        chains = raw.chains[:most]
    if size(raw) <= OUTPUT_CHARACTERS or views is raw.views:
        return raw
    note = f"of each view the best {max(len(view.nodes) for view in views)} are told, for lack of room"
    return replace(raw, views=views, chains=chains, notes=(*raw.notes, note))


def _views(answer: Answer) -> tuple[RawView, ...]:
    """What each view found, best first, at most 50 each."""
    found: dict[View, list[tuple[NodeVersion, Sighting]]] = {view: [] for view in VIEW_NAMES}
    for node in answer.pool.nodes:
        seen = answer.sightings.get(node.id, ())
        near = answer.pool.nearness.get(node.content_hash)
        if not seen and near is not None:
            seen = (Sighting(view="semantic", score=near.cosine),)
        for each in seen:
            found[each.view].append((node, each))
    return tuple(RawView(view=view, nodes=_nodes(seen)) for view, seen in found.items())


def _poor(notes: tuple[str, ...], views: tuple[RawView, ...]) -> tuple[str, ...]:
    """Which views found too little to carry an answer, as far as nothing was said of it."""
    thinly = [thin(view.view, len(view.nodes)) for view in views if view.view != "semantic"]
    return tuple(note for note in thinly if note and not any(note in each for each in notes))


def _nodes(seen: list[tuple[NodeVersion, Sighting]]) -> tuple[RawNode, ...]:
    best = sorted(seen, key=lambda each: (-each[1].score, each[0].id))[:MAX_NODES]
    return tuple(
        RawNode(id=node.id, kind=node.kind, name=label(node), score=sight.score, depth=sight.depth, path=sight.path)
        for node, sight in best
    )


def _chains(loom: Loom, answer: Answer) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The causal chains among what the causal view found, and a note if they cannot be told."""
    causal = [
        node for node in answer.pool.nodes if any(each.view == "causal" for each in answer.sightings.get(node.id, ()))
    ]
    if not causal:
        return (), ()
    try:
        ties = ties_of(loom, answer.ask.when, causal)
    except StoreError as problem:
        return (), (f"the chains cannot be told: {problem.message}",)
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
