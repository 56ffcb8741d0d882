"""`recall`: ranked memories, each with a citation and an explanation, and the same as a context to read."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.assemble import BUDGET_TOKENS
from weft.context.hits import context_of, read_sources
from weft.context.synthesis import synthesise
from weft.core.clock import to_iso
from weft.core.errors import Invalid, WeftError
from weft.documents.keep.freshness import freshness_note
from weft.documents.keep.source_lines import CODE_KINDS, path_of
from weft.models.advisor import FAILED
from weft.recall.answer_limits import bounded
from weft.recall.chosen_fields import Fields, narrowed
from weft.recall.receipts import keep_receipt
from weft.recall.request import Asking, Hit, asks_of_then, flagged, notes_of, read_ask, show_hits
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, Stage, StageTrace, run
from weft.runtime.call_context import CallContext
from weft.runtime.fields import History
from weft.runtime.operation import Operation
from weft.text.extract.question.intent import Intent


class RecallRaw(Asking, frozen=True, kw_only=True):
    """Input of `recall_raw`."""

    intent: Annotated[Intent | None, Meta(description="the intent; read from the question if unset")] = None
    history: History = ()
    recipe: Annotated[str, Meta(max_length=64, description="how to rank, by name")] = "default"


class Recall(RecallRaw, frozen=True, kw_only=True):
    """Input of `recall`."""

    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="the most tokens of the context")] = BUDGET_TOKENS
    synthesize: Annotated[bool, Meta(description="let the language model, if there is one, write an answer")] = False
    receipt: Annotated[bool, Meta(description="keep the answer, to be printed again with `weft answer`")] = False
    fields: Fields = None
    explain: Annotated[bool, Meta(description="show the parts of each score, and how the answer was found")] = False


class Recalled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer: hits, best first, the time they answer for, and notes.

    `context` has the same as cited lines in the order of the intent. `answer` is what the language model `written_by`
    wrote from those lines; `degraded` says why the log was searched instead of the graph.
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


def recall(ctx: CallContext, given: Recall) -> Recalled:
    """Finds memories by name, words, meaning and relation, in this project and among those for all projects.

    Every hit has a citation (see `weft cite`). With --as-of the answer is what held then, with --known-at what weft
    knew then; --explain shows the parts of each score and how the answer was found.
    """
    recipe = recipe_named(given.recipe)
    ask = read_ask(ctx, given, as_of=given.as_of is not None, history=given.history, intent=given.intent)
    answer = run(recipe, ctx, ask)
    recalled = shown(ctx, given, answer)
    if given.receipt:
        recalled = _kept(ctx, given, answer, recalled)
    hits, skipped = narrowed(recalled.hits, given.fields)
    return bounded(
        replace(recalled, hits=hits, notes=(*recalled.notes, *skipped, *flagged(recalled.hits))),
        "hits",
    )


def _stale(ctx: CallContext, answer: Answer) -> tuple[str, ...]:
    """A note that names files of source code among the hits that changed since they were indexed."""
    found = (candidate.node for candidate in answer.ranked or ())
    own = [node for node in found if node.kind in CODE_KINDS and node.guard.project == ctx.settings.project]
    note = freshness_note(ctx, map(path_of, own)) if own else None
    return () if note is None else (note,)


def _kept(ctx: CallContext, given: Recall, answer: Answer, recalled: Recalled) -> Recalled:
    """The answer with its receipt; without one, and a note, where none can be kept."""
    if answer.degraded:
        return replace(recalled, notes=(*recalled.notes, "no receipt is kept of an answer from the log"))
    try:
        kept = keep_receipt(ctx, given, recalled, answer, recipe=given.recipe)
    except WeftError as problem:
        return replace(recalled, notes=(*recalled.notes, f"no receipt could be kept: {problem}"))
    return replace(recalled, receipt=kept)


def shown(ctx: CallContext, given: Recall, answer: Answer) -> Recalled:
    """The result of the pipeline as an answer."""
    with ctx.store.one_state(ctx.viewer):
        sources = read_sources(ctx, answer, answer.ranked or ())
        hits, unread = show_hits(ctx, answer, explain=given.explain, sources=sources)
        notes = (*notes_of(ctx, answer, hits, then=asks_of_then(given), explain=given.explain), *unread)
        if not asks_of_then(given):
            notes += _stale(ctx, answer)
        context, missing = context_of(ctx, answer, sources, given.max_tokens)
    notes += tuple(missing)
    written = ""
    if given.synthesize and hits:
        written, problems = synthesise(ctx, answer.query, context.text, context.sources)
        failed = any(note.startswith(FAILED) for note in notes)  # said once, not by every step that used the model
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
        written_by=(ctx.advisor.model or "") if written else "",
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
