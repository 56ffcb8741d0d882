"""Adding turns to a conversation, with concurrent writers.

Each conversation has a log session of its own. A writer reads the session's head, numbers the turn, and appends on
condition that the head is unchanged, or else retries. So turn numbers are unique and no turn is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append.append import AppendResult
from weft.core.clock import MAX_INSTANT_US, to_iso
from weft.core.commits import Batch, Changes, LockedView
from weft.core.errors import Conflict, Forbidden, Invalid
from weft.core.types import Event, Guard, When
from weft.log.draft import Draft
from weft.log.kinds import conversation as kinds
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import append_stamped
from weft.writing.build.deletions import deleted_node, restore_whole
from weft.writing.checks.provenance import TaskClosed

MAX_TURNS: Final = 99_999  # the number in an id has five digits
MAX_ATTEMPTS: Final = 100
LATEST: Final = When(valid_at=MAX_INSTANT_US)  # the latest state, including future dates
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@+-]+")


class ConversationState(Struct, frozen=True, kw_only=True):
    """State of a conversation: head of its log session, last turn number, rights (None if new).

    `earlier` are the events already written by the same request.
    """

    head: int
    turns: int
    guard: Guard | None
    earlier: tuple[Event, ...] = ()


class Turns(Struct, frozen=True, kw_only=True):
    """The conversation to which turns are added, and their rights. `whole` if one record is the whole conversation."""

    conversation: str
    guard: Guard
    title: str = ""
    whole: bool = False


class About(Struct, frozen=True, kw_only=True):
    """Fields of an event about the conversation itself: see `weft.log.kinds.conversation`."""

    opens: bool = False
    title: str = ""
    begins: str | None = None
    whole: bool = False
    archived: bool = False
    ended: tuple[str, ...] = ()


def conversation_id(project: str | None, session: str) -> str:
    """The id of a conversation's node."""
    return session if project is None else f"{project}/{session}"


def message_id(conversation: str, seq: int) -> str:
    """The id of a turn's node. Raises Invalid beyond the last number."""
    if seq > MAX_TURNS:
        raise Invalid(f"{conversation!r} has {MAX_TURNS:,} turns, the maximum", hint="continue in a new session")
    return f"{conversation}#{seq:05d}"


def log_session(conversation: str) -> str:
    """The log session of a conversation: its name in allowed characters, and a hash to make it unique."""
    readable = _NOT_IN_NAMES.sub("-", conversation).lstrip("._:@+-")[:100]
    return f"{readable or 'conversation'}.{hashlib.sha256(conversation.encode()).hexdigest()[:12]}"


def standing_of(ctx: CallContext, conversation: str, request_id: str | None = None) -> ConversationState:
    """The state of a conversation, read inside the write lock, where deleted turns are visible.

    Raises Forbidden if the caller may not see the conversation, Invalid if the node is not one.
    """
    found: list[ConversationState] = []

    def look(view: LockedView) -> Batch:
        head, known = view.session_head(log_session(conversation)), view.identity(conversation)
        if known is not None and not ctx.viewer.admits(known.guard):
            raise Forbidden(f"you may not add to the session {conversation!r}", hint="choose another name")
        if known is not None and known.kind != "Session":
            raise Invalid(f"{conversation!r} is a {known.kind}, not a session", hint="choose another name")
        found.append(
            ConversationState(
                head=head.seq if head else 0,
                turns=0 if known is None else _last_turn(view, conversation),
                guard=None if known is None else known.guard,
                earlier=() if request_id is None else view.request(request_id),
            )
        )
        return Batch(commit=None, events=(), changes=Changes())

    ctx.store.commit(ctx.writer.account, look)
    return found[-1]


