"""Records as turns: chat turns and whole conversations. A record's turns keep their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from weft.append.append import AppendResult
from weft.conversations.turns import (
    LATEST,
    About,
    ConversationState,
    Turns,
    about,
    append_turns,
    conversation_id,
    message_id,
    recorded,
)
from weft.core.clock import to_iso
from weft.core.errors import Invalid
from weft.core.types import MAX_IDS_PER_READ, Guard, NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import MessageText
from weft.runtime.call_context import CallContext
from weft.text.extract.records import InputRecord
from weft.text.extract.speakers import TranscriptTurn

MAX_CONVERSATIONS_KEPT: Final = 64


class TurnsWritten(Struct, frozen=True, kw_only=True):
    """The number of new records and turns, and a note if vectors failed."""

    records: int = 0
    messages: int = 0
    note: str = ""


class _Turn(Struct, frozen=True, kw_only=True):
    """The stored fields of a turn that a record determines."""

    seq: int
    text: str
    who: str
    at: int

    def says(self, spoken: InputRecord | TranscriptTurn, at: int | None) -> bool:
        """Whether speaker, words and time (if given) are the same."""
        return (self.text, self.who) == (spoken.text, spoken.speaker or spoken.role) and at in (None, self.at)


class KnownTurns:
    """Turns of conversations by record id, cached for the last few conversations."""

    def __init__(self, ctx: CallContext, conversation: str = "", after: int = 0) -> None:
        """With `after`, turns of `conversation` up to that number are not read: an import does not need them."""
        self._ctx = ctx
        self._kept: dict[str, tuple[int, dict[str, list[_Turn]]]] = {conversation: (after, {})} if after else {}

    def of(self, conversation: str, turns: int) -> dict[str, list[_Turn]]:
        """Turns by record, in order; only turns after the cached ones are read."""
        done, known = self._kept.pop(conversation, (0, {}))
        for start in range(done + 1, turns + 1, MAX_IDS_PER_READ):
            page = range(start, min(start + MAX_IDS_PER_READ, turns + 1))
            ids = [message_id(conversation, seq) for seq in page]
            for node in self._ctx.store.nodes(self._ctx.viewer, LATEST, ids):
                if isinstance(record := node.props.get("record"), str):
                    known.setdefault(record, []).append(_standing_turn(node))
        self._kept[conversation] = (turns, known)
        if len(self._kept) > MAX_CONVERSATIONS_KEPT:
            del self._kept[next(iter(self._kept))]
        return known


def _standing_turn(node: NodeVersion) -> _Turn:
    who = node.props.get("speaker") or node.props.get("role") or ""
    # The number from the id: callers may write any properties.
    return _Turn(seq=int(node.id[-5:]), text=node.text, who=who, at=node.interval.asserted_from)


def write_turns(
    ctx: CallContext, known: KnownTurns, conversation: str, guard: Guard, records: Sequence[InputRecord]
) -> TurnsWritten:
    """Adds records that are turns of one conversation, in order, one event each."""
    titles = [record.title for record in records if record.title]
    turns = Turns(conversation=conversation, guard=guard, title=titles[0] if titles else "")

    def plan(standing: ConversationState) -> list[Draft]:
        stood = known.of(conversation, standing.turns)
        seq = standing.turns
        changed: list[tuple[InputRecord, MessageText, tuple[str, ...]]] = []
        for record in records:
            before = next(iter(stood.get(record.id, ())), None)
            if before is None:
                seq += 1
            elif before.says(record, record.at):
                continue
            said = _said(conversation, before.seq if before else seq, record, record.at)
            changed.append((record, said, (said.id,) if before else ()))
        if not changed:
            return []
        first = about(ctx, turns, standing, [record.at for record, _, _ in changed])
        rest = About(whole=first.whole)
        return [
            recorded(turns, [said], rest if number else first, at=record.at, record=record.id, ended=ended)
            for number, (record, said, ended) in enumerate(changed)
        ]

    return _written(append_turns(ctx, conversation, plan))


def write_session(ctx: CallContext, known: KnownTurns, guard: Guard, record: InputRecord) -> TurnsWritten:
    """Adds a record that is a whole conversation, as one event.

    When read again, its turns keep their nodes by position; surplus ones end. Raises Invalid if the conversation has
    turns that are not of this record.
    """
    conversation = conversation_id(guard.project, record.id)
    turns = Turns(conversation=conversation, guard=guard, title=record.title, whole=True)

    def plan(standing: ConversationState) -> list[Draft]:
        stood = known.of(conversation, standing.turns).get(record.id, [])
        if standing.turns and not stood:
            raise Invalid(f"session {conversation!r} exists already and is not of this record")
        seqs = [turn.seq for turn in stood] + [standing.turns + 1 + more for more in range(len(record.turns))]
        changed: list[MessageText] = []
        wrong: list[str] = []
        for number, turn in enumerate(record.turns):
            before = stood[number] if number < len(stood) else None
            if before is not None and before.says(turn, record.at):
                continue
            changed.append(_said(conversation, seqs[number], turn, record.at))
            wrong += [changed[-1].id] if before else []
        gone = [message_id(conversation, turn.seq) for turn in stood[len(record.turns) :]]
        first = about(ctx, turns, standing, [record.at])
        if not (changed or gone or first.opens):
            return []
        return [recorded(turns, changed, first, at=record.at, record=record.id, ended=(*wrong, *gone))]

    return _written(append_turns(ctx, conversation, plan))


def _said(conversation: str, seq: int, spoken: InputRecord | TranscriptTurn, at: int | None) -> MessageText:
    return MessageText(
        id=message_id(conversation, seq),
        seq=seq,
        text=spoken.text,
        speaker=spoken.speaker,
        role=spoken.role,
        at=None if at is None else to_iso(at),
    )


def _written(done: AppendResult | None) -> TurnsWritten:
    if done is None:
        return TurnsWritten()
    payloads = [payload_of(event) for event in done.events if event.kind == "conversation.recorded"]
    return TurnsWritten(
        records=len(payloads), messages=sum(len(payload.messages) for payload in payloads), note=done.note
    )


# ---- turns that a transcript continues


class Conversation:
    """A conversation to which an import adds: its known turns, and turns without an id of this source."""

    def __init__(
        self, name: str, guard: Guard, known: KnownTurns, others: Counter[tuple[str, str]], turns: int
    ) -> None:
        self.id, self.guard, self.known, self.turns = name, guard, known, turns
        self._others = others

    def last_of(self, records: Sequence[InputRecord]) -> int:
        """The highest turn number of these records; 0 if none is stored.

        Not the conversation's last turn: another process may have read further in the same file.
        """
        known = self.known.of(self.id, self.turns)
        return max((turn.seq for record in records for turn in known.get(record.id, ())), default=0)

    def says(self, record: InputRecord) -> bool:
        """Whether a turn from elsewhere has the same author and words; each such turn matches once."""
        said = (record.speaker or record.role, record.text.strip())
        if self._others[said] <= 0:
            return False
        self._others[said] -= 1
        return True


def others_in(ctx: CallContext, conversation: str, before: int, turns: int, prefix: str) -> Counter[tuple[str, str]]:
    """(speaker, words) counts of turns after `before` from other sources: hooks, or another file."""
    found: Counter[tuple[str, str]] = Counter()
    for start in range(before + 1, turns + 1, MAX_IDS_PER_READ):
        ids = [message_id(conversation, seq) for seq in range(start, min(start + MAX_IDS_PER_READ, turns + 1))]
        for node in ctx.store.nodes(ctx.viewer, LATEST, ids):
            record = node.props.get("record")
            if not (isinstance(record, str) and record.startswith(prefix)):
                who = node.props.get("speaker") or node.props.get("role") or ""
                found[str(who), node.text.strip()] += 1
    return found
