"""Reads JSON that may be larger than memory: a value at a time, going into lists and objects only where asked to."""

from __future__ import annotations

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Final

CHUNK_BYTES: Final = 1 << 20
MAX_VALUE_CHARACTERS: Final = 16 << 20  # of one value that is read as a whole, which may take twenty times that
MAX_READ_BYTES: Final = 4 << 30  # of one file, packed or not
UNREADABLE: Final = (OSError, EOFError, zlib.error, zipfile.BadZipFile)  # a disk, or a damaged zip
_BLANK: Final = " \t\r\n"


class Broken(ValueError):
    """The JSON ends too early, is none, or holds a value that is too large; it says where."""


class JsonStream:
    """A reader that stands before a value. Every value that is come to must be taken: by `value`, `items` or `fields`.

    Raises Broken. What is not UTF-8 is replaced.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._passed, self._read = "", 0, 0, 0
        self._ended = False

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"character {self._passed + self._at:,}"

    def peek(self) -> str:
        """The first character of what comes next; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(CHUNK_BYTES):
                return ""

    def value(self) -> Any:
        """The next value, as a whole."""
        if not self.peek():
            raise Broken(f"it ends at {self.place}")
        chunk = CHUNK_BYTES
        while True:
            try:
                found, end = self._scan(self._text, self._at)
            except json.JSONDecodeError as problem:
                if len(self._text) - self._at > MAX_VALUE_CHARACTERS:
                    raise Broken(f"a value at {self.place} is broken, or too large") from problem
                if not self._more(chunk):
                    raise Broken(f"it is not JSON at {self.place}: {problem.msg[:80]}") from problem
            except ValueError as problem:
                raise Broken(f"a number at {self.place} is too long") from problem
            except RecursionError as problem:
                raise Broken(f"it is nested too deeply at {self.place}") from problem
            else:
                if end < len(self._text) or not self._more(chunk):  # a number could go on
                    self._at = end
                    return found
            chunk = min(chunk * 2, MAX_VALUE_CHARACTERS)

    def items(self) -> Iterator[int]:
        """Goes into a list, and stops before each of its values: its number, from 1."""
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
        """Goes into an object, and stops before the value of each field: its name."""
        self._take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            key = self.value()
            if not isinstance(key, str):
                raise Broken(f"a field has no name at {self.place}")
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
        """Reads on; False at the end of the file."""
        if self._ended:
            return False
        try:
            raw = self._file.read(size)
        except UNREADABLE as problem:
            raise Broken(f"it cannot be read on from {self.place}: {problem!s:.80}") from problem
        self._read += len(raw)
        if self._read > MAX_READ_BYTES:
            raise Broken(f"it is larger than {MAX_READ_BYTES:,} bytes: what is beyond is not read")
        self._ended = not raw
        self._passed += self._at
        self._text = self._text[self._at :] + self._decoder.decode(raw, final=self._ended)
        self._at = 0
        return not self._ended
