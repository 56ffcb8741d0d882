"""Telegram Desktop: `result.json` of one chat, or of a whole account. A service message is nobody's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    MEDIA,
    NOTICE,
    Bad,
    Entries,
    Left,
    Titled,
    listing,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.json_stream import Broken, JsonStream
from weft.transcripts.lines import opened
from weft.transcripts.told_apart import session_of, told_apart, turn_of


def read(path: Path, start: int = 0) -> Entries:
    """Every chat of an export, message by message."""
    return told_apart(_entries(path))


def _entries(path: Path) -> Entries:
    with opened(path) as file:
        stream = JsonStream(file)
        try:
            yield from _chat(stream, session_of(path))
        except Broken as problem:
            yield Bad(where="the file", reason=str(problem))


def _chat(stream: JsonStream, otherwise: str) -> Entries:
    """A chat, or an object that holds lists of chats: their messages stand last, behind what is said of the chat."""
    if stream.peek() != "{":
        yield Bad(where=stream.place, reason="it is no chat")
        stream.value()
        return
    about: dict[str, Any] = {}
    for field in stream.fields():
        if field in ("chats", "left_chats") and stream.peek() == "{":
            yield from _chat(stream, otherwise)
        elif field == "list" and stream.peek() == "[":
            for number in stream.items():
                yield from _chat(stream, f"{otherwise}-{number}")
        elif field == "messages" and stream.peek() == "[":
            session = name(about.get("id")) or otherwise
            if title := name(about.get("name"), MAX_TITLE_CHARACTERS):
                yield Titled(session=session, title=title)
            for _ in stream.items():
                yield from _message(mapping(stream.value()), session)
        else:
            about[field] = stream.value()


def _message(value: dict[str, Any], session: str) -> Entries:
    if value.get("type") != "message":
        yield Left(reason=NOTICE)
        return
    text = _words(value.get("text")) or _words(value.get("text_entities"))
    if not text.strip() and any(
        key in value for key in ("photo", "file", "media_type", "location_information", "poll")
    ):
        yield Left(reason=MEDIA)
        return
    unix = words(value.get("date_unixtime"))
    at = moment(int(unix)) if unix.isdecimal() and len(unix) < 16 else moment(value.get("date"))
    who = name(value.get("from")) or ("a deleted account" if value.get("from_id") else "")
    yield turn_of(session, text, who=who, at=at, identity=name(value.get("id")))


def _words(value: Any) -> str:
    """Text is a string, or pieces of which some are formatted."""
    if isinstance(value, str):
        return words(value)
    return "".join(
        words(each) if isinstance(each, str) else words(mapping(each).get("text")) for each in listing(value)
    )
