"""Keeping the derived indexes up: missing vectors, another model, new generations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.embedding import Embedding
from weft.loom import Loom
from weft.operations.backfilling import backfill
from weft.operations.registry import Operation
from weft.operations.vectors_held import held_line, vectors_held
from weft.types import Viewer

MAX_PASSES: Final = 50  # over what others wrote meanwhile, until nothing is missing


class Reindex(Struct, frozen=True, kw_only=True):
    """Input of `reindex`."""

    limit: Annotated[int, Meta(ge=1, le=100_000_000, description="embed at most this many texts")] = 100_000_000
    drop_old: Annotated[bool, Meta(description="then remove the vectors of models that are not in use")] = False


class Reindexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was made. `in_use` is the model whose vectors questions are compared with; `dropped` what others lost."""

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


def reindex(loom: Loom, given: Reindex) -> Reindexed:
    """Embeds the texts that have no vector of the configured model, then publishes new index files.

    Each batch is saved as it is made: stopped at any moment, the next run goes on where this one was. Texts keep the
    vectors they have; another model gets vectors of its own beside them, and is asked from the moment on when no text
    lacks one. Spaces are never mixed.
    """
    viewer = loom.operator("make the indexes again")
    embedding = loom.embedding.wanted
    if embedding.model is None:
        unset = "no embedder is configured: nothing was embedded"
        done = _Embedded(indexes=_publish(loom, viewer), notes=(unset,))
    else:
        with loom.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                done = _embed(loom, viewer, embedding, given.limit)
            else:
                done = _Embedded(notes=("another process is embedding now, and does all that is missing",))
    held = vectors_held(loom, viewer)
    notes = done.notes
    dropped: dict[str, int] = {}
    if given.drop_old and held.in_use != embedding.model:
        notes += (f"nothing was dropped: {held_line(held)}",)
    elif given.drop_old:
        dropped, kept = _drop_all(loom, viewer, [each for each in sorted(held.by_model) if each != held.in_use])
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


def _embed(loom: Loom, viewer: Viewer, embedding: Embedding, limit: int) -> _Embedded:
    """Passes until nothing is missing, or there is nothing more to do; then the space comes into use.

    Index files are made before that: the first questions in the new space are as quick as those before.
    """
    made, indexes = 0, None
    refused: dict[bytes, str] = {}
    before = loom.store.space(viewer)
    for _ in range(MAX_PASSES):
        filled = backfill(loom, viewer, embedding, limit=limit - made, but=frozenset(refused))
        made, refused = made + filled.made, refused | filled.refused
        indexes = _publish(loom, viewer) if indexes is None else indexes
        whole = _in_use(loom, viewer, embedding, tuple(refused)) and not filled.made
        if whole or made >= limit:
            break
    held = vectors_held(loom, viewer)
    notes = [f"{len(refused)} refused, and found by words only; the first: {why}" for why in [*refused.values()][:1]]
    if held.missing > len(refused) or (held.in_use not in (None, embedding.model)):
        notes.append(held_line(held))
    switched = before is not None and before.model != embedding.model and held.in_use == embedding.model
    return _Embedded(
        made=made,
        indexes=indexes or (),
        switched_from=before.model if before is not None and switched else None,
        notes=tuple(notes),
    )


def _in_use(loom: Loom, viewer: Viewer, embedding: Embedding, refused: tuple[bytes, ...]) -> bool:
    """Whether the space of this embedder is in use now: it was, or nothing is missing and it comes into use."""
    place, found = embedding.place, loom.store.space(viewer)
    assert place is not None
    if found is None:  # no text has a vector, so there is nothing to ask
        return True
    same = found.model == place.model
    if same and (found == place or not place.embedder):
        return True
    return loom.store.use_space(viewer.account, place, instead_of=found, but=refused) or same


def _publish(loom: Loom, viewer: Viewer) -> tuple[str, ...]:
    return loom.store.reindex(viewer, progress=lambda done, total: loom.progress("indexing", done, total))


def _drop_all(loom: Loom, viewer: Viewer, models: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """How many vectors of each model went; a note on each that another process is making, which stays."""
    dropped: dict[str, int] = {}
    notes = []
    for model in models:
        with loom.store.embedding_turn(viewer, model) as mine:
            if mine:
                dropped[model] = _drop(loom, viewer, model)
            else:
                notes.append(f"vectors of {model} stay: another process makes them now")
    return dropped, tuple(notes)


def _drop(loom: Loom, viewer: Viewer, model: str) -> int:
    return loom.store.drop_vectors(
        viewer, model, progress=lambda done, total: loom.progress(f"dropping {model}", done, total)
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
