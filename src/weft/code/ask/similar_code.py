"""Search for similar code: copies first, then code of similar meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.code.ask.lookup import find_element, members_in
from weft.code.ask.workspaces import workspace_of
from weft.core.queries import Lead, TextQuery, VectorQuery
from weft.core.types import NodeVersion, When
from weft.documents.keep.freshness import freshness_note
from weft.documents.keep.source_lines import citation_of, line_of, path_of, told_of
from weft.recall.answer_limits import bounded
from weft.retrieval.citations.file_ids import SYMBOL_KINDS
from weft.runtime.call_context import CallContext
from weft.runtime.fields import AsOf, KnownAt, Limit
from weft.runtime.moments import read_when
from weft.runtime.operation import Operation
from weft.text.lexical import query_terms

THRESHOLD: Final = 0.6
FETCHED: Final = 6  # times the limit: hits include the symbol itself and its members, which are omitted
MAX_FETCHED: Final = 2_000
MAX_CLASSES: Final = 100  # compared with their members
BY_WORDS: Final = "no vectors to compare: ranked by shared words, and similarity is the share of the symbol's words"


class FindSimilarCode(Struct, frozen=True, kw_only=True):
    """Input of `find_similar_code`."""

    element: Annotated[
        str, Meta(min_length=1, max_length=1024, description="a symbol: its id, path::name, or its name")
    ]
    threshold: Annotated[float, Meta(ge=0.0, le=1.0, description="least similarity, from 0 to 1")] = THRESHOLD
    limit: Limit = 10
    as_of: AsOf = None
    known_at: KnownAt = None


class SimilarSymbol(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol and its similarity, 1 for the same text. `same` ignores whitespace and the symbol's own name."""

    id: str
    name: str
    path: str
    line: int
    similarity: float
    citation: str
    summary: str = ""
    same: bool = False


