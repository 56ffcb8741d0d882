"""First messages held back by the policy `lazy`, which keeps a conversation from its second message on.

Each is a private file next to the outbox, in the same format, so that erasure covers it. A message released but not yet
removed is recognised by its request id.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.append.outbox import FAILED, Outbox, OutboxEntry
from weft.append.outbox_entry import draft_of
from weft.conversations.turns import ConversationState, Turns, about, append_turns, log_session, message_id, recorded
from weft.core.errors import Forbidden, Invalid, StoreError, WeftError
from weft.core.types import Guard
from weft.log.draft import Draft
from weft.log.kinds.conversation import Recorded
from weft.runtime.call_context import CallContext
from weft.runtime.settings.load import Conversations

PLACE: Final = "held"
MAX_HELD: Final = 10_000  # conversations; beyond, first messages are recorded at once
WAITS: Final = StoreError("it is the first message of its conversation and is held until the second")
HELD: Final = (
    "policy lazy: the first message of a conversation is held and recorded with the second;"
    " `weft pending-list` counts held messages"
)
NOWHERE: Final = "policy lazy: this store has no place for held messages, so it was recorded at once"
TOO_MANY: Final = f"policy lazy: {MAX_HELD:,} messages are held already, so this one was recorded at once"


def waiting_first(ctx: CallContext, conversation: str) -> tuple[OutboxEntry, ...]:
    """The held messages of a conversation: none or one; briefly several if two arrived at once."""
    place = _place(ctx, conversation)
    return () if place is None or not place.directory.is_dir() else tuple(place.entries())


def hold(ctx: CallContext, conversation: str, draft: Draft, request_id: str | None) -> str:
    """Holds a first message back; durable on return. Returns a note if there is no room and it was not held.

    Raises what `Outbox.put` raises.
    """
    place = _place(ctx, conversation)
    if place is None:
        return NOWHERE
    if not place.directory.is_dir() and sum(1 for _ in _places(ctx.outbox)) >= MAX_HELD:
        return TOO_MANY
    place.put(
        [draft],
        writer=replace(ctx.writer, session=log_session(conversation)),
        viewer=ctx.viewer,
        request_id=request_id,
        at=ctx.clock.now_us(),
        problem=WAITS,
        privacy=ctx.privacy,
    )
    return ""


def waiting_words(ctx: CallContext, conversation: str) -> set[str]:
    """The texts of a conversation's held messages."""
    found = (_first_of(entry) for entry in waiting_first(ctx, conversation))
    return {said.text for one in found if one is not None for said in one[1].messages}


class ReleasedMessages(Struct, frozen=True, kw_only=True):
    """The number of held messages that were recorded, and notes on those that could not be."""

    kept: int = 0
    notes: tuple[str, ...] = ()


def release(ctx: CallContext, conversation: str) -> ReleasedMessages:
    """Records the held messages of a conversation, each once, with their original author and time.

    A damaged or refused one is set aside with the reason, without blocking others: see `set_aside`.
    """
    kept = 0
    notes: tuple[str, ...] = ()
    for entry in waiting_first(ctx, conversation):
        first = _first_of(entry)
        if entry.waiting is None or first is None:
            notes += (_aside(ctx, conversation, entry, Invalid("its file is damaged")),)
            continue
        own = replace(ctx, writer=entry.waiting.writer, viewer=entry.waiting.viewer, task=None, approval=None)
        plan = _Plan(own, conversation, *first)
        try:
            appended = append_turns(own, conversation, plan, request_id=entry.waiting.request_id)
        except (Invalid, Forbidden) as problem:
            notes += (_aside(ctx, conversation, entry, problem),)
            continue
        kept += appended is not None
        _remove(ctx, conversation, entry.name)
    return ReleasedMessages(kept=kept, notes=notes)


def _first_of(entry: OutboxEntry) -> tuple[Draft, Recorded] | None:
    """The message held in a file; None if it is damaged."""
    if entry.waiting is None or not entry.waiting.drafts:
        return None
    try:
        draft = draft_of(entry.waiting.drafts[0])
    except WeftError:
        return None
    return (draft, draft.payload) if isinstance(draft.payload, Recorded) and draft.payload.messages else None


def _aside(ctx: CallContext, conversation: str, entry: OutboxEntry, problem: WeftError) -> str:
    place = _place(ctx, conversation)
    assert place is not None  # the entry is from there
    place.set_aside(entry, problem)
    return f"the first message of {conversation!r} was not recorded: {problem.message}; `weft doctor` names its file"


class _Plan:
    """The events of a held message for the current state of the conversation: its number may have changed."""

    def __init__(self, ctx: CallContext, conversation: str, draft: Draft, payload: Recorded) -> None:
        self._ctx, self._conversation, self._draft, self._payload = ctx, conversation, draft, payload

    def __call__(self, standing: ConversationState) -> list[Draft]:
        payload, at = self._payload, self._draft.occurred_at
        own = Guard(project=payload.project, scope=payload.scope, agents=payload.agents, sensitive=payload.sensitive)
        turns = Turns(conversation=self._conversation, guard=standing.guard or own, title=payload.title)
        first = about(self._ctx, turns, standing, [at])
        seq = standing.turns + 1
        said = replace(payload.messages[0], id=message_id(self._conversation, seq), seq=seq)
        return [recorded(turns, [said], first, at=at)]


def held_conversations(outbox: Outbox | None) -> Iterator[OutboxEntry]:
    """The held messages of at most MAX_HELD conversations."""
    for directory in islice(_places(outbox), MAX_HELD):
        yield from Outbox(directory=directory, account=outbox.account if outbox else "").entries()


def set_aside(outbox: Outbox | None, most: int = MAX_HELD) -> Iterator[Path]:
    """The files of messages that could not be recorded, at most `most` conversations."""
    for directory in islice(_places(outbox), most):
        place = Outbox(directory=directory, account=outbox.account if outbox else "")
        yield from (directory / FAILED / entry.name for entry in place.refused())


def _place(ctx: CallContext, conversation: str) -> Outbox | None:
    if ctx.outbox is None:
        return None
    name = hashlib.sha256(conversation.encode()).hexdigest()[:32]
    return Outbox(directory=ctx.outbox.directory / PLACE / name, account=ctx.outbox.account)


def _places(outbox: Outbox | None) -> Iterator[Path]:
    try:
        with os.scandir(outbox.directory / PLACE if outbox is not None else "") as found:
            yield from (Path(each.path) for each in found if each.is_dir(follow_symlinks=False))
    except OSError:
        return


def _remove(ctx: CallContext, conversation: str, name: str) -> None:
    """Removes a recorded message. Another process may have been first, or finds it by its request id."""
    place = _place(ctx, conversation)
    if place is None:
        return
    for file in (place.directory / name, place.directory):
        try:
            file.unlink() if file.name == name else file.rmdir()
        except OSError:  # another process was first, or another message waits there
            continue


# ---- the policy


PolicyAsked = Annotated[
    Conversations | None,
    Meta(description="lazy: record a conversation from its second message on; forensic: record every message at once"),
]
