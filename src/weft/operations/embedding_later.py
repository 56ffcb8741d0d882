"""Vectors for texts that were written without one, by a process that has nothing else to do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from weft.errors import WeftError
from weft.governing import is_operator
from weft.loom import Loom
from weft.operations.backfilling import backfill

MAX_TEXTS: Final = 1_000_000  # of one pass
_log = logging.getLogger("weft.vectors")


def embed_until(loom: Loom, enough: Callable[[], bool]) -> bool:
    """Embeds texts that have no vector, until none is left or it is `enough`, as is asked between batches. Whether more
    may be left.

    The process's own loom does it, where that is the operator's: it is upkeep, and tells nobody anything. What goes
    wrong is told in the log, and is not tried again; `weft reindex` does the same and says more.
    """
    own: Loom = loom.workshop.own or loom
    if own.writer.account != loom.writer.account or not is_operator(own.writer.actor, own.viewer):
        return False

    def progress(what: str, done: int, total: int) -> None:
        if enough():
            raise _Enough

    try:
        viewer = own.operator("embed texts")
        embedding = own.embedding.wanted
        if embedding.model is None or enough():
            return embedding.model is not None
        with own.store.embedding_turn(viewer, embedding.model) as mine:
            if mine:
                backfill(replace(own, progress=progress), viewer, embedding, limit=MAX_TEXTS, but=frozenset())
    except _Enough:
        return True
    except WeftError as problem:
        _log.warning("texts were left without vectors: %s", problem.message)
    return False


class _Enough(Exception):
    """Ends a pass: what was embedded is saved."""