class SimilarCode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Symbols similar to `element`, the most similar first."""

    summary: str
    element: str
    similar: tuple[SimilarSymbol, ...]
    notes: tuple[str, ...] = ()


def find_similar_code(ctx: CallContext, given: FindSimilarCode) -> SimilarCode:
    """Finds functions and classes of this workspace that are similar to a symbol, copies first.

    Compares the meaning of their texts, or their words if there are no vectors; classes with all their members. The
    symbol itself, its members and the class around it are omitted.
    """
    ctx = workspace_of(ctx)
    when = ctx.store.pin(ctx.viewer, read_when(ctx, as_of=given.as_of, known_at=given.known_at))
    looked = find_element(ctx, when, given.element)
    element = looked.node
    scores, notes = _scores(ctx, when, element, min(FETCHED * given.limit + 20, MAX_FETCHED))
    nodes = [
        node
        for node in ctx.store.nodes(ctx.viewer, when, list(scores))
        if node.kind in SYMBOL_KINDS and _is_other(element, node)
    ]
    if element.kind == "Class":
        classes = sorted((node for node in nodes if node.kind == "Class"), key=lambda node: -scores[node.id])
        whole = {node.id: (node, *members_in(ctx, when, node)) for node in (element, *classes[:MAX_CLASSES])}
        scores |= _class_scores(ctx, whole, element.id)
    else:
        whole = {}
    rows = [_shown(whole.get(element.id, (element,)), whole.get(node.id, (node,)), scores[node.id]) for node in nodes]
    best = max((row.similarity for row in rows), default=0.0)
    kept = [row for row in rows if row.same or row.similarity >= given.threshold]
    kept.sort(key=lambda row: (not row.same, -row.similarity, row.path, row.line))
    found = tuple(kept[: given.limit])
    if rows and not found:
        notes = (*notes, f"the most similar symbol has a similarity of {best:.2f}: lower threshold to see it")
    if looked.others:
        notes = (*notes, f"{len(looked.others)} more symbols have that name: give path::name for another")
    if given.as_of is None and given.known_at is None:
        stale = freshness_note(ctx, [path_of(element), *(row.path for row in found)])
        notes = (*notes, stale) if stale else notes
    copies = sum(row.same for row in found)
    identical = f", {copies} identical except for the name" if copies else ""
    answer = SimilarCode(
        summary=f"{len(found)} similar to {element.name}{identical}"
        if found
        else f"no symbol here is similar to {element.name}",
        element=f"{path_of(element)}:{line_of(element)} {element.name}",
        similar=found,
        notes=notes,
    )
    return bounded(answer, "similar")


def _scores(ctx: CallContext, when: When, element: NodeVersion, limit: int) -> tuple[dict[str, float], tuple[str, ...]]:
    """The similarity of the nearest symbols by id, and a note if it is by words.

    A class is searched for with its members; a hit in a member is a hit in its class as well.
    """
    projects = (ctx.settings.project,)
    model = ctx.embedding.model
    parts = (element, *members_in(ctx, when, element)) if element.kind == "Class" else (element,)
    data = None if model is None else _vector(ctx, model, parts)
    if model is not None and data is not None:
        query = VectorQuery(model=model, data=data, projects=projects, kinds=SYMBOL_KINDS)
        matches = ctx.store.search_vector(ctx.viewer, when, query, limit=limit)
        notes = matches.notes
        if matches.pending:
            notes += (f"{matches.pending:,} texts have no vector yet and are not compared: `weft reindex`",)
        scores = _best((hit.node, hit.cosine) for hit in matches.hits)
    else:
        text = "\n".join(part.text or part.name for part in parts)
        query_text = TextQuery(terms=query_terms(text), projects=projects, kinds=SYMBOL_KINDS)
        found = ctx.store.search_text(ctx.viewer, when, query_text, limit=limit)
        own = max((hit.score for hit in found.hits if hit.node.id == element.id), default=0.0)
        most = own or max((hit.score for hit in found.hits), default=0.0) or 1.0
        scores, notes = _best((hit.node, hit.score / most) for hit in found.hits), (BY_WORDS,)
    if element.kind == "Class":
        for each, score in list(scores.items()):
            around = each.rpartition("::")[0]
            if "::" in around:
                scores[around] = max(scores.get(around, 0.0), score)
    return scores, notes


def _best(found: Iterable[tuple[Lead, float]]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for lead, score in found:
        scores[lead.id] = max(scores.get(lead.id, 0.0), min(score, 1.0))
    return scores


def _class_scores(ctx: CallContext, whole: Mapping[str, Sequence[NodeVersion]], element: str) -> dict[str, float]:
    """The similarity of classes to `element` with all their members: by vectors, else by the share of its words."""
    model = ctx.embedding.model
    others = [each for each in whole if each != element]
    if model is not None and (own := _vector(ctx, model, whole[element])) is not None:
        import numpy as np

        vectors = {each: _vector(ctx, model, whole[each]) for each in others}
        unit = np.frombuffer(own, "<f4")
        return {each: float(unit @ np.frombuffer(data, "<f4")) for each, data in vectors.items() if data is not None}
    words = {each: {term for part in parts for term, _ in query_terms(part.text)} for each, parts in whole.items()}
    return {each: len(words[element] & words[each]) / max(len(words[element]), 1) for each in others}


def _vector(ctx: CallContext, model: str, parts: Sequence[NodeVersion]) -> bytes | None:
    """The normalised mean of the stored vectors of a symbol and its members; None if there are none yet."""
    hashes = [part.content_hash for part in parts]
    kept = [data for data in ctx.store.vectors(ctx.viewer, model, hashes).values() if data is not None]
    if not kept:
        return None
    import numpy as np

    rows = np.stack([np.frombuffer(data, "<f2").astype("<f4") for data in kept])
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    mean = rows.mean(axis=0)
    data: bytes = (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype("<f4").tobytes()
    return data


def _is_other(element: NodeVersion, node: NodeVersion) -> bool:
    """Whether a node is neither the element nor one of its members nor a class around it."""
    return (
        node.id != element.id
        and not node.id.startswith(f"{element.id}::")
        and not element.id.startswith(f"{node.id}::")
    )


def _shown(element: Sequence[NodeVersion], parts: Sequence[NodeVersion], score: float) -> SimilarSymbol:
    """A row of the answer, from the symbols each with its members."""
    node = parts[0]
    same = _bare(element) == _bare(parts)
    return SimilarSymbol(
        id=node.id,
        name=node.name,
        path=path_of(node),
        line=line_of(node),
        similarity=1.0 if same else round(max(min(score, 0.9999), 0.0), 4),
        citation=citation_of(node) or node.id,
        summary=told_of(node),
        same=same,
    )


def _bare(parts: Sequence[NodeVersion]) -> Sequence[str]:
    """The words of a symbol with its members, without whitespace and its own name: equal for copies."""
    own = parts[0].name.rpartition(".")[2]
    text = "\n".join(part.text for part in parts)
    return text.replace(own, "\0").split() if own else text.split()


OPERATIONS = (
    Operation(
        name="find_similar_code",
        summary="find functions and classes similar to a symbol, copies first",
        input=FindSimilarCode,
        output=SimilarCode,
        effect="read",
        toolset="code",
        run=find_similar_code,
        arguments=("element",),
        rare=("known_at",),
        priorities={
            **dict.fromkeys(("similar.name", "similar.path", "similar.line", "similar.similarity"), "required"),
            **dict.fromkeys(("similar.id", "similar.citation", "element"), "low"),
            "similar.summary": "medium",
        },
    ),
)
