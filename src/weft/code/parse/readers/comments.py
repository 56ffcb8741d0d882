"""The comment above a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

MAX_COMMENT_LINES: Final = 400

_DIRECTIVE: Final = re.compile(rb"//(?:go:|nolint|line |export |lint:|\s*\+build)")
_STARS: Final = re.compile(r"^\s*\*? ?")


def comment_above(raw: bytes, start: int) -> str:
    """The comment (`//` lines or `/* */`) that ends on the line above a byte, without its markers."""
    above = _lines_above(raw, start)
    last = next(above, b"").strip()
    if last.endswith(b"*/"):
        return _block(last, above)
    found: list[bytes] = []
    while last.startswith(b"//"):
        if not _DIRECTIVE.match(last):
            found.append(last.lstrip(b"/").strip())
        last = next(above, b"").strip()
    return b"\n".join(reversed(found)).decode(errors="replace").strip()


def _lines_above(raw: bytes, start: int) -> Iterator[bytes]:
    """The lines above a byte, bottom up, within a limit."""
    end = raw.rfind(b"\n", 0, start)
    for _ in range(MAX_COMMENT_LINES):
        if end < 0:
            return
        begin = raw.rfind(b"\n", 0, end) + 1
        yield raw[begin:end]
        end = begin - 1


def _block(last: bytes, above: Iterator[bytes]) -> str:
    found = [last]
    while b"/*" not in found[-1]:
        line = next(above, None)
        if line is None:
            return ""
        found.append(line)
    lines = [line.decode(errors="replace") for line in reversed(found)]
    before, _, lines[0] = lines[0].partition("/*")
    if before.strip():
        return ""  # the end of a line of code
    lines[-1] = lines[-1].rpartition("*/")[0]
    bare = [_STARS.sub("", line).rstrip() for line in lines]
    return "\n".join(bare).strip().removeprefix("*").strip()
