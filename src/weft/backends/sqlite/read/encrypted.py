"""Encrypted texts: their versions and their number. A partial index finds them."""

from __future__ import annotations

from typing import Final

import apsw

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime
from weft.backends.sqlite.query import first, one
from weft.backends.sqlite.schema import IS_ENCRYPTED
from weft.core.types import NodeVersion, Viewer

IS_ENCRYPTED_T: Final = IS_ENCRYPTED.replace("substr(", "substr(t.")


def any_encrypted(db: apsw.Connection) -> bool:
    """Whether there can be any: without sensitive content nothing is encrypted."""
    return first(db, "SELECT 1 FROM ward WHERE sensitive = 1 LIMIT 1") is not None


def count(db: apsw.Connection) -> int:
    """The number of encrypted texts."""
    return int(one(db, f"SELECT count(*) FROM text t WHERE {IS_ENCRYPTED_T}")[0]) if any_encrypted(db) else 0


def encrypted(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, limit: int) -> tuple[NodeVersion, ...]:
    """The encrypted versions that the viewer may see at that time, newest first."""
    if not viewer.sensitive or not any_encrypted(db):
        return ()
    seen = guards.findable(viewer) & guards.known(moment) & guards.holds(moment)
    query = f"""SELECT v.row FROM text t CROSS JOIN node_version v ON v.text = t.id CROSS JOIN node n ON n.key = v.node
        WHERE {IS_ENCRYPTED_T} AND {seen.text} ORDER BY v.row DESC LIMIT ?"""
    found = [row for (row,) in db.execute(query, (*seen.params, limit))]
    loaded = rows.load_nodes(db, found)
    return tuple(loaded[row] for row in found)
