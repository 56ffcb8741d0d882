"""Walks at a past or future time: a few bounded steps through the tables, since no snapshot covers it."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from weft.backends.bounded_walk import UNWALKED, bounded_walk
from weft.backends.sqlite.guards import PinnedTime
from weft.backends.sqlite.read import reads as reading
from weft.backends.sqlite.read.steps import Following, neighbours
from weft.core.types import Viewer, WalkResult

THEN_NEIGHBOURS = 20


def walk_then(
    db: apsw.Connection, viewer: Viewer, moment: PinnedTime, seeds: Mapping[str, float], limit: int
) -> WalkResult:
    """A walk at another time: two steps through bounded neighbours."""
    following = Following(viewer=viewer, moment=moment, without=UNWALKED, limit=THEN_NEIGHBOURS)
    found = reading.nodes(db, viewer, moment, list(seeds))
    return bounded_walk(found, seeds, lambda held: neighbours(db, following, held), limit)
