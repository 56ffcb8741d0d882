"""What was read out of a memory goes with it: when it is forgotten, ends, says something else or is for others."""

from __future__ import annotations

from typing import Final

from weft.instants import MIN_INSTANT_US, to_iso
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.loom import Loom
from weft.types import NOW, Find

MAX_DERIVED: Final = 1_000
TAKEN_BACK: Final = "what was read out of it was taken back"


def take_back(loom: Loom, node_id: str, reason: str) -> tuple[Draft, ...]:
    """Drafts that take claims, preferences, causes and proposals of a memory out of sight, as if they never held.

    None where nothing was read out of it. Their ids begin with the memory's own.
    """
    found = loom.store.find(loom.viewer, NOW, Find(id_prefix=f"{node_id}:"), limit=MAX_DERIVED).nodes
    ids = tuple(node.id for node in found if node.kind != "Feedback")
    if not ids:
        return ()
    ended = graph.Ended(nodes=ids, at=to_iso(MIN_INSTANT_US), reason=reason)
    return (
        Draft(kind="graph.ended", payload=ended),
        Draft(kind="graph.deleted", payload=graph.Deleted(nodes=ids, reason=reason)),
    )
