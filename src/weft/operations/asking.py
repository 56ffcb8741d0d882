"""What every way of asking shares: the question as the pipeline takes it, and hits as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.context.wording import excerpt
from weft.errors import Invalid, StoreError
from weft.extract.intent import RetrievalClass
from weft.gateway import flags_of, remark
from weft.instants import parse_instant
from weft.kinds import VIEWS
from weft.loom import Loom
from weft.operations.document_parts import wholes_around
from weft.operations.fields import KindNames, Label, Limit, Moment, Query
from weft.operations.moments import read_when
from weft.operations.scoping import is_known_project
from weft.operations.showing import NodeShown, show_node
from weft.retrieval.pipeline import Answer, Ask, Candidate, Sighting, Source
from weft.retrieval.subscriptions import cited, readable

AROUND = 160  # characters shown on each side of the sentence that is nearest
MAX_MESSAGES = 20
KINDS_NAMED = 12

Message = Annotated[str, Meta(max_length=8_192)]
History = Annotated[tuple[Message, ...], Meta(max_length=MAX_MESSAGES, description="messages before it, oldest first")]


class Asking(Struct, frozen=True, kw_only=True):
    """What any question may say."""

    query: Query
    limit: Limit = 10
    kinds: KindNames | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    everywhere: Annotated[bool, Meta(description="search every project")] = False
    as_of: Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")] = None
    known_at: Annotated[Moment | None, Meta(description="as weft knew it then; also a git commit or Tx id")] = None
    asked_at: Annotated[Moment | None, Meta(description="when it is asked: what yesterday is")] = None
    min_score: Annotated[float, Meta(ge=0.0, le=2.0, description="least evidence to answer; 0 always does")] | None = (
        None
    )


class PartShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a whole that was found: a turn `by` somebody, a symbol by its name; of a long one the place."""

    text: str
    citation: str
    by: str = ""
    flags: tuple[str, ...] = ()


