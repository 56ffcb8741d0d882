"""Keeping the derived indexes up: missing vectors, new generations."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from weft.errors import ModelError
from weft.loom import Loom
from weft.operations.registry import Operation
from weft.queries import VectorQuery
from weft.types import Viewer, When

BATCH_TEXTS = 128


class Reindex(Struct, frozen=True, kw_only=True):
    """Input of `reindex`."""

    limit: Annotated[int, Meta(ge=1, le=100_000_000, description="embed at most this many texts")] = 100_000_000


class Reindexed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was made."""

    model: str | None
    embedded: int
    indexes: tuple[str, ...]
    notes: tuple[str, ...] = ()


def reindex(loom: Loom, given: Reindex) -> Reindexed:
    """Embeds the texts that have no vector of the configured model, then publishes new index files.

    Each batch is saved as it is made: stopped at any moment, the next run goes on where this one was. Texts keep the
    vectors they have; another model gets vectors of its own beside them, and spaces are never mixed.
    """
    viewer = loom.operator("make the indexes again")
    model = loom.embedding.model
    embedded = _backfill(loom, viewer, model, given.limit) if model is not None else 0
    made = loom.store.reindex(viewer, progress=lambda done, total: loom.progress("indexing", done, total))
    notes = () if model is not None else ("no embedder is configured: nothing was embedded",)
    return Reindexed(model=model, embedded=embedded, indexes=made, notes=notes)


def _backfill(loom: Loom, viewer: Viewer, model: str, limit: int) -> int:
    total = min(limit, _pending(loom, viewer, model))
    done = after = 0
    while done < limit:
        texts = loom.store.unembedded(viewer, model, after=after, limit=min(BATCH_TEXTS, limit - done))
        if not texts:
            break
        vectors, problem = loom.embedding.of_pairs([each[1:] for each in texts])
        if problem and not vectors:
            raise ModelError(problem, hint=f"{done} texts were embedded and saved; run `weft reindex` again to go on")
        loom.store.put_vectors(loom.writer.account, vectors)
        after, done = texts[-1][0], done + len(texts)
        loom.progress("embedding", done, max(total, done))
    return done


def _pending(loom: Loom, viewer: Viewer, model: str) -> int:
    data, _ = loom.embedding.query("how many are left")
    if data is None:
        return 0
    return loom.store.search_vector(viewer, When(), VectorQuery(model=model, data=data), limit=1).pending


OPERATIONS = (
    Operation(
        name="reindex",
        summary="embed what has no vector yet, and publish new index files",
        input=Reindex,
        output=Reindexed,
        effect="write",
        toolset="admin",
        run=reindex,
    ),
)
