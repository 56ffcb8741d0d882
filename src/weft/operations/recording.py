"""Keeping a conversation as it happens, turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.append import ERASED_SINCE, Appended, erased_since
from weft.errors import Conflict, Invalid
from weft.extract.transcripts import Spoken, read_speaker, spoken_by
from weft.instants import parse_instant, to_iso
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import Said
from weft.loom import Loom
from weft.operations.conversations import (
    About,
    Standing,
    Turns,
    about,
    append_turns,
    conversation_id,
    message_id,
    recorded,
    standing_of,
)
from weft.operations.fields import Label, Moment, Name, ProducedBy, ScopeAsked, Tags
from weft.operations.holding import HELD, hold, release, waiting_first
from weft.operations.policies import PolicyAsked
from weft.operations.registry import Operation
from weft.operations.remembered import REPEATED
from weft.operations.remembering import Text
from weft.operations.rights import write_guard

MAX_TURNS_AT_ONCE = 100


class TurnGiven(Struct, frozen=True, kw_only=True):
    """One turn: who speaks, and the words."""

    text: Text
    speaker: Annotated[str, Meta(max_length=128, description="a name, or a role such as user or assistant")] = ""
    role: Annotated[str, Meta(max_length=128, description="the same, as chat interfaces call it")] = ""
    at: Annotated[Moment | None, Meta(description="when it was said; now if unset")] = None


class RecordTurns(Struct, frozen=True, kw_only=True):
    """Input of `record_turns`."""

    session: Annotated[Name, Meta(description="which conversation; a new name begins one")]
    turns: Annotated[
        tuple[TurnGiven | Text, ...],
        Meta(min_length=1, max_length=MAX_TURNS_AT_ONCE, description="what was said, in order: 'speaker: words'"),
    ]
    title: Annotated[str, Meta(max_length=512, description="what the conversation is about")] = ""
    at: Annotated[Moment | None, Meta(description="when turns without a time of their own were said; now if unset")] = (
        None
    )
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )
    policy: PolicyAsked = None
    produced_by_task_id: ProducedBy = None


class TurnRecorded(Struct, frozen=True, kw_only=True):
    """Where a turn is kept."""

    id: str
    seq: int
    citation: str


class TurnsRecorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the turns, in order. `held`: the first message of a conversation, which waits for a second."""

    status: Literal["saved", "duplicate_skip", "held"]
    session: str
    turns: tuple[TurnRecorded, ...]
    notes: tuple[str, ...] = ()


class _Spoken(Struct, frozen=True):
    words: Spoken
    at: int | None


def record_turns(loom: Loom, given: RecordTurns) -> TurnsRecorded:
    """Adds turns to a conversation, each kept verbatim as a message with its place, its speaker and its citation.

    A turn is written 'speaker: words'. The numbers go on after the last turn there is; several processes may add to one
    conversation at once. Unless a scope is given, turns have the rights of the conversation they join.

    With policy lazy (see `weft config`), a conversation is kept from its second message on: the first waits on this
    machine, and is kept together with the second.
    """
    return keep_turns(loom, given)


def keep_turns(loom: Loom, given: RecordTurns, verdict: str = "") -> TurnsRecorded:
    """The same, of turns of which this was found: see `weft.gateway`."""
    if not (session := given.session.strip()):
        raise Invalid("the session has no name", hint="say which conversation this is")
    conversation = conversation_id(loom.settings.project, session)
    spoken = [_read(turn, given.at) for turn in given.turns]
    asked = write_guard(loom, scope=given.scope, agents=given.agents, project=loom.settings.project)
    inherits = given.scope is None and not given.agents

    def plan(standing: Standing) -> list[Draft]:
        guard = standing.guard if inherits and standing.guard is not None else asked
        turns = Turns(conversation=conversation, guard=guard, title=given.title.strip())
        first = about(loom, turns, standing, [each.at for each in spoken])
        rest = About(whole=first.whole)
        return [
            recorded(
                turns,
                [replace(_said(conversation, standing.turns + number, each), verdict=verdict)],
                first if number == 1 else rest,
                at=each.at,
            )
            for number, each in enumerate(spoken, start=1)
        ]

    notes: tuple[str, ...] = ()
    if (given.policy or loom.settings.conversations) == "lazy" and len(spoken) == 1:
        first = _held(loom, conversation, plan, given.request_id)
        if isinstance(first, Appended):
            return _answer(loom, conversation, spoken, first)
        if first == HELD:
            return TurnsRecorded(status="held", session=conversation, turns=(), notes=(HELD,))
        notes = (first,) if first else ()
    released = release(loom, conversation)
    notes += ("the first message of the conversation, which waited, is kept too",) if released.kept else ()
    notes += released.notes
    done = append_turns(loom, conversation, plan, request_id=given.request_id)
    assert done is not None  # there is at least one turn
    answer = _answer(loom, conversation, spoken, done)
    return replace(answer, notes=(*notes, *answer.notes))


