"""Generic JSON messages: role and content, from and value, speaker and text.

One object per line, or one list in a file. An object is a message or a conversation with a list of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from weft.conversations.formats.client_markup import NO_CLIENT, content_text
from weft.conversations.formats.entries import (
    Entries,
    ReadTo,
    Role,
    Unreadable,
    as_dict,
    as_label,
    as_list,
    as_text,
    first_label,
    role_of,
    session_of,
    titled,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.json_lines import objects
from weft.conversations.formats.json_stream import conversations
from weft.conversations.formats.times import as_time

AUTHOR_FIELDS: Final = ("role", "speaker", "from", "sender", "author", "name", "user", "who", "username")
TEXT_FIELDS: Final = ("content", "text", "value", "message", "body", "words", "utterance")
TIME_FIELDS: Final = (
    *("timestamp", "time", "created_at", "createdAt", "create_time", "date", "datetime", "ts", "at", "sent_at"),
)
ID_FIELDS: Final = ("id", "message_id", "messageId", "uuid", "msg_id")
SESSION_FIELDS: Final = (
    *("session", "session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "chat_id"),
)
LIST_FIELDS: Final = ("messages", "conversations", "conversation", "turns", "dialog", "dialogue")
_NUMBER: Final = re.compile(r"\d{9,16}(?:\.\d{1,6})?")
_CONTENT_KINDS: Final = ("text", "input_text", "output_text")


def read(path: Path, start: int = 0) -> Entries:
    """Every message, with the author, time and id that it names."""
    return with_unique_ids(_entries(path))


def is_message(value: dict[str, Any]) -> bool:
    """Whether an object names an author and has text; of a conversation, whether its first message does."""
    if inner := _inner(value):
        return is_message(as_dict(inner[0])) and not _inner(as_dict(inner[0]))
    return bool(_author(value)) and _text_field(value) is not None


def _entries(path: Path) -> Entries:
    known: Counter[str] = Counter()
    for value in _rows(path):
        if isinstance(value, Unreadable | ReadTo):
            yield value
        elif inner := _inner(value):
            session = first_label(value, (*SESSION_FIELDS, *ID_FIELDS)) or _named_by_start(path, inner, known)
            yield from titled(session, value.get("title") or value.get("name"))
            begun = _time(value)
            for each in inner:
                yield from _message(as_dict(each), session, begun)
        else:
            yield from _message(value, first_label(value, SESSION_FIELDS) or session_of(path), None)


def _rows(path: Path) -> Iterator[dict[str, Any] | Unreadable | ReadTo]:
    if path.suffix == ".json":
        yield from (each for _, each in conversations(path))
        return
    for line in objects(path):
        yield line if isinstance(line, Unreadable) else line.value
        if line.end:
            yield ReadTo(end=line.end)


def _message(value: dict[str, Any], session: str, begun: int | None) -> Entries:
    who = _author(value)
    role: Role = "assistant" if role_of(who) == "assistant" else "user"
    text = content_text(value.get(_text_field(value) or ""), NO_CLIENT, role, _CONTENT_KINDS)
    at = _time(value)
    yield turn_of(session, text, who=who, at=begun if at is None else at, identity=first_label(value, ID_FIELDS))


def _inner(value: dict[str, Any]) -> list[Any]:
    """The messages of a conversation; empty for a message."""
    for key in LIST_FIELDS:
        if (found := as_list(value.get(key))) and isinstance(found[0], dict):
            return found
    return []


def _author(value: dict[str, Any]) -> str:
    """A person's name is preferred to the role `user` if an object has both."""
    held = map(value.get, AUTHOR_FIELDS)
    labels = (as_label(each.get("name") or each.get("role")) if isinstance(each, dict) else as_label(each)
              for each in held)  # fmt: skip
    found = [each for each in labels if each]
    if found and role_of(found[0]) == "user":
        return next((each for each in found[1:] if not role_of(each)), found[0])
    return found[0] if found else ""


def _text_field(value: dict[str, Any]) -> str | None:
    return next((key for key in TEXT_FIELDS if isinstance(value.get(key), str | list | dict)), None)


def _time(value: dict[str, Any]) -> int | None:
    """The first field with a valid time; a number may be written as a string."""
    held = (value.get(key) for key in TIME_FIELDS)
    read = (float(x) if isinstance(x, str) and len(x) < 24 and _NUMBER.fullmatch(x) else x for x in held)
    return next((found for found in map(as_time, read) if found is not None), None)


def _named_by_start(path: Path, inner: list[Any], known: Counter[str]) -> str:
    """A name for a conversation without one, from its first words: it stays when others are inserted before it."""
    first = as_dict(inner[0])
    text = as_text(first.get(_text_field(first) or "")) or repr(first)
    name = f"{session_of(path)}-{sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}"
    known[name] += 1
    return name if known[name] == 1 else f"{name}~{known[name]}"
