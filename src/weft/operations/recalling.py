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
from weft.operations.showing import NodeShown, show_nodes
from weft.retrieval import recipes
from weft.retrieval.pipeline import Ask, Candidate, Source, Stage, StageTrace, run


class Recall(Struct, frozen=True, kw_only=True):
    """Input of `recall`."""

    query: Query
    limit: Limit = 10
    kinds: KindNames | None = None
    project: Annotated[Label | None, Meta(description="another project than this directory's")] = None
    everywhere: Annotated[bool, Meta(description="search every project")] = False
    as_of: Annotated[Moment | None, Meta(description="as it was true then; also a git commit or Tx id")] = None
    known_at: Annotated[Moment | None, Meta(description="as weft knew it then; also a git commit or Tx id")] = None
    asked_at: Annotated[Moment | None, Meta(description="when it is asked, for words like yesterday; not a filter")] = (
        None
    )
    recipe: Annotated[Label, Meta(description="which stages rank, by name")] = "default"
    explain: Annotated[bool, Meta(description="say how each hit came to its score")] = False


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, its score, and what the score is made of (the parts add up to it)."""

    score: float
    node: NodeShown
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
        asked_at=None if given.asked_at is None else parse_instant(given.asked_at, field="asked_at"),
    )
    answer = run(_recipe(given.recipe), loom, ask)
    shown = show_nodes(loom, [candidate.node for candidate in answer.ranked])
    hits = tuple(
        Hit(score=candidate.score, node=node, why=_why(candidate) if given.explain else ())
        for candidate, node in zip(answer.ranked, shown, strict=True)
    )
    notes = answer.notes
    if not hits:
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


def _why(candidate: Candidate) -> tuple[Source, ...]:
    return candidate.sources


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
