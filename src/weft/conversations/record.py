"""Recording of a conversation turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.append.append import ERASED_SINCE, AppendResult, erased_since
from weft.conversations.first_message import HELD, PolicyAsked, hold, release, waiting_first
from weft.conversations.turns import (
    About,
    ConversationState,
    Turns,
    about,
    append_turns,
    conversation_id,
    message_id,
    recorded,
    standing_of,
)
from weft.core.clock import parse_instant, to_iso
from weft.core.errors import Conflict, Invalid
from weft.log.draft import Draft
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import MessageText
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Moment, Name, ProducedBy, RequestId, ScopeAsked, Tags
from weft.runtime.operation import Operation
from weft.text.extract.speakers import SpokenText, read_speaker, spoken_by
from weft.writing.build.commit import REPEATED
from weft.writing.checks.rights import write_guard
from weft.writing.remember import Text

MAX_TURNS_AT_ONCE = 100


class TurnGiven(Struct, frozen=True, kw_only=True):
    """One turn: its speaker and its words."""

    text: Text
    speaker: Annotated[str, Meta(max_length=128, description="a name, or a role such as user or assistant")] = ""
    role: Annotated[str, Meta(max_length=128, description="role, as in chat interfaces; an alternative to speaker")] = (
        ""
    )
    at: Annotated[Moment | None, Meta(description="time of the turn; now if unset")] = None


class RecordTurns(Struct, frozen=True, kw_only=True):
    """Input of `record_turns`."""

    session: Annotated[Name, Meta(description="conversation; a new name begins one")]
    turns: Annotated[
        tuple[TurnGiven | Text, ...],
        Meta(min_length=1, max_length=MAX_TURNS_AT_ONCE, description="turns in order, as 'speaker: words'"),
    ]
    title: Annotated[str, Meta(max_length=512, description="title of the conversation")] = ""
    at: Annotated[Moment | None, Meta(description="time of turns without their own; now if unset")] = None
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    request_id: RequestId = None
    policy: PolicyAsked = None
    produced_by_task_id: ProducedBy = None


class TurnRecorded(Struct, frozen=True, kw_only=True):
    """A recorded turn."""

    id: str
    seq: int
    citation: str


class TurnsRecorded(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The recorded turns, in order. `held`: the first message of a conversation, held until the second."""

    status: Literal["saved", "duplicate_skip", "held"]
    session: str
    turns: tuple[TurnRecorded, ...]
    notes: tuple[str, ...] = ()


class _Spoken(Struct, frozen=True):
    words: SpokenText
    at: int | None


def record_turns(ctx: CallContext, given: RecordTurns) -> TurnsRecorded:
    """Adds turns to a conversation, each stored verbatim as a message with its number, its speaker and its citation.

    A turn is written 'speaker: words'. Numbers continue after the last turn; several processes may add to one
    conversation at once. Unless a scope is given, turns have the rights of their conversation.

    With policy lazy (see `weft config`), a conversation is recorded from its second message on: the first is held on
    this machine and recorded with the second.
    """
    return keep_turns(ctx, given)


def keep_turns(ctx: CallContext, given: RecordTurns, verdict: str = "") -> TurnsRecorded:
    """Records turns with the verdict of screening: see `weft.text.injection`."""
    if not (session := given.session.strip()):
        raise Invalid("the session has no name", hint="name the conversation")
    conversation = conversation_id(ctx.settings.project, session)
    spoken = [_read(turn, given.at) for turn in given.turns]
    asked = write_guard(ctx, scope=given.scope, agents=given.agents, project=ctx.settings.project)
    inherits = given.scope is None and not given.agents

    def plan(standing: ConversationState) -> list[Draft]:
        guard = standing.guard if inherits and standing.guard is not None else asked
        turns = Turns(conversation=conversation, guard=guard, title=given.title.strip())
        first = about(ctx, turns, standing, [each.at for each in spoken])
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
    if (given.policy or ctx.settings.conversations) == "lazy" and len(spoken) == 1:
        first = _held(ctx, conversation, plan, given.request_id)
        if isinstance(first, AppendResult):
            return _answer(ctx, conversation, spoken, first)
        if first == HELD:
            return TurnsRecorded(status="held", session=conversation, turns=(), notes=(HELD,))
        notes = (first,) if first else ()
    released = release(ctx, conversation)
    notes += ("the held first message of the conversation is recorded too",) if released.kept else ()
    notes += released.notes
    done = append_turns(ctx, conversation, plan, request_id=given.request_id)
    assert done is not None  # turns are not empty
    answer = _answer(ctx, conversation, spoken, done)
    return replace(answer, notes=(*notes, *answer.notes))


def _held(
    ctx: CallContext, conversation: str, plan: Callable[[ConversationState], list[Draft]], request_id: str | None
) -> str | AppendResult:
    """HELD if the message is the first of its conversation and now held; a note if it should be held but cannot.

    Empty if it is not the first. If another arrived at the same time, neither is held: then what was written.
    """
    waiting = waiting_first(ctx, conversation)  # a damaged file counts: a first message arrived
    if request_id is not None and any(each.waiting and each.waiting.request_id == request_id for each in waiting):
        return HELD  # a repeated call
    standing = standing_of(ctx, conversation, request_id)
    if waiting or standing.guard is not None or standing.earlier:
        return ""
    request = request_id or ctx.new_id()
    if note := hold(ctx, conversation, plan(standing)[0], request):
        return note
    if len(waiting_first(ctx, conversation)) > 1 or standing_of(ctx, conversation).guard is not None:
        release(ctx, conversation)
        written = standing_of(ctx, conversation, request).earlier
        return AppendResult(events=written, repeated=False) if written else ""
    return HELD


def _read(turn: TurnGiven | str, default_at: str | None) -> _Spoken:
    """Raises Invalid for a turn without a speaker or without words."""
    if isinstance(turn, str):
        words, at = read_speaker(turn.strip()), default_at
    else:
        who = turn.speaker.strip() or turn.role.strip()
        words, at = spoken_by(who, turn.text) if who else read_speaker(turn.text), turn.at or default_at
    if not words.text.strip():
        raise Invalid("a turn has no words", hint="give its words as text")
    if not (words.speaker or words.role):
        raise Invalid("a turn has no speaker", hint="write 'user: …', or give it a speaker")
    return _Spoken(words, None if at is None else parse_instant(at, field="at"))


def _said(conversation: str, seq: int, spoken: _Spoken) -> MessageText:
    return MessageText(
        id=message_id(conversation, seq),
        seq=seq,
        text=spoken.words.text,
        speaker=spoken.words.speaker,
        role=spoken.words.role,
        at=None if spoken.at is None else to_iso(spoken.at),
    )


def _answer(ctx: CallContext, conversation: str, spoken: list[_Spoken], done: AppendResult) -> TurnsRecorded:
    made = []
    for event in done.events:
        payload = payload_of(event)
        for said in getattr(payload, "messages", ()):
            made.append((said, TurnRecorded(id=said.id, seq=said.seq, citation=event.citation)))
    gone = any(erased_since(ctx.store, ctx.writer.account, event) for event in done.events)
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
        summary="record a conversation turn by turn",
        input=RecordTurns,
        output=TurnsRecorded,
        effect="write",
        toolset="memory",
        needs_live_memory=False,
        run=record_turns,
        arguments=("session",),
        rare=("policy",),
    ),
)
