"""Asking: ranked memories with a citation and an explanation for each."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.errors import Invalid
from weft.instants import parse_instant, to_iso
from weft.loom import Loom
from weft.operations.fields import KindNames, Label, Limit, Moment, Query
from weft.operations.moments import read_when
from weft.operations.registry import Operation
from weft.operations.showing import NodeShown, show_node, show_nodes
from weft.retrieval import recipes
from weft.retrieval.pipeline import Ask, Candidate, Source, Stage, StageTrace, run
from weft.types import When

AROUND = 160  # characters shown on each side of the sentence that is nearest


class Recall(Struct, frozen=True, kw_only=True):
    """Input of `recall`."""

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
    recipe: Annotated[str, Meta(max_length=64, description="how to rank, by name")] = "default"
    explain: Annotated[bool, Meta(description="say how each hit came to its score")] = False


class PartShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a whole that was found: a turn `by` somebody, a symbol by its name; of a long one the place."""

    text: str
    citation: str
    by: str = ""


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, its score, and what the score is made of (the parts add up to it).

    `parts` are what of a whole answers; `marks` say what to know of it, such as that a newer one says the like.
    """

    score: float
    node: NodeShown
    parts: tuple[PartShown, ...] = ()
    marks: tuple[str, ...] = ()
    why: tuple[Source, ...] = ()


class Recalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer: hits, best first, the moment they answer for, and notes on anything left out."""

    query: str
    status: str
    hits: tuple[Hit, ...]
    valid_at: str
    known_at: str
    notes: tuple[str, ...] = ()
    stages: tuple[StageTrace, ...] = ()


def recall(loom: Loom, given: Recall) -> Recalled:
    """Finds memories by name, words, meaning and relation, in this project and among what is kept for all projects.

    Every hit carries its citation (see `weft cite`). With --as-of the answer is what held then, with --known-at what
    weft knew then; --explain shows what each score is made of.
    """
    if "\x00" in given.query:
        raise Invalid("recall: query holds a NUL character", hint="remove it: NUL is not text")
    when = read_when(loom, as_of=given.as_of, known_at=given.known_at)
    projects = None if given.everywhere else (given.project or loom.settings.project, None)
    ask = Ask(
        query=given.query,
        when=when,
        limit=given.limit,
        projects=projects,
        kinds=given.kinds,
        min_score=given.min_score,
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
    )
    answer = run(_recipe(given.recipe), loom, ask)
    ranked = answer.ranked or ()
    shown = show_nodes(loom, [candidate.node for candidate in ranked])
    parts = _parts(loom, answer.ask.when, ranked)
    hits = tuple(
        Hit(
            score=candidate.score,
            node=node,
            parts=tuple(parts[place.id] for place in candidate.best if place.id in parts),
            marks=candidate.marks,
            why=candidate.sources if given.explain else (),
        )
        for candidate, node in zip(ranked, shown, strict=True)
    )
    notes = tuple(dict.fromkeys(answer.notes))
    if not hits and not any(note.startswith("nothing comes near") for note in notes):
        notes += (_nothing(loom, given),)
    pinned = answer.ask.when
    return Recalled(
        query=given.query,
        status="succeeded" if hits else "empty",
        hits=hits,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        notes=notes,
        stages=answer.trace if given.explain else (),
    )


def _recipe(name: str) -> tuple[Stage, ...]:
    found = recipes.RECIPES.get(name)
    if found is None:
        raise Invalid(f"there is no recipe {name!r}", hint=f"known: {', '.join(sorted(recipes.RECIPES))}")
    return found


def _parts(loom: Loom, when: When, ranked: tuple[Candidate, ...]) -> dict[str, PartShown]:
    """The parts that answer, by id, each cut to what surrounds the sentence that is nearest."""
    places = {place.id: place for candidate in ranked for place in candidate.best}
    nodes = loom.store.nodes(loom.viewer, when, tuple(places))
    citations = loom.store.citations(loom.viewer, [node.event for node in nodes])
    found = {}
    for node in nodes:
        shown = show_node(node, citations)
        place = places[node.id]
        start = max(0, place.start - AROUND)
        end = max(place.end, place.start + AROUND) + AROUND
        text = ("…" if start else "") + node.text[start:end] + ("…" if end < len(node.text) else "")
        said_by = node.props.get("speaker") or node.props.get("role")
        found[node.id] = PartShown(
            text=text,
            citation=shown.citation,
            by=node.name or (said_by if isinstance(said_by, str) else ""),
        )
    return found


def _nothing(loom: Loom, given: Recall) -> str:
    if given.everywhere:
        return "nothing that you may see matches"
    where = given.project or loom.settings.project
    return f"nothing that you may see matches in project {where}; --everywhere looks in all projects"


OPERATIONS = (
    Operation(
        name="recall",
        summary="find memories, each with its citation and the reason for its rank",
        input=Recall,
        output=Recalled,
        effect="read",
        toolset="core",
        run=recall,
        arguments=("query",),
        eager=True,
    ),
)
