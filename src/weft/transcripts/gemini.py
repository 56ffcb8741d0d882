"""Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, before that `.json`, and the older `logs.json`."""

from __future__ import annotations

from functools import partial
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
)
from weft.transcripts.lines import Line, entries, objects, whole
from weft.transcripts.spoken import said_in

_ROLES: Final[dict[str, Role]] = {"user": "user", "gemini": "assistant"}


def read_lines(path: Path, start: int = 0) -> Entries:
    """A conversation as it is added to: first a line about it, then messages, and changes of what was said about it.

    A message comes again whenever it grows. What was taken back by going back in the conversation was said all the
    same, and stays.
    """
    first = next(iter(objects(path)), None)
    about = {} if first is None or isinstance(first, Bad) else first.value
    return entries(path, start, partial(_line, name(about.get("sessionId")) or path.stem))


def read_whole(path: Path, start: int = 0) -> Entries:
    """A conversation in one file that is written anew each time, or the older list of what the user typed."""
    value = whole(path)
    if isinstance(value, Bad):
        yield value
    elif isinstance(value, list):
        yield from _typed(value, path)
    else:
        value = mapping(value)
        session = name(value.get("sessionId")) or path.stem
        if not isinstance(value.get("messages"), list):
            yield Bad(where="the file", reason="it holds no messages")
        yield from _titled(session, value)
        for message in listing(value.get("messages")):
            if (turn := _turn(mapping(message), session)) is not None:
                yield turn


def _line(session: str, line: Line) -> Entries:
    about = mapping(line.value.get("$set")) or line.value
    if "type" not in line.value:
        yield from _titled(session, about)
    for message in [line.value, *listing(about.get("messages"))]:
        if (turn := _turn(mapping(message), session)) is not None:
            yield turn


def _titled(session: str, value: dict[str, Any]) -> Entries:
    if title := name(value.get("summary"), MAX_TITLE_CHARACTERS):
        yield Titled(session=session, title=title)


def _turn(value: dict[str, Any], session: str) -> Turn | None:
    role = _ROLES.get(name(value.get("type")))
    if role is None or not (identity := name(value.get("id"))):
        return None
    text, dropped = bounded(said_in(value.get("content"), "gemini", role))
    if not text:
        return None
    return Turn(
        id=identity,
        session=session,
        role=role,
        text=text,
        at=moment(value.get("timestamp")),
        dropped=dropped,
    )


def _typed(rows: list[Any], path: Path) -> Entries:
    """The older log: only what the user typed, of all sessions in a directory."""
    for number, row in enumerate(rows, start=1):
        value = mapping(row)
        session = name(value.get("sessionId")) or path.parent.name
        text, dropped = bounded(said_in(value.get("message"), "gemini", "user"))
        if value.get("type") != "user" or text.startswith("/") or not text:
            continue
        place = name(value.get("messageId")) or str(number)
        at = moment(value.get("timestamp"))
        yield Turn(id=f"log-{place}", session=session, role="user", text=text, at=at, dropped=dropped)
