"""Structure of a document as every reader returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct


class Passage(Struct, frozen=True, kw_only=True):
    """Whole lines of the document on one topic, verbatim: `text` is lines `line` to `end_line`.

    `mentions` are the code names in it; `page` is its page, in formats with pages.
    """

    line: int
    end_line: int
    text: str
    mentions: tuple[str, ...] = ()
    page: int | None = None


class DocumentPart(Struct, frozen=True, kw_only=True):
    """A heading with its content up to the next heading. Lines count from 1, inclusive.

    Level 0 without a title is the content before the first heading. `summary` is a sentence or two of its own words.
    """

    title: str
    level: int
    line: int
    end_line: int
    summary: str = ""
    passages: tuple[Passage, ...] = ()


class DocumentOutline(Struct, frozen=True, kw_only=True):
    """A document: its title (may be empty), its parts in order, and notes on unreadable parts.

    `keywords` are its topics and `date` its date, as its front matter says them.
    """

    title: str
    parts: tuple[DocumentPart, ...]
    summary: str = ""
    keywords: tuple[str, ...] = ()
    date: str = ""
    notes: tuple[str, ...] = ()


# ---- output of parsers


MAX_TITLE_CHARACTERS = 300

# `label`: names or describes the next block (a target, an index entry). `front`: front matter, a passage of its own.
# `meta`: front matter that is all in the graph, or that weft wrote while extracting the text.
Kind = Literal["heading", "paragraph", "list", "table", "code", "quote", "directive", "label", "rule", "front", "meta"]


class Block(NamedTuple):
    """Lines `start` up to, but not including, `end` (from 0). A heading has a level, and its title as displayed."""

    kind: Kind
    start: int
    end: int
    title: str = ""
    level: int = 0


class ParsedDocument(Struct, frozen=True, kw_only=True):
    """A parsed document: disjoint blocks in order. `pages` are the lines at which pages begin."""

    blocks: Sequence[Block]
    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    date: str = ""
    pages: Sequence[int] = ()
    notes: tuple[str, ...] = ()


def title_of(words: str) -> str:
    """A title on one line, bounded."""
    return " ".join(words.split())[:MAX_TITLE_CHARACTERS].rstrip()


def covering(blocks: Sequence[Block], lines: Sequence[str]) -> list[Block]:
    """The blocks, with added ones for lines that the parser skipped, so that no words are lost."""
    found: list[Block] = []
    at = 0
    for block in blocks:
        _add_gap(found, lines, at, block.start)
        start, end = max(block.start, at), block.end
        while end > start and not lines[end - 1].strip():
            end -= 1
        if end > start:
            found.append(block._replace(start=start, end=end))
            at = end
    _add_gap(found, lines, at, len(lines))
    return found


def _add_gap(found: list[Block], lines: Sequence[str], start: int, end: int) -> None:
    while start < end:
        if not lines[start].strip():
            start += 1
            continue
        stop = start
        while stop < end and lines[stop].strip():
            stop += 1
        found.append(Block("label", start, stop))
        start = stop
