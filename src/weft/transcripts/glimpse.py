"""A short look at a file of JSON: what stands at its top, without reading it as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from weft.transcripts.entries import mapping
from weft.transcripts.json_stream import Broken, JsonStream
from weft.transcripts.lines import opened

MAX_FIELDS: Final = 1_000
ENDS: Final = ("messages", "requests", "conversations", "conversation", "turns", "chats", "mapping", "messagesTree")


class Glimpse(Struct, frozen=True, kw_only=True):
    """Whether a file holds a list or an object, of which the names of fields up to where its conversations are.

    `first` is the first of these, or of the list.
    """

    kind: Literal["list", "object", ""] = ""
    fields: tuple[str, ...] = ()
    first: dict[str, Any] = {}


def glimpse(file: Any) -> Glimpse:
    """What an open file shows; nothing where it is no JSON."""
    stream = JsonStream(file)
    try:
        if stream.peek() == "[":
            return Glimpse(kind="list", first=next((mapping(stream.value()) for _ in stream.items()), {}))
        if stream.peek() != "{":
            return Glimpse()
    except Broken:
        return Glimpse()
    names: list[str] = []
    first: dict[str, Any] = {}
    try:
        for name in stream.fields():
            names.append(name)
            if name in ENDS or len(names) > MAX_FIELDS:
                if stream.peek() == "[":
                    first = next((mapping(stream.value()) for _ in stream.items()), {})
                break  # what stands behind it is not looked for: it may be as large as the file
            stream.value()
    except Broken:
        pass  # what was seen up to there may tell
    return Glimpse(kind="object", fields=tuple(names), first=first)


def glimpse_at(path: Path) -> Glimpse:
    """The same of a file by its path. Raises NotFound or StoreError where it cannot be opened."""
    with opened(path) as file:
        return glimpse(file)
