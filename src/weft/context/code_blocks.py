"""Code blocks in text: where they are, and a fence around code that the code cannot close. Pure.

A fenced block (``` or ~~~) is code, and so is an indented one after a blank line, as Markdown and reStructuredText
have it, unless it continues a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct

from weft.context.wording import visible

MOST_TOGETHER: Final = 2_000  # characters that are added to an excerpt to keep a code block whole
_OPENING: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$")
_INDENTED: Final = re.compile(r"(?: {4}|\t)\s*\S")
_LIST: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}")
_BACKTICKS: Final = re.compile(r"`+")


class CodeBlock(Struct, frozen=True):
    """The characters `start` to `end` of a text, fences included, and the code in them."""

    start: int
    end: int
    code: str
    language: str = ""


def code_blocks(text: str) -> list[CodeBlock]:
    """The code blocks of a text, in order. A fence that is not closed reaches to the end."""
    if "```" not in text and "~~~" not in text and "\n    " not in text and "\n\t" not in text:
        return []
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[CodeBlock] = []
    at = 0
    in_list = False
    while at < len(lines):
        line = lines[at]
        if opening := _OPENING.match(line):
            last = _closing(lines, at + 1, opening[1])
            inner = lines[at + 1 : last] if last < len(lines) else lines[at + 1 :]
            end = min(starts[min(last + 1, len(lines))] - 1, len(text))
            if any(map(str.strip, inner)):
                found.append(CodeBlock(starts[at], end, "\n".join(inner), opening[2]))
            at = last + 1
            continue
        if _INDENTED.match(line) and at and not lines[at - 1].strip() and not in_list and not _LIST.match(line):
            last = _last_indented(lines, at)
            inner = lines[at : last + 1]
            found.append(CodeBlock(starts[at], starts[last + 1] - 1, "\n".join(_dedented(inner))))
            at = last + 1
            continue
        if line.strip():
            in_list = _LIST.match(line) is not None or (in_list and line[:1].isspace())
        at += 1
    return found


def fenced_blocks(text: str) -> list[CodeBlock]:
    """The blocks of a text in which all code is in fences; those in a list are indented with it."""
    found: list[CodeBlock] = []
    at = 0
    lines = text.split("\n") if "```" in text else []
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    while at < len(lines):
        opening = _OPENING.match(lines[at].lstrip())
        if opening is None:
            at += 1
            continue
        last = _closing(lines, at + 1, opening[1])
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        code = "\n".join(line.removeprefix(indent) for line in lines[at + 1 : last])
        if code.strip():
            end = min(starts[min(last + 1, len(lines))] - 1, len(text))
            found.append(CodeBlock(starts[at], end, code, opening[2]))
        at = last + 1
    return found


def fenced(code: str, language: str = "") -> str:
    """The code as a block of its own, with its lines and indentation, behind a fence that does not occur in it."""
    fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(code)), 3)
    named = language if _LANGUAGE.fullmatch(language) else ""
    return "\n".join([fence + named, *(visible(line).rstrip() for line in code.strip("\n").split("\n")), fence])


def around_blocks(text: str, first: int, last: int) -> tuple[int, int]:
    """A range of characters widened to hold the code blocks at its ends whole, unless they are very long."""
    for block in code_blocks(text):
        if block.end - block.start <= MOST_TOGETHER:
            first = block.start if block.start < first < block.end else first
            last = block.end if block.start < last < block.end else last
    return first, last


def joined_parts(parts: Sequence[str]) -> str:
    """Parts of a text one after another, with dots between them; a code block begins a line."""
    joined = ""
    for part in parts:
        fence = part.lstrip(" ").startswith(("```", "~~~")) or joined.rstrip(" ").endswith(("```", "~~~"))
        joined += f"\n{part}" if joined and fence else f" … {part}" if joined else part
    return joined


def _closing(lines: Sequence[str], at: int, fence: str) -> int:
    """The number of the line that closes a fence; the number of lines where none does."""
    for number in range(at, len(lines)):
        bare = lines[number].strip()
        if len(bare) >= len(fence) and not bare.strip(fence[0]) and bare[:1] == fence[0]:
            return number
    return len(lines)


def _last_indented(lines: Sequence[str], at: int) -> int:
    last = at
    for number in range(at + 1, len(lines)):
        if _INDENTED.match(lines[number]):
            last = number
        elif lines[number].strip():
            break
    return last


def _dedented(lines: Sequence[str]) -> list[str]:
    """Without the indentation that makes it a block."""
    return [line[4:] if line.startswith("    ") else line.removeprefix("\t") for line in lines]
