"""`receive_message`: records and screens a message from outside."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.conversations.first_message import PolicyAsked
from weft.conversations.record import RecordTurns, TurnGiven, TurnRecorded, TurnsRecorded, keep_turns
from weft.conversations.screen import MAX_MESSAGE_CHARACTERS, Screen, Screened, screen
from weft.conversations.turns import LATEST, About, ConversationState, Turns, append_turns, conversation_id, recorded
from weft.core.clock import to_iso
from weft.log.draft import Draft
from weft.log.kinds.conversation import MessageText
from weft.runtime.call_context import CallContext
from weft.runtime.fields import History, Label, Moment, Name, ScopeAsked, Tags
from weft.runtime.operation import Operation
from weft.text.injection.verdict import Channel, Verdict

TURNED_AWAY = "policy lazy: a discarded message is not recorded"


class ReceiveMessage(Struct, frozen=True, kw_only=True):
    """Input of `receive_message`."""

    session: Annotated[Name, Meta(description="conversation; a new name begins one")]
    message: Annotated[str, Meta(min_length=1, max_length=MAX_MESSAGE_CHARACTERS, description="the message, verbatim")]
    channel: Annotated[
        Channel, Meta(description="admin is advisory; public, direct (one to one) and group may come from anyone")
    ] = "public"
    history: History = ()
    speaker: Annotated[str, Meta(min_length=1, max_length=128, description="sender: a name, or user")] = "user"
    at: Annotated[Moment | None, Meta(description="when it was sent; now if unset")] = None
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    policy: PolicyAsked = None
    request_id: Annotated[
        Label | None, Meta(description="id of the request: a repeated call with it has no further effect")
    ] = None


class ReceiveResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The screening of a message, and its turn: `turn` is None if it is held or not recorded."""

    status: Literal["saved", "duplicate_skip", "held", "turned_away"]
    session: str
    screened: Screened
    turn: TurnRecorded | None = None
    notes: tuple[str, ...] = ()


def receive_message(ctx: CallContext, given: ReceiveMessage) -> ReceiveResult:
    """Records a message from outside as a turn of its conversation and screens it like `weft screen`.

    With policy forensic (the default) every message is recorded before it is screened; one that is not clean is marked
    with the verdict. With policy lazy it is screened first: a discarded message is not recorded, and a conversation is
    recorded from its second message on.
    """
    asked = Screen(message=given.message, channel=given.channel, history=given.history)
    if (given.policy or ctx.settings.conversations) == "lazy":
        screened = screen(ctx, asked)
        if screened.verdict == "DISCARD":
            session = conversation_id(ctx.settings.project, given.session.strip())
            return ReceiveResult(status="turned_away", session=session, screened=screened, notes=(TURNED_AWAY,))
        kept = _kept(ctx, given, screened.verdict)  # the verdict is held with the message
    else:
        kept = _kept(ctx, given)
        screened = screen(ctx, asked)
    turn = kept.turns[-1] if kept.turns else None
    notes = kept.notes
    if screened.verdict != "CLEAN" and turn is not None and _marked(ctx, kept.session, turn, screened.verdict):
        notes += (f"recorded, and marked {screened.verdict}",)
    return ReceiveResult(status=kept.status, session=kept.session, screened=screened, turn=turn, notes=notes)


def _kept(ctx: CallContext, given: ReceiveMessage, verdict: Verdict = "CLEAN") -> TurnsRecorded:
    turn = TurnGiven(text=given.message, speaker=given.speaker, at=given.at)
    asked = RecordTurns(
        session=given.session,
        turns=(turn,),
        scope=given.scope,
        agents=given.agents,
        request_id=given.request_id,
        policy=given.policy,
    )
    return keep_turns(ctx, asked, "" if verdict == "CLEAN" else verdict)


def _marked(ctx: CallContext, conversation: str, turn: TurnRecorded, verdict: Verdict) -> bool:
    """Writes the verdict on a recorded turn as a new version with the same words.

    Idempotent: a repeated call finds the mark. False if the turn is gone.
    """
    node = next(iter(ctx.store.nodes(ctx.viewer, LATEST, [turn.id])), None)
    if node is None or node.props.get("verdict"):
        return node is not None
    speaker, role = (node.props.get(each) for each in ("speaker", "role"))
    said = MessageText(
        id=turn.id,
        seq=turn.seq,
        text=node.text,
        speaker=speaker if isinstance(speaker, str) else "",
        role=role if isinstance(role, str) else "",
        at=to_iso(node.interval.asserted_from),
        verdict=verdict,
    )
    turns = Turns(conversation=conversation, guard=node.guard)

    def plan(standing: ConversationState) -> list[Draft]:
        return [recorded(turns, [said], About(), at=node.interval.asserted_from, ended=(turn.id,))]

    append_turns(ctx, conversation, plan)
    return True


OPERATIONS = (
    Operation(
        name="receive_message",
        summary="record a message from outside, and screen it",
        input=ReceiveMessage,
        output=ReceiveResult,
        effect="write",
        toolset="memory",
        run=receive_message,
        arguments=("session", "message"),
        rare=("policy", "at", "scope", "agents"),
    ),
)
