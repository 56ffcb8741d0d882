"""Incremental JSON reader for exports larger than memory: values one by one, lists and objects entered on request."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from msgspec import Struct

from weft.conversations.formats.entries import Unreadable, as_dict
from weft.conversations.formats.files import Bundle, is_zip, opened, read_errors
from weft.core.errors import StoreError

CHUNK_BYTES: Final = 1 << 20
MAX_VALUE_CHARACTERS: Final = 16 << 20  # of one value read as a whole; it may take twenty times that in memory
MAX_READ_BYTES: Final = 4 << 30  # of one file, after unpacking
MAX_FIELDS: Final = 1_000  # looked at to recognise a file
EXPORT_NAMES: Final = re.compile(r"conversations(?:[-_]\d{1,4})?\.json")
_CONTENT_FIELDS: Final = (
    *("messages", "requests", "conversations", "conversation", "turns", "chats", "mapping", "messagesTree"),
)
_BLANK: Final = " \t\r\n"


class Broken(ValueError):
    """The JSON is invalid, incomplete or holds a value that is too large; the message says where."""


class JsonStream:
    """A reader positioned before a value. Every value reached must be consumed by `value`, `items` or `fields`.

    Methods raise Broken. Bytes that are not UTF-8 are replaced.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._consumed, self._read = "", 0, 0, 0
        self._ended = False

    @property
    def place(self) -> str:
        """The current position, for messages."""
        return f"character {self._consumed + self._at:,}"

    def peek(self) -> str:
        """The first character of the next token; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(CHUNK_BYTES):
                return ""

    def value(self) -> Any:
        """The next value, decoded as a whole."""
        if not self.peek():
            raise Broken(f"it ends at {self.place}")
        chunk = CHUNK_BYTES
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as problem:
                if len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                    raise Broken(f"a value at {self.place} is invalid or too large") from problem
                if not self._more(chunk):
                    raise Broken(f"it is not JSON at {self.place}: {problem.msg[:80]}") from problem
            except ValueError as problem:
                raise Broken(f"a number at {self.place} is too long") from problem
            except RecursionError as problem:
                raise Broken(f"it is nested too deeply at {self.place}") from problem
            else:
                if end < len(self._text) or not self._more(chunk):  # a number may continue in the next chunk
                    self._at = end
                    return found
            chunk = min(chunk * 2, MAX_VALUE_CHARACTERS)

    def items(self) -> Iterator[int]:
        """Enters a list and stops before each of its values, yielding its number from 1."""
        self._take("[")
        number = 0
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            number += 1
            yield number
            if self._take(",]") == "]":
                return

    def fields(self) -> Iterator[str]:
        """Enters an object and stops before the value of each field, yielding its name."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise Broken(f"a field name is expected at {self.place}")
            self._take(":")
            yield key
            if self._take(",}") == "}":
                return

    def _take(self, wanted: str) -> str:
        found = self.peek()
        if not found or found not in wanted:
            raise Broken(f"it ends at {self.place}" if not found else f"it is not JSON at {self.place}")
        self._at += 1
        return found

    def _more(self, size: int) -> bool:
        """Reads another chunk; False at the end of the file."""
        if self._ended:
            return False
        try:
            raw = self._file.read(size)
        except read_errors() as problem:
            raise Broken(f"reading fails at {self.place}: {problem!s:.80}") from problem
        self._read += len(raw)
        if self._read > MAX_READ_BYTES:
            raise Broken(f"it is larger than {MAX_READ_BYTES:,} bytes: the rest is not read")
        self._ended = not raw
        self._consumed += self._at
        self._text = self._text[self._at :] + self._decoder.decode(raw, final=self._ended)
        self._at = 0
        return not self._ended


class Glimpse(Struct, frozen=True, kw_only=True):
    """The top of a JSON file: list or object, field names up to its conversations, and the first conversation."""

    kind: Literal["list", "object", ""] = ""
    fields: tuple[str, ...] = ()
    first: dict[str, Any] = {}


def glimpse(file: Any) -> Glimpse:
    """The top of an open file, to recognise its format; an empty one if the file is not JSON."""
    stream = JsonStream(file)
    names: list[str] = []
    first: dict[str, Any] = {}
    try:
        if stream.peek() == "[":
            return Glimpse(kind="list", first=next((as_dict(stream.value()) for _ in stream.items()), {}))
        if stream.peek() != "{":
            return Glimpse()
    except Broken:
        return Glimpse()
    try:
        for name in stream.fields():
            names.append(name)
            if name in _CONTENT_FIELDS or len(names) > MAX_FIELDS:
                if stream.peek() == "[":
                    first = next((as_dict(stream.value()) for _ in stream.items()), {})
                break  # the rest may be as large as the file
            stream.value()
    except Broken:
        pass  # the fields before the damage may be enough
    return Glimpse(kind="object", fields=tuple(names), first=first)


def conversations(path: Path) -> Iterator[tuple[int, dict[str, Any] | Unreadable]]:
    """(number, object) of each conversation in an account's export: a JSON file, or a folder or zip with several.

    Damage is reported and ends its file.
    """
    if not (path.is_dir() or is_zip(path)):
        with opened(path) as file:
            yield from enumerate(_conversations_in(file, "the file"), start=1)
        return
    number = 0
    with Bundle(path) as bundle:
        files = [each for each in bundle.names if EXPORT_NAMES.fullmatch(PurePosixPath(each).name)]
        if not files:
            yield 0, Unreadable(where="the export", reason="it has no conversations.json")
        for each in files:
            try:
                with bundle.open(each) as file:
                    for found in _conversations_in(file, each):
                        number += 1
                        yield number, found
            except StoreError as problem:
                yield number, Unreadable(where=each, reason=problem.message)


def _conversations_in(file: Any, where: str) -> Iterator[dict[str, Any] | Unreadable]:
    stream = JsonStream(file)
    try:
        first = stream.peek()
        if not first:
            yield Unreadable(where=where, reason="it is empty")
        elif first == "{":  # a single conversation
            yield _object(stream.value(), where)
        elif first == "[":
            for number in stream.items():
                yield _object(stream.value(), f"conversation {number}")
        else:
            yield Unreadable(where=where, reason="it is not a list of conversations")
    except Broken as problem:
        yield Unreadable(where=where, reason=str(problem))


def _object(value: Any, where: str) -> dict[str, Any] | Unreadable:
    return value if isinstance(value, dict) else Unreadable(where=where, reason="it is not an object")
