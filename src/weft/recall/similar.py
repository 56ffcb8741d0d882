"""Search for the nodes most similar to a node or a text."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.core.errors import Invalid, NotFound, StoreError
from weft.core.kinds import CHUNK_MARK, RECORD_KINDS
from weft.core.queries import Lead, TextQuery, VectorQuery
from weft.core.types import MAX_QUERY_CHARACTERS, NodeVersion, When
from weft.recall.answer_limits import bounded
from weft.recall.chosen_fields import Fields, narrowed
from weft.recall.conversation_search import read_nodes
from weft.recall.request import why_empty
from weft.recall.show_values import NodeShown, flagged, show_cited, show_node
from weft.retrieval.citations.resolve import resolve
from weft.retrieval.fallback.from_log import search_log
from weft.retrieval.pipeline import Ask
from weft.runtime.call_context import CallContext
from weft.runtime.fields import (
    Anywhere,
    AsOf,
    KindNames,
    KnownAt,
    Limit,
    NodeName,
    OtherProject,
    check_text,
    projects_asked,
)
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.text.lexical import content_hash, query_terms, text_to_embed

FETCHED = 5  # times the limit: parts of the thing itself are found and left out
MAX_FETCHED = 2_000
NO_WORDS = content_hash("", "", "")
NOTHING = "no memory that you may see is similar"


class FindSimilar(Struct, frozen=True, kw_only=True):
    """Input of `find_similar`: a node, or a text."""

    id: NodeName | None = None
    text: Annotated[str, Meta(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="a text instead")] | None = (
        None
    )
    limit: Limit = 10
    kinds: KindNames | None = None
    min_score: Annotated[float, Meta(ge=0.0, le=1.0, description="minimum similarity")] = 0.0
    project: OtherProject = None
    everywhere: Anywhere = False
    as_of: AsOf = None
    known_at: KnownAt = None
    fields: Fields = None


class Similar(Struct, frozen=True, kw_only=True):
    """A node and its similarity: the cosine; without vectors, or from the log, the share of words."""

    score: float
    node: NodeShown


class SimilarFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Similar nodes, most similar first. `id` is the node that was compared with, if it was one.

    `degraded` says why the log was searched instead of the graph.
    """

    hits: tuple[Similar, ...]
    id: str = ""
    degraded: str = ""
    notes: tuple[str, ...] = ()


class _Like(Struct, frozen=True, kw_only=True):
    """The words to compare with, and their node."""

    words: str
    node: NodeVersion | None = None

    @property
    def id(self) -> str:
        return "" if self.node is None else self.node.id


def find_similar(ctx: CallContext, given: FindSimilar) -> SimilarFound:
    """Finds the nodes most similar to a node or a text: by meaning, or by words where there is no embedder.

    The node itself and its own parts are left out. Scores are cosines; --min-score leaves out less similar nodes.
    """
    try:
        when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
        like = _like(ctx, given, when)
    except StoreError as problem:
        if given.text is None:
            raise _unreadable(problem) from problem
        return _told(_in_log(ctx, given, _Like(words=given.text), problem), given)
    try:
        found = _in_graph(ctx, given, when, like)
    except StoreError as problem:
        found = _in_log(ctx, given, like, problem)
    return _told(found, given)


def _told(found: SimilarFound, given: FindSimilar) -> SimilarFound:
    hits, skipped = narrowed(found.hits, given.fields)
    return bounded(replace(found, hits=hits, notes=(*found.notes, *skipped)), "hits")


def _unreadable(problem: StoreError) -> StoreError:
    hint = f"give its words as a text, which the log is searched for; {problem.hint or 'run `weft doctor`'}"
    return type(problem)(f"the node to compare with cannot be read: {problem.message}", hint=hint)


def _in_graph(ctx: CallContext, given: FindSimilar, when: When, like: _Like) -> SimilarFound:
    kept: list[tuple[Lead, float]] = []
    others: list[tuple[Lead, float]] = []
    notes: tuple[str, ...] = ()
    for fetched in (FETCHED * given.limit, MAX_FETCHED):  # the nearest may be mostly parts of the node itself
        found, notes = _alike(ctx, given, when, like, fetched)
        others = [
            (lead, min(score, 1.0))
            for lead, score in found
            if lead.content_hash != NO_WORDS
            and _is_other(like.node, lead.id, lead.whole, lead.conversation)
            and (given.kinds or lead.kind not in RECORD_KINDS)
        ]
        kept = [(lead, score) for lead, score in others if score >= given.min_score][: given.limit]
        if len(kept) == given.limit or len(found) < fetched:
            break
    scores = {lead.id: score for lead, score in kept}
    nodes = read_nodes(ctx, when, tuple(scores))
    shown, uncited = show_cited(ctx, nodes)
    hits = tuple(Similar(score=scores[each.id], node=each) for each in shown)
    empty = () if hits else _empty(ctx, given, max((score for _, score in others), default=None))
    return SimilarFound(hits=hits, id=like.id, notes=(*notes, *empty, *uncited))


def _empty(ctx: CallContext, given: FindSimilar, best: float | None) -> tuple[str, ...]:
    """Why there is nothing: it is too little alike, of no kind or project that is there, or not there at all."""
    if best is not None:
        return (f"the most alike has a likeness of {best:.3f}, and {given.min_score:g} is the least asked for",)
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    then = " at that time" if given.as_of is not None or given.known_at is not None else ""
    return (*why_empty(ctx, given.kinds, projects), f"{NOTHING}{then}")