def _held(
    loom: Loom, conversation: str, plan: Callable[[Standing], list[Draft]], request_id: str | None
) -> str | Appended:
    """HELD if a message is the first of its conversation, and waits now; a note where it would, and cannot.

    Empty if it is not the first. Where another came at the same moment, neither waits: then what was written.
    """
    waiting = waiting_first(loom, conversation)  # maybe in a damaged file: a first message came all the same
    if request_id is not None and any(each.waiting and each.waiting.request_id == request_id for each in waiting):
        return HELD  # the same call again
    standing = standing_of(loom, conversation, request_id)
    if waiting or standing.guard is not None or standing.earlier:
        return ""
    request = request_id or loom.new_id()
    if note := hold(loom, conversation, plan(standing)[0], request):
        return note
    if len(waiting_first(loom, conversation)) > 1 or standing_of(loom, conversation).guard is not None:
        release(loom, conversation)
        written = standing_of(loom, conversation, request).earlier
        return Appended(events=written, repeated=False) if written else ""
    return HELD


def _read(turn: TurnGiven | str, default_at: str | None) -> _Spoken:
    """Raises Invalid for a turn without a speaker or without words."""
    if isinstance(turn, str):
        words, at = read_speaker(turn.strip()), default_at
    else:
        who = turn.speaker.strip() or turn.role.strip()
        words, at = spoken_by(who, turn.text) if who else read_speaker(turn.text), turn.at or default_at
    if not words.text.strip():
        raise Invalid("a turn has no words", hint="say what was said")
    if not (words.speaker or words.role):
        raise Invalid("a turn does not say who speaks", hint="write 'user: …', or give it a speaker")
    return _Spoken(words, None if at is None else parse_instant(at, field="at"))


def _said(conversation: str, seq: int, spoken: _Spoken) -> Said:
    return Said(
        id=message_id(conversation, seq),
        seq=seq,
        text=spoken.words.text,
        speaker=spoken.words.speaker,
        role=spoken.words.role,
        at=None if spoken.at is None else to_iso(spoken.at),
    )


def _answer(loom: Loom, conversation: str, spoken: list[_Spoken], done: Appended) -> TurnsRecorded:
    made = []
    for event in done.events:
        payload = payload_of(event)
        for said in getattr(payload, "messages", ()):
            made.append((said, TurnRecorded(id=said.id, seq=said.seq, citation=event.citation)))
    gone = any(erased_since(loom.store, loom.writer.account, event) for event in done.events)
    if done.repeated and not gone and [said.text for said, _ in made] != [each.words.text for each in spoken]:
        raise Conflict("the request id was used for something else", hint="use a new request id for a new request")
    told = ERASED_SINCE if gone else done.note
    notes = ((REPEATED,) if done.repeated else ()) + ((told,) if told else ())
    return TurnsRecorded(
        status="duplicate_skip" if done.repeated else "saved",
        session=conversation,
        turns=tuple(turn for _, turn in made),
        notes=notes,
    )


OPERATIONS = (
    Operation(
        name="record_turns",
        summary="keep what was said in a conversation, turn by turn",
        input=RecordTurns,
        output=TurnsRecorded,
        effect="write",
        toolset="memory",
        run=record_turns,
        arguments=("session",),
        rare=("policy",),
    ),
)