def _last_turn(view: LockedView, conversation: str) -> int:
    """The highest turn number, by exponential and binary search: numbers have no gaps."""
    low, high = 0, 1  # `low` is used, `high` is free
    while high <= MAX_TURNS and view.identity(message_id(conversation, high)) is not None:
        low, high = high, high * 2
    high = min(high, MAX_TURNS + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if view.identity(message_id(conversation, middle)) is None:
            high = middle
        else:
            low = middle
    return low


def append_turns(
    ctx: CallContext,
    conversation: str,
    plan: Callable[[ConversationState], Sequence[Draft]],
    *,
    request_id: str | None = None,
) -> AppendResult | None:
    """Appends the events that `plan` makes for the current state; plans again if another writer came first.

    None if the plan is empty. A repeated request returns its first result without planning. Raises what `append` and
    the plan raise; Conflict after MAX_ATTEMPTS.
    """
    own = replace(ctx, writer=replace(ctx.writer, session=log_session(conversation)))
    standing = standing_of(ctx, conversation, request_id)
    back = "" if standing.earlier else _revived(ctx, conversation)
    for _ in range(MAX_ATTEMPTS):
        if standing.earlier:
            return AppendResult(events=standing.earlier, repeated=True)
        drafts = plan(standing)
        if not drafts:
            return None
        try:
            done = append_stamped(own, drafts, request_id=request_id, expected_head=standing.head)
            return replace(done, note="; ".join(filter(None, (back, done.note))))
        except TaskClosed:
            raise
        except Conflict:
            before, standing = standing, standing_of(ctx, conversation, request_id)
            if standing.head == before.head and not standing.earlier:
                raise  # the conflict is not about a turn
    raise Conflict(f"other writers kept adding to {conversation!r}", hint="try again")


def _revived(ctx: CallContext, conversation: str) -> str:
    """Restores a deleted conversation with its turns, and says so."""
    gone = deleted_node(ctx, conversation)
    if gone is None:
        return ""
    restore_whole(ctx, gone)
    return f"the session was deleted and is restored with its turns: `weft delete {conversation}` deletes it again"


def about(ctx: CallContext, turns: Turns, standing: ConversationState, moments: Iterable[int | None]) -> About:
    """The conversation fields of the first new event: empty unless the conversation is new or its data changes.

    A conversation begins with its earliest turn, or when it is recorded if none has a date. Raises Invalid if its
    rights differ from those of the turns.
    """
    if standing.guard is not None and standing.guard != turns.guard:
        raise Invalid(
            f"the session {turns.conversation!r} has other rights",
            hint=f"use its scope {standing.guard.scope}, or another session",
        )
    begins = min((moment for moment in moments if moment is not None), default=None)
    known = next(iter(ctx.store.nodes(ctx.viewer, LATEST, [turns.conversation])), None)
    if known is None:
        return About(
            opens=True, title=turns.title, begins=None if begins is None else to_iso(begins), whole=turns.whole
        )
    whole = turns.whole or known.props.get("whole") is True
    stood = known.interval.asserted_from
    earlier = begins is not None and begins < stood
    if not (earlier or turns.title not in ("", known.name)) or whole != turns.whole:
        return About(whole=whole)  # a turn added to a whole conversation does not change it
    begins = stood if begins is None else min(begins, stood)
    return About(
        opens=True,
        title=turns.title or known.name,
        begins=to_iso(begins),
        whole=whole,
        archived=known.props.get("archived") is True,
        ended=(turns.conversation,),
    )


def recorded(
    turns: Turns,
    said: Sequence[kinds.MessageText],
    known: About,
    *,
    at: int | None,
    record: str | None = None,
    ended: tuple[str, ...] = (),
) -> Draft:
    """One event of a conversation; `ended` are turns that it ends."""
    payload = kinds.Recorded(
        id=turns.conversation,
        messages=tuple(said),
        opens=known.opens,
        title=known.title,
        begins=known.begins,
        whole=known.whole,
        archived=known.archived,
        record=record,
        ended=(*known.ended, *ended),
        **asdict(turns.guard),
    )
    return Draft(kind="conversation.recorded", payload=payload, occurred_at=at, conversation=turns.conversation)
