"""The stages of recall one by one: find seeds, then follow one view of the graph from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from weft.core.clock import MAX_INSTANT_US, parse_instant
from weft.core.errors import Invalid, StoreError
from weft.core.types import MAX_LIMIT, NodeVersion
from weft.recall.answer_limits import bounded
from weft.recall.request import notes_of
from weft.recall.views.view_nodes import (
    AsOf,
    EntityIds,
    EntityShown,
    ExpansionStart,
    KnownAt,
    ViewHit,
    ViewNode,
    begin,
    moments,
    show_entities,
    show_sights,
    unread,
)
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Ask, View, run
from weft.retrieval.views.causal import Towards, expand_causes
from weft.retrieval.views.entity import expand_entities
from weft.retrieval.views.seeds import ViewSeeds, best_matches, match_scores, seeds_from
from weft.retrieval.views.shared import ExpandedView, GraphReader, distinct, ids_of, thin
from weft.retrieval.views.temporal import Window, expand_times
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Label, Moment, Query
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.text.extract.question.intent import MAX_DEPTH

_Steps = Annotated[int, Meta(ge=1, le=MAX_DEPTH)] | None
Project = Annotated[Label | None, Meta(description="another project than this directory's")]
Everywhere = Annotated[bool, Meta(description="in every project")]

BY_RELATION = frozenset({"views", "walk"})  # stages that follow the graph, which is for the tools after this one
WITH_SEEDS = (
    "Pass seed_entity_ids (not the ids of matches) to entity_lookup, temporal_expand and causal_expand; give their"
    " nodes, and matches as view semantic, to subgraph_merge, and its nodes to linearize_context."
)
NO_SEEDS = (
    "No match leads to an entity, so there is nothing to expand: give matches as view semantic to subgraph_merge, and"
    " its nodes to linearize_context."
)

WITHOUT_GRAPH = "The graph cannot be read for now, so there is nothing to expand: answer from the matches."


class SemanticSearch(Struct, frozen=True, kw_only=True):
    """Input of `semantic_search`."""

    query: Query
    top_k: Annotated[
        Annotated[int, Meta(ge=1, le=50)] | None,
        Meta(description="how many matches at most; the setting view_top_k if unset"),
    ] = None
    min_score: Annotated[
        Annotated[float, Meta(ge=0.0, le=1.0)] | None,
        Meta(description="least score of a match; the setting view_min_score if unset"),
    ] = None
    project: Project = None
    everywhere: Everywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None


class SemanticSearched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The seeds of the other views, then the matches that led to them, best first; scores are from 0 to 1.

    `degraded` says why the log was searched: then scores are shares of the question's words.
    """

    seed_entity_ids: tuple[str, ...]
    seed_entity_count: int
    instruction: str
    matches: tuple[ViewNode, ...]
    seed_entities: tuple[EntityShown, ...]
    valid_at: str
    known_at: str
    degraded: str = ""
    notes: tuple[str, ...] = ()


def semantic_search(ctx: CallContext, given: SemanticSearch) -> SemanticSearched:
    """Finds the memories nearest to a question, and the entities that they are about: the seeds of the other views.

    The first step of following a question through the graph. Pass `seed_entity_ids`, not the ids of matches, to
    `entity_lookup`, `temporal_expand` and `causal_expand`.
    """
    if "\x00" in given.query:
        raise Invalid("semantic_search: query holds a NUL character", hint="remove it: NUL is not text")
    ask = Ask(
        query=given.query,
        when=read_when(ctx, as_of=given.as_of, known_at=given.known_at),
        limit=MAX_LIMIT,  # the best of these by match alone
        projects=_projects(ctx, given.project, everywhere=given.everywhere),
    )
    answer = run([stage for stage in recipes.DEFAULT if stage.name not in BY_RELATION], ctx, ask)
    chosen, weak = _matches(ctx, answer, given)
    seeds, unled = _seeds(ctx, answer, [node for node, _ in chosen])
    sights = [ViewHit(node=node, score=score, links=seeds.links.get(node.id, ())) for node, score in chosen]
    shown, uncited = show_sights(ctx, sights, answer)
    ids = tuple(ids_of(seeds.entities))
    valid_at, known_at = moments(answer.ask.when)
    then = given.as_of is not None or given.known_at is not None
    searched = SemanticSearched(
        seed_entity_ids=ids,
        seed_entity_count=len(ids),
        instruction=WITHOUT_GRAPH if answer.degraded or unled else WITH_SEEDS if ids else NO_SEEDS,
        matches=shown,
        seed_entities=show_entities([each.node for each in seeds.entities]),
        valid_at=valid_at,
        known_at=known_at,
        degraded=answer.degraded,
        notes=distinct([*notes_of(ctx, answer, chosen, then=then, explain=True), *weak, *unled, *uncited]),
    )
    return bounded(searched, "matches")


