"""Open WebUI and LibreChat: conversations exported as JSON, in which messages name the message they answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    Bad,
    Entries,
    Role,
    Titled,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.exports import conversations
from weft.transcripts.spoken import NO_CLIENT, said, said_in
from weft.transcripts.told_apart import role_of, session_of, told_apart, turn_of

MAX_DEPTH: Final = 10_000


def read_open_webui(path: Path, start: int = 0) -> Entries:
    """Chats of Open WebUI: of each the branch that was last shown."""
    return told_apart(_open_webui(path))


def read_librechat(path: Path, start: int = 0) -> Entries:
    """A conversation of LibreChat, as it is exported: a branch, a list of all messages, or messages in messages."""
    return told_apart(_librechat(path))


def _open_webui(path: Path) -> Entries:
    for number, row in conversations(path):
        if isinstance(row, Bad):
            yield row
            continue
        chat = mapping(row.get("chat")) or row
        session = name(row.get("id")) or f"{session_of(path)}-{number}"
        history = mapping(chat.get("history"))
        tree = mapping(history.get("messages"))
        messages = _upwards(tree, words(history.get("currentId"))) or [
            mapping(x) for x in listing(chat.get("messages"))
        ]
        if not messages:
            yield Bad(where=f"conversation {number}", reason="it has no messages")
            continue
        if title := name(row.get("title") or chat.get("title"), MAX_TITLE_CHARACTERS):
            yield Titled(session=session, title=title)
        begun = moment(row.get("created_at")) or moment(chat.get("timestamp"))
        for each in messages:
            at = moment(each.get("timestamp")) or begun
            who = name(each.get("role"))
            text = said_in(each.get("content"), NO_CLIENT, "assistant" if role_of(who) == "assistant" else "user")
            yield turn_of(session, text, who=who, at=at, identity=name(each.get("id")))


def _upwards(tree: dict[str, Any], last: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    while last in tree and last not in seen:
        seen.add(last)
        found.append(mapping(tree[last]))
        last = words(found[-1].get("parentId"))
    return found[::-1]


def _librechat(path: Path) -> Entries:
    for number, row in conversations(path):
        if isinstance(row, Bad):
            yield row
            continue
        session = name(row.get("conversationId")) or f"{session_of(path)}-{number}"
        if title := name(row.get("title"), MAX_TITLE_CHARACTERS):
            yield Titled(session=session, title=title)
        found = listing(row.get("messagesTree")) or listing(row.get("messages"))
        if not found:
            yield Bad(where=f"conversation {number}", reason="it has no messages")
        for each in _flat(found):
            mine = each.get("isCreatedByUser")
            who = "user" if mine is True else "assistant" if mine is False else name(each.get("sender"))
            role: Role = "assistant" if role_of(who) == "assistant" else "user"
            spoken = said(words(each.get("text")), NO_CLIENT, role)
            text = spoken or said_in(each.get("content"), NO_CLIENT, role)
            at = moment(each.get("createdAt"))
            yield turn_of(session, text, who=who, at=at, identity=name(each.get("messageId")))


def _flat(rows: list[Any]) -> Iterator[dict[str, Any]]:
    """Messages before their answers, however deep these stand in them."""
    waiting = [iter(rows)]
    while waiting:
        row = next(waiting[-1], None)
        if row is None:
            waiting.pop()
            continue
        yield mapping(row)
        if (below := listing(mapping(row).get("children"))) and len(waiting) < MAX_DEPTH:
            waiting.append(iter(below))
