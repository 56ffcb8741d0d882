"""Messages in JSON of no program in particular: role and content, from and value, speaker and text.

One object a line, or one list in a file. An object is a message, or a conversation that holds a list of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    Bad,
    Entries,
    Passed,
    Role,
    Titled,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.exports import conversations
from weft.transcripts.lines import objects
from weft.transcripts.spoken import NO_CLIENT, said_in
from weft.transcripts.told_apart import role_of, session_of, told_apart, turn_of

WHO: Final = ("role", "speaker", "from", "sender", "author", "name", "user", "who", "username")
WORDS: Final = ("content", "text", "value", "message", "body", "words", "utterance")
WHEN: Final = ("timestamp", "time", "created_at", "createdAt", "create_time", "date", "datetime", "ts", "at", "sent_at")
IDS: Final = ("id", "message_id", "messageId", "uuid", "msg_id")
SESSIONS: Final = ("session", "session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "chat_id")
LISTS: Final = ("messages", "conversations", "conversation", "turns", "dialog", "dialogue")
_NUMBER: Final = re.compile(r"\d{9,16}(?:\.\d{1,6})?")
_KINDS: Final = ("text", "input_text", "output_text")


def read(path: Path, start: int = 0) -> Entries:
    """Every message, with whatever of speaker, time and id it tells."""
    return told_apart(_entries(path))


def is_message(value: dict[str, Any]) -> bool:
    """Whether an object says who speaks, and words; a conversation does so in its first message."""
    inner = _inner(value)
    if inner:
        return is_message(mapping(inner[0])) and not _inner(mapping(inner[0]))
    return bool(_who(value)) and _words_field(value) is not None


def _entries(path: Path) -> Entries:
    known: Counter[str] = Counter()
    for value in _rows(path):
        if isinstance(value, Bad | Passed):
            yield value
            continue
        if inner := _inner(value):
            session = _first(value, (*SESSIONS, *IDS)) or _by_beginning(path, inner, known)
            if title := name(value.get("title") or value.get("name"), MAX_TITLE_CHARACTERS):
                yield Titled(session=session, title=title)
            begun = _when(value)
            for each in inner:
                yield from _message(mapping(each), session, begun)
        else:
            yield from _message(value, _first(value, SESSIONS) or session_of(path), None)


def _rows(path: Path) -> Iterator[dict[str, Any] | Bad | Passed]:
    if path.suffix == ".json":
        for _, each in conversations(path):
            yield each
        return
    for line in objects(path):
        yield line if isinstance(line, Bad) else line.value
        if line.end:
            yield Passed(end=line.end)


def _message(value: dict[str, Any], session: str, begun: int | None) -> Entries:
    who = _who(value)
    role: Role = "assistant" if role_of(who) == "assistant" else "user"
    held = _words_field(value)
    content = value.get(held) if held else None
    text = said_in(content, NO_CLIENT, role, _KINDS)
    at = _when(value)
    yield turn_of(session, text, who=who, at=begun if at is None else at, identity=_first(value, IDS))


def _inner(value: dict[str, Any]) -> list[Any]:
    """The messages of an object that is a conversation."""
    for key in LISTS:
        if (found := listing(value.get(key))) and isinstance(found[0], dict):
            return found
    return []


def _who(value: dict[str, Any]) -> str:
    """A name of somebody goes before a role, where an object tells both."""
    told = [name(mapping(held).get("name") or mapping(held).get("role")) if isinstance(held, dict) else name(held)
            for held in map(value.get, WHO)]  # fmt: skip
    found = [each for each in told if each]
    if found and role_of(found[0]) == "user":
        return next((each for each in found[1:] if not role_of(each)), found[0])
    return found[0] if found else ""


def _words_field(value: dict[str, Any]) -> str | None:
    return next((key for key in WORDS if isinstance(value.get(key), str | list | dict)), None)


def _when(value: dict[str, Any]) -> int | None:
    """The first time that is one; a number may be written as text."""
    told = (value.get(key) for key in WHEN)
    read = (float(x) if isinstance(x, str) and len(x) < 24 and _NUMBER.fullmatch(x) else x for x in told)
    return next((found for found in map(moment, read) if found is not None), None)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for found in (name(value.get(key)) for key in keys) if found), "")


def _by_beginning(path: Path, inner: list[Any], known: Counter[str]) -> str:
    """A conversation without a name is told by its first words, which stay where others are put before it."""
    first = mapping(inner[0])
    said = words(first.get(_words_field(first) or "")) or repr(first)
    called = f"{session_of(path)}-{sha256(said.encode('utf-8', 'replace')).hexdigest()[:10]}"
    known[called] += 1
    return called if known[called] == 1 else f"{called}~{known[called]}"