class Around(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A section or document in which a hit stands."""

    id: str
    kind: str
    name: str
    citation: str
    summary: str = ""


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, its score, and what the score is made of (the parts add up to it).

    `parts` are what of a whole answers; `within` are the section and the document around a chunk; `marks` say what to
    know of it, such as that a newer one may replace it; `seen` are the views of the graph that lead to it.
    """

    score: float
    node: NodeShown
    parts: tuple[PartShown, ...] = ()
    within: tuple[Around, ...] = ()
    marks: tuple[str, ...] = ()
    why: tuple[Source, ...] = ()
    seen: tuple[Sighting, ...] = ()


def read_ask(loom: Loom, given: Asking, **more: Any) -> Ask:
    """The question as the pipeline takes it. Raises Invalid for what cannot be meant."""
    if "\x00" in given.query:
        raise Invalid("the query holds a NUL character", hint="remove it: NUL is not text")
    if given.everywhere and given.project is not None:
        raise Invalid("project and everywhere contradict each other", hint="give one of the two")
    return Ask(
        query=given.query,
        when=read_when(loom, as_of=given.as_of, known_at=given.known_at),
        limit=given.limit,
        projects=None if given.everywhere else (given.project or loom.settings.project, None),
        kinds=given.kinds,
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
        **more,
    )


def show_hits(loom: Loom, answer: Answer, *, explain: bool) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The ranked candidates with words, citations and, if asked for, what their scores are made of.

    What the store cannot serve costs that only, and leaves a note.
    """
    ranked = answer.ranked or ()
    notes: tuple[str, ...] = ()
    citations: Mapping[int, str] = answer.citations
    parts: dict[str, PartShown] = {}
    within: dict[str, tuple[Around, ...]] = {}
    try:
        if not answer.degraded:
            citations = cited(loom, [candidate.node for candidate in ranked], followed=answer.followed)
            parts = _parts(loom, answer, ranked)
            within = _within(loom, answer, ranked)
    except StoreError as problem:
        notes = (f"the store could not serve all citations and parts: {problem.message}",)
    hits = tuple(
        Hit(
            score=candidate.score,
            node=show_node(candidate.node, citations),
            parts=tuple(parts[place.id] for place in candidate.best if place.id in parts),
            within=within.get(candidate.node.id, ()),
            marks=candidate.marks,
            why=candidate.sources if explain else (),
            seen=candidate.seen if explain or any(each.view != "semantic" for each in candidate.seen) else (),
        )
        for candidate in ranked
    )
    return hits, notes


def _parts(loom: Loom, answer: Answer, ranked: tuple[Candidate, ...]) -> dict[str, PartShown]:
    """The parts that answer, by id, each cut to what surrounds the sentence that is nearest."""
    places = {place.id: place for candidate in ranked for place in candidate.best}
    if not places:
        return {}
    nodes = readable(loom, answer.ask.when, tuple(places), followed=answer.followed)
    citations = cited(loom, nodes, followed=answer.followed)
    found = {}
    for node in nodes:
        shown = show_node(node, citations)
        place = places[node.id]
        text = excerpt(node.text, place.start, place.end, AROUND)
        said_by = node.props.get("speaker") or node.props.get("role")
        found[node.id] = PartShown(
            text=text,
            citation=shown.citation,
            by=node.name or (said_by if isinstance(said_by, str) else ""),
            flags=flags_of(text),
        )
    return found


def _within(loom: Loom, answer: Answer, ranked: tuple[Candidate, ...]) -> dict[str, tuple[Around, ...]]:
    """The section and the document of each chunk, by its id; of what only a followed topic brought, nothing."""
    chunks = [each.node for each in ranked if each.node.kind == "Chunk" and each.node.id not in answer.followed]
    if not chunks:
        return {}
    around = wholes_around(loom, chunks, answer.ask.when)
    wholes = {node.id: node for way in around.values() for node in way[:1] + way[-1:]}
    citations = cited(loom, tuple(wholes.values()), followed=frozenset())
    shown = {each: _around(show_node(node, citations)) for each, node in wholes.items()}
    return {
        each: tuple(shown[one] for one in dict.fromkeys(node.id for node in way[:1] + way[-1:]))
        for each, way in around.items()
    }


def _around(node: NodeShown) -> Around:
    return Around(id=node.id, kind=node.kind, name=node.name, citation=node.citation, summary=node.summary)


def flagged(hits: Iterable[Hit]) -> tuple[str, ...]:
    """A note if the words of some hits look like instructions: the hits carry flags."""
    return remark(
        (hit.node.id, (*hit.node.flags, *(flag for part in hit.parts for flag in part.flags))) for hit in hits
    )


def notes_of(loom: Loom, answer: Answer, hits: Sequence[object], *, then: bool = False) -> tuple[str, ...]:
    """What there is to say about the answer; of an empty one, which has no `hits`, always why.

    `then` says that a moment was asked about, on either clock.
    """
    notes = tuple(dict.fromkeys(answer.notes))
    if hits:
        return notes
    if answer.skip:
        return (*notes, answer.skip)
    notes += why_empty(loom, answer.ask.kinds, answer.ask.projects)
    if not any(note.startswith("nothing comes near") for note in notes):
        notes += (_nothing(answer.ask, then=then),)
    return notes


def why_empty(loom: Loom, kinds: Sequence[str] | None, projects: Sequence[str | None] | None) -> tuple[str, ...]:
    """What of the question nothing can answer to: kinds that no visible node has, a project that is not there.

    Only asked where there is no answer: it counts nodes.
    """
    try:
        return tuple(filter(None, (_strange_kinds(loom, kinds), _strange_project(loom, projects))))
    except StoreError as problem:
        return (f"which kinds and projects there are cannot be told: {problem.message}",)


def _strange_kinds(loom: Loom, kinds: Sequence[str] | None) -> str:
    if kinds is None:
        return ""
    known = [stat.kind for stat in loom.store.indexes(loom.viewer)]
    unknown = [kind for kind in kinds if kind not in known]
    there = ", ".join(known[:KINDS_NAMED]) or "none yet"
    return f"no node that you may see is of kind {', '.join(unknown)}; there are {there}" if unknown else ""


def _strange_project(loom: Loom, projects: Sequence[str | None] | None) -> str:
    """One that the caller named; that of this directory may have nothing yet."""
    named = [each for each in projects or () if each is not None and each != loom.settings.project]
    unknown = [each for each in named if not is_known_project(loom, each)]
    return f"there is no project {unknown[0]!r} that you may see: `weft project-list` lists them" if unknown else ""


def _nothing(ask: Ask, *, then: bool) -> str:
    moment = " at the moment asked about" if then else ""
    if ask.projects is None:
        return f"nothing that you may see matches{moment}"
    where = next((project for project in ask.projects if project is not None), "none")
    return f"nothing that you may see matches{moment} in project {where}; --everywhere looks in all projects"


def asks_of_then(given: Asking) -> bool:
    """Whether a moment is asked about, on either clock."""
    return given.as_of is not None or given.known_at is not None


def class_kinds(retrieval_class: RetrievalClass | None) -> tuple[str, ...] | None:
    """The kinds that a class of question is answered from, if it is limited to some."""
    if retrieval_class is None or retrieval_class in ("general", "none"):
        return None
    kinds = VIEWS["entity"] | {"Concept"} if retrieval_class == "entity" else VIEWS["temporal"]
    return tuple(sorted(kinds))
