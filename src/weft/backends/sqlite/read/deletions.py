"""Reads that include deleted nodes: for deleting, restoring, and listing deletions."""

from __future__ import annotations

import apsw
import orjson

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import TRUE, Sql, marks
from weft.backends.sqlite.query import every
from weft.core.kinds import ERASED
from weft.core.queries import Deletion, NodeFilter
from weft.core.types import NodeVersion, Viewer

_KEPT = Sql("n.id NOT GLOB ?", (f"{ERASED}*",))


def last_versions(db: apsw.Connection, viewer: Viewer, which: NodeFilter, limit: int) -> tuple[NodeVersion, ...]:
    """The newest row of each node that fits and that the viewer's rights admit, by id."""
    inside = guards.visibility_groups(viewer, which.projects)
    wanted = Sql(f"n.ward IN ({inside.text})", inside.params) & _KEPT & guards.FINISHED & _fits(which)
    query = f"""{rows.select_nodes()} WHERE v.row IN (
        SELECT max(v.row) FROM node n JOIN node_version v ON v.node = n.key WHERE {wanted.text}
        GROUP BY n.id ORDER BY n.id LIMIT ?) ORDER BY n.id"""
    return tuple(map(rows.node_of, db.execute(query, (*wanted.params, limit))))


def _fits(which: NodeFilter) -> Sql:
    wanted = Sql("n.id > ?", (which.after,)) if which.after else TRUE
    if which.ids is not None:
        wanted &= Sql("n.id IN (SELECT value FROM json_each(?))", (orjson.dumps(which.ids).decode(),))
    if which.id_prefix is not None:
        wanted &= Sql("n.id >= ? AND n.id < ?", (which.id_prefix, which.id_prefix + "\U0010ffff"))
    if which.kinds is not None:
        wanted &= Sql(f"n.kind IN ({marks(which.kinds)})", which.kinds)
    if which.deleted is not None:
        wanted &= Sql(f"n.deleted_at IS {'NOT ' if which.deleted else ''}NULL")
    if which.deleted_at is not None:
        wanted &= Sql("n.deleted_at = ?", (which.deleted_at,))
    return wanted


def deletions(db: apsw.Connection, viewer: Viewer, before: int | None, limit: int) -> tuple[Deletion, ...]:
    """Deletions by commit, latest first."""
    inside = guards.visibility_groups(viewer)
    wanted = Sql(f"n.deleted_at IS NOT NULL AND n.ward IN ({inside.text})", inside.params) & _KEPT
    if before is not None:
        wanted &= Sql("n.deleted_at < ?", (before,))
    query = f"""SELECT n.deleted_at, count(*) FROM node n WHERE {wanted.text}
        GROUP BY n.deleted_at ORDER BY n.deleted_at DESC LIMIT ?"""
    return tuple(Deletion(at=at, nodes=count) for at, count in every(db, query, (*wanted.params, limit)))
