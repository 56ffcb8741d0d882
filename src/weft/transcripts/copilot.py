"""Copilot in VS Code: `chatSessions/*.json` and `.jsonl` of a workspace, and `transcripts/*.jsonl` of its extension."""

from __future__ import annotations

from collections.abc import Iterable
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
    words,
)
from weft.transcripts.lines import MAX_WHOLE_BYTES, Line, entries, objects, opened, whole
from weft.transcripts.spoken import said

INITIAL, SET, PUSH, DELETE = range(4)  # kinds of entries in the log of a conversation's changes
MAX_ITEMS: Final = 100_000  # of one list in it
_EVENTS: Final[dict[str, Role]] = {"user.message": "user", "assistant.message": "assistant"}


def read_events(path: Path, start: int = 0) -> Entries:
    """The extension's own transcript, which is what hooks are told of: one event a line, only ever added to."""
    return entries(path, start, partial(_event, path.stem))


def _event(session: str, line: Line) -> Entries:
    value, data = line.value, mapping(line.value.get("data"))
    role = _EVENTS.get(name(value.get("type")))
    identity = name(value.get("id")) or name(data.get("messageId"))
    if role is None or not identity:
        return
    text, dropped = bounded(said(words(data.get("content")), "vscode", role))
    if text:
        at = moment(value.get("timestamp"))
        yield Turn(id=identity, session=session, role=role, text=text, at=at, dropped=dropped)


def read_chat(path: Path, start: int = 0) -> Entries:
    """A conversation in one file: as it stands, or as the log of its changes."""
    if path.suffix == ".json":
        value = whole(path)
        if isinstance(value, Bad):
            yield value
            return
        yield from _conversation(mapping(value), path)
        return
    with opened(path) as file:
        size = file.seek(0, 2)
    if size > MAX_WHOLE_BYTES:
        yield Bad(where="the file", reason=f"it is larger than {MAX_WHOLE_BYTES:,} bytes")
        return
    state: dict[str, Any] = {}
    for line in objects(path):
        if isinstance(line, Bad):
            yield line
        elif not _applied(state, line):
            yield Bad(where=f"line {line.number}", reason="it changes what is not there")
    yield from _conversation(mapping(state.get("v")), path)


def _applied(state: dict[str, Any], line: Line) -> bool:
    """Makes one change; False where it cannot be made."""
    entry = line.value
    if entry.get("kind") == INITIAL:
        state["v"] = entry.get("v")
        return True
    way = ["v", *listing(entry.get("k"))]
    holder: Any = state
    for step in way[:-1]:
        holder = _at(holder, step)
    last = way[-1]
    if entry.get("kind") == PUSH:
        there = _at(holder, last)
        if there is None and isinstance(holder, dict):
            holder[last] = there = []
        if not isinstance(there, list):
            return False
        if isinstance(at := entry.get("i"), int) and at >= 0:
            del there[at:]
        there.extend(listing(entry.get("v"))[: MAX_ITEMS - len(there)])
        return True
    value = entry.get("v") if entry.get("kind") == SET else None
    if isinstance(holder, dict) and isinstance(last, str):
        holder[last] = value
        return True
    if isinstance(holder, list) and isinstance(last, int) and 0 <= last <= len(holder) < MAX_ITEMS:
        holder[last : last + 1] = [value]
        return True
    return False


def _at(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _conversation(value: dict[str, Any], path: Path) -> Entries:
    session = name(value.get("sessionId")) or path.stem
    requests = value.get("requests")
    if not isinstance(requests, list):
        yield Bad(where="the file", reason="it holds no requests")
        return
    if title := name(value.get("customTitle"), MAX_TITLE_CHARACTERS):
        yield Titled(session=session, title=title)
    for number, each in enumerate(requests, start=1):
        request = mapping(each)
        identity = name(request.get("requestId")) or str(number)
        at = moment(request.get("timestamp"))
        message = mapping(request.get("message"))
        asked: tuple[Role, str] = ("user", words(message.get("text")) or words(request.get("message")))
        answered: tuple[Role, str] = ("assistant", _answer(listing(request.get("response"))))
        for role, spoken in (asked, answered):
            text, dropped = bounded(said(spoken, "vscode", role))
            if text:
                yield Turn(id=f"{identity}.{role}", session=session, role=role, text=text, at=at, dropped=dropped)


def _answer(parts: Iterable[Any]) -> str:
    """What the assistant wrote. Parts that are words have no kind or are markdown; tools and thoughts say theirs."""
    found = []
    for each in parts:
        part = mapping(each)
        if part.get("kind") in (None, "markdownContent"):
            content = part.get("content") if "content" in part else part
            found.append(words(mapping(content).get("value")) or words(part.get("value")))
    return "".join(found)
