"""`get_statistics`: counts of nodes by view and kind, and of everything that waits for a decision."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from weft.core.errors import StoreError
from weft.core.kinds import VIEWS
from weft.core.types import NOW, Find
from weft.fleet.alerts import active_alerts
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.upkeep.store import counted

MAX_COUNTED: Final = 1_000  # upper bound of a count


class StatisticsInput(Struct, frozen=True, kw_only=True):
    """Input of `get_statistics`."""


class Statistics(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counts of what you may see. A kind that belongs to several views counts in each.

    `open_proposals` and `active_alerts` wait for a decision, `waiting_writes` for the store.
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


def get_statistics(ctx: CallContext, given: StatisticsInput) -> Statistics:
    """Counts nodes by view and kind, and everything that waits for a decision. `weft stats` describes the store."""
    store = counted(ctx)
    kinds = {each.kind: each.nodes for each in ctx.store.indexes(ctx.viewer)}
    named = frozenset[str]().union(*VIEWS.values())
    views = {view: sum(kinds.get(kind, 0) for kind in members) for view, members in VIEWS.items()}
    views["semantic"] += sum(count for kind, count in kinds.items() if kind not in named)
    pending = ctx.store.find(
        ctx.viewer, NOW, Find(kinds=("Proposal",), props={"status": "pending"}), limit=MAX_COUNTED
    ).nodes
    waiting, notes = _waiting(ctx)
    return Statistics(
        nodes=store.nodes,
        edges=store.edges,
        events=store.events,
        sessions=store.sessions,
        views=views,
        kinds=dict(sorted(kinds.items(), key=lambda each: (-each[1], each[0]))),
        open_proposals=len(pending),
        active_alerts=len(active_alerts(ctx, None)),
        waiting_writes=waiting,
        backend=store.backend,
        notes=notes,
    )


def _waiting(ctx: CallContext) -> tuple[int, tuple[str, ...]]:
    """The number of writes in the outbox, and a note if it cannot be read."""
    if ctx.outbox is None:
        return 0, ()
    try:
        return sum(1 for _ in ctx.outbox.entries()), ()
    except StoreError as problem:
        return 0, (f"the outbox could not be read: {problem.message}",)


OPERATIONS = (
    Operation(
        name="get_statistics",
        summary="count nodes by view and kind, and everything that waits for a decision",
        input=StatisticsInput,
        output=Statistics,
        effect="read",
        toolset="admin",
        run=get_statistics,
        priorities={"kinds": "medium"},
    ),
)
