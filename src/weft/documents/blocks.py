"""What parsers find: headings and blocks, each whole lines of the document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

MAX_TITLE_CHARACTERS = 300

# `label`: names or describes what follows (a target, an index entry). `front`: what a document says of itself before it
# begins, a passage by itself. `meta`: written by weft where it took the text out of a file, no words of it.
Kind = Literal["heading", "paragraph", "list", "table", "code", "quote", "directive", "label", "rule", "front", "meta"]


class Block(NamedTuple):
    """Lines `start` up to, but without, `end` (from 0). A heading has a level, and its title as a reader sees it."""

    kind: Kind
    start: int
    end: int
    title: str = ""
    level: int = 0


class Parsed(Struct, frozen=True, kw_only=True):
    """A document as its parser saw it: blocks in order, none over another. `pages` are the lines where pages begin."""

    blocks: Sequence[Block]
    title: str = ""
    description: str = ""
    pages: Sequence[int] = ()
    notes: tuple[str, ...] = ()


def title_of(words: str) -> str:
    """A title on one line, bounded."""
    return " ".join(words.split())[:MAX_TITLE_CHARACTERS].rstrip()


def covering(blocks: Sequence[Block], lines: Sequence[str]) -> list[Block]:
    """The blocks with those between them that their parser passed over, so that no line with words is lost."""
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
