"""Embedding of texts without a vector: those of files just read at once, others when the process is idle."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from weft.append.approval import is_operator
from weft.core.commits import LexedText
from weft.core.errors import WeftError
from weft.core.types import NOW, Find, NodeVersion
from weft.retrieval.citations.file_ids import SYMBOL_KINDS
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes
from weft.writing.build.missing_vectors import Pace, backfill

BATCH_TEXTS: Final = 64  # at once, while a caller waits
MAX_SYMBOLS: Final = 10_000  # of one file
MAX_QUIET_TEXTS: Final = 1_000_000  # of one pass in quiet moments
QUIET_BATCH_TEXTS: Final = 8  # few at once: whoever wants the processor, or the store, has it soon
_log = logging.getLogger("weft.vectors")


def embed_symbols(ctx: CallContext, files: Sequence[str]) -> str:
    """Embeds the texts of these files (ids of their nodes) that have no vector. Returns a note if that failed."""
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
    yield from read_nodes(ctx, NOW, files)
    for file in files:
        inside = Find(kinds=SYMBOL_KINDS, id_prefix=f"{file}::")
        yield from ctx.store.find(ctx.viewer, NOW, inside, limit=MAX_SYMBOLS).nodes
        yield None


def _text(node: NodeVersion) -> LexedText:
    """The text that a vector is made of; it is in the index already."""
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


def embed_later(ctx: CallContext) -> None:
    """Embeds texts without a vector when this process is idle, on its background thread; not while a caller waits."""
    shop = ctx.background
    if process_context(ctx) is not None:
        key = ("vectors", ctx.settings.store, ctx.writer.account)

        def enough() -> bool:
            shop.let_answers_by()
            return not shop.is_quiet

        shop.when_quiet(key, partial(embed_until, ctx, enough))


def embed_until(ctx: CallContext, enough: Callable[[], bool]) -> bool:
    """Embeds texts without a vector until none is left or `enough` returns true between batches.

    Returns whether more are left. Runs in the process's own context if that is the operator's, since this is
    maintenance. Failures are logged and not retried; `weft reindex` does the same and reports more.
    """
    own = process_context(ctx)
    if own is None:
        return False
    try:
        viewer = own.operator("embed texts")
        embedding = own.embedding.wanted
        if embedding.model is None:
            return False
        with own.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                filled = backfill(
                    own, viewer, limit=MAX_QUIET_TEXTS, pace=Pace(batch_texts=QUIET_BATCH_TEXTS, stop=enough)
                )
                return filled.cut
    except WeftError as problem:
        _log.warning("texts were left without vectors: %s", problem.message)
    return False


def process_context(ctx: CallContext) -> CallContext | None:
    """The process's own context, if it is the operator's and of the same account."""
    own: CallContext = ctx.background.own or ctx
    same = own.writer.account == ctx.writer.account
    return own if same and is_operator(own.writer.actor, own.viewer) else None
