"""Embeds texts that have no vector yet: in batches, each saved while the next is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from msgspec import Struct

from weft.embedding import WITHOUT_VECTORS, Embedding
from weft.errors import ModelError
from weft.loom import Loom
from weft.queries import Vector
from weft.types import Viewer

BATCH_TEXTS: Final = 128
MAX_REFUSED: Final = 100  # texts that an embedder will not take, while it takes others
_PROBE: Final = (b"", "weft", "weft")

Text = tuple[bytes, str, str]


class Filled(Struct, frozen=True, kw_only=True):
    """How many texts got their vector, and why others did not, by content hash. Whether it was ended before all had."""

    made: int
    refused: dict[bytes, str]
    cut: bool = False


def _never() -> bool:
    return False


def backfill(
    loom: Loom,
    viewer: Viewer,
    embedding: Embedding,
    *,
    limit: int,
    but: frozenset[bytes] = frozenset(),
    batch_texts: int = BATCH_TEXTS,
    enough: Callable[[], bool] = _never,
) -> Filled:
    """One pass over what has no vector of this embedder, those in `but` aside. `enough`, asked before each batch, ends
    it: what was made is saved.

    Stopped at any moment, what was saved stays. A text that the embedder refuses, while it takes others, is passed
    over. Raises ModelError if it answers no more, or refuses too many.
    """
    model = embedding.model
    assert model is not None
    total = min(limit, max(0, _lacking(loom, viewer, model) - len(but)))
    refused: dict[bytes, str] = {}
    made = saved = after = 0
    cut = False

    def save(vectors: Sequence[Vector]) -> int:
        loom.store.put_vectors(viewer.account, vectors)
        return len(vectors)

    with ThreadPoolExecutor(1, "weft-vectors") as writer:
        saving: Future[int] | None = None
        while made < limit:
            texts = loom.store.unembedded(viewer, model, after=after, limit=min(batch_texts, limit - made))
            if not texts or (cut := enough()):
                break
            after = texts[-1][0]
            wanted = [each[1:] for each in texts if each[1] not in but]
            vectors = _made(embedding, wanted, refused, saved)
            saved += saving.result() if saving is not None else 0
            loom.progress("embedding", saved, max(total, saved))
            saving = writer.submit(save, vectors)
            made += len(vectors)
        saved += saving.result() if saving is not None else 0
    loom.progress("embedding", saved, max(total, saved))
    return Filled(made=saved, refused=refused, cut=cut)


def _lacking(loom: Loom, viewer: Viewer, model: str) -> int:
    counted = loom.store.space_counts(viewer)
    return counted.texts - counted.vectors.get(model, 0)


def _made(embedding: Embedding, texts: Sequence[Text], refused: dict[bytes, str], saved: int) -> tuple[Vector, ...]:
    """Vectors of a batch; where an embedder that still answers refuses it, by halves down to the text at fault."""
    if not texts:
        return ()
    vectors, problem = embedding.of_pairs(texts)
    if not problem:
        return vectors
    if not embedding.of_pairs([_PROBE])[0]:
        problem = problem.removesuffix(f"; {WITHOUT_VECTORS}")  # which is for writes
        raise ModelError(problem, hint=f"{saved} texts were embedded and saved; run `weft reindex` again to go on")
    if len(texts) > 1:
        middle = len(texts) // 2
        first = _made(embedding, texts[:middle], refused, saved)
        return first + _made(embedding, texts[middle:], refused, saved)
    refused[texts[0][0]] = problem
    if len(refused) > MAX_REFUSED:
        raise ModelError(
            f"the embedder refuses one text after the other: {problem}",
            hint=f"{saved} texts were embedded and saved; run `weft reindex` again to go on",
        )
    return ()
