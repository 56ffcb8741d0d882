"""First messages that wait for a second: with the policy `lazy`, a conversation is kept from its second message on.

Each waits in a private file beside the writes that wait for the store, in the same form: so what erases words, erases
them there too. Nothing is lost on the way: a message that was released and not yet removed is known by its request.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from weft.append import Appended
from weft.errors import Invalid, StoreError
from weft.log.draft import Draft
from weft.log.kinds.conversation import Recorded
from weft.loom import Loom
from weft.operations.conversations import Standing, Turns, about, append_turns, log_session, message_id, recorded
from weft.outbox import Entry, Outbox
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


def release(loom: Loom, conversation: str) -> tuple[Appended, ...]:
    """Keeps the messages of a conversation that wait, each once, as whoever sent it and when it came.

    Raises Invalid for one that cannot be read, which stays where it is.
    """
    done = []
    for entry in waiting_first(loom, conversation):
        waiting = entry.waiting
        if waiting is None or not waiting.drafts:
            raise Invalid(
                f"the first message of {conversation!r} waits in a damaged file",
                hint=f"look at {entry.name}, or remove it: `weft doctor` tells where the outbox is",
            )
        draft = draft_of(waiting.drafts[0])
        own = replace(loom, writer=waiting.writer, viewer=waiting.viewer, task=None, approval=None)
        appended = append_turns(own, conversation, _Plan(own, conversation, draft), request_id=waiting.request_id)
        done += [appended] if appended is not None else []
        _remove(loom, conversation, entry.name)
    return tuple(done)


class _Plan:
    """What a waiting message becomes where the conversation stands now: its number may be another's by then."""

    def __init__(self, loom: Loom, conversation: str, draft: Draft) -> None:
        assert isinstance(draft.payload, Recorded)
        self._loom, self._conversation, self._draft, self._payload = loom, conversation, draft, draft.payload

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
    for number, directory in enumerate(_places(outbox)):
        if number >= most:
            return
        yield from Outbox(directory=directory, account=outbox.account if outbox else "").entries()


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
