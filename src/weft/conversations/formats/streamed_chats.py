"""Exports of Discord (by DiscordChatExporter) and Telegram Desktop: chats whose messages are streamed one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from weft.conversations.formats.entries import (
    MAX_TITLE_CHARACTERS,
    MEDIA,
    NOTICE,
    Entries,
    ImportedTurn,
    Omitted,
    Unreadable,
    as_dict,
    as_label,
    as_list,
    as_text,
    first_label,
    session_of,
    titled,
    turn_of,
    with_unique_ids,
)
from weft.conversations.formats.files import opened
from weft.conversations.formats.json_stream import Broken, JsonStream
from weft.conversations.formats.times import as_time


class StreamedChat(Struct, frozen=True, kw_only=True):
    """How the chats of one program are read.

    `about` gives id and title of a chat from the fields before its messages. `nested` are fields that hold more chats,
    themselves lists under the field `list`.
    """

    about: Callable[[dict[str, Any]], tuple[str, str]]
    turn: Callable[[dict[str, Any], str], ImportedTurn | Omitted]
    nested: tuple[str, ...] = ()

    def read(self, path: Path, start: int = 0) -> Entries:
        """Every chat of a file, message by message."""
        return with_unique_ids(self._entries(path))

    def _entries(self, path: Path) -> Entries:
        with opened(path) as file:
            stream = JsonStream(file)
            try:
                if stream.peek() == "{":
                    yield from self._chat(stream, session_of(path))
                else:
                    yield Unreadable(where="the file", reason="it is not a chat")
            except Broken as problem:
                yield Unreadable(where="the file", reason=str(problem))

    def _chat(self, stream: JsonStream, default_session: str) -> Entries:
        about: dict[str, Any] = {}
        for field in stream.fields():
            if field in self.nested and stream.peek() == "{":
                yield from self._chat(stream, default_session)
            elif field == "list" and self.nested and stream.peek() == "[":
                for number in stream.items():
                    if stream.peek() == "{":
                        yield from self._chat(stream, f"{default_session}-{number}")
                    else:
                        yield Unreadable(where=stream.place, reason="it is not a chat")
                        stream.value()
            elif field == "messages" and stream.peek() == "[":
                identity, title = self.about(about)
                yield from titled(identity or default_session, title)
                for _ in stream.items():
                    yield self.turn(as_dict(stream.value()), identity or default_session)
            else:
                about[field] = stream.value()


# ---- Discord

_WRITTEN_KINDS: Final = frozenset({"Default", "Reply", "ThreadStarterMessage", "0", "19", "21"})


def _discord_about(about: dict[str, Any]) -> tuple[str, str]:
    channel, guild = as_dict(about.get("channel")), as_dict(about.get("guild"))
    names = map(as_label, (guild.get("name"), channel.get("category"), channel.get("name")))
    return as_label(channel.get("id")), " › ".join(filter(None, names))[:MAX_TITLE_CHARACTERS]


def _discord_turn(value: dict[str, Any], session: str) -> ImportedTurn | Omitted:
    if as_label(value.get("type")) not in _WRITTEN_KINDS:
        return Omitted(reason=NOTICE)
    text = as_text(value.get("content"))
    if not text.strip() and (value.get("attachments") or value.get("embeds") or value.get("stickers")):
        return Omitted(reason=MEDIA)
    who = first_label(as_dict(value.get("author")), ("nickname", "name"))
    at = as_time(value.get("timestamp"))
    return turn_of(session, text, who=who, at=at, identity=as_label(value.get("id")))


DISCORD: Final = StreamedChat(about=_discord_about, turn=_discord_turn)


# ---- Telegram: result.json of one chat, or of a whole account

_MEDIA_FIELDS: Final = ("photo", "file", "media_type", "location_information", "poll")


def _telegram_about(about: dict[str, Any]) -> tuple[str, str]:
    return as_label(about.get("id")), as_label(about.get("name"), MAX_TITLE_CHARACTERS)


def _telegram_turn(value: dict[str, Any], session: str) -> ImportedTurn | Omitted:
    if value.get("type") != "message":
        return Omitted(reason=NOTICE)
    text = _telegram_text(value.get("text")) or _telegram_text(value.get("text_entities"))
    if not text.strip() and any(key in value for key in _MEDIA_FIELDS):
        return Omitted(reason=MEDIA)
    unix = as_text(value.get("date_unixtime"))
    at = as_time(int(unix)) if unix.isdecimal() and len(unix) < 16 else as_time(value.get("date"))
    who = as_label(value.get("from")) or ("a deleted account" if value.get("from_id") else "")
    return turn_of(session, text, who=who, at=at, identity=as_label(value.get("id")))


def _telegram_text(value: Any) -> str:
    """A text: a string, or a list of strings and of objects for formatted pieces."""
    if isinstance(value, str):
        return as_text(value)
    pieces = (each if isinstance(each, str) else as_dict(each).get("text") for each in as_list(value))
    return "".join(map(as_text, pieces))


TELEGRAM: Final = StreamedChat(about=_telegram_about, turn=_telegram_turn, nested=("chats", "left_chats"))
