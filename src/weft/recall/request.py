"""The question and the hits of every search: arguments, shown values, notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.context.excerpts import excerpt
from weft.context.hits import HitSources, read_sources
from weft.core.clock import parse_instant
from weft.core.errors import Invalid, StoreError
from weft.core.kinds import VIEWS
from weft.core.types import NOW, Find
from weft.recall.show_values import NodeShown, show_node
from weft.retrieval.citations.document_parts import wholes_around
from weft.retrieval.pipeline import Answer, Ask, Candidate, ScoreSource, Sighting
from weft.retrieval.sources.subscriptions import cited
from weft.runtime.call_context import CallContext
from weft.runtime.fields import KindNames, Label, Limit, Moment, Query
from weft.runtime.moments import read_when
from weft.text.extract.question.intent import RetrievalClass
from weft.text.injection import flags_of, remark
from weft.writing.checks.scope import is_known_project

AROUND = 160  # characters shown on each side of the sentence that is nearest
KINDS_NAMED = 12


class Asking(Struct, frozen=True, kw_only=True):
    """The arguments of any question."""

    query: Query
    limit: Limit = 10
    kinds: KindNames | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    everywhere: Annotated[bool, Meta(description="search every project")] = False
    as_of: Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")] = None
    known_at: Annotated[Moment | None, Meta(description="as weft knew it then; also a git commit or Tx id")] = None
    asked_at: Annotated[Moment | None, Meta(description="the time of the question, for words like yesterday")] = None
    min_score: Annotated[float, Meta(ge=0.0, le=2.0, description="least evidence for an answer; 0: always")] | None = (
        None
    )


class PartShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a whole that was found: a turn with its speaker, a symbol with its name, or a place in a long text."""

    text: str
    citation: str
    by: str = ""
    flags: tuple[str, ...] = ()


class EnclosingPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A section or document around a hit."""

    id: str
    kind: str
    name: str
    citation: str
    summary: str = ""


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, its score, and the parts of the score, which add up to it.

    `parts` are the passages that answer; `within` are the section and the document around a chunk; `marks` are remarks,
    such as that a newer one may replace it; `seen` are the views of the graph that lead to it.
    """

    score: float
    node: NodeShown
    parts: tuple[PartShown, ...] = ()
    within: tuple[EnclosingPart, ...] = ()
    marks: tuple[str, ...] = ()
    why: tuple[ScoreSource, ...] = ()
    seen: tuple[Sighting, ...] = ()


def read_ask(ctx: CallContext, given: Asking, **more: Any) -> Ask:
    """The question for the pipeline. Raises Invalid for arguments that contradict each other."""
    if "\x00" in given.query:
        raise Invalid("the query holds a NUL character", hint="remove it: NUL is not text")
    if given.everywhere and given.project is not None:
        raise Invalid("project and everywhere contradict each other", hint="give one of the two")
    return Ask(
        query=given.query,
        when=read_when(ctx, as_of=given.as_of, known_at=given.known_at),
        limit=given.limit,
        projects=None if given.everywhere else (given.project or ctx.settings.project, None),
        kinds=given.kinds,
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
        **more,
    )


