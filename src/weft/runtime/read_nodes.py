"""Reads of nodes by id, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.core.slices import in_slices
from weft.core.types import MAX_IDS_PER_READ, NodeVersion, When
from weft.runtime.call_context import CallContext


def read_nodes(ctx: CallContext, when: When, ids: Sequence[str]) -> Iterator[NodeVersion]:
    """The existing and visible ones of these nodes, in the order of the ids."""
    for some in in_slices(ids, MAX_IDS_PER_READ):
        yield from ctx.store.nodes(ctx.viewer, when, some)
