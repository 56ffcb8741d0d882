"""Records that are chat turns or whole conversations, as turns of a conversation. A record keeps its turns' nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from weft.append import Appended
from weft.errors import Invalid
from weft.extract.records import Record
from weft.extract.transcripts import Turn
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import Said
from weft.loom import Loom
from weft.operations.conversations import (
    LATEST,
    About,
    Standing,
    Turns,
    about,
    append_turns,
    conversation_id,
    message_id,
    recorded,
)
from weft.types import MAX_IDS_PER_READ, Guard, NodeVersion

MAX_CONVERSATIONS_KEPT: Final = 64


class Written(Struct, frozen=True, kw_only=True):
    """How many records and turns were written (those that stood are not counted), and a note if vectors failed."""

    records: int = 0
    messages: int = 0
    note: str = ""


class _Turn(Struct, frozen=True, kw_only=True):
    """A turn that stands, as far as a record decides it."""

    seq: int
    text: str
    who: str
    at: int

    def says(self, spoken: Record | Turn, at: int | None) -> bool:
        """The same words by the same speaker, and not at another time."""
        return (self.text, self.who) == (spoken.text, spoken.speaker or spoken.role) and at in (None, self.at)


class KnownTurns:
    """Which turns of a conversation came from which record. Read once and kept for the last few conversations."""

    def __init__(self, loom: Loom) -> None:
        self._loom = loom
        self._kept: dict[str, tuple[int, dict[str, list[_Turn]]]] = {}

    def of(self, conversation: str, turns: int) -> dict[str, list[_Turn]]:
        """By record, in order; only turns past those that were read before are read."""
        done, known = self._kept.pop(conversation, (0, {}))
        for start in range(done + 1, turns + 1, MAX_IDS_PER_READ):
            page = range(start, min(start + MAX_IDS_PER_READ, turns + 1))
            ids = [message_id(conversation, seq) for seq in page]
            for node in self._loom.store.nodes(self._loom.viewer, LATEST, ids):
                if isinstance(record := node.props.get("record"), str):
                    known.setdefault(record, []).append(_standing_turn(node))
        self._kept[conversation] = (turns, known)
        if len(self._kept) > MAX_CONVERSATIONS_KEPT:
            del self._kept[next(iter(self._kept))]
        return known


def _standing_turn(node: NodeVersion) -> _Turn:
    who = node.props.get("speaker") or node.props.get("role") or ""
    # The number as the id tells it: properties are anybody's.
    return _Turn(seq=int(node.id[-5:]), text=node.text, who=who, at=node.interval.asserted_from)


def write_turns(loom: Loom, known: KnownTurns, conversation: str, guard: Guard, records: Sequence[Record]) -> Written:
    """Adds records that are turns of one conversation, in order, each as an event of its own."""
    titles = [record.title for record in records if record.title]
    turns = Turns(conversation=conversation, guard=guard, title=titles[0] if titles else "")

    def plan(standing: Standing) -> list[Draft]:
        stood = known.of(conversation, standing.turns)
        seq = standing.turns
        changed: list[tuple[Record, Said, tuple[str, ...]]] = []
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
        first = about(loom, turns, standing, [record.at for record, _, _ in changed])
        rest = About(whole=first.whole)
        return [
            recorded(turns, [said], rest if number else first, at=record.at, record=record.id, ended=ended)
            for number, (record, said, ended) in enumerate(changed)
        ]

    return _written(append_turns(loom, conversation, plan))


def write_session(loom: Loom, known: KnownTurns, guard: Guard, record: Record) -> Written:
    """Adds a record that is a whole conversation, as one event.

    Read again, its turns keep their nodes by their order; those that are too many are taken back. Raises Invalid if
    the conversation is one that turns were added to, and not this record's.
    """
    conversation = conversation_id(guard.project, record.id)
    turns = Turns(conversation=conversation, guard=guard, title=record.title, whole=True)

    def plan(standing: Standing) -> list[Draft]:
        stood = known.of(conversation, standing.turns).get(record.id, [])
        if standing.turns and not stood:
            raise Invalid(f"there is a session {conversation!r} already, and it is not this record's")
        seqs = [turn.seq for turn in stood] + [standing.turns + 1 + more for more in range(len(record.turns))]
        changed: list[Said] = []
        wrong: list[str] = []
        for number, turn in enumerate(record.turns):
            before = stood[number] if number < len(stood) else None
            if before is not None and before.says(turn, record.at):
                continue
            changed.append(_said(conversation, seqs[number], turn, record.at))
            wrong += [changed[-1].id] if before else []
        gone = [message_id(conversation, turn.seq) for turn in stood[len(record.turns) :]]
        first = about(loom, turns, standing, [record.at])
        if not (changed or gone or first.opens):
            return []
        return [recorded(turns, changed, first, at=record.at, record=record.id, ended=(*wrong, *gone))]

    return _written(append_turns(loom, conversation, plan))


def _said(conversation: str, seq: int, spoken: Record | Turn, at: int | None) -> Said:
    return Said(
        id=message_id(conversation, seq),
        seq=seq,
        text=spoken.text,
        speaker=spoken.speaker,
        role=spoken.role,
        at=None if at is None else to_iso(at),
    )


def _written(done: Appended | None) -> Written:
    if done is None:
        return Written()
    payloads = [payload_of(event) for event in done.events if event.kind == "conversation.recorded"]
    return Written(records=len(payloads), messages=sum(len(payload.messages) for payload in payloads), note=done.note)