def show_hits(
    ctx: CallContext, answer: Answer, *, explain: bool, sources: HitSources | None = None
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The ranked candidates with words, citations and, if asked for, the parts of their scores.

    `sources` are read if they are not given. A read that fails costs its part only and leaves a note.
    """
    ranked = answer.ranked or ()
    sources = read_sources(ctx, answer, ranked) if sources is None else sources
    notes = sources.notes
    parts = _parts(ranked, sources)
    within: dict[str, tuple[EnclosingPart, ...]] = {}
    try:
        within = {} if answer.degraded else _within(ctx, answer, ranked)
    except StoreError as problem:
        notes += (f"sections and documents around the hits could not be read: {problem.message}",)
    hits = tuple(
        Hit(
            score=candidate.score,
            node=show_node(candidate.node, sources.events),
            parts=tuple(parts[place.id] for place in candidate.best if place.id in parts),
            within=within.get(candidate.node.id, ()),
            marks=candidate.marks,
            why=candidate.sources if explain else (),
            seen=candidate.seen if explain else (),
        )
        for candidate in ranked
    )
    return hits, notes


def _parts(ranked: tuple[Candidate, ...], sources: HitSources) -> dict[str, PartShown]:
    """The parts that answer, by id, each cut to the surroundings of its nearest sentence."""
    places = {place.id: place for candidate in ranked for place in candidate.best}
    found = {}
    for node in sources.parts.values():
        place = places[node.id]
        text = excerpt(node.text, place.start, place.end, AROUND)
        said_by = node.props.get("speaker") or node.props.get("role")
        found[node.id] = PartShown(
            text=text,
            citation=sources.citation_of(node),
            by=node.name or (said_by if isinstance(said_by, str) else ""),
            flags=flags_of(text),
        )
    return found


def _within(ctx: CallContext, answer: Answer, ranked: tuple[Candidate, ...]) -> dict[str, tuple[EnclosingPart, ...]]:
    """The section and the document of each chunk, by its id; none for chunks that only a followed topic brought."""
    chunks = [each.node for each in ranked if each.node.kind == "Chunk" and each.node.id not in answer.followed]
    if not chunks:
        return {}
    around = wholes_around(ctx, chunks, answer.ask.when)
    wholes = {node.id: node for way in around.values() for node in way[:1] + way[-1:]}
    citations = cited(ctx, tuple(wholes.values()))
    shown = {each: _around(show_node(node, citations)) for each, node in wholes.items()}
    return {
        each: tuple(shown[one] for one in dict.fromkeys(node.id for node in way[:1] + way[-1:]))
        for each, way in around.items()
    }


def _around(node: NodeShown) -> EnclosingPart:
    return EnclosingPart(id=node.id, kind=node.kind, name=node.name, citation=node.citation, summary=node.summary)


def flagged(hits: Iterable[Hit]) -> tuple[str, ...]:
    """A note if the words of some hits look like instructions: the hits carry flags."""
    return remark(
        (hit.node.id, (*hit.node.flags, *(flag for part in hit.parts for flag in part.flags))) for hit in hits
    )


def notes_of(
    ctx: CallContext, answer: Answer, hits: Sequence[object], *, then: bool = False, explain: bool = False
) -> tuple[str, ...]:
    """The notes on an answer; an empty one, which has no `hits`, always says why. With `explain` also its details.

    `then` says that a past time was asked about, on either clock.
    """
    notes = tuple(dict.fromkeys((*answer.notes, *(answer.details if explain else ()))))
    if hits:
        return notes
    if answer.skip:
        return (*notes, answer.skip)
    notes += why_empty(ctx, answer.ask.kinds, answer.ask.projects)
    return tuple(dict.fromkeys((*notes, answer.refused or _nothing(answer.ask, then=then))))


def why_empty(ctx: CallContext, kinds: Sequence[str] | None, projects: Sequence[str | None] | None) -> tuple[str, ...]:
    """Notes on filters that match nothing: kinds without a visible node, an unknown project.

    Only for empty answers: where a kind is unknown it counts all nodes, to name the known ones.
    """
    try:
        return tuple(filter(None, (_strange_kinds(ctx, kinds), _strange_project(ctx, projects))))
    except StoreError as problem:
        return (f"the known kinds and projects could not be read: {problem.message}",)


def _strange_kinds(ctx: CallContext, kinds: Sequence[str] | None) -> str:
    if kinds is None:
        return ""
    unknown = [kind for kind in kinds if not ctx.store.find(ctx.viewer, NOW, Find(kinds=(kind,)), limit=1).nodes]
    if not unknown:
        return ""
    there = ", ".join([stat.kind for stat in ctx.store.indexes(ctx.viewer)][:KINDS_NAMED]) or "none yet"
    return f"no memory that you may see is of kind {', '.join(unknown)}; known kinds: {there}"


def _strange_project(ctx: CallContext, projects: Sequence[str | None] | None) -> str:
    """A project that the caller named and nobody created; this directory's own may be empty."""
    named = [each for each in projects or () if each is not None and each != ctx.settings.project]
    unknown = [each for each in named if not is_known_project(ctx, each)]
    return f"there is no project {unknown[0]!r} that you may see: `weft project-list` lists them" if unknown else ""


def _nothing(ask: Ask, *, then: bool) -> str:
    moment = " at that time" if then else ""
    if ask.projects is None:
        return f"no memory that you may see matches{moment}"
    where = next((project for project in ask.projects if project is not None), "none")
    return f"no memory that you may see matches{moment} in project {where}; --everywhere searches all projects"


def asks_of_then(given: Asking) -> bool:
    """Whether the question is about a past time, on either clock."""
    return given.as_of is not None or given.known_at is not None


def class_kinds(retrieval_class: RetrievalClass | None) -> tuple[str, ...] | None:
    """The kinds that a class of question is answered from, if it is limited to some."""
    if retrieval_class is None or retrieval_class in ("general", "none"):
        return None
    kinds = VIEWS["entity"] | {"Concept"} if retrieval_class == "entity" else VIEWS["temporal"]
    return tuple(sorted(kinds))
