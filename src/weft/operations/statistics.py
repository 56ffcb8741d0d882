"""How much there is, view by view, and what waits for somebody."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from weft.errors import StoreError
from weft.kinds import VIEWS
from weft.loom import Loom
from weft.operations.alerts import active_alerts
from weft.operations.registry import Operation
from weft.types import NOW, Find

MAX_COUNTED: Final = 1_000  # of what waits: beyond it the count is "at least"


class StatisticsInput(Struct, frozen=True, kw_only=True):
    """Input of `get_statistics`."""


class Statistics(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of what you may see. A kind of several views counts in each of them.

    `open_proposals` and `active_alerts` wait for somebody, as do `waiting_writes` on this machine.
    """

    nodes: int
    edges: int
    events: int
    sessions: int
    views: dict[str, int]
    kinds: dict[str, int]
    open_proposals: int
    active_alerts: int
    waiting_writes: int
    backend: str
    notes: tuple[str, ...] = ()


def get_statistics(loom: Loom, given: StatisticsInput) -> Statistics:
    """Counts what is there by view and by kind, and what waits for a decision. `weft stats` tells of the store."""
    store = loom.store.stats(loom.viewer)
    kinds = {each.kind: each.nodes for each in loom.store.indexes(loom.viewer)}
    named = frozenset[str]().union(*VIEWS.values())
    views = {view: sum(kinds.get(kind, 0) for kind in members) for view, members in VIEWS.items()}
    views["semantic"] += sum(count for kind, count in kinds.items() if kind not in named)
    pending = loom.store.find(
        loom.viewer, NOW, Find(kinds=("Proposal",), props={"status": "pending"}), limit=MAX_COUNTED
    ).nodes
    waiting, notes = _waiting(loom)
    return Statistics(
        nodes=store.nodes,
        edges=store.edges,
        events=store.events,
        sessions=store.sessions,
        views=views,
        kinds=dict(sorted(kinds.items(), key=lambda each: (-each[1], each[0]))),
        open_proposals=len(pending),
        active_alerts=len(active_alerts(loom, None)),
        waiting_writes=waiting,
        backend=store.backend,
        notes=notes,
    )


def _waiting(loom: Loom) -> tuple[int, tuple[str, ...]]:
    """How many writes wait here, and a note where that cannot be told."""
    if loom.outbox is None:
        return 0, ()
    try:
        return sum(1 for _ in loom.outbox.entries()), ()
    except StoreError as problem:
        return 0, (f"what waits could not be counted: {problem.message}",)


OPERATIONS = (
    Operation(
        name="get_statistics",
        summary="count what is there by view and kind, and what waits for a decision",
        input=StatisticsInput,
        output=Statistics,
        effect="read",
        toolset="admin",
        run=get_statistics,
        priorities={"kinds": "medium"},
    ),
)
