"""Cursor: `globalStorage/state.vscdb`, a database that Cursor has open, and `agent-transcripts/*.jsonl`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

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
from weft.transcripts.lines import Line, decoded, entries, opened
from weft.transcripts.spoken import said, said_in

MAX_VALUE_BYTES: Final = 32 << 20
MAX_CONVERSATIONS: Final = 100_000
_ROLES: Final[dict[str, Role]] = {"1": "user", "2": "assistant"}
_NAMED: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant"}
_CONVERSATIONS: Final = (
    "SELECT key, CASE WHEN length(value) <= :most THEN value END FROM cursorDiskKV"
    " WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key LIMIT :limit"
)
_MESSAGE: Final = "SELECT value FROM cursorDiskKV WHERE key = ? AND length(value) <= ?"


def read(path: Path, start: int = 0) -> Entries:
    """Every conversation of a database. It is read as the file stands, and neither locked nor written.

    A database that changes meanwhile may be read in part: what is missing comes with the next time.
    """
    opened(path).close()
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)) as database:
            bounds = {"most": MAX_VALUE_BYTES, "limit": MAX_CONVERSATIONS}
            for key, value in database.execute(_CONVERSATIONS, bounds):
                session = name(words(key).partition(":")[2])
                yield from _conversation(database, session, _decoded(value))
    except sqlite3.Error as problem:
        yield Bad(where="the database", reason=f"it cannot be read: {problem!s:.120}")


def _conversation(database: sqlite3.Connection, session: str, value: dict[str, Any] | None) -> Entries:
    if value is None:
        yield Bad(where=f"conversation {session}", reason="it is not JSON, or too large")
        return
    if title := name(value.get("name"), MAX_TITLE_CHARACTERS):
        yield Titled(session=session, title=title)
    begun = moment(value.get("createdAt"))
    for bubble in _bubbles(database, session, value):
        role = _ROLES.get(name(bubble.get("type")))
        identity = name(bubble.get("bubbleId"))
        if role is None or not identity:
            continue
        text, dropped = bounded(said(words(bubble.get("text")), "cursor", role))
        if text:
            at = moment(bubble.get("createdAt")) or begun
            yield Turn(id=identity, session=session, role=role, text=text, at=at, dropped=dropped)


def _bubbles(database: sqlite3.Connection, session: str, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages, in order: in the conversation itself, as older versions keep them, or each on its own."""
    for each in listing(value.get("conversation")):
        yield mapping(each)
    for head in listing(value.get("fullConversationHeadersOnly")):
        bubble = name(mapping(head).get("bubbleId"))
        found = database.execute(_MESSAGE, (f"bubbleId:{session}:{bubble}", MAX_VALUE_BYTES)).fetchone()
        if found is not None and (message := _decoded(found[0])) is not None:
            yield {"type": mapping(head).get("type"), "bubbleId": bubble, **message}


def _decoded(value: Any) -> dict[str, Any] | None:
    try:
        found = decoded(value) if isinstance(value, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_lines(path: Path, start: int = 0) -> Entries:
    """A transcript that Cursor writes for hooks: role and content a line, with neither ids nor times."""
    return entries(path, start, partial(_line, path.stem))


def _line(session: str, line: Line) -> Entries:
    role = _NAMED.get(name(line.value.get("role")))
    if role is None:
        return
    text, dropped = bounded(said_in(mapping(line.value.get("message")).get("content"), "cursor", role))
    if text:
        yield Turn(id=f"from-{line.start}", session=session, role=role, text=text, dropped=dropped)
