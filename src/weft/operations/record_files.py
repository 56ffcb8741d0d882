"""Reading a file of records: one JSON object a line, within bounds; what is no row is told apart, with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from weft.errors import StoreError

MAX_LINE_BYTES: Final = 1_500_000  # an event holds a million bytes
MAX_LINES: Final = 1_000_000


class BadLine(Struct, frozen=True, kw_only=True):
    """A line that is no row, and why."""

    reason: str


def count_lines(path: Path) -> int:
    """How many lines there are, up to MAX_LINES."""
    lines = 0
    with _opened(path) as file:
        while lines < MAX_LINES and (block := file.read(1 << 20)):
            lines += block.count(b"\n")
    return min(lines + 1, MAX_LINES)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(line number from 1, what it holds or a BadLine), blank lines left out. Raises StoreError if unreadable."""
    with _opened(path) as file:
        for number in range(1, MAX_LINES + 1):
            line = file.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                while (more := file.readline(MAX_LINE_BYTES)) and not more.endswith(b"\n"):
                    pass
                yield number, BadLine(reason=f"longer than {MAX_LINE_BYTES:,} bytes")
            elif (line := line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip():
                yield number, _decoded(line)
        if file.read(1):
            yield MAX_LINES + 1, BadLine(reason=f"more than {MAX_LINES:,} lines: this one and those after it wait")


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        return BadLine(reason=f"is not JSON: {problem!s:.120}")
    except RecursionError:
        return BadLine(reason="is nested too deeply")


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as problem:
        raise StoreError(f"{path} cannot be read: {problem.strerror}", hint="check its rights") from problem
