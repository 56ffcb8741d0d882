"""The last stages of recall as operations: merging views, and writing nodes out as a context.

Of the given nodes only the id, the score and the views are used: the node itself is read again, as its viewer may see
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from weft.context.arrange import ContextLine
from weft.context.assemble import BUDGET_TOKENS, linearise
from weft.context.relations import Ties, ties_of
from weft.core.errors import StoreError
from weft.core.types import MAX_LIMIT, NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.recall.show_values import show_cited
from weft.recall.views.view_nodes import AsOf, KnownAt, NodeId, ViewHit, ViewNode, moments, resolve, show_sights, unread
from weft.retrieval.pipeline import View
from weft.retrieval.views.merge import merge
from weft.runtime.call_context import CallContext
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.text.extract.question.intent import Intent

MAX_SCORE = 1_000.0


class ScoredNode(Struct, frozen=True, kw_only=True):
    """A node that a view found; further fields are ignored."""

    id: NodeId
    score: Annotated[float, Meta(ge=0.0, le=1.0)]


class FoundView(Struct, frozen=True, kw_only=True):
    """One view and its nodes, as `entity_lookup`, `temporal_expand` and `causal_expand` answer them."""

    view: View
    nodes: Annotated[tuple[ScoredNode, ...], Meta(max_length=MAX_LIMIT)]


class SubgraphMerge(Struct, frozen=True, kw_only=True):
    """Input of `subgraph_merge`."""

    views: Annotated[
        tuple[FoundView, ...],
        Meta(min_length=1, max_length=8, description="answers of the other tools: {view, nodes: [{id, score}]}"),
    ]
    multi_view_boost: Annotated[
        Annotated[float, Meta(ge=1.0, le=10.0)] | None,
        Meta(description="factor for each further view; the setting view_boost if unset"),
    ] = None
    min_score: Annotated[float, Meta(ge=0.0, le=MAX_SCORE, description="nodes with less are left out")] = 0.0
    max_nodes: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_LIMIT)] | None,
        Meta(description="how many at most; the setting view_max_nodes if unset"),
    ] = None
    as_of: AsOf = None
    known_at: KnownAt = None


class SubgraphMerged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Nodes of all views, best first, each once with its views: the input of `linearize_context`."""

    nodes: tuple[ViewNode, ...]
    valid_at: str
    known_at: str
    notes: tuple[str, ...] = ()


def subgraph_merge(ctx: CallContext, given: SubgraphMerge) -> SubgraphMerged:
    """Merges several views: a node in more of them counts more.

    Its score is the mean of the views' scores times `multi_view_boost` for each view beyond the first.
    """
    try:
        when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
        found, notes = resolve(ctx, when, [node.id for view in given.views for node in view.nodes], None)
    except StoreError as problem:
        return SubgraphMerged(nodes=(), valid_at="", known_at="", notes=(unread(problem),))
    seen = [
        (view.view, found[node.id].id, node.score) for view in given.views for node in view.nodes if node.id in found
    ]
    boost = ctx.settings.view_boost if given.multi_view_boost is None else given.multi_view_boost
    most = given.max_nodes or ctx.settings.view_max_nodes
    merged = merge(seen, boost=boost, min_score=given.min_score, max_nodes=most)
    by_id = {node.id: node for node in found.values()}
    if merged.weak:
        notes += (f"{merged.weak} scored less than {given.min_score:g} and are left out",)
    if merged.over:
        notes += (f"{merged.over} are left out: the best {most} are kept",)
    sights = [ViewHit(node=by_id[each.id], score=each.score, views=each.views) for each in merged.nodes]
    shown, uncited = show_sights(ctx, sights)
    if not shown and not notes:
        notes = ("no view has a node to merge",)
    valid_at, known_at = moments(when)
    answer = SubgraphMerged(nodes=shown, valid_at=valid_at, known_at=known_at, notes=(*notes, *uncited))
    return bounded(answer, "nodes")


class MergedNode(Struct, frozen=True, kw_only=True):
    """A node to write out; further fields are ignored."""

    id: NodeId
    score: Annotated[float, Meta(ge=0.0, le=MAX_SCORE)] = 0.0
    views: Annotated[tuple[View, ...], Meta(max_length=8)] = ()


class LinearizeContext(Struct, frozen=True, kw_only=True):
    """Input of `linearize_context`."""

    nodes: Annotated[
        tuple[MergedNode, ...],
        Meta(min_length=1, max_length=MAX_LIMIT, description="nodes of subgraph_merge: [{id, score, views}]"),
    ]
    intent: Annotated[Intent, Meta(description="WHY orders by cause, WHEN by time, WHO by entity, others by score")] = (
        "EXPLORE"
    )
    max_tokens: Annotated[int, Meta(ge=50, le=20_000, description="how long the text may be")] = BUDGET_TOKENS
    as_of: AsOf = None
    known_at: KnownAt = None


class ContextLinearized(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A context for a prompt: numbered lines, each with its views, date and source; sources close it."""

    text: str
    tokens: int
    line_count: int
    left_out: int
    valid_at: str
    known_at: str
    notes: tuple[str, ...] = ()


def linearize_context(ctx: CallContext, given: LinearizeContext) -> ContextLinearized:
    """Writes nodes out as one text within a budget of tokens, in the order of the question's intent.

    WHY puts every cause before its effects, WHEN goes by time, WHO by entity, others by score. Each line has its views,
    its date and its source.
    """
    try:
        when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
        found, notes = resolve(ctx, when, [node.id for node in given.nodes], None)
    except StoreError as problem:
        return _unwritten(given, unread(problem))
    nodes = list({node.id: node for node in found.values()}.values())
    shown, uncited = show_cited(ctx, nodes)
    cited = {each.id: each.citation for each in shown}
    lines = [
        ContextLine(node=found[each.id], score=each.score, views=each.views, citation=cited[found[each.id].id])
        for each in given.nodes
        if each.id in found
    ]
    ties, untied = _ties(ctx, when, nodes)
    written = linearise(lines, intent=given.intent, ties=ties, budget_tokens=given.max_tokens)
    valid_at, known_at = moments(when)
    return ContextLinearized(
        text=written.text,
        tokens=written.tokens,
        line_count=len(written.lines),
        left_out=sum(written.omitted.values()),
        valid_at=valid_at,
        known_at=known_at,
        notes=(*notes, *uncited, *untied),
    )


def _ties(ctx: CallContext, when: When, nodes: Sequence[NodeVersion]) -> tuple[Ties, tuple[str, ...]]:
    """The relations of the nodes; unknown, with a note, where they cannot be read."""
    try:
        return ties_of(ctx, when, nodes), ()
    except StoreError as problem:
        return Ties(known=False), (f"relations could not be read: the lines are ordered by score: {problem.message}",)


def _unwritten(given: LinearizeContext, why: str) -> ContextLinearized:
    """The context of nodes that cannot be read."""
    return ContextLinearized(
        text="", tokens=0, line_count=0, left_out=len(given.nodes), valid_at="", known_at="", notes=(why,)
    )


OPERATIONS = (
    Operation(
        name="subgraph_merge",
        summary="merge several views, each node once",
        input=SubgraphMerge,
        output=SubgraphMerged,
        effect="read",
        toolset="magma",
        run=subgraph_merge,
    ),
    Operation(
        name="linearize_context",
        summary="write nodes out as one cited text within a budget",
        input=LinearizeContext,
        output=ContextLinearized,
        effect="read",
        toolset="magma",
        run=linearize_context,
        budget="max_tokens",
    ),
)
