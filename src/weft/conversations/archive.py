"""Archiving of conversations: hidden from lists and searches, nothing is deleted."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.conversations.turns import LATEST, About, ConversationState, Turns, append_turns, conversation_id, recorded
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, NotFound
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name
from weft.runtime.operation import Operation


class SessionArchive(Struct, frozen=True, kw_only=True):
    """Input of `session_archive`."""

    session: Annotated[Name, Meta(description="name or id of the conversation")]
    archived: Annotated[bool, Meta(description="false brings it back")] = True


class SessionArchived(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome: `unchanged` if the conversation was already in that state."""

    status: Literal["archived", "brought_back", "unchanged"]
    session: str
    citation: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()


def session_archive(ctx: CallContext, given: SessionArchive) -> SessionArchived:
    """Archives a conversation: `weft conversation-list` and `weft conversation-search` leave it out, unless called with
    --archived or with its name. It stays in the log, can be cited and continued, and recall still finds it. `weft
    session-archive SESSION --no-archived` brings it back; `weft delete` hides a conversation from all answers.
    """
    if ctx.viewer.audience == "public":
        raise Forbidden("public agents cannot archive conversations", hint="ask the operator")
    known = named_session(ctx, given.session)
    if is_archived(known) == given.archived:
        return SessionArchived(status="unchanged", session=known.id, title=known.name)
    turns = Turns(conversation=known.id, guard=known.guard, title=known.name)
    record = known.props.get("record")

    def plan(standing: ConversationState) -> list[Draft]:
        said = About(
            opens=True,
            title=known.name,
            begins=to_iso(known.interval.asserted_from),
            whole=known.props.get("whole") is True,
            archived=given.archived,
            ended=(known.id,),
        )
        return [recorded(turns, [], said, at=None, record=record if isinstance(record, str) else None)]

    done = append_turns(ctx, known.id, plan)
    if done is None:
        raise Conflict(f"{known.id!r} could not be changed", hint="try again")
    status: Literal["archived", "brought_back"] = "archived" if given.archived else "brought_back"
    notes = tuple(filter(None, (done.note,)))
    return SessionArchived(
        status=status, session=known.id, citation=done.events[0].citation, title=known.name, notes=notes
    )


def named_session(ctx: CallContext, written: str) -> NodeVersion:
    """The conversation with this id, or with this name in this project. Raises NotFound if none is visible to the
    viewer.
    """
    name = written.strip()
    either = [name, conversation_id(ctx.settings.project, name)]
    found = {node.id: node for node in ctx.store.nodes(ctx.viewer, LATEST, either) if node.kind == "Session"}
    for each in either:
        if each in found:
            return found[each]
    raise NotFound(f"no session {name[:80]!r} is visible to you", hint="`weft conversation-list` lists them")


def is_archived(session: NodeVersion) -> bool:
    """Whether a conversation is left out of lists and searches."""
    return session.props.get("archived") is True


OPERATIONS = (
    Operation(
        name="session_archive",
        summary="hide a conversation from lists and searches, or show it again; nothing is deleted",
        input=SessionArchive,
        output=SessionArchived,
        effect="write",
        toolset="memory",
        run=session_archive,
        arguments=("session",),
    ),
)
