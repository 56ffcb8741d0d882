"""Embedding of source files that were just read, for a caller that waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from weft.core.commits import LexedText
from weft.core.errors import WeftError
from weft.core.types import MAX_IDS_PER_READ, NOW, Find, NodeVersion
from weft.retrieval.citations.file_ids import SYMBOL_KINDS
from weft.runtime.call_context import CallContext

BATCH_TEXTS: Final = 64
MAX_SYMBOLS: Final = 10_000  # of one file


def embed_symbols(ctx: CallContext, files: Sequence[str]) -> str:
    """Embeds what stands of these files (ids of their nodes) and has no vector. A note if that failed."""
    if ctx.embedding.model is None or not files:
        return ""
    total, done = len(files), 0
    batch: list[LexedText] = []
    for node in _nodes(ctx, files):
        if node is None:
            done += 1
            ctx.progress("embedding", done, total)
            continue
        batch.append(_text(node))
        if len(batch) == BATCH_TEXTS:
            if note := _saved(ctx, batch):
                return note
            batch = []
    return _saved(ctx, batch)


def _nodes(ctx: CallContext, files: Sequence[str]) -> Iterator[NodeVersion | None]:
    """Every node of each file, and None after each file."""
    for start in range(0, len(files), MAX_IDS_PER_READ):
        yield from ctx.store.nodes(ctx.viewer, NOW, files[start : start + MAX_IDS_PER_READ])
    for file in files:
        inside = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file}::")
        yield from ctx.store.find(ctx.viewer, NOW, inside, limit=MAX_SYMBOLS).nodes
        yield None


def _text(node: NodeVersion) -> LexedText:
    """Only what a vector is made of: it is in the index already."""
    return LexedText(
        content_hash=node.content_hash,
        name=node.name,
        name_key="",
        summary=node.summary,
        body=node.text,
        stems=(),
        vector=b"",
        length=0,
    )


def _saved(ctx: CallContext, texts: Sequence[LexedText]) -> str:
    try:
        vectors, note = ctx.embedding.of_texts(ctx.store, ctx.viewer, texts)
        if vectors:
            ctx.store.put_vectors(ctx.viewer.account, vectors)
    except WeftError as problem:  # what is written stays written
        return f"saved without all of its vectors, `weft reindex` adds them: {problem.message}"
    return note
