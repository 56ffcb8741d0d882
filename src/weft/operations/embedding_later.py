"""Vectors for texts that were written without one, some at a time, by a process that has nothing else to do."""

from __future__ import annotations

import logging
from typing import Final

from weft.errors import WeftError
from weft.governing import is_operator
from weft.loom import Loom
from weft.operations.backfilling import backfill

TEXTS: Final = 256  # embedded before anything else is looked at
_log = logging.getLogger("weft.vectors")


def embed_some(loom: Loom) -> bool:
    """Embeds some texts that have no vector. Whether more may be left.

    The process's own loom does it, where that is the operator's: it is upkeep, and tells nobody anything. What goes
    wrong is told in the log; `weft reindex` does the same and says more.
    """
    own: Loom = loom.workshop.own or loom
    if own.writer.account != loom.writer.account or not is_operator(own.writer.actor, own.viewer):
        return False
    try:
        viewer = own.operator("embed texts")
        embedding = own.embedding.wanted
        if embedding.model is None:
            return False
        with own.store.embedding_turn(viewer, embedding.model) as mine:
            return mine and backfill(own, viewer, embedding, limit=TEXTS, but=frozenset()).made >= TEXTS
    except WeftError as problem:
        _log.warning("texts were left without vectors: %s", problem.message)
        return False
