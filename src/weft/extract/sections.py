"""Splits a document at its headings, with the lines each part takes."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

MAX_TITLE_CHARACTERS = 300
_LINE_END = re.compile(r"\r\n|\r|\n")


class Section(Struct, frozen=True, kw_only=True):
    """A heading with what stands under it, up to the next heading. Lines count from 1, both ends in."""

    title: str
    level: int
    line: int
    end_line: int
    text: str


def split_lines(text: str) -> list[str]:
    """Lines as editors and Markdown count them; `str.splitlines` also breaks at form feeds and U+2028."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def read_sections(text: str, *, markdown: bool) -> tuple[Section, ...]:
    """The sections of a document in order; what stands before the first heading is one of its own, without a title."""
    lines = split_lines(text)
    headings = _markdown_headings(text) if markdown else []
    if not headings or headings[0][0] > 0:
        headings.insert(0, (0, 1, ""))
    sections = []
    for (start, level, title), following in zip(headings, [*headings[1:], (len(lines), 0, "")], strict=True):
        end = following[0]
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        body = "\n".join(lines[start:end])
        if title or body.strip():
            sections.append(Section(title=title, level=level, line=start + 1, end_line=max(end, start + 1), text=body))
    return tuple(sections)


def _markdown_headings(text: str) -> list[tuple[int, int, str]]:
    """(line from 0, level, title) of each top-level heading, by a real parser: code blocks hold none."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(text)
    found = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            words = "".join(" " if child.type.endswith("break") else child.content for child in inline.children or ())
            title = " ".join(words.split())
            found.append((token.map[0], int(token.tag[1:]), (title or inline.content)[:MAX_TITLE_CHARACTERS]))
    return found
