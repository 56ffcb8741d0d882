"""JSON files of coding agents: one object per line in a file that may still grow, or one value per file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.conversations.formats.entries import Entries, Entry, ReadTo, Unreadable
from weft.conversations.formats.files import opened

MAX_LINE_BYTES: Final = 32 << 20  # a pasted picture is part of one line
MAX_LINES: Final = 5_000_000
MAX_WHOLE_BYTES: Final = 256 << 20  # of a file that is parsed as one value
_BLOCK: Final = 1 << 20


class JsonLine(Struct, frozen=True, kw_only=True):
    """An object on a line: its number since reading started, and the bytes at which it begins and ends."""

    number: int
    start: int
    end: int
    value: dict[str, Any]


def read_lines(path: Path, start: int, of_line: Callable[[JsonLine], Iterable[Entry]]) -> Entries:
    """The entries of each line, and after each line how far the file has been read."""
    for line in objects(path, start):
        if isinstance(line, Unreadable):
            yield line
        else:
            yield from of_line(line)
        if line.end:
            yield ReadTo(end=line.end)


def objects(path: Path, start: int = 0) -> Iterator[JsonLine | Unreadable]:
    """The objects of a file, one per line, from byte `start`, at which a line begins.

    A last line without a line end is read only if it parses: the client may still be writing it. Raises NotFound or
    StoreError if the file cannot be opened.
    """
    end = start
    with opened(path) as file:
        file.seek(start)
        for number in range(1, MAX_LINES + 1):
            at, raw = end, file.readline(MAX_LINE_BYTES + 1)
            end += len(raw)
            if len(raw) > MAX_LINE_BYTES:
                end += 0 if raw.endswith(b"\n") else _skip_line(file)
                reason = f"the line is longer than {MAX_LINE_BYTES:,} bytes"
                yield Unreadable(where=f"byte {at}", reason=reason, end=end)
                continue
            if not raw:
                return
            value = _object(raw)
            if isinstance(value, dict):
                yield JsonLine(number=number, start=at, end=end, value=value)
            elif not raw.endswith(b"\n"):
                return
            elif value is not None:
                yield Unreadable(where=f"byte {at}", reason=value, end=end)
        reason = f"the file has more than {MAX_LINES:,} lines: import it again to read the rest"
        yield Unreadable(where=f"byte {end}", reason=reason)


def first_object(path: Path) -> dict[str, Any]:
    """The object on the first line; empty if there is none."""
    first = next(iter(objects(path)), None)
    return {} if first is None or isinstance(first, Unreadable) else first.value


def whole(path: Path) -> Any | Unreadable:
    """The value of a JSON file, or why it cannot be read. Raises NotFound or StoreError as `objects` does."""
    with opened(path) as file:
        raw = file.read(MAX_WHOLE_BYTES + 1)
    if len(raw) > MAX_WHOLE_BYTES:
        return Unreadable(where="the file", reason=f"it is larger than {MAX_WHOLE_BYTES:,} bytes")
    if not raw.strip():
        return Unreadable(where="the file", reason="it is empty")
    try:
        return decoded(raw.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as problem:
        return Unreadable(where="the file", reason=f"it is not JSON: {problem!s:.120}")
    except RecursionError:
        return Unreadable(where="the file", reason="it is nested too deeply")


def decoded(raw: bytes | str) -> Any:
    """The value of a JSON text; lone surrogates, which some programs write, are kept for `as_text` to replace.

    Raises ValueError or RecursionError.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        import json

        return json.loads(raw.decode() if isinstance(raw, bytes) else raw)


def _object(raw: bytes) -> dict[str, Any] | str | None:
    """The object of a line, None for a blank line, or the reason why there is none."""
    if not (text := raw.removeprefix(b"\xef\xbb\xbf").strip()):
        return None
    try:
        value = decoded(text)
    except ValueError as problem:
        return f"it is not JSON: {problem!s:.120}"
    except RecursionError:
        return "it is nested too deeply"
    return value if isinstance(value, dict) else "it is not an object"


def _skip_line(file: Any) -> int:
    """Reads to the end of the line; returns the number of bytes."""
    skipped = 0
    while more := file.readline(_BLOCK):
        skipped += len(more)
        if more.endswith(b"\n"):
            break
    return skipped
