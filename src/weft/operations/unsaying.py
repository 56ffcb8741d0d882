"""Relations that only an erased session told of: they end before their names go, so that nobody follows them on."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.operations.committing import commit
from weft.projection.unsaid import Unsaid
from weft.types import EdgeVersion, Viewer

AT_ONCE: Final = 500


def end_relations(loom: Loom, viewer: Viewer, unsaid: Unsaid) -> tuple[str, ...]:
    """Ends those that hold today; says so. Called again, it ends nothing more."""
    if not unsaid.edges:
        return ()
    keys = {
        (row.src, row.rel, row.dst)
        for row in loom.store.graph_rows(viewer)
        if isinstance(row, EdgeVersion) and row.retired_at is None and row.interval.valid_to is None
    }
    standing = sorted(keys & unsaid.edges)
    own = replace(loom, viewer=viewer)
    for start in range(0, len(standing), AT_ONCE):
        names = tuple(graph.EdgeName(src=src, rel=rel, dst=dst) for src, rel, dst in standing[start : start + AT_ONCE])
        commit(own, [Draft(kind="graph.ended", payload=graph.Ended(edges=names))])
    return (f"{len(standing)} relations that it alone told of have ended",) if standing else ()
