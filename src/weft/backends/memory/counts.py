"""Counts of what a viewer sees."""

from __future__ import annotations

from collections import Counter

from weft.backends.memory.visible import GuardedAccount, ReadTime
from weft.core.kinds import views_of
from weft.core.types import Census, KindStat, NodeVersion, StoreStats


def stats(sight: GuardedAccount, now: ReadTime) -> StoreStats:
    """Current nodes and edges; versions, texts and events of all times."""
    nodes = list(sight.nodes_at(now))
    ids = {row.id for row in nodes}
    edges = [edge for edge in sight.edges_at(now) if {edge.src, edge.dst} <= ids]
    versions = [row for row in sight.graph.nodes.values() if sight.sees(row) and sight.graph.is_finished(row)]
    events = [event for event in sight.account.log if sight.sees_event(event)]
    return StoreStats(
        nodes=len(nodes),
        edges=len(edges),
        node_versions=len(versions),
        events=len(events),
        sessions=len({event.session for event in events}),
        texts=len({row.content_hash for row in versions}),
        bytes_on_disk=0,
        backend="memory",
        schema_version=0,
    )


def census(sight: GuardedAccount, now: ReadTime, projects: tuple[str | None, ...]) -> Census:
    """Nodes by kind and edges by relation, in some projects."""
    there = {row.id: row for row in sight.nodes_at(now)}
    mine = {row.id for row in there.values() if row.guard.project in projects}
    edges = Counter(edge.rel for edge in sight.edges_at(now) if edge.src in mine and edge.dst in there)
    return Census(kinds=dict(Counter(there[each].kind for each in mine)), relations=dict(edges))


def kinds(sight: GuardedAccount, now: ReadTime) -> tuple[KindStat, ...]:
    """The current kinds, with their nodes and properties."""
    by_kind: dict[str, list[NodeVersion]] = {}
    for row in sight.nodes_at(now):
        by_kind.setdefault(row.kind, []).append(row)
    return tuple(
        KindStat(
            kind=kind,
            views=views_of(kind),
            nodes=len(rows),
            props=tuple(sorted({key for row in rows for key in row.props})),
        )
        for kind, rows in sorted(by_kind.items())
    )
