"""Writes that wait for the store: which, and delivering them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.errors import Misconfigured
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.fields import Limit
from weft.operations.holding import held_conversations, set_aside
from weft.operations.registry import Operation
from weft.outbox import Entry, Outbox
from weft.types import SCOPES


class PendingList(Struct, frozen=True, kw_only=True):
    """Input of `pending_list`."""

    limit: Limit = 50


class PendingShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A write that waits, without its words. `reason` is why the store refused it for good."""

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
    """What waits, in the order in which it will be delivered, and what the store refused.

    `held` first messages of conversations wait for a second: see the setting `conversations`.
    """

    waiting: tuple[PendingShown, ...]
    refused: tuple[PendingShown, ...] = ()
    held: int = 0
    notes: tuple[str, ...] = ()


def pending_list(loom: Loom, given: PendingList) -> PendingShownAll:
    """Lists the writes that wait on this machine for the store, and those that it refused when they were delivered.

    They are this account's; who is not an operator sees its own only.
    """
    if loom.outbox is None:
        return PendingShownAll(waiting=(), notes=("no outbox is configured: a write that fails is not kept",))
    waiting, refused = stuck(loom)
    notes: tuple[str, ...] = ()
    if len(waiting) > given.limit or len(refused) > given.limit:
        notes += (f"{len(waiting)} wait and {len(refused)} were refused: raise --limit to see them all",)
    held = sum(1 for entry in held_conversations(loom.outbox) if may_see(loom, entry))
    if held:
        notes += (_held_line(held),)
    elif not waiting and not refused:
        notes += ("nothing waits",)
    return PendingShownAll(
        waiting=_shown(waiting[: given.limit]), refused=_shown(refused[: given.limit]), held=held, notes=notes
    )


class DeliverPending(Struct, frozen=True, kw_only=True):
    """Input of `deliver_pending`."""

    refused: Annotated[bool, Meta(description="try those again that the store refused")] = False


class PendingDelivered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the writes that waited."""

    delivered: int
    left: int
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def deliver_pending(loom: Loom, given: DeliverPending) -> PendingDelivered:
    """Delivers the writes that wait on this machine, in order, each once and as whoever wrote it.

    The next write does so too. What the store refuses for good is kept aside and listed by `weft pending-list`; with
    --refused it is tried again.
    """
    if loom.outbox is None:
        raise Misconfigured("there is no outbox", hint="set `outbox` to a directory; a store in memory has none")
    if given.refused:
        loom.operator("try writes again that the store refused")
        loom.outbox.retry()
    done = loom.outbox.deliver(loom.store, clock=loom.clock, embedding=loom.embedding, screen=loom.screen)
    notes: tuple[str, ...] = ()
    if done.problem is not None:
        notes += (f"the store took no more: {done.problem.message}",)
    if done.refused:
        notes += (f"{len(done.refused)} were refused and are kept aside: `weft pending-list` says why",)
    return PendingDelivered(delivered=done.delivered, left=done.left, refused=done.refused, notes=notes)


def waiting_line(outbox: Outbox | None) -> tuple[bool, str, str]:
    """Whether all is well with what waits, in a line, and what to do if not: for the self-test."""
    if outbox is None:
        return True, "none: a write that fails is not kept", ""
    waiting, refused = list(outbox.entries()), list(outbox.refused())
    held = sum(1 for _ in held_conversations(outbox))
    if aside := list(set_aside(outbox)):
        told = f"{len(aside)} first {'message' if len(aside) == 1 else 'messages'} of conversations could not be kept"
        return False, f"{told}: {aside[0]}", "look at the file, and remove it when nothing of it is wanted"
    if not waiting and not refused:
        return True, _held_line(held) if held else "no write waits", ""
    since = next((to_iso(entry.waiting.since) for entry in waiting if entry.waiting is not None), "")
    line = f"{len(waiting)} writes wait" + (f", the first since {since}" if since else "")
    if not refused:
        return True, line, "`weft deliver-pending` delivers them; so does the next write"
    return False, f"{line}; {len(refused)} were refused for good", "`weft pending-list` says why"


def _held_line(held: int) -> str:
    what = "message waits" if held == 1 else "messages wait"
    return f"{held} first {what} for a second of the same conversation (policy lazy)"


def stuck(loom: Loom) -> tuple[list[Entry], list[Entry]]:
    """The writes that wait and those that the store refused, as far as the caller may know of them."""
    if loom.outbox is None:
        return [], []
    waiting = [entry for entry in loom.outbox.entries() if may_see(loom, entry)]
    return waiting, [entry for entry in loom.outbox.refused() if may_see(loom, entry)]


def may_see(loom: Loom, entry: Entry) -> bool:
    """Whether the caller may know of a write: the operator of every one, others of their own."""
    viewer = loom.viewer
    if viewer.audience == "internal" and viewer.scopes >= set(SCOPES) and loom.writer.actor.role == "operator":
        return True
    return entry.waiting is not None and entry.waiting.agent == loom.writer.actor.agent


def _shown(entries: Iterable[Entry]) -> tuple[PendingShown, ...]:
    return tuple(show_write(entry) for entry in entries)


def show_write(entry: Entry) -> PendingShown:
    """A write that is stuck, without its words."""
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
    """The nodes that a payload is about, as far as it names them."""
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
        summary="list the writes that wait for the store",
        input=PendingList,
        output=PendingShownAll,
        effect="read",
        toolset="memory",
        run=pending_list,
    ),
    Operation(
        name="deliver_pending",
        summary="deliver the writes that wait for the store, in order, once",
        input=DeliverPending,
        output=PendingDelivered,
        effect="write",
        toolset="memory",
        run=deliver_pending,
    ),
)