def _matches(
    ctx: CallContext, answer: Answer, given: SemanticSearch
) -> tuple[list[tuple[NodeVersion, float]], tuple[str, ...]]:
    """The best by how well they match; of the log those it has, whose scores `min_score` is no measure for."""
    top = given.top_k or ctx.settings.view_top_k
    least = ctx.settings.view_min_score if given.min_score is None else given.min_score
    if answer.degraded:
        return [(each.node, each.score) for each in answer.ranked or ()][:top], ()
    match = dict(zip(answer.pool.places, match_scores(answer).tolist(), strict=True)) if answer.pool.nodes else {}
    ranked = [(each.node, match.get(each.node.id, 0.0)) for each in answer.ranked or ()]
    ranked.sort(key=lambda pair: -pair[1])
    return best_matches(ranked, top=top, least=least)


def _seeds(ctx: CallContext, answer: Answer, nodes: Sequence[NodeVersion]) -> tuple[ViewSeeds, tuple[str, ...]]:
    """The seeds of the matches; none, with a note, if the graph cannot be read."""
    if answer.degraded:
        return ViewSeeds(), ()
    try:
        return seeds_from(GraphReader(ctx=ctx, when=answer.ask.when, projects=answer.ask.projects), nodes), ()
    except StoreError as problem:
        return ViewSeeds(), (f"the entities of the matches could not be read: {problem.message}",)


class EntityLookup(Struct, frozen=True, kw_only=True):
    """Input of `entity_lookup`."""

    entity_ids: EntityIds
    depth: Annotated[
        _Steps,
        Meta(description="how many steps from the seeds, 1 to 5; if unset, view_entity_depth of the settings, else 2"),
    ] = None
    project: Project = None
    everywhere: Everywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None


