"""Vectors for texts that were written without one, in moments in which a process has nothing else to do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from weft.errors import WeftError
from weft.governing import is_operator
from weft.loom import Loom
from weft.operations.backfilling import backfill

MAX_TEXTS: Final = 1_000_000  # of one pass
BATCH_TEXTS: Final = 8  # few at once: whoever wants the processor, or the store, has it soon
_log = logging.getLogger("weft.vectors")


def embed_later(loom: Loom) -> None:
    """Embeds what has no vector in this process's quiet moments, on the thread that it has for these."""
    shop = loom.workshop
    if _own(loom) is not None:
        key = ("vectors", loom.settings.store, loom.writer.account)
        shop.when_quiet(key, partial(embed_until, loom, lambda: not shop.is_quiet))


def embed_until(loom: Loom, enough: Callable[[], bool]) -> bool:
    """Embeds texts that have no vector, until none is left or it is `enough`, as is asked between small batches; what
    was made is kept. Whether more are left.

    The process's own loom does it, where that is the operator's: it is upkeep, and tells nobody anything. What goes
    wrong is told in the log, and is not tried again; `weft reindex` does the same and says more.
    """
    own = _own(loom)
    if own is None:
        return False
    try:
        viewer = own.operator("embed texts")
        embedding = own.embedding.wanted
        if embedding.model is None:
            return False
        with own.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                filled = backfill(own, viewer, embedding, limit=MAX_TEXTS, batch_texts=BATCH_TEXTS, enough=enough)
                return filled.cut
    except WeftError as problem:
        _log.warning("texts were left without vectors: %s", problem.message)
    return False


def _own(loom: Loom) -> Loom | None:
    """The process's own loom, where that is of the same account and the operator's."""
    own: Loom = loom.workshop.own or loom
    same = own.writer.account == loom.writer.account
    return own if same and is_operator(own.writer.actor, own.viewer) else None
