"""Reads that include deleted nodes: for deleting, restoring, and listing deletions."""

from __future__ import annotations

from collections import Counter

from weft.backends.memory.visible import GuardedAccount
from weft.core.kinds import ERASED
from weft.core.queries import Deletion, NodeFilter
from weft.core.types import Identity, NodeVersion


def last_versions(sight: GuardedAccount, which: NodeFilter, limit: int) -> tuple[NodeVersion, ...]:
    """The newest row of each node that fits and that the viewer's rights admit, by id."""
    graph = sight.graph
    ids = None if which.ids is None else frozenset(which.ids)
    newest: dict[str, NodeVersion] = {}
    for row in graph.nodes.values():
        if ids is not None and row.id not in ids:
            continue
        identity = graph.identities[row.id]
        if _kept(sight, identity) and _fits(which, identity) and graph.is_finished(row):
            newest[row.id] = row
    return tuple(graph.today(newest[each]) for each in sorted(newest, key=_by_bytes)[:limit])


def _by_bytes(node_id: str) -> bytes:
    """The order of text in SQLite."""
    return node_id.encode()


def _kept(sight: GuardedAccount, identity: Identity) -> bool:
    return sight.viewer.admits(identity.guard) and not identity.id.startswith(ERASED)


def _fits(which: NodeFilter, identity: Identity) -> bool:
    return (
        _by_bytes(identity.id) > _by_bytes(which.after)
        and (which.id_prefix is None or identity.id.startswith(which.id_prefix))
        and (which.kinds is None or identity.kind in which.kinds)
        and (which.projects is None or identity.guard.project in which.projects)
        and (which.deleted is None or which.deleted == (identity.deleted_at is not None))
        and (which.deleted_at is None or which.deleted_at == identity.deleted_at)
    )


def deletions(sight: GuardedAccount, before: int | None, limit: int) -> tuple[Deletion, ...]:
    """Deletions by commit, latest first."""
    counts: Counter[int] = Counter(
        identity.deleted_at
        for identity in sight.graph.identities.values()
        if identity.deleted_at is not None
        and _kept(sight, identity)
        and (before is None or identity.deleted_at < before)
    )
    return tuple(Deletion(at=at, nodes=counts[at]) for at in sorted(counts, reverse=True)[:limit])
