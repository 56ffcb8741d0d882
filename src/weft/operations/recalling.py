"""Asking: ranked memories with a citation and an explanation for each, and the same as a context to read."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.hits import context_of
from weft.context.linearise import BUDGET_TOKENS
from weft.context.synthesis import synthesise
from weft.counsel import FAILED
from weft.errors import Invalid, WeftError
from weft.extract.intent import Intent
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.asking import Asking, History, Hit, asks_of_then, flagged, notes_of, read_ask, show_hits
from weft.operations.bounds import bounded
from weft.operations.code_slices import CODE_KINDS, path_of
from weft.operations.freshness import freshness_note
from weft.operations.narrowing import Fields, narrowed
from weft.operations.receipts import keep_receipt
from weft.operations.registry import Operation
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Stage, StageTrace, run


class RecallRaw(Asking, frozen=True, kw_only=True):
    """Input of `recall_raw`."""

    intent: Annotated[Intent | None, Meta(description="what is asked for; the question's own words if unset")] = None
    history: History = ()
    recipe: Annotated[str, Meta(max_length=64, description="how to rank, by name")] = "default"


class Recall(RecallRaw, frozen=True, kw_only=True):
    """Input of `recall`."""

    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="what the context may cost")] = BUDGET_TOKENS
    synthesize: Annotated[bool, Meta(description="let the language model, if there is one, write an answer")] = False
    receipt: Annotated[bool, Meta(description="keep the answer, to be printed again with `weft answer`")] = False
    fields: Fields = None
    explain: Annotated[bool, Meta(description="say how each hit came to its score")] = False


class Recalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer: hits, best first, the moment they answer for, and notes on anything left out.

    `context` is the same to read: cited lines in the order that suits the intent. `answer` is what the language
    model `written_by` wrote from those lines, `degraded` why the graph could not answer and the log did.
    """

    query: str
    status: str
    hits: tuple[Hit, ...]
    valid_at: str
    known_at: str
    intent: str = ""
    context: str = ""
    answer: str = ""
    written_by: str = ""
    receipt: str = ""
    degraded: str = ""
    notes: tuple[str, ...] = ()
    stages: tuple[StageTrace, ...] = ()


def recall(loom: Loom, given: Recall) -> Recalled:
    """Finds memories by name, words, meaning and relation, in this project and among what is kept for all projects.

    Every hit carries its citation (see `weft cite`). With --as-of the answer is what held then, with --known-at what
    weft knew then; --explain shows what each score is made of.
    """
    recipe = recipe_named(given.recipe)
    ask = read_ask(loom, given, as_of=given.as_of is not None, history=given.history, intent=given.intent)
    answer = run(recipe, loom, ask)
    recalled = shown(loom, given, answer)
    if given.receipt:
        recalled = _kept(loom, given, answer, recalled)
    hits, skipped = narrowed(recalled.hits, given.fields)
    return bounded(
        replace(recalled, hits=hits, notes=(*recalled.notes, *skipped, *flagged(recalled.hits))),
        "hits",
    )


def _stale(loom: Loom, answer: Answer) -> tuple[str, ...]:
    """A note that names files of source code among the hits that changed since they were indexed."""
    found = (candidate.node for candidate in answer.ranked or ())
    own = [node for node in found if node.kind in CODE_KINDS and node.guard.project == loom.settings.project]
    note = freshness_note(loom, map(path_of, own)) if own else None
    return () if note is None else (note,)


def _kept(loom: Loom, given: Recall, answer: Answer, recalled: Recalled) -> Recalled:
    """The answer with its receipt; where none can be kept, the answer all the same, and why."""
    if answer.degraded:
        return replace(recalled, notes=(*recalled.notes, "no receipt is kept of what the log itself answered"))
    try:
        kept = keep_receipt(loom, given, recalled, answer, recipe=given.recipe)
    except WeftError as problem:
        return replace(recalled, notes=(*recalled.notes, f"no receipt could be kept: {problem}"))
    return replace(recalled, receipt=kept)


def shown(loom: Loom, given: Recall, answer: Answer) -> Recalled:
    """What the pipeline found, as it is told."""
    hits, unserved = show_hits(loom, answer, explain=given.explain)
    notes = (*notes_of(loom, answer, hits, then=asks_of_then(given)), *unserved)
    if not asks_of_then(given):
        notes += _stale(loom, answer)
    context = context_of(loom, answer, {hit.node.id: hit.node.citation for hit in hits}, given.max_tokens)
    notes += context.notes
    written = ""
    if given.synthesize and hits:
        written, problems = synthesise(loom, answer.query, context)
        failed = any(note.startswith(FAILED) for note in notes)  # told once, not by all who asked it
        notes += tuple(note for note in problems if not (failed and note.startswith(FAILED)))
    pinned = answer.ask.when
    return Recalled(
        query=given.query,
        status="succeeded" if hits else "empty",
        hits=hits,
        valid_at=to_iso(pinned.valid_at or 0),
        known_at=to_iso(pinned.known_at or 0),
        intent=answer.intent,
        context=context.text if hits else "",
        answer=written,
        written_by=(loom.counsel.model or "") if written else "",
        degraded=answer.degraded,
        notes=notes,
        stages=answer.trace if given.explain else (),
    )


def recipe_named(name: str) -> tuple[Stage, ...]:
    """A recipe. Raises Invalid for a name that none has."""
    found = recipes.RECIPES.get(name)
    if found is None:
        raise Invalid(f"there is no recipe {name!r}", hint=f"known: {', '.join(sorted(recipes.RECIPES))}")
    return found


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
        rare=("recipe", "asked_at", "min_score", "intent", "history", "max_tokens", "synthesize", "receipt", "fields"),
        eager=True,
        budget="max_tokens",
        told=("hits", "query", "intent", "valid_at", "known_at"),
    ),
)
