"""First messages that wait for a second: with the policy `lazy`, a conversation is kept from its second message on.

Each waits in a private file beside the writes that wait for the store, in the same form: so what erases words, erases
them there too. Nothing is lost on the way: a message that was released and not yet removed is known by its request.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Forbidden, Invalid, StoreError, WeftError
from weft.log.draft import Draft
from weft.log.kinds.conversation import Recorded
from weft.loom import Loom
from weft.operations.conversations import Standing, Turns, about, append_turns, log_session, message_id, recorded
from weft.outbox import FAILED, Entry, Outbox
from weft.types import Guard
from weft.waiting import draft_of

PLACE: Final = "held"
MAX_HELD: Final = 10_000  # conversations; beyond, a first message is kept at once
WAITS: Final = StoreError("it is the first message of its conversation, and waits for a second")
HELD: Final = (
    "the first message of a conversation waits for a second (policy lazy), and is kept with it;"
    " `weft pending-list` tells how many wait"
)
NOWHERE: Final = "policy lazy: there is no place for a first message to wait, so it is kept at once"
TOO_MANY: Final = f"policy lazy: more than {MAX_HELD:,} first messages wait, so this one is kept at once"


def waiting_first(loom: Loom, conversation: str) -> tuple[Entry, ...]:
    """The messages of a conversation that wait: none, or one; several for a moment, where two came at once."""
    place = _place(loom, conversation)
    return () if place is None or not place.directory.is_dir() else tuple(place.entries())


def hold(loom: Loom, conversation: str, draft: Draft, request_id: str | None) -> str:
    """Lets a first message wait; durable when it returns. A note says why it does not, where there is no room for it.

    Raises what `Outbox.put` raises.
    """
    place = _place(loom, conversation)
    if place is None:
        return NOWHERE
    if not place.directory.is_dir() and sum(1 for _ in _places(loom.outbox)) >= MAX_HELD:
        return TOO_MANY
    place.put(
        [draft],
        writer=replace(loom.writer, session=log_session(conversation)),
        viewer=loom.viewer,
        request_id=request_id,
        at=loom.clock.now_us(),
        problem=WAITS,
        screen=loom.screen,
    )
    return ""


def waiting_words(loom: Loom, conversation: str) -> set[str]:
    """What the messages of a conversation that wait say."""
    found = (_first_of(entry) for entry in waiting_first(loom, conversation))
    return {said.text for one in found if one is not None for said in one[1].messages}


class Released(Struct, frozen=True, kw_only=True):
    """How many messages that waited are kept now; notes of those that could not be."""

    kept: int = 0
    notes: tuple[str, ...] = ()


def release(loom: Loom, conversation: str) -> Released:
    """Keeps the messages of a conversation that wait, each once, as whoever sent it and when it came.

    One that is damaged, or that is refused, is set aside with the reason, and holds up nothing: see `set_aside`.
    """
    kept = 0
    notes: tuple[str, ...] = ()
    for entry in waiting_first(loom, conversation):
        first = _first_of(entry)
        if entry.waiting is None or first is None:
            notes += (_aside(loom, conversation, entry, Invalid("it waited in a damaged file")),)
            continue
        own = replace(loom, writer=entry.waiting.writer, viewer=entry.waiting.viewer, task=None, approval=None)
        plan = _Plan(own, conversation, *first)
        try:
            appended = append_turns(own, conversation, plan, request_id=entry.waiting.request_id)
        except (Invalid, Forbidden) as problem:
            notes += (_aside(loom, conversation, entry, problem),)
            continue
        kept += appended is not None
        _remove(loom, conversation, entry.name)
    return Released(kept=kept, notes=notes)


def _first_of(entry: Entry) -> tuple[Draft, Recorded] | None:
    """The message that waits in a file; None where that cannot be told."""
    if entry.waiting is None or not entry.waiting.drafts:
        return None
    try:
        draft = draft_of(entry.waiting.drafts[0])
    except WeftError:
        return None
    return (draft, draft.payload) if isinstance(draft.payload, Recorded) and draft.payload.messages else None


def _aside(loom: Loom, conversation: str, entry: Entry, problem: WeftError) -> str:
    place = _place(loom, conversation)
    assert place is not None  # the entry is from there
    place.set_aside(entry, problem)
    return f"the first message of {conversation!r} is not kept: {problem.message}; `weft doctor` says where it is now"


class _Plan:
    """What a waiting message becomes where the conversation stands now: its number may be another's by then."""

    def __init__(self, loom: Loom, conversation: str, draft: Draft, payload: Recorded) -> None:
        self._loom, self._conversation, self._draft, self._payload = loom, conversation, draft, payload

    def __call__(self, standing: Standing) -> list[Draft]:
        payload, at = self._payload, self._draft.occurred_at
        own = Guard(project=payload.project, scope=payload.scope, agents=payload.agents, sensitive=payload.sensitive)
        turns = Turns(conversation=self._conversation, guard=standing.guard or own, title=payload.title)
        first = about(self._loom, turns, standing, [at])
        seq = standing.turns + 1
        said = replace(payload.messages[0], id=message_id(self._conversation, seq), seq=seq)
        return [recorded(turns, [said], first, at=at)]


def held_conversations(outbox: Outbox | None, most: int = MAX_HELD) -> Iterator[Entry]:
    """The messages that wait, of all conversations, at most so many."""
    for directory in islice(_places(outbox), most):
        yield from Outbox(directory=directory, account=outbox.account if outbox else "").entries()


def set_aside(outbox: Outbox | None, most: int = MAX_HELD) -> Iterator[Path]:
    """The files of first messages that could not be kept, at most so many."""
    for directory in islice(_places(outbox), most):
        place = Outbox(directory=directory, account=outbox.account if outbox else "")
        yield from (directory / FAILED / entry.name for entry in place.refused())


def _place(loom: Loom, conversation: str) -> Outbox | None:
    if loom.outbox is None:
        return None
    name = hashlib.sha256(conversation.encode()).hexdigest()[:32]
    return Outbox(directory=loom.outbox.directory / PLACE / name, account=loom.outbox.account)


def _places(outbox: Outbox | None) -> Iterator[Path]:
    try:
        with os.scandir(outbox.directory / PLACE if outbox is not None else "") as found:
            yield from (Path(each.path) for each in found if each.is_dir(follow_symlinks=False))
    except OSError:
        return


def _remove(loom: Loom, conversation: str, name: str) -> None:
    """Takes a message away that was kept. Who comes late finds it gone, or known by its request."""
    place = _place(loom, conversation)
    if place is None:
        return
    for file in (place.directory / name, place.directory):
        try:
            file.unlink() if file.name == name else file.rmdir()
        except OSError:  # another process was first, or another message waits there
            continue
