"""Texts without a vector: how many there are, and embedding them in batches, each saved while the next is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from msgspec import Struct

from weft.core.errors import ModelError
from weft.core.queries import TextVector
from weft.core.types import Viewer
from weft.models.embedding import WITHOUT_VECTORS, Embedding
from weft.runtime.call_context import CallContext

BATCH_TEXTS: Final = 128
MAX_REFUSED: Final = 100  # texts that an embedder refuses while it accepts others
_PROBE: Final = (b"", "weft", "weft")

Text = tuple[bytes, str, str]


class BackfillResult(Struct, frozen=True, kw_only=True):
    """How many texts got a vector, why others did not, by content hash, and whether it was stopped early."""

    made: int
    refused: dict[bytes, str]
    cut: bool = False


class Pace(Struct, frozen=True, kw_only=True):
    """How many texts are embedded in one request, and a test, asked before each, whether to stop."""

    batch_texts: int = BATCH_TEXTS
    stop: Callable[[], bool] = lambda: False


DEFAULT_PACE: Final = Pace()


def backfill(
    ctx: CallContext, viewer: Viewer, *, limit: int, skip: frozenset[bytes] = frozenset(), pace: Pace = DEFAULT_PACE
) -> BackfillResult:
    """Embeds texts that have no vector of the wanted embedder, in one pass, except the content hashes in `skip`.

    Each batch is saved while the next is made: what was saved stays if the process dies. A text that the embedder
    refuses while it accepts others is skipped. Raises ModelError if the embedder stops answering or refuses too many.
    """
    embedding = ctx.embedding.wanted
    model = embedding.model
    assert model is not None
    total = min(limit, max(0, _lacking(ctx, viewer, model) - len(skip)))
    refused: dict[bytes, str] = {}
    made = saved = after = 0
    cut = False

    def save(vectors: Sequence[TextVector]) -> int:
        ctx.store.put_vectors(viewer.account, vectors)
        return len(vectors)

    with ThreadPoolExecutor(1, "weft-vectors") as writer:
        saving: Future[int] | None = None
        while made < limit:
            texts = ctx.store.unembedded(viewer, model, after=after, limit=min(pace.batch_texts, limit - made))
            if not texts or (cut := pace.stop()):
                break
            after = texts[-1][0]
            wanted = [each[1:] for each in texts if each[1] not in skip]
            vectors = _made(embedding, wanted, refused, saved)
            saved += saving.result() if saving is not None else 0
            ctx.progress("embedding", saved, max(total, saved))
            saving = writer.submit(save, vectors)
            made += len(vectors)
        saved += saving.result() if saving is not None else 0
    ctx.progress("embedding", saved, max(total, saved))
    return BackfillResult(made=saved, refused=refused, cut=cut)


def _lacking(ctx: CallContext, viewer: Viewer, model: str) -> int:
    counted = ctx.store.space_counts(viewer)
    return counted.texts - counted.vectors.get(model, 0)


def _made(embedding: Embedding, texts: Sequence[Text], refused: dict[bytes, str], saved: int) -> tuple[TextVector, ...]:
    """Vectors of a batch. If the embedder refuses it but still answers, the batch is halved until the bad text is
    found.
    """
    if not texts:
        return ()
    vectors, problem = embedding.of_pairs(texts)
    if not problem:
        return vectors
    if not embedding.of_pairs([_PROBE])[0]:
        problem = problem.removesuffix(f"; {WITHOUT_VECTORS}")  # a note for writes
        raise ModelError(problem, hint=f"{saved} texts were embedded and saved; run `weft reindex` again to continue")
    if len(texts) > 1:
        middle = len(texts) // 2
        first = _made(embedding, texts[:middle], refused, saved)
        return first + _made(embedding, texts[middle:], refused, saved)
    refused[texts[0][0]] = problem
    if len(refused) > MAX_REFUSED:
        raise ModelError(
            f"the embedder refused {len(refused)} texts: {problem}",
            hint=f"{saved} texts were embedded and saved; run `weft reindex` again to continue",
        )
    return ()


class VectorCounts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Texts that can have a vector, vectors by model, the model in use, and the model that the settings want.

    `missing` texts have no vector of the wanted model.
    """

    texts: int
    wanted: str | None
    in_use: str | None
    missing: int
    by_model: dict[str, int] = {}


def vector_counts(ctx: CallContext, viewer: Viewer) -> VectorCounts:
    """The counts over all nodes. For operators: they include what others store."""
    wanted, used = ctx.embedding.wanted.model, ctx.store.space(viewer)
    counted = ctx.store.space_counts(viewer)
    missing = 0 if wanted is None else max(0, counted.texts - counted.vectors.get(wanted, 0))
    return VectorCounts(
        texts=counted.texts,
        wanted=wanted,
        in_use=None if used is None else used.model,
        missing=missing,
        by_model=dict(counted.vectors),
    )


def vectors_summary(held: VectorCounts) -> str:
    """The counts in one line, with what to do."""
    if held.wanted is None:
        return "no embedder is set: memories are found by words only"
    switching = held.in_use is not None and held.in_use != held.wanted
    if not switching and not held.missing:
        return f"all {held.texts:,} texts have a vector of {held.wanted}"
    done = f"{held.texts - held.missing:,} of {held.texts:,} texts have a vector of {held.wanted}"
    if switching:
        return f"{done}; {held.in_use} is used until all have one: run `weft reindex`"
    return f"{done}; the others are found by words only: run `weft reindex`"


def check_vectors(ctx: CallContext, viewer: Viewer) -> tuple[bool, str, str]:
    """The self-test of the embedder: whether it answers, the counts, and what to do."""
    line = vectors_summary(vector_counts(ctx, viewer))
    embedding = ctx.embedding.wanted
    if embedding.model is None:
        return True, line, ""
    vector, problem = embedding.query("weft")
    if vector is not None:
        return True, line, ""
    return (
        False,
        f"{problem}; {line}",
        "check that its server runs and that the settings embedder, embedder_url and embedder_key are right",
    )
