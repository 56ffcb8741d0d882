"""Subscriptions: nodes tagged with a topic that an agent follows, or about it, join every search.

An agent that sees only nodes tagged for it sees here untagged ones too, never those tagged for others: just the nodes
that match a keyword, and nothing around them. Following a topic is no answer: such nodes count by how near they are to
the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import TextMatches, TextQuery
from weft.core.types import MAX_IDS_PER_READ, Find, NodeVersion, When
from weft.retrieval.citations.file_ids import line_citation
from weft.retrieval.pipeline import Answer, kinds_to_search
from weft.retrieval.pool import Pool
from weft.retrieval.sources.gather import joined
from weft.runtime.call_context import CallContext
from weft.text.lexical import query_terms

EACH = 50  # found by one keyword, and by tags
TAGGED = 1.0  # a tag is an exact match; words count against the best of them


def as_subscriber(ctx: CallContext) -> CallContext:
    """The same caller while its own keywords are looked up; the very same if it follows none."""
    return replace(ctx, viewer=replace(ctx.viewer, subscribes=True)) if ctx.settings.keywords else ctx


def readable(ctx: CallContext, when: When, ids: Sequence[str], *, followed: Set[str]) -> tuple[NodeVersion, ...]:
    """The nodes that may be shown: by the viewer's own guards or, if `followed`, by a subscriber's."""
    nodes = ctx.store.nodes(ctx.viewer, when, ids)
    there = {node.id for node in nodes}
    only = [each for each in ids if each in followed and each not in there]
    return (*nodes, *ctx.store.nodes(as_subscriber(ctx).viewer, when, only)) if only else nodes


def cited(ctx: CallContext, nodes: Sequence[NodeVersion], *, followed: Set[str] = frozenset()) -> Mapping[int, str]:
    """The citations of nodes by event, of any number of them; of `followed` ones as a subscriber sees them."""
    own = [node.event for node in nodes]
    found = dict(citations_at(ctx, own))
    only = [node.event for node in nodes if node.id in followed]
    return {**found, **citations_at(as_subscriber(ctx), only)} if only else found


def citations_at(ctx: CallContext, events: Sequence[int]) -> Mapping[int, str]:
    """The citations of events by position, in reads of MAX_IDS_PER_READ."""
    distinct = list(dict.fromkeys(events))
    found: dict[int, str] = {}
    for start in range(0, len(distinct), MAX_IDS_PER_READ):
        found |= ctx.store.citations(ctx.viewer, distinct[start : start + MAX_IDS_PER_READ])
    return found


def cited_by_id(ctx: CallContext, nodes: Sequence[NodeVersion], *, followed: Set[str] = frozenset()) -> dict[str, str]:
    """The citations of nodes by id: of the file where they are lines of one, else of the event."""
    events = cited(ctx, nodes, followed=followed)
    return {node.id: line_citation(node) or events.get(node.event, "") for node in nodes}


def fits_a_topic(ctx: CallContext, node: NodeVersion) -> bool:
    """Whether a node is tagged with a topic that the caller follows, or contains all words of one."""
    listed = node.props.get("keywords")
    named = listed if isinstance(listed, list | tuple) else [listed]
    tags = {each.lower() for each in named if isinstance(each, str)}
    return any(keyword.lower() in tags or _tells_of(node, keyword) for keyword in ctx.settings.keywords)


def _tells_of(node: NodeVersion, keyword: str) -> bool:
    wanted = {term for term, _ in query_terms(keyword)}
    return bool(wanted) and wanted <= {term for term, _ in query_terms(f"{node.name} {node.summary} {node.text}")}


class Subscriptions(Struct, frozen=True):
    """Nodes of the keywords join the pool; each gains `weight` x how well it matches a keyword x how near it is."""

    name: str = "subscriptions"
    weight: float = 0.3

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        import numpy as np

        if not ctx.settings.keywords:
            return answer
        follower = as_subscriber(ctx)
        fits = self._fits(follower, answer)
        if not fits:
            return answer
        pool = joined(follower, answer, fits)
        answer = replace(answer, followed=_only_followed(ctx, answer, pool))
        answer = _with_words(follower, answer, fits.keys() & pool.places.keys())
        held = {hit.node.id for hit in answer.text.hits} if answer.text is not None else set()
        near = [
            max(pool.best_sentence(node.content_hash), 0.0) if answer.vector is not None else float(node.id in held)
            for node in pool.nodes
        ]
        raw = np.array([fits.get(node.id, 0.0) for node in pool.nodes]) * np.array(near)
        if not raw.any():
            return replace(answer, pool=pool)
        return replace(answer, pool=pool.with_part("subscription", raw, self.weight, lambda at: "of a topic followed"))

    def _fits(self, follower: CallContext, answer: Answer) -> dict[str, float]:
        """How well nodes match the keywords, by id: the best match counts."""
        ask, store = answer.ask, follower.store
        fits: dict[str, float] = {}
        for keyword in follower.settings.keywords:
            query = TextQuery(
                terms=tuple(query_terms(keyword)),
                projects=ask.projects,
                kinds=kinds_to_search(ask),
                focuses=ask.focuses,
            )
            hits = store.search_text(follower.viewer, ask.when, query, limit=EACH).hits if query.terms else ()
            best = max((hit.score for hit in hits), default=1.0) or 1.0
            if len(query.terms) > 1:  # found by any of its words: it takes all of them to be of the topic
                nodes = store.nodes(follower.viewer, ask.when, [hit.node.id for hit in hits])
                whole = {node.id for node in nodes if _tells_of(node, keyword)}
                hits = tuple(hit for hit in hits if hit.node.id in whole)
            for hit in hits:
                fits[hit.node.id] = max(fits.get(hit.node.id, 0.0), hit.score / best)
        find = Find(
            keywords=follower.settings.keywords, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses
        )
        tagged = store.find(follower.viewer, ask.when, find, limit=EACH)
        return fits | {node.id: TAGGED for node in tagged.nodes}


def _only_followed(ctx: CallContext, answer: Answer, pool: Pool) -> frozenset[str]:
    """Joined nodes that the viewer may see only by a topic."""
    came = [node.id for node in pool.nodes[len(answer.pool.nodes) :]]
    if not came or not ctx.viewer.tagged_only:
        return answer.followed
    own = {node.id for node in ctx.store.nodes(ctx.viewer, answer.ask.when, came)}
    return answer.followed.union(each for each in came if each not in own)


def _with_words(follower: CallContext, answer: Answer, fits: Set[str]) -> Answer:
    """With the matches of the question's own words in nodes that only a subscriber may find."""
    if not follower.viewer.tagged_only or not answer.terms:
        return answer
    ask = answer.ask
    query = TextQuery(terms=answer.terms, projects=ask.projects, kinds=kinds_to_search(ask), focuses=ask.focuses)
    found = follower.store.search_text(follower.viewer, ask.when, query, limit=4 * EACH)
    known = {hit.node.id for hit in answer.text.hits} if answer.text is not None else set()
    more = tuple(hit for hit in found.hits if hit.node.id in fits and hit.node.id not in known)
    text: TextMatches = found if answer.text is None else answer.text
    return replace(answer, text=replace(text, hits=(() if answer.text is None else answer.text.hits) + more))
