"""Code like some other code: copies first, then what does the like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.lexical import query_terms
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.code_lookup import find_element
from weft.operations.code_records import SYMBOL_KINDS
from weft.operations.code_slices import citation_of, line_of, path_of, told_of
from weft.operations.fields import Limit
from weft.operations.finding import AsOf, KnownAt
from weft.operations.freshness import freshness_note
from weft.operations.moments import read_when
from weft.operations.registry import Operation
from weft.operations.workspaces import workspace_of
from weft.queries import Lead, TextQuery, VectorQuery
from weft.types import NodeVersion, When

THRESHOLD: Final = 0.6
FETCHED: Final = 6  # times the limit: members and copies of the symbol itself are found, and left out
MAX_FETCHED: Final = 2_000
BY_WORDS: Final = "there are no vectors to compare by: words decide, and a score is a share of those of the symbol"


class FindSimilarCode(Struct, frozen=True, kw_only=True):
    """Input of `find_similar_code`."""

    element: Annotated[
        str, Meta(min_length=1, max_length=1024, description="a symbol: its id, path::name, or its name")
    ]
    threshold: Annotated[float, Meta(ge=0.0, le=1.0, description="least likeness, from 0 to 1")] = THRESHOLD
    limit: Limit = 10
    as_of: AsOf = None
    known_at: KnownAt = None


class SimilarSymbol(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A symbol and how alike it is: 1 is the same text. `same` says that it is, but for blanks and its own name."""

    id: str
    name: str
    path: str
    line: int
    similarity: float
    citation: str
    summary: str = ""
    same: bool = False


class SimilarCode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is like `element`, most alike first."""

    summary: str
    element: str
    similar: tuple[SimilarSymbol, ...]
    notes: tuple[str, ...] = ()


def find_similar_code(loom: Loom, given: FindSimilarCode) -> SimilarCode:
    """Finds functions and classes of this workspace that are like one of them, copies first.

    By the meaning of their text, and by words where there are no vectors. The symbol itself, its members and the class
    around it are left out.
    """
    loom = workspace_of(loom)
    when = loom.store.pin(loom.viewer, read_when(loom, as_of=given.as_of, known_at=given.known_at))
    looked = find_element(loom, when, given.element)
    element = looked.node
    scores, notes = _alike(loom, when, element, min(FETCHED * given.limit + 20, MAX_FETCHED))
    nodes = [
        node
        for node in loom.store.nodes(loom.viewer, when, list(scores))
        if node.kind in SYMBOL_KINDS and _is_other(element, node)
    ]
    rows = [_shown(element, node, scores[node.id]) for node in nodes]
    best = max((row.similarity for row in rows), default=0.0)
    kept = [row for row in rows if row.same or row.similarity >= given.threshold]
    kept.sort(key=lambda row: (not row.same, -row.similarity, row.path, row.line))
    found = tuple(kept[: given.limit])
    if rows and not found:
        notes = (*notes, f"the most alike has a likeness of {best:.2f}: lower threshold to see it")
    if looked.others:
        notes = (*notes, f"{len(looked.others)} more go by that name: give path::name for another")
    if given.as_of is None and given.known_at is None:
        stale = freshness_note(loom, [path_of(element), *(row.path for row in found)])
        notes = (*notes, stale) if stale else notes
    copies = sum(row.same for row in found)
    told = f"{len(found)} like {element.name}" + (f", {copies} the same but for its name" if copies else "")
    answer = SimilarCode(
        summary=told if found else f"nothing here is like {element.name}",
        element=f"{path_of(element)}:{line_of(element)} {element.name}",
        similar=found,
        notes=notes,
    )
    return bounded(answer, "similar")


def _alike(loom: Loom, when: When, element: NodeVersion, limit: int) -> tuple[dict[str, float], tuple[str, ...]]:
    """What is nearest to a symbol, by id, and a note where words had to do."""
    projects = (loom.settings.project,)
    model = loom.embedding.model
    data = None if model is None else _vector(loom, model, element)
    if model is not None and data is not None:
        query = VectorQuery(model=model, data=data, projects=projects, kinds=SYMBOL_KINDS)
        matches = loom.store.search_vector(loom.viewer, when, query, limit=limit)
        notes = matches.notes
        if matches.pending:
            notes += (f"{matches.pending:,} texts have no vector yet and are not compared: `weft reindex`",)
        return _best((hit.node, hit.cosine) for hit in matches.hits), notes
    query_text = TextQuery(terms=query_terms(element.text or element.name), projects=projects, kinds=SYMBOL_KINDS)
    found = loom.store.search_text(loom.viewer, when, query_text, limit=limit)
    own = max((hit.score for hit in found.hits if hit.node.id == element.id), default=0.0)
    most = own or max((hit.score for hit in found.hits), default=0.0) or 1.0
    return _best((hit.node, hit.score / most) for hit in found.hits), (BY_WORDS,)


def _best(found: Iterable[tuple[Lead, float]]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for lead, score in found:
        scores[lead.id] = max(scores.get(lead.id, 0.0), min(score, 1.0))
    return scores


def _vector(loom: Loom, model: str, element: NodeVersion) -> bytes | None:
    """The vector that is kept of a symbol; None where there is none yet."""
    kept = loom.store.vectors(loom.viewer, model, [element.content_hash]).get(element.content_hash)
    if kept is None:
        return None
    import numpy as np

    row = np.frombuffer(kept, "<f2").astype("<f4")
    return (row / max(float(np.linalg.norm(row)), 1e-9)).astype("<f4").tobytes()


def _is_other(element: NodeVersion, node: NodeVersion) -> bool:
    """Neither it, nor a member of it, nor what it is a member of."""
    return (
        node.id != element.id
        and not node.id.startswith(f"{element.id}::")
        and not element.id.startswith(f"{node.id}::")
    )


def _shown(element: NodeVersion, node: NodeVersion, score: float) -> SimilarSymbol:
    same = _bare(element) == _bare(node)
    return SimilarSymbol(
        id=node.id,
        name=node.name,
        path=path_of(node),
        line=line_of(node),
        similarity=1.0 if same else round(min(score, 0.9999), 4),
        citation=citation_of(node) or node.id,
        summary=told_of(node),
        same=same,
    )


def _bare(node: NodeVersion) -> Sequence[str]:
    """A symbol's words without blanks and its own name: what tells a copy."""
    own = node.name.rpartition(".")[2]
    return node.text.replace(own, "\0").split() if own else node.text.split()


OPERATIONS = (
    Operation(
        name="find_similar_code",
        summary="find functions and classes that are like one, copies first",
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