def _in_log(ctx: CallContext, given: FindSimilar, like: _Like, problem: StoreError) -> SimilarFound:
    """Nodes of the log that share words with it. Raises StoreError if the log cannot be read either."""
    ask = Ask(
        query=like.words[:MAX_QUERY_CHARACTERS],
        when=read_when(ctx, as_of=given.as_of, known_at=given.known_at),
        limit=MAX_FETCHED,
        projects=projects_asked(ctx, given.project, everywhere=given.everywhere),
        kinds=given.kinds,
    )
    answer = search_log(ctx, ask, problem=problem.message)
    found = [
        each
        for each in answer.ranked or ()
        if _is_other(like.node, each.node.id, each.node.props.get("part_of"), each.node.props.get("conversation"))
    ]
    kept = [each for each in found if each.score >= given.min_score][: given.limit]
    hits = tuple(Similar(score=each.score, node=show_node(each.node, answer.citations)) for each in kept)
    empty = () if hits else _empty(ctx, given, max((each.score for each in found), default=None))
    notes = (*answer.notes, *empty, *flagged(hit.node for hit in hits))
    return SimilarFound(hits=hits, id=like.id, degraded=answer.degraded, notes=notes)


def _alike(
    ctx: CallContext, given: FindSimilar, when: When, like: _Like, limit: int
) -> tuple[list[tuple[Lead, float]], tuple[str, ...]]:
    """The nearest by meaning, or by words; and notes on how."""
    projects = projects_asked(ctx, given.project, everywhere=given.everywhere)
    try:
        data, problem = _vector(ctx, like)
        if data is not None and ctx.embedding.model is not None:
            query = VectorQuery(model=ctx.embedding.model, data=data, projects=projects, kinds=given.kinds)
            matches = ctx.store.search_vector(ctx.viewer, when, query, limit=limit)
            notes = matches.notes
            if matches.pending:
                notes += (f"{matches.pending} texts have no vector yet and are not compared: `weft reindex`",)
            return [(hit.node, hit.cosine) for hit in matches.hits], notes
    except StoreError as unserved:
        problem = f"the store could not compare meanings: {unserved.message}"
    found = _by_words(ctx, when, like, TextQuery(terms=(), projects=projects, kinds=given.kinds), limit)
    return found, (f"{problem}; compared by words: a score is a share of the most that there could be",)


def _like(ctx: CallContext, given: FindSimilar, when: When) -> _Like:
    if (given.id is None) == (given.text is None):
        raise Invalid("give either an id or a text", hint="find_similar compares with one thing")
    if given.text is not None:
        check_text(given.text, "find_similar: text")
        return _Like(words=given.text)
    written = (given.id or "").strip()
    nodes = ctx.store.nodes(ctx.viewer, when, [resolve(ctx, written, when)]) if written else ()
    if not nodes:
        raise NotFound(
            f"there is no node {written[:80]!r} that you may see and that holds then",
            hint="`weft recall` finds nodes by their words",
        )
    (node,) = nodes
    words = text_to_embed(node.name, node.summary, node.text)
    if not words.strip():
        raise Invalid(f"{node.id[:80]!r} has no words of its own", hint="give one of its parts, or a text")
    return _Like(words=words, node=node)


def _vector(ctx: CallContext, like: _Like) -> tuple[bytes | None, str]:
    """The stored vector of a node, else one of the words; None and the reason where there is none."""
    model = ctx.embedding.model
    if like.node is not None and model is not None:
        kept = ctx.store.vectors(ctx.viewer, model, [like.node.content_hash]).get(like.node.content_hash)
        if kept is not None:
            import numpy as np

            row = np.frombuffer(kept, "<f2").astype("<f4")
            return (row / max(float(np.linalg.norm(row)), 1e-9)).astype("<f4").tobytes(), ""
    return ctx.embedding.query(like.words)


def _by_words(ctx: CallContext, when: When, like: _Like, query: TextQuery, limit: int) -> list[tuple[Lead, float]]:
    """Nodes that share the most words, scored against the score of the words themselves."""
    matches = ctx.store.search_text(ctx.viewer, when, replace(query, terms=query_terms(like.words)), limit=limit)
    own = like.node.id if like.node is not None else None
    best = max((hit.score for hit in matches.hits if hit.node.id == own), default=0.0)
    best = best or max((hit.score for hit in matches.hits), default=0.0) or 1.0
    return [(hit.node, hit.score / best) for hit in matches.hits]


def _is_other(node: NodeVersion | None, other: str, *wholes: object) -> bool:
    """Whether it is neither the node itself, nor a part of it, nor the section or document around it.

    `wholes` are the nodes that the other is a part of.
    """
    if node is None:
        return True
    inside = other.startswith((f"{node.id}#", f"{node.id}::", f"{node.id}{CHUNK_MARK}"))
    around = node.kind in ("Chunk", "Section") and node.id.startswith((f"{other}#", f"{other}{CHUNK_MARK}"))
    return other != node.id and not inside and not around and node.id not in wholes


OPERATIONS = (
    Operation(
        name="find_similar",
        summary="find the nodes most similar to a node or a text",
        input=FindSimilar,
        output=SimilarFound,
        effect="read",
        toolset="memory",
        run=find_similar,
        arguments=("id",),
    ),
)
