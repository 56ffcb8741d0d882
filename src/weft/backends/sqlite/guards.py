"""Viewers and times as SQL. Every read of nodes or edges is built from these, so none can forget a guard.

The six layers: not deleted; scope; agent tag; the same on every node reached; account (each has its own file);
sensitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from weft.core.kinds import ERASED, STRUCTURAL_KINDS, UNSEARCHED_KINDS
from weft.core.types import Viewer


class Sql(Struct, frozen=True):
    """A condition and its parameters, in order."""

    text: str
    params: tuple[Any, ...] = ()

    def __and__(self, other: Sql) -> Sql:
        return Sql(f"{self.text} AND {other.text}", self.params + other.params)


TRUE = Sql("1")
FINISHED = Sql("v.tx NOT IN (SELECT key FROM tx WHERE long AND closed_pos IS NULL)")  # for reads without a time


def marks(values: Sequence[Any]) -> str:
    """Question marks for an IN list."""
    return ",".join("?" * len(values))


def projects_are(projects: tuple[str | None, ...] | None) -> Sql:
    """The visibility group belongs to one of these projects; None among them means no project."""
    if projects is None:
        return TRUE
    named = tuple(project for project in projects if project is not None)
    conditions = [f"project IN ({marks(named)})"] if named else []
    if None in projects:
        conditions.append("project IS NULL")
    return Sql(f"({' OR '.join(conditions) or '0'})", named)


def focuses_are(focuses: tuple[str | None, ...] | None) -> Sql:
    """The version belongs to one of these focus areas; None among them means no focus area."""
    if focuses is None:
        return TRUE
    named = tuple(focus for focus in focuses if focus is not None)
    conditions = [f"v.focus IN ({marks(named)})"] if named else []
    if None in focuses:
        conditions.append("v.focus IS NULL")
    return Sql(f"({' OR '.join(conditions) or '0'})", named)


def kinds_are(kinds: tuple[str, ...] | None) -> Sql:
    """The node is of one of these kinds; without any, of all searchable kinds."""
    if kinds is None:
        unsearched = tuple(sorted(UNSEARCHED_KINDS))
        return Sql(f"n.kind NOT IN ({marks(unsearched)})", unsearched)
    return Sql(f"n.kind IN ({marks(kinds)})", kinds)


def visibility_groups(viewer: Viewer, projects: tuple[str | None, ...] | None = None) -> Sql:
    """Selects the visibility groups whose nodes the viewer may find: layers 2, 3 and 6."""
    return _groups_where(viewer, _tagged(viewer) if viewer.tagged_only else TRUE) & projects_are(projects)


def _groups_where(viewer: Viewer, tag: Sql) -> Sql:
    scopes = tuple(sorted(viewer.scopes))
    condition = Sql(f"scope IN ({marks(scopes)})", scopes)
    if not viewer.sensitive:
        condition &= Sql("sensitive = 0")
    condition &= tag
    return Sql(f"SELECT id FROM ward WHERE {condition.text}", condition.params)


def _tagged(viewer: Viewer) -> Sql:
    if viewer.subscribes:
        return Sql("(agents = '[]' OR EXISTS (SELECT 1 FROM json_each(agents) WHERE value = ?))", (viewer.agent,))
    return Sql("EXISTS (SELECT 1 FROM json_each(agents) WHERE value = ?)", (viewer.agent,))


def findable(viewer: Viewer, projects: tuple[str | None, ...] | None = None, *, node: str = "n") -> Sql:
    """The node may be found by this viewer."""
    inside = visibility_groups(viewer, projects)
    return Sql(f"{node}.deleted_at IS NULL AND {node}.ward IN ({inside.text})", inside.params)


def was_findable(viewer: Viewer) -> Sql:
    """The node was erased, and this viewer could find it before."""
    inside = visibility_groups(viewer)
    return Sql(f"substr(n.id, 1, {len(ERASED)}) = '{ERASED}' AND n.ward IN ({inside.text})", inside.params)


def of_a_node(viewer: Viewer) -> Sql:
    """The text of vector x belongs to a node, of any time, that this viewer may find."""
    seen = findable(viewer) & FINISHED
    return Sql(
        "EXISTS (SELECT 1 FROM text t JOIN node_version v ON v.text = t.id JOIN node n ON n.key = v.node"
        f" WHERE t.hash = x.hash AND {seen.text})",
        seen.params,
    )


def reachable(viewer: Viewer, *, node: str = "n") -> Sql:
    """The node may be stepped on: findable, or untagged structure for an agent limited to its tags."""
    if not viewer.tagged_only:
        return findable(viewer, node=node)
    tagged = visibility_groups(viewer)
    untagged = _groups_where(viewer, Sql("agents = '[]'"))
    kinds = tuple(sorted(STRUCTURAL_KINDS))
    return Sql(
        f"{node}.deleted_at IS NULL AND ({node}.ward IN ({tagged.text})"
        f" OR ({node}.kind IN ({marks(kinds)}) AND {node}.ward IN ({untagged.text})))",
        tagged.params + kinds + untagged.params,
    )


def edge_open(viewer: Viewer) -> Sql:
    """The edge itself may be seen: tagged for the viewer's agent, or untagged."""
    tag = TRUE
    if viewer.tagged_only:
        tagged = _tagged(viewer)
        tag = Sql(f"(agents = '[]' OR {tagged.text})", tagged.params)
    inside = _groups_where(viewer, tag)
    return Sql(f"e.ward IN ({inside.text})", inside.params)


def visibility_group_sets(viewer: Viewer) -> tuple[Sql, Sql, Sql]:
    """Groups of nodes that may be found, of edges that may be seen, and of untagged structure to step on."""
    if not viewer.tagged_only:
        every = visibility_groups(viewer)
        return every, every, Sql("SELECT id FROM ward WHERE 0")
    untagged = _groups_where(viewer, Sql("agents = '[]'"))
    tagged = _tagged(viewer)
    return (
        visibility_groups(viewer),
        _groups_where(viewer, Sql(f"(agents = '[]' OR {tagged.text})", tagged.params)),
        untagged,
    )


class PinnedTime(NamedTuple):
    """A pinned `When`: a valid time, a position of the log, and the changes not closed by then."""

    valid_at: int
    pos: int
    unfinished: tuple[int, ...]


def known(moment: PinnedTime, *, version: str = "v") -> Sql:
    """Record time: the row was made and not retired, counting closed changes only."""
    v = version
    if not moment.unfinished:
        return Sql(f"{v}.born <= ? AND ({v}.retired_pos IS NULL OR {v}.retired_pos > ?)", (moment.pos, moment.pos))
    hidden = marks(moment.unfinished)
    return Sql(
        f"{v}.born <= ? AND {v}.tx NOT IN ({hidden})"
        f" AND ({v}.retired_pos IS NULL OR {v}.retired_pos > ? OR {v}.retired_tx IN ({hidden}))",
        (moment.pos, *moment.unfinished, moment.pos, *moment.unfinished),
    )


def began(times: tuple[int, int] | None, *, version: str = "v") -> Sql:
    """Valid time: the version began to hold at or after the first time, and before the second."""
    if times is None:
        return TRUE
    return Sql(f"{version}.valid_from >= ? AND {version}.valid_from < ?", times)


def holds(moment: PinnedTime, *, version: str = "v") -> Sql:
    """Valid time: the version holds at that time."""
    v = version
    return Sql(
        f"{v}.valid_from <= ? AND ({v}.valid_to IS NULL OR {v}.valid_to > ?)", (moment.valid_at, moment.valid_at)
    )
