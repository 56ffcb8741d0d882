"""Reads the lines of a file that may still be written: only finished ones, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.errors import NotFound, StoreError
from weft.transcripts.entries import Bad, Entries, Entry, Passed

MAX_LINE_BYTES: Final = 32 << 20  # a pasted picture stands in one line
MAX_LINES: Final = 5_000_000
MAX_WHOLE_BYTES: Final = 256 << 20  # of a file that can only be read as a whole
_BLOCK: Final = 1 << 20


class Line(Struct, frozen=True, kw_only=True):
    """A line that holds an object: its number from where reading began, where it begins, how far the file is read."""

    number: int
    start: int
    end: int
    value: dict[str, Any]


def entries(path: Path, start: int, of_line: Callable[[Line], Iterable[Entry]]) -> Entries:
    """What each line holds, and after each how far the file is read: a bad one is told once, and passed."""
    for line in objects(path, start):
        if isinstance(line, Bad):
            yield line
        else:
            yield from of_line(line)
        if line.end:
            yield Passed(end=line.end)


def objects(path: Path, start: int = 0) -> Iterator[Line | Bad]:
    """The objects of a file, one a line, from the byte `start` on, which begins a line.

    A last line without its end is left for the next time, unless what is there is a whole object: no beginning of one
    is. Raises NotFound or StoreError where the file cannot be opened.
    """
    end = start
    with opened(path) as file:
        file.seek(start)
        for number in range(1, MAX_LINES + 1):
            at, raw = end, file.readline(MAX_LINE_BYTES + 1)
            end += len(raw)
            if len(raw) > MAX_LINE_BYTES:
                end += 0 if raw.endswith(b"\n") else _pass_over(file)
                yield Bad(where=f"byte {at}", reason=f"the line is longer than {MAX_LINE_BYTES:,} bytes", end=end)
                continue
            if not raw:
                return
            value = _object(raw)
            if isinstance(value, dict):
                yield Line(number=number, start=at, end=end, value=value)
            elif not raw.endswith(b"\n"):
                return
            elif value is not None:
                yield Bad(where=f"byte {at}", reason=value, end=end)
        yield Bad(where=f"byte {end}", reason=f"there are more than {MAX_LINES:,} lines: the rest waits")


def whole(path: Path) -> Any | Bad:
    """What a file of JSON holds, or why that cannot be told. Raises NotFound or StoreError as `objects` does."""
    with opened(path) as file:
        raw = file.read(MAX_WHOLE_BYTES + 1)
    if len(raw) > MAX_WHOLE_BYTES:
        return Bad(where="the file", reason=f"it is larger than {MAX_WHOLE_BYTES:,} bytes")
    if not raw.strip():
        return Bad(where="the file", reason="it is empty")
    try:
        return decoded(raw.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as problem:
        return Bad(where="the file", reason=f"it is not JSON: {problem!s:.120}")
    except RecursionError:
        return Bad(where="the file", reason="it is nested too deeply")


def opened(path: Path) -> Any:
    """A file to read bytes from. Raises NotFound, or StoreError where it is no file or may not be read."""
    try:
        if not path.is_file():  # opening a pipe would wait for somebody who writes
            if path.exists():
                raise StoreError(f"{path} is not a file", hint="give the file itself")
            raise NotFound(f"there is no {path}", hint="check the path")
        file = path.open("rb")
        try:
            file.peek(1)  # some that look like files cannot be read, as those of a process's memory
        except OSError:
            file.close()
            raise
        return file
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise StoreError(f"{path} cannot be read: {why}", hint="give a file that may be read") from problem


def decoded(raw: bytes | str) -> Any:
    """What JSON says; half of a pair of surrogates, which some programs write, is left for `words` to replace.

    Raises ValueError or RecursionError.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        import json

        return json.loads(raw.decode() if isinstance(raw, bytes) else raw)


def _object(raw: bytes) -> dict[str, Any] | str | None:
    """The object of a line, None for a blank one, or why it is none."""
    if not (text := raw.removeprefix(b"\xef\xbb\xbf").strip()):
        return None
    try:
        value = decoded(text)
    except ValueError as problem:
        return f"it is not JSON: {problem!s:.120}"
    except RecursionError:
        return "it is nested too deeply"
    return value if isinstance(value, dict) else "it holds no object"


def _pass_over(file: Any) -> int:
    """Reads to the end of the line, and says how many bytes that was."""
    passed = 0
    while more := file.readline(_BLOCK):
        passed += len(more)
        if more.endswith(b"\n"):
            break
    return passed
