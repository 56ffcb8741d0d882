"""Transactions, and changes since a position."""

from __future__ import annotations

import apsw

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime, Sql, marks
from weft.backends.sqlite.query import every, first
from weft.core.types import Diff, Tx, Viewer

MIN_SHA_CHARACTERS = 7


def transactions(db: apsw.Connection, limit: int, git_commit: str | None) -> tuple[Tx, ...]:
    """Latest first; of one git commit, by its hash or a long enough prefix."""
    which = guards.TRUE
    if git_commit is not None:
        if len(git_commit) < MIN_SHA_CHARACTERS:
            return ()
        which = Sql("git_commit >= ? AND git_commit < ?", (git_commit, git_commit + "g"))
    query = f"{rows.select_tx()} WHERE {which.text} ORDER BY opened_pos DESC LIMIT ?"
    return tuple(map(rows.tx_of, db.execute(query, (*which.params, limit))))


def diff(
    db: apsw.Connection,
    viewer: Viewer,
    now: PinnedTime,
    since_pos: int,
    agent: str | None,
    projects: tuple[str | None, ...] | None,
    limit: int,
) -> Diff:
    """What holds now as known at `since_pos`, against as known now: only rows made or retired since are read."""
    since_pos = _whole_commits(db, since_pos)
    unfinished = db.execute("SELECT key FROM tx WHERE long AND (closed_pos IS NULL OR closed_pos > ?)", (since_pos,))
    then = PinnedTime(now.valid_at, since_pos, tuple(key for (key,) in unfinished))
    touched = _touched(then, now, agent)
    seen = guards.findable(viewer, projects)
    sides = Sql(*_sides("node_version", "node", "n.key", then, now))
    nodes = every(
        db,
        f"""WITH t AS (SELECT DISTINCT v.node AS key FROM node_version v WHERE {touched.text})
            SELECT n.kind, n.id, {sides.text} FROM t JOIN node n ON n.key = t.key WHERE {seen.text} ORDER BY 1, 2""",
        (*touched.params, *sides.params, *seen.params),
    )
    ends = guards.findable(viewer, projects, node="a") & guards.findable(viewer, node="b") & guards.edge_open(viewer)
    sides = Sql(*_sides("edge_version", "edge", "e.key", then, now))
    edges = every(
        db,
        f"""WITH t AS (SELECT DISTINCT v.edge AS key FROM edge_version v WHERE {touched.text})
            SELECT a.id, e.rel, b.id, {sides.text} FROM t JOIN edge e ON e.key = t.key
            JOIN node a ON a.key = e.src JOIN node b ON b.key = e.dst WHERE {ends.text} ORDER BY 1, 2, 3""",
        (*touched.params, *sides.params, *ends.params),
    )
    added = tuple((kind, node) for kind, node, before, after in nodes if not before and after)
    removed = tuple((kind, node) for kind, node, before, after in nodes if before and not after)
    modified = tuple((kind, node) for kind, node, before, after in nodes if before and after)
    edges_added = tuple((a, rel, b) for a, rel, b, before, after in edges if not before and after)
    edges_removed = tuple((a, rel, b) for a, rel, b, before, after in edges if before and not after)
    lists = (added, removed, modified, edges_added, edges_removed)
    return Diff(
        added=added[:limit],
        removed=removed[:limit],
        modified=modified[:limit],
        edges_added=edges_added[:limit],
        edges_removed=edges_removed[:limit],
        truncated=any(len(each) > limit for each in lists),
    )


def _whole_commits(db: apsw.Connection, pos: int) -> int:
    """The end of the last complete commit at this position."""
    query = """SELECT first_pos + count - 1 FROM commits WHERE first_pos <= ? AND first_pos + count - 1 <= ?
        ORDER BY first_pos DESC LIMIT 1"""
    row = first(db, query, (pos, pos))
    return 0 if row is None else row[0]


def _touched(then: PinnedTime, now: PinnedTime, agent: str | None) -> Sql:
    """Rows made or retired by a change that is closed now and was not then."""
    made, retired = (_landed(pos, tx, then, now) for pos, tx in (("v.born", "v.tx"), ("v.retired_pos", "v.retired_tx")))
    if agent is not None:
        made &= Sql("v.tx IN (SELECT key FROM tx WHERE agent = ?)", (agent,))
        retired &= Sql("v.retired_tx IN (SELECT key FROM tx WHERE agent = ?)", (agent,))
    return Sql(f"({made.text}) OR ({retired.text})", made.params + retired.params)


def _landed(pos: str, tx: str, then: PinnedTime, now: PinnedTime) -> Sql:
    closed = tuple(key for key in then.unfinished if key not in now.unfinished)
    since = Sql(f"{pos} > ?", (then.pos,))
    if closed:  # opened by then, closed only now
        since = Sql(f"({pos} > ? OR {tx} IN ({marks(closed)}))", (then.pos, *closed))
    return since & Sql(f"{tx} NOT IN ({marks(now.unfinished)})", now.unfinished) if now.unfinished else since


def _sides(table: str, column: str, key: str, then: PinnedTime, now: PinnedTime) -> tuple[str, tuple[object, ...]]:
    """Two columns: whether it held as known then, whether it holds as known now."""
    conditions = [guards.known(moment) & guards.holds(moment) for moment in (then, now)]
    text = ", ".join(
        f"EXISTS (SELECT 1 FROM {table} v WHERE v.{column} = {key} AND {each.text})" for each in conditions
    )
    return text, conditions[0].params + conditions[1].params
