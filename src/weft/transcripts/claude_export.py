"""Claude Desktop and claude.ai keep no history on this machine: the account's export, `conversations.json`, is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    Bad,
    Entries,
    Role,
    Titled,
    Turn,
    bounded,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.exports import conversations
from weft.transcripts.spoken import NO_CLIENT, said, said_in

_ROLES: Final[dict[str, Role]] = {"human": "user", "assistant": "assistant"}


def read(path: Path, start: int = 0) -> Entries:
    """Every conversation of an export, one at a time: packed, or as `conversations.json`."""
    for number, conversation in conversations(path):
        if isinstance(conversation, Bad):
            yield conversation
            continue
        if not (session := name(conversation.get("uuid"))):
            yield Bad(where=f"conversation {number}", reason="it has no uuid")
            continue
        if title := name(conversation.get("name"), MAX_TITLE_CHARACTERS):
            yield Titled(session=session, title=title)
        for message in listing(conversation.get("chat_messages")):
            if (turn := _turn(mapping(message), session)) is not None:
                yield turn


def _turn(value: dict[str, Any], session: str) -> Turn | None:
    role = _ROLES.get(name(value.get("sender")))
    if role is None or not (identity := name(value.get("uuid"))):
        return None
    content = said_in(value.get("content"), NO_CLIENT, role)
    text, dropped = bounded(content or said(words(value.get("text")), NO_CLIENT, role))
    if not text:
        return None
    at = moment(value.get("created_at"))
    return Turn(id=identity, session=session, role=role, text=text, at=at, dropped=dropped)
