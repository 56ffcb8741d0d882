"""Archiving conversations: out of lists and searches, and nothing lost."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.errors import Conflict, Forbidden, NotFound
from weft.instants import to_iso
from weft.log.draft import Draft
from weft.loom import Loom
from weft.operations.conversations import LATEST, About, Standing, Turns, append_turns, conversation_id, recorded
from weft.operations.fields import Name
from weft.operations.registry import Operation
from weft.types import NodeVersion


class SessionArchive(Struct, frozen=True, kw_only=True):
    """Input of `session_archive`."""

    session: Annotated[Name, Meta(description="which conversation, by its name or id")]
    archived: Annotated[bool, Meta(description="false brings it back")] = True


class SessionArchived(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of it: `unchanged` if it stood so already."""

    status: Literal["archived", "brought_back", "unchanged"]
    session: str
    citation: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()


def session_archive(loom: Loom, given: SessionArchive) -> SessionArchived:
    """Archives a conversation: `weft conversation-list` and `weft conversation-search` leave it out, unless they are
    asked with --archived or by its name. It stays in the log, can be cited, goes on with new turns, and recall still
    finds what was said in it. `weft session-archive SESSION --no-archived` brings it back; `weft delete` takes a
    conversation out of all answers.
    """
    if loom.viewer.audience == "public":
        raise Forbidden("public agents archive no conversations", hint="ask the operator to do it")
    known = named_session(loom, given.session)
    if is_archived(known) == given.archived:
        return SessionArchived(status="unchanged", session=known.id, title=known.name)
    turns = Turns(conversation=known.id, guard=known.guard, title=known.name)
    record = known.props.get("record")

    def plan(standing: Standing) -> list[Draft]:
        said = About(
            opens=True,
            title=known.name,
            begins=to_iso(known.interval.asserted_from),
            whole=known.props.get("whole") is True,
            archived=given.archived,
            ended=(known.id,),
        )
        return [recorded(turns, [], said, at=None, record=record if isinstance(record, str) else None)]

    done = append_turns(loom, known.id, plan)
    if done is None:
        raise Conflict(f"{known.id!r} could not be changed", hint="try again")
    status: Literal["archived", "brought_back"] = "archived" if given.archived else "brought_back"
    notes = tuple(filter(None, (done.note,)))
    return SessionArchived(
        status=status, session=known.id, citation=done.events[0].citation, title=known.name, notes=notes
    )


def named_session(loom: Loom, written: str) -> NodeVersion:
    """The conversation of this id, or of this name in this project. Raises NotFound where the viewer sees none."""
    name = written.strip()
    either = [name, conversation_id(loom.settings.project, name)]
    found = {node.id: node for node in loom.store.nodes(loom.viewer, LATEST, either) if node.kind == "Session"}
    for each in either:
        if each in found:
            return found[each]
    raise NotFound(f"there is no session {name[:80]!r} that you may see", hint="`weft conversation-list` lists them")


def is_archived(session: NodeVersion) -> bool:
    """Whether a conversation is left out of lists and searches."""
    return session.props.get("archived") is True


OPERATIONS = (
    Operation(
        name="session_archive",
        summary="take a conversation out of lists and searches, or bring it back; nothing is lost",
        input=SessionArchive,
        output=SessionArchived,
        effect="write",
        toolset="memory",
        run=session_archive,
        arguments=("session",),
    ),
)