class ViewExpanded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The nodes of one view. `view` and `nodes` are one of the views that `subgraph_merge` takes.

    `chains`, of the causal view, are ids from the first cause to the last effect.
    """

    view: View
    nodes: tuple[ViewNode, ...]
    seed_entity_ids: tuple[str, ...]
    valid_at: str
    known_at: str
    chains: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


def entity_lookup(ctx: CallContext, given: EntityLookup) -> ViewExpanded:
    """Finds the entities related to the seeds, nearest first, each with the relations that lead to it."""
    depth = given.depth or ctx.settings.view_entity_depth or 2
    return _expanded(ctx, given, "entity", lambda begun: expand_entities(begun.ground, begun.seeds.entities, depth))


class TemporalExpand(Struct, frozen=True, kw_only=True):
    """Input of `temporal_expand`."""

    entity_ids: EntityIds
    depth: Annotated[
        _Steps,
        Meta(
            description="how many steps from the seeds, 1 to 5; if unset, view_temporal_depth of the settings, else 2"
        ),
    ] = None
    start: Annotated[Moment | None, Meta(description="only events that begin then or later")] = None
    end: Annotated[
        Moment | None, Meta(description="only events that begin by then; a day, month or year is included whole")
    ] = None
    project: Project = None
    everywhere: Everywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None


def temporal_expand(ctx: CallContext, given: TemporalExpand) -> ViewExpanded:
    """Lists the events of the seed entities, and then of others in those events, in order of time."""
    window = _window(given.start, given.end)
    depth = given.depth or ctx.settings.view_temporal_depth or 2
    return _expanded(ctx, given, "temporal", lambda begun: expand_times(begun.ground, begun.seeds, depth, window))


class CausalExpand(Struct, frozen=True, kw_only=True):
    """Input of `causal_expand`."""

    entity_ids: EntityIds
    direction: Annotated[Towards, Meta(description="to causes (upstream), to effects (downstream), or both")] = "both"
    depth: Annotated[
        _Steps,
        Meta(description="how many steps from the seeds, 1 to 5; if unset, view_causal_depth of the settings, else 3"),
    ] = None
    project: Project = None
    everywhere: Everywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None


def causal_expand(ctx: CallContext, given: CausalExpand) -> ViewExpanded:
    """Follows the causes and effects of what affects the seed entities: causes before effects, chains as ids."""
    depth, towards = given.depth or ctx.settings.view_causal_depth or 3, given.direction
    return _expanded(ctx, given, "causal", lambda begun: expand_causes(begun.ground, begun.seeds, depth, towards))


def _projects(ctx: CallContext, project: str | None, *, everywhere: bool) -> tuple[str | None, ...] | None:
    return None if everywhere else (project or ctx.settings.project, None)


def _expanded(
    ctx: CallContext,
    given: EntityLookup | TemporalExpand | CausalExpand,
    view: View,
    expand: Callable[[ExpansionStart], ExpandedView],
) -> ViewExpanded:
    """The nodes of a view from the given entities; none, and a note, if the graph cannot be read."""
    try:
        when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
        begun = begin(ctx, when, given.entity_ids, _projects(ctx, given.project, everywhere=given.everywhere))
        return _shown(ctx, begun, expand(begun))
    except StoreError as problem:
        notes = (unread(problem),)
        return ViewExpanded(view=view, nodes=(), seed_entity_ids=(), valid_at="", known_at="", notes=notes)


def _shown(ctx: CallContext, begun: ExpansionStart, found: ExpandedView) -> ViewExpanded:
    sights = [ViewHit(node=each.node, score=each.score, depth=each.depth, path=each.path) for each in found.nodes]
    shown, uncited = show_sights(ctx, sights)
    valid_at, known_at = moments(begun.ground.when)
    expanded = ViewExpanded(
        view=found.view,
        nodes=shown,
        seed_entity_ids=tuple(ids_of(begun.seeds.entities)),
        valid_at=valid_at,
        known_at=known_at,
        chains=found.chains,
        notes=distinct(
            filter(
                None,
                [*begun.notes, *found.notes, thin(found.view, len(found.nodes), ctx.settings.view_min_nodes), *uncited],
            )
        ),
    )
    return bounded(expanded, "nodes")


def _window(start: str | None, end: str | None) -> Window:
    begins = None if start is None else parse_instant(start, field="start")
    ends = None if end is None else _after(end)
    if begins is not None and ends is not None and ends <= begins:
        raise Invalid(
            "temporal_expand: end is before start", hint="give an end that is later, or leave one of them out"
        )
    return begins, ends


def _after(written: str) -> int:
    """The first instant after a day, month or year; a full time is its own end."""
    at, words = parse_instant(written, field="end"), written.strip()
    if len(words) == 10:
        return at + 86_400_000_000
    if len(words) not in (4, 7):
        return at
    year, month = int(words[:4]), int(words[5:] or 12)
    year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return MAX_INSTANT_US if year > 9999 else parse_instant(f"{year:04d}-{month:02d}")


OPERATIONS = (
    Operation(
        name="semantic_search",
        summary="find the memories nearest to a question, and the entities that they are about",
        input=SemanticSearch,
        output=SemanticSearched,
        effect="read",
        toolset="magma",
        run=semantic_search,
        arguments=("query",),
        priorities={"matches": "required", "seed_entities": "medium"},
    ),
    Operation(
        name="entity_lookup",
        summary="follow the relations of entities",
        input=EntityLookup,
        output=ViewExpanded,
        effect="read",
        toolset="magma",
        run=entity_lookup,
        priorities={"seed_entity_ids": "low", "chains": "medium"},
    ),
    Operation(
        name="temporal_expand",
        summary="list the events of entities, in order of time",
        input=TemporalExpand,
        output=ViewExpanded,
        effect="read",
        toolset="magma",
        run=temporal_expand,
        priorities={"seed_entity_ids": "low", "chains": "medium"},
    ),
    Operation(
        name="causal_expand",
        summary="follow the causes and effects that concern entities",
        input=CausalExpand,
        output=ViewExpanded,
        effect="read",
        toolset="magma",
        run=causal_expand,
        priorities={"seed_entity_ids": "low", "chains": "medium"},
    ),
)
