"""What stands above a definition: the comment that its author wrote for it."""

from __future__ import annotations

import re
from typing import Final

MAX_COMMENT_LINES: Final = 400

_DIRECTIVE: Final = re.compile(r"//(?:go:|nolint|line |export |lint:|\s*\+build)")
_STARS: Final = re.compile(r"^\s*\*? ?")


def comment_above(raw: bytes, start: int) -> str:
    """The lines of `//`, or the comment of `/* */`, that end on the line above a byte; without its marks."""
    begin = raw.rfind(b"\n", 0, start) + 1
    above = raw[max(0, begin - 20_000) : begin].decode(errors="replace").split("\n")[:-1]
    if not above:
        return ""
    last = above[-1].strip()
    if last.endswith("*/"):
        return _block(above)
    if not last.startswith("//"):
        return ""
    found: list[str] = []
    for line in reversed(above[-MAX_COMMENT_LINES:]):
        bare = line.strip()
        if not bare.startswith("//"):
            break
        if not _DIRECTIVE.match(bare):
            found.append(bare.lstrip("/").strip())
    return "\n".join(reversed(found)).strip()


def _block(above: list[str]) -> str:
    found: list[str] = []
    for line in reversed(above[-MAX_COMMENT_LINES:]):
        found.append(line)
        if "/*" in line:
            break
    else:
        return ""
    found.reverse()
    before, _, first = found[0].partition("/*")
    if before.strip():
        return ""  # the end of a line of code
    inside = [first, *found[1:]]
    inside[-1] = inside[-1].rpartition("*/")[0]
    lines = [_STARS.sub("", line).rstrip() for line in inside]
    return "\n".join(lines).strip().removeprefix("*").strip()
