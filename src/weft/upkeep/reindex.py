"""`reindex`: missing vectors, a switch of the embedding model, and new index files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.core.types import Viewer
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.writing.build.missing_vectors import backfill, vector_counts, vectors_summary

MAX_PASSES: Final = 50  # passes over texts that others write meanwhile


class Reindex(Struct, frozen=True, kw_only=True):
    """Input of `reindex`."""

    limit: Annotated[int, Meta(ge=1, le=100_000_000, description="embed at most this many texts")] = 100_000_000
    drop_old: Annotated[bool, Meta(description="afterwards remove vectors of models that are not in use")] = False


class Reindexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The embedded texts and published indexes. `in_use` is the model that questions use; `dropped` counts removed
    vectors.
    """

    model: str | None
    embedded: int
    indexes: tuple[str, ...]
    in_use: str | None = None
    switched_from: str | None = None
    dropped: dict[str, int] = {}
    notes: tuple[str, ...] = ()


class _Embedded(Struct, frozen=True, kw_only=True):
    made: int = 0
    indexes: tuple[str, ...] = ()
    switched_from: str | None = None
    notes: tuple[str, ...] = ()


def reindex(ctx: CallContext, given: Reindex) -> Reindexed:
    """Embeds the texts that have no vector of the configured model, then publishes new index files.

    Each batch is saved as it is made: an interrupted run is continued by the next one. Existing vectors are kept;
    another model gets vectors of its own, and is used for questions as soon as every text has one. Models are never
    mixed.
    """
    viewer = ctx.operator("rebuild the indexes")
    embedding = ctx.embedding.wanted
    if embedding.model is None:
        unset = "no embedder is configured: nothing was embedded"
        done = _Embedded(indexes=_publish(ctx, viewer), notes=(unset,))
    else:
        with ctx.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                done = _embed(ctx, viewer, embedding, given.limit)
            else:
                done = _Embedded(notes=("another process is embedding all missing texts now",))
    held = vector_counts(ctx, viewer)
    notes = done.notes
    dropped: dict[str, int] = {}
    if given.drop_old and held.in_use != embedding.model:
        notes += (f"nothing was dropped: {vectors_summary(held)}",)
    elif given.drop_old:
        dropped, kept = _drop_all(ctx, viewer, [each for each in sorted(held.by_model) if each != held.in_use])
        notes += kept
    return Reindexed(
        model=embedding.model,
        embedded=done.made,
        indexes=done.indexes,
        in_use=held.in_use,
        switched_from=done.switched_from,
        dropped=dropped,
        notes=notes,
    )


def _embed(ctx: CallContext, viewer: Viewer, embedding: Embedding, limit: int) -> _Embedded:
    """Embeds in passes until nothing is missing, then switches to the model.

    Index files are published before the switch, so that the first questions with the new model are as fast as before.
    """
    made, indexes = 0, None
    refused: dict[bytes, str] = {}
    before = ctx.store.space(viewer)
    for _ in range(MAX_PASSES):
        filled = backfill(ctx, viewer, limit=limit - made, skip=frozenset(refused))
        made, refused = made + filled.made, refused | filled.refused
        indexes = _publish(ctx, viewer) if indexes is None else indexes
        whole = _in_use(ctx, viewer, embedding, tuple(refused)) and not filled.made
        if whole or made >= limit:
            break
    held = vector_counts(ctx, viewer)
    notes = [
        f"{len(refused)} texts were refused by the embedder and are found by words only; the first: {why}"
        for why in [*refused.values()][:1]
    ]
    if held.missing > len(refused) or (held.in_use not in (None, embedding.model)):
        notes.append(vectors_summary(held))
    switched = before is not None and before.model != embedding.model and held.in_use == embedding.model
    return _Embedded(
        made=made,
        indexes=indexes or (),
        switched_from=before.model if before is not None and switched else None,
        notes=tuple(notes),
    )


def _in_use(ctx: CallContext, viewer: Viewer, embedding: Embedding, refused: tuple[bytes, ...]) -> bool:
    """Whether this embedder's model is in use now; switches to it if nothing is missing."""
    place, found = embedding.place, ctx.store.space(viewer)
    assert place is not None
    if found is None:  # no text has a vector
        return True
    same = found.model == place.model
    if same and (found == place or not place.embedder):
        return True
    return ctx.store.use_space(viewer.account, place, instead_of=found, but=refused) or same


def _publish(ctx: CallContext, viewer: Viewer) -> tuple[str, ...]:
    return ctx.store.reindex(viewer, progress=lambda done, total: ctx.progress("indexing", done, total))


def _drop_all(ctx: CallContext, viewer: Viewer, models: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Counts of removed vectors by model, and notes on models that another process is embedding with."""
    dropped: dict[str, int] = {}
    notes = []
    for model in models:
        with ctx.store.embedding_turn(viewer, model) as mine:
            if mine:
                dropped[model] = _drop(ctx, viewer, model)
            else:
                notes.append(f"vectors of {model} were kept: another process is making them now")
    return dropped, tuple(notes)


def _drop(ctx: CallContext, viewer: Viewer, model: str) -> int:
    return ctx.store.drop_vectors(
        viewer, model, progress=lambda done, total: ctx.progress(f"dropping {model}", done, total)
    )


OPERATIONS = (
    Operation(
        name="reindex",
        summary="embed what has no vector yet, switch to another embedder, publish index files",
        input=Reindex,
        output=Reindexed,
        effect="write",
        toolset="admin",
        run=reindex,
    ),
)
