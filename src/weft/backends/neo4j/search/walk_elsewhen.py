"""Walks at another time: a few bounded steps on the server, since no graph in memory covers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.backends.bounded_walk import UNWALKED, bounded_walk
from weft.backends.neo4j.cypher_guards import BothClocks
from weft.backends.neo4j.read.edge_queries import EdgesFollowed, neighbours
from weft.backends.neo4j.read.node_queries import nodes
from weft.backends.neo4j.read.reading import Reading
from weft.core.types import WalkResult

THEN_NEIGHBOURS: Final = 20


def walk_then(reading: Reading, moment: BothClocks, seeds: Mapping[str, float], limit: int) -> WalkResult:
    """A walk at another time: two steps through bounded neighbours."""
    following = EdgesFollowed(moment=moment, without=UNWALKED, limit=THEN_NEIGHBOURS)
    found = nodes(reading, moment, list(seeds))
    return bounded_walk(found, seeds, lambda held: neighbours(reading, following, held), limit)
