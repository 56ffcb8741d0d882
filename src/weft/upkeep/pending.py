"""`pending_list` and `deliver_pending`: writes in the outbox, and their delivery to the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.append.outbox import Outbox, OutboxEntry
from weft.conversations.first_message import held_conversations, set_aside
from weft.core.clock import to_iso
from weft.core.errors import Misconfigured
from weft.core.types import SCOPES
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit
from weft.runtime.operation import Operation


class PendingList(Struct, frozen=True, kw_only=True):
    """Input of `pending_list`."""

    limit: Limit = 50


class PendingShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A write in the outbox, without its words. `reason` is why the store refused it for good."""

    entry: str
    request_id: str = ""
    ids: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    agent: str = ""
    session: str = ""
    since: str = ""
    problem: str = ""
    reason: str = ""


class PendingShownAll(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Waiting writes in order of delivery, and refused ones.

    `held` first messages of conversations wait for a second one: see the setting `conversations`.
    """

    waiting: tuple[PendingShown, ...]
    refused: tuple[PendingShown, ...] = ()
    held: int = 0
    notes: tuple[str, ...] = ()


def pending_list(ctx: CallContext, given: PendingList) -> PendingShownAll:
    """Lists the writes in this machine's outbox that wait for the store, and those that the store refused.

    They are this account's; callers other than the operator see their own only.
    """
    if ctx.outbox is None:
        return PendingShownAll(waiting=(), notes=("no outbox is configured: failed writes are not kept",))
    waiting, refused = stuck_writes(ctx)
    notes: tuple[str, ...] = ()
    if len(waiting) > given.limit or len(refused) > given.limit:
        notes += (f"{len(waiting)} writes wait and {len(refused)} were refused: raise --limit to see them all",)
    held = sum(1 for entry in held_conversations(ctx.outbox) if may_see(ctx, entry))
    if held:
        notes += (_held_line(held),)
    return PendingShownAll(
        waiting=_shown(waiting[: given.limit]), refused=_shown(refused[: given.limit]), held=held, notes=notes
    )


class DeliverPending(Struct, frozen=True, kw_only=True):
    """Input of `deliver_pending`."""

    refused: Annotated[bool, Meta(description="also retry writes that the store refused")] = False


class PendingDelivered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of the delivery."""

    delivered: int
    left: int
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def deliver_pending(ctx: CallContext, given: DeliverPending) -> PendingDelivered:
    """Delivers the writes in this machine's outbox, in order, each once and as its original writer.

    The next write does so too. Writes that the store refuses for good are set aside and listed by `weft pending-list`;
    --refused retries them.
    """
    if ctx.outbox is None:
        raise Misconfigured("there is no outbox", hint="set `outbox` to a directory; a store in memory has none")
    if given.refused:
        ctx.operator("retry refused writes")
        ctx.outbox.retry()
    done = ctx.outbox.deliver(ctx.store, clock=ctx.clock, embedding=ctx.embedding, privacy=ctx.privacy)
    notes: tuple[str, ...] = ()
    if done.problem is not None:
        notes += (f"the store accepted no more writes: {done.problem.message}",)
    if done.refused:
        notes += (f"{len(done.refused)} writes were refused and set aside: `weft pending-list` shows why",)
    return PendingDelivered(delivered=done.delivered, left=done.left, refused=done.refused, notes=notes)


def check_outbox(outbox: Outbox | None) -> tuple[bool, str, str]:
    """The self-test of the outbox: whether it is in order, a line of details, and what to do."""
    if outbox is None:
        return True, "no outbox: failed writes are not kept", ""
    waiting, refused = list(outbox.entries()), list(outbox.refused())
    held = sum(1 for _ in held_conversations(outbox))
    if aside := list(set_aside(outbox)):
        told = f"{len(aside)} first {'message' if len(aside) == 1 else 'messages'} of conversations could not be stored"
        return False, f"{told}: {aside[0]}", "check the file, and remove it if you do not need it"
    if not waiting and not refused:
        return True, _held_line(held) if held else "no writes are waiting", ""
    since = next((to_iso(entry.waiting.since) for entry in waiting if entry.waiting is not None), "")
    line = f"{len(waiting)} writes wait" + (f", the first since {since}" if since else "")
    if not refused:
        return True, line, "`weft deliver-pending` delivers them; so does the next write"
    return False, f"{line}; {len(refused)} were refused", "`weft pending-list` shows why"


def _held_line(held: int) -> str:
    what = "message waits" if held == 1 else "messages wait"
    return f"{held} first {what} for a second one of the same conversation (setting conversations: lazy)"


def stuck_writes(ctx: CallContext) -> tuple[list[OutboxEntry], list[OutboxEntry]]:
    """Waiting and refused writes that the caller may know of."""
    if ctx.outbox is None:
        return [], []
    waiting = [entry for entry in ctx.outbox.entries() if may_see(ctx, entry)]
    return waiting, [entry for entry in ctx.outbox.refused() if may_see(ctx, entry)]


def may_see(ctx: CallContext, entry: OutboxEntry) -> bool:
    """Whether the caller may know of a write: the operator of all, others of their own."""
    viewer = ctx.viewer
    if viewer.audience == "internal" and viewer.scopes >= set(SCOPES) and ctx.writer.actor.role == "operator":
        return True
    return entry.waiting is not None and entry.waiting.agent == ctx.writer.actor.agent


def _shown(entries: Iterable[OutboxEntry]) -> tuple[PendingShown, ...]:
    return tuple(show_write(entry) for entry in entries)


def show_write(entry: OutboxEntry) -> PendingShown:
    """An entry of the outbox, without its words."""
    waiting = entry.waiting
    if waiting is None:
        return PendingShown(entry=entry.name, problem="the file is damaged", reason=entry.reason)
    return PendingShown(
        entry=entry.name,
        request_id=waiting.request_id,
        ids=tuple(each for draft in waiting.drafts for each in _ids(draft.payload)),
        kinds=tuple(dict.fromkeys(draft.kind for draft in waiting.drafts)),
        agent=waiting.agent,
        session=waiting.session,
        since=to_iso(waiting.since),
        problem=waiting.problem,
        reason=entry.reason,
    )


def _ids(payload: Any) -> tuple[str, ...]:
    """The nodes that a payload names."""
    if not isinstance(payload, dict):
        return ()
    if isinstance(payload.get("id"), str):
        return (payload["id"],)
    nodes = payload.get("nodes")
    listed = nodes if isinstance(nodes, list) else []
    named = (each.get("id") if isinstance(each, dict) else each for each in listed)
    return tuple(each for each in named if isinstance(each, str))


OPERATIONS = (
    Operation(
        name="pending_list",
        summary="list the writes in the outbox",
        input=PendingList,
        output=PendingShownAll,
        effect="read",
        toolset="memory",
        run=pending_list,
    ),
    Operation(
        name="deliver_pending",
        summary="deliver the writes in the outbox, in order, each once",
        input=DeliverPending,
        output=PendingDelivered,
        effect="write",
        toolset="memory",
        run=deliver_pending,
    ),
)
