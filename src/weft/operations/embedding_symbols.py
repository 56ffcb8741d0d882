"""Vectors of source files that were just read, for somebody who waits for them. Others are made in the background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from weft.commits import LexedText
from weft.errors import WeftError
from weft.loom import Loom
from weft.operations.code_records import SYMBOL_KINDS
from weft.types import MAX_IDS_PER_READ, NOW, Find, NodeVersion

BATCH_TEXTS: Final = 64
MAX_SYMBOLS: Final = 10_000  # of one file


def embed_symbols(loom: Loom, files: Sequence[str]) -> str:
    """Embeds what stands of these files (ids of their nodes) and has no vector. A note if that failed."""
    if loom.embedding.model is None or not files:
        return ""
    total, done = len(files), 0
    batch: list[LexedText] = []
    for node in _nodes(loom, files):
        if node is None:
            done += 1
            loom.progress("embedding", done, total)
            continue
        batch.append(_text(node))
        if len(batch) == BATCH_TEXTS:
            if note := _saved(loom, batch):
                return note
            batch = []
    return _saved(loom, batch)


def _nodes(loom: Loom, files: Sequence[str]) -> Iterator[NodeVersion | None]:
    """Every node of each file, and None after each file."""
    for start in range(0, len(files), MAX_IDS_PER_READ):
        yield from loom.store.nodes(loom.viewer, NOW, files[start : start + MAX_IDS_PER_READ])
    for file in files:
        inside = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file}::")
        yield from loom.store.find(loom.viewer, NOW, inside, limit=MAX_SYMBOLS).nodes
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


def _saved(loom: Loom, texts: Sequence[LexedText]) -> str:
    try:
        vectors, note = loom.embedding.of_texts(loom.store, loom.viewer, texts)
        if vectors:
            loom.store.put_vectors(loom.viewer.account, vectors)
    except WeftError as problem:  # what is written stays written
        return f"saved without all of its vectors, `weft reindex` adds them: {problem.message}"
    return note
