"""Texts that are sealed: which versions hold them, and how many there are. An index of its own tells them apart."""

from __future__ import annotations

from typing import Final

import apsw

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import Moment
from weft.backends.sqlite.query import first, one
from weft.backends.sqlite.schema import SEALED
from weft.types import NodeVersion, Viewer

SEALED_T: Final = SEALED.replace("substr(", "substr(t.")


def any_sealed(db: apsw.Connection) -> bool:
    """Whether there can be any: where nothing is sensitive, nothing is sealed."""
    return first(db, "SELECT 1 FROM ward WHERE sensitive = 1 LIMIT 1") is not None


def count(db: apsw.Connection) -> int:
    """How many texts are sealed."""
    return int(one(db, f"SELECT count(*) FROM text t WHERE {SEALED_T}")[0]) if any_sealed(db) else 0


def sealed(db: apsw.Connection, viewer: Viewer, moment: Moment, limit: int) -> tuple[NodeVersion, ...]:
    """The versions whose words are sealed and that the viewer may see at that moment, newest first."""
    if not viewer.sensitive or not any_sealed(db):
        return ()
    seen = guards.findable(viewer) & guards.known(moment) & guards.holds(moment)
    query = f"""SELECT v.row FROM text t CROSS JOIN node_version v ON v.text = t.id CROSS JOIN node n ON n.key = v.node
        WHERE {SEALED_T} AND {seen.text} ORDER BY v.row DESC LIMIT ?"""
    found = [row for (row,) in db.execute(query, (*seen.params, limit))]
    loaded = rows.load_nodes(db, found)
    return tuple(loaded[row] for row in found)
