"""`receive_message`: a message from outside, kept before anybody decides about it, then screened."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.gateway.verdict import Channel, Verdict
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.log.kinds.conversation import Said
from weft.loom import Loom
from weft.operations.asking import History
from weft.operations.conversations import LATEST, About, Standing, Turns, append_turns, conversation_id, recorded
from weft.operations.fields import Label, Moment, Name, ScopeAsked, Tags
from weft.operations.policies import PolicyAsked
from weft.operations.recording import RecordTurns, TurnGiven, TurnRecorded, TurnsRecorded, keep_turns
from weft.operations.registry import Operation
from weft.operations.screening import MAX_MESSAGE_CHARACTERS, Screen, Screened, screen

TURNED_AWAY = "policy lazy: a message that is turned away is not kept"


class ReceiveMessage(Struct, frozen=True, kw_only=True):
    """Input of `receive_message`."""

    session: Annotated[Name, Meta(description="which conversation it belongs to; a new name begins one")]
    message: Annotated[
        str, Meta(min_length=1, max_length=MAX_MESSAGE_CHARACTERS, description="what came in, as it came")
    ]
    channel: Annotated[
        Channel, Meta(description="admin is advisory; public, direct (one to one) and group come from anybody")
    ] = "public"
    history: History = ()
    speaker: Annotated[str, Meta(min_length=1, max_length=128, description="who sent it: a name, or user")] = "user"
    at: Annotated[Moment | None, Meta(description="when it was sent; now if unset")] = None
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    policy: PolicyAsked = None
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is kept once")] = None


class Received(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the message is, and where it is kept: `turn` is None while it waits for a second, or is not kept."""

    status: Literal["saved", "duplicate_skip", "held", "turned_away"]
    session: str
    screened: Screened
    turn: TurnRecorded | None = None
    notes: tuple[str, ...] = ()


def receive_message(loom: Loom, given: ReceiveMessage) -> Received:
    """Takes in a message from outside: keeps it as a turn of its conversation, then screens it as `weft screen` does.

    With policy forensic (the default) every message is kept first, whatever is found of it afterwards; one that is not
    clean is marked with the verdict. With policy lazy it is screened first: what is to be discarded is not kept, and a
    conversation is kept from its second message on.
    """
    asked = Screen(message=given.message, channel=given.channel, history=given.history)
    if (given.policy or loom.settings.conversations) == "lazy":
        screened = screen(loom, asked)
        if screened.verdict == "DISCARD":
            session = conversation_id(loom.settings.project, given.session.strip())
            return Received(status="turned_away", session=session, screened=screened, notes=(TURNED_AWAY,))
        kept = _kept(loom, given, screened.verdict)  # which waits with it, if it has to
    else:
        kept = _kept(loom, given)
        screened = screen(loom, asked)
    turn = kept.turns[-1] if kept.turns else None
    notes = kept.notes
    if screened.verdict != "CLEAN" and turn is not None and _marked(loom, kept.session, turn, screened.verdict):
        notes += (f"it is kept, and marked {screened.verdict}",)
    return Received(status=kept.status, session=kept.session, screened=screened, turn=turn, notes=notes)


def _kept(loom: Loom, given: ReceiveMessage, verdict: Verdict = "CLEAN") -> TurnsRecorded:
    turn = TurnGiven(text=given.message, speaker=given.speaker, at=given.at)
    asked = RecordTurns(
        session=given.session,
        turns=(turn,),
        scope=given.scope,
        agents=given.agents,
        request_id=given.request_id,
        policy=given.policy,
    )
    return keep_turns(loom, asked, "" if verdict == "CLEAN" else verdict)


def _marked(loom: Loom, conversation: str, turn: TurnRecorded, verdict: Verdict) -> bool:
    """Says of a turn that is kept what was found of it: the same words again, with the verdict.

    Once: a call that is repeated finds it marked, unless the first was stopped before it came to that. False where the
    turn is gone meanwhile.
    """
    node = next(iter(loom.store.nodes(loom.viewer, LATEST, [turn.id])), None)
    if node is None or node.props.get("verdict"):
        return node is not None
    speaker, role = (node.props.get(each) for each in ("speaker", "role"))
    said = Said(
        id=turn.id,
        seq=turn.seq,
        text=node.text,
        speaker=speaker if isinstance(speaker, str) else "",
        role=role if isinstance(role, str) else "",
        at=to_iso(node.interval.asserted_from),
        verdict=verdict,
    )
    turns = Turns(conversation=conversation, guard=node.guard)

    def plan(standing: Standing) -> list[Draft]:
        return [recorded(turns, [said], About(), at=node.interval.asserted_from, ended=(turn.id,))]

    append_turns(loom, conversation, plan)
    return True


OPERATIONS = (
    Operation(
        name="receive_message",
        summary="keep a message from outside, then judge it as screen does",
        input=ReceiveMessage,
        output=Received,
        effect="write",
        toolset="memory",
        run=receive_message,
        arguments=("session", "message"),
        rare=("policy", "at", "scope", "agents"),
    ),
)
