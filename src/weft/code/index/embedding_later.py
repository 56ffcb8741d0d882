"""Embedding of texts without a vector, while a process is idle."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from weft.append.approval import is_operator
from weft.core.errors import WeftError
from weft.runtime.call_context import CallContext
from weft.writing.build.missing_vectors import Pace, backfill

MAX_TEXTS: Final = 1_000_000  # of one pass
BATCH_TEXTS: Final = 8  # few at once: whoever wants the processor, or the store, has it soon
_log = logging.getLogger("weft.vectors")


def embed_later(ctx: CallContext) -> None:
    """Embeds what has no vector in this process's quiet moments, on the thread that it has for these."""
    shop = ctx.background
    if _own(ctx) is not None:
        key = ("vectors", ctx.settings.store, ctx.writer.account)
        shop.when_quiet(key, partial(embed_until, ctx, lambda: not shop.is_quiet))


def embed_until(ctx: CallContext, enough: Callable[[], bool]) -> bool:
    """Embeds texts that have no vector, until none is left or it is `enough`, as is asked between small batches; what
    was made is kept. Whether more are left.

    The process's own context does it, where that is the operator's: it is upkeep, and tells nobody anything. What goes
    wrong is told in the log, and is not tried again; `weft reindex` does the same and says more.
    """
    own = _own(ctx)
    if own is None:
        return False
    try:
        viewer = own.operator("embed texts")
        embedding = own.embedding.wanted
        if embedding.model is None:
            return False
        with own.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                filled = backfill(own, viewer, limit=MAX_TEXTS, pace=Pace(batch_texts=BATCH_TEXTS, stop=enough))
                return filled.cut
    except WeftError as problem:
        _log.warning("texts were left without vectors: %s", problem.message)
    return False


def _own(ctx: CallContext) -> CallContext | None:
    """The process's own context, where that is of the same account and the operator's."""
    own: CallContext = ctx.background.own or ctx
    same = own.writer.account == ctx.writer.account
    return own if same and is_operator(own.writer.actor, own.viewer) else None
