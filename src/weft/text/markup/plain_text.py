"""Plain text: paragraphs, and evident headings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.text.markup.outline import Block, Kind, ParsedDocument, title_of

MAX_HEADING_CHARACTERS = 90

_UNDERLINE = re.compile(r"([=\-~^*#+_])\1{2,} *$")
_NUMBERED = re.compile(r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+(?P<title>[^\W\d_a-zß-öø-ÿ].*)$")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•‣▪–]|\d{1,3}[.)]|[a-z][.)])\s+\S")
_ENDS_SENTENCE = (".", "!", "?", ";", ",", ":", "。", "！", "？", "…")


def parse(lines: Sequence[str]) -> ParsedDocument:
    """Paragraphs between blank lines. A heading is underlined, or a line alone that is numbered or in capitals."""
    blocks: list[Block] = []
    styles: dict[str, int] = {}
    runs = _runs(lines)
    for at, (start, end) in enumerate(runs):
        following = runs[at + 1] if at + 1 < len(runs) else None
        found = _underlined(lines, start, end) or _alone(lines, start, end, following)
        if not found:
            blocks.append(Block(_kind(lines, start, end), start, end))
            continue
        title, style, taken = found
        blocks.append(Block("heading", start, taken, title_of(title), styles.setdefault(style, len(styles) + 1)))
        if taken < end:
            blocks.append(Block(_kind(lines, taken, end), taken, end))
    return ParsedDocument(blocks=blocks)


def _runs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(start, end) of consecutive lines without a blank one."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for at, line in enumerate(lines):
        if line.strip():
            start = at if start is None else start
        elif start is not None:
            found.append((start, at))
            start = None
    if start is not None:
        found.append((start, len(lines)))
    return found


def _underlined(lines: Sequence[str], start: int, end: int) -> tuple[str, str, int] | None:
    """(title, style, next line) of a line underlined by one repeated character of about its length."""
    if end - start < 2:
        return None
    title, mark = lines[start].strip(), lines[start + 1].strip()
    if not _UNDERLINE.match(mark) or not _may_be_title(title) or _UNDERLINE.match(title):
        return None
    near = abs(len(mark) - len(title)) <= max(4, len(title) // 4) or len(mark) > len(title)
    return (title, mark[0], start + 2) if near else None


def _alone(
    lines: Sequence[str], start: int, end: int, following: tuple[int, int] | None
) -> tuple[str, str, int] | None:
    """A line between blank lines, unless the next one is of the same style: then it is an item."""
    title = lines[start].strip()
    if end - start != 1 or following is None or not _may_be_title(title) or lines[start][:1].isspace():
        return None
    style = _style_alone(title)
    next_line = lines[following[0]].strip()
    if style is None or title.endswith(_ENDS_SENTENCE):
        return None
    next_style = _style_alone(next_line) if following[1] - following[0] == 1 else None
    return None if next_style == style else (title, style, end)


def _style_alone(title: str) -> str | None:
    numbered = _NUMBERED.match(title)
    if numbered:
        return f"numbered {numbered['number'].count('.')}"
    letters = sum(map(str.isalpha, title))
    if letters >= 4 and title.isupper() and letters * 2 > len(title):
        return "capitals"
    return None


def _may_be_title(title: str) -> bool:
    return 0 < len(title) <= MAX_HEADING_CHARACTERS and any(map(str.isalnum, title))


def _kind(lines: Sequence[str], start: int, end: int) -> Kind:
    if _LIST_ITEM.match(lines[start]):
        return "list"
    return "code" if all(line.startswith(("    ", "\t")) for line in lines[start:end]) else "paragraph"
