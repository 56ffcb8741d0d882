"""Discord, as DiscordChatExporter writes a channel to JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from weft.transcripts.entries import (
    MAX_TITLE_CHARACTERS,
    MEDIA,
    NOTICE,
    Bad,
    Entries,
    Left,
    Titled,
    mapping,
    moment,
    name,
    words,
)
from weft.transcripts.json_stream import Broken, JsonStream
from weft.transcripts.lines import opened
from weft.transcripts.told_apart import session_of, told_apart, turn_of

SAID: Final = frozenset({"Default", "Reply", "ThreadStarterMessage", "0", "19", "21"})


def read(path: Path, start: int = 0) -> Entries:
    """The channel of a file, message by message."""
    return told_apart(_entries(path))


def _entries(path: Path) -> Entries:
    about: dict[str, Any] = {}
    with opened(path) as file:
        stream = JsonStream(file)
        try:
            if stream.peek() != "{":
                yield Bad(where="the file", reason="it holds no channel")
                return
            for field in stream.fields():
                if field != "messages" or stream.peek() != "[":
                    about[field] = stream.value()
                    continue
                channel = mapping(about.get("channel"))
                session = name(channel.get("id")) or session_of(path)
                yield from _titled(session, channel, mapping(about.get("guild")))
                for _ in stream.items():
                    yield _message(mapping(stream.value()), session)
        except Broken as problem:
            yield Bad(where="the file", reason=str(problem))


def _titled(session: str, channel: dict[str, Any], guild: dict[str, Any]) -> Entries:
    names = (name(guild.get("name")), name(channel.get("category")), name(channel.get("name")))
    if title := " › ".join(filter(None, names))[:MAX_TITLE_CHARACTERS]:
        yield Titled(session=session, title=title)


def _message(value: dict[str, Any], session: str) -> Any:
    if name(value.get("type")) not in SAID:
        return Left(reason=NOTICE)
    author = mapping(value.get("author"))
    who = name(author.get("nickname")) or name(author.get("name"))
    text = words(value.get("content"))
    if not text.strip() and (value.get("attachments") or value.get("embeds") or value.get("stickers")):
        return Left(reason=MEDIA)
    return turn_of(session, text, who=who, at=moment(value.get("timestamp")), identity=name(value.get("id")))
