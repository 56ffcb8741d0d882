"""Adding turns to a conversation, of which several processes may write at once.

A conversation has a session of the log to itself. Who adds a turn looks where that session stands, gives the turn the
next number, and writes on the condition that the session still stands there; otherwise it looks again. So no turn ever
takes another's number, and no turn is lost.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from weft.append import Appended
from weft.commits import Batch, Changes, LockedView
from weft.errors import Conflict, Forbidden, Invalid
from weft.instants import MAX_INSTANT_US, to_iso
from weft.log.draft import Draft
from weft.log.kinds import conversation as kinds
from weft.loom import Loom
from weft.operations.committing import append_stamped
from weft.operations.deletions import deleted_node, revive
from weft.operations.stamping import TaskClosed
from weft.types import Event, Guard, When

MAX_TURNS: Final = 99_999  # the number in an id has five digits
MAX_ATTEMPTS: Final = 100
LATEST: Final = When(valid_at=MAX_INSTANT_US)  # what holds in the end, be it dated in the future
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@+-]+")


class Standing(Struct, frozen=True, kw_only=True):
    """Where a conversation stands: its log session's head, its last turn's number, who may see it (None if new).

    `earlier` are the events that the same request wrote before.
    """

    head: int
    turns: int
    guard: Guard | None
    earlier: tuple[Event, ...] = ()


class Turns(Struct, frozen=True, kw_only=True):
    """To which conversation turns are added, with what rights. `whole` if they are all of it, from one record."""

    conversation: str
    guard: Guard
    title: str = ""
    whole: bool = False


class About(Struct, frozen=True, kw_only=True):
    """What an event says about the conversation itself: see `weft.log.kinds.conversation`."""

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
    """The id of a turn's node. Raises Invalid past the last number."""
    if seq > MAX_TURNS:
        raise Invalid(f"{conversation!r} has {MAX_TURNS:,} turns", hint="go on in a new session")
    return f"{conversation}#{seq:05d}"


def log_session(conversation: str) -> str:
    """The session of the log that holds a conversation: its name as far as it is one, and a hash to tell it apart."""
    readable = _NOT_IN_NAMES.sub("-", conversation).lstrip("._:@+-")[:100]
    return f"{readable or 'conversation'}.{hashlib.sha256(conversation.encode()).hexdigest()[:12]}"


def standing_of(loom: Loom, conversation: str, request_id: str | None = None) -> Standing:
    """Looks inside the write lock, where nothing is hidden: numbers of deleted turns stay taken.

    Raises Forbidden if the conversation is one that the caller may not see, Invalid if it is something else.
    """
    found: list[Standing] = []

    def look(view: LockedView) -> Batch:
        head, known = view.session_head(log_session(conversation)), view.identity(conversation)
        if known is not None and not loom.viewer.admits(known.guard):
            raise Forbidden(f"the session {conversation!r} is not yours to add to", hint="choose another name for it")
        if known is not None and known.kind != "Session":
            raise Invalid(f"{conversation!r} is a {known.kind}, not a session", hint="choose another name for it")
        found.append(
            Standing(
                head=head.seq if head else 0,
                turns=0 if known is None else _last_turn(view, conversation),
                guard=None if known is None else known.guard,
                earlier=() if request_id is None else view.request(request_id),
            )
        )
        return Batch(commit=None, events=(), changes=Changes())

    loom.store.commit(loom.writer.account, look)
    return found[-1]


def _last_turn(view: LockedView, conversation: str) -> int:
    """The highest number taken. Numbers have no gaps, so it is found by halving: a few looks, however long it is."""
    low, high = 0, 1  # `low` is taken, `high` is free
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
    loom: Loom, conversation: str, plan: Callable[[Standing], Sequence[Draft]], *, request_id: str | None = None
) -> Appended | None:
    """Writes what `plan` makes of where the conversation stands; plans again whenever another writer came first.

    None if the plan is empty. A repeated request gives what it wrote the first time, unplanned. Raises what `append`
    and the plan raise; Conflict where others came first MAX_ATTEMPTS times.
    """
    own = replace(loom, writer=replace(loom.writer, session=log_session(conversation)))
    standing = standing_of(loom, conversation, request_id)
    back = "" if standing.earlier else _revived(loom, conversation)
    for _ in range(MAX_ATTEMPTS):
        if standing.earlier:
            return Appended(events=standing.earlier, repeated=True)
        drafts = plan(standing)
        if not drafts:
            return None
        try:
            done = append_stamped(own, drafts, request_id=request_id, expected_head=standing.head)
            return replace(done, note="; ".join(filter(None, (back, done.note))))
        except TaskClosed:
            raise
        except Conflict:
            before, standing = standing, standing_of(loom, conversation, request_id)
            if standing.head == before.head and not standing.earlier:
                raise  # not another turn: something else stands in the way
    raise Conflict(f"others kept writing to {conversation!r}", hint="try again")


def _revived(loom: Loom, conversation: str) -> str:
    """Brings a deleted conversation back, with the turns that went with it, and says so."""
    gone = deleted_node(loom, conversation)
    if gone is None:
        return ""
    revive(loom, gone)
    return f"the session was deleted, and is back with its turns: `weft delete {conversation}` takes it out of sight"


def about(loom: Loom, turns: Turns, standing: Standing, moments: Iterable[int | None]) -> About:
    """What the first of some new turns has to say about the conversation: nothing, unless it is new or was told wrong.

    A conversation begins with its earliest turn, or when it is recorded if none has a date. Raises Invalid where it is
    kept with other rights than the turns: all of one conversation have the same.
    """
    if standing.guard is not None and standing.guard != turns.guard:
        raise Invalid(
            f"the session {turns.conversation!r} is kept with other rights",
            hint=f"its scope is {standing.guard.scope}; use that, or another session",
        )
    begins = min((moment for moment in moments if moment is not None), default=None)
    known = next(iter(loom.store.nodes(loom.viewer, LATEST, [turns.conversation])), None)
    if known is None:
        return About(
            opens=True, title=turns.title, begins=None if begins is None else to_iso(begins), whole=turns.whole
        )
    whole = turns.whole or known.props.get("whole") is True
    stood = known.interval.asserted_from
    earlier = begins is not None and begins < stood
    if not (earlier or turns.title not in ("", known.name)) or whole != turns.whole:
        return About(whole=whole)  # a turn that joins a whole conversation says nothing about the whole
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
    said: Sequence[kinds.Said],
    known: About,
    *,
    at: int | None,
    record: str | None = None,
    ended: tuple[str, ...] = (),
) -> Draft:
    """One event of a conversation; `ended` are turns that it takes back."""
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
