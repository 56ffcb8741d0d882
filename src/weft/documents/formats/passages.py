"""Splits the blocks of a section into passages on one topic each.

A passage has some 60 to 200 words: blocks stay whole, introductions stay with their block, and a passage ends where the
vocabulary changes (as in TextTiling). Only a block that is itself too long is split, by its own structure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from weft.text.lexical import stems
from weft.text.markup.outline import Block

MIN_CHARACTERS = 300  # a shorter passage takes the next unit, whatever its topic
GOOD_CHARACTERS = 900  # a longer passage ends at the next below-average similarity
MAX_CHARACTERS = 1_400
MAX_STEMS_CHARACTERS = 4_000  # of a block, for its stem counts

_LEAD_IN = (":", "：", "::")
_ITEM = re.compile(r"\s*(?:[-*+•|]|\d{1,4}[.)]|#\.|\+-)")
_SENTENCE_END = re.compile(r"[.!?。！？][\"”’')\]`*_]*\s*$")

Lines = Sequence[str]


class _Unit(NamedTuple):
    """Lines that stay together, with their size and stem counts."""

    start: int
    end: int
    size: int
    words: Counter[str]


def cut(lines: Lines, blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """(start, end) of each passage, in order; every line of the blocks is in exactly one."""
    spans: list[tuple[int, int]] = []
    for start, end in _glued(lines, blocks):
        if _size(lines, start, end) <= MAX_CHARACTERS:
            spans.append((start, end))
        else:
            spans.extend(_split(lines, start, end))
    if len(spans) < 2 or _size(lines, spans[0][0], spans[-1][1]) < MIN_CHARACTERS:
        return [(spans[0][0], spans[-1][1])] if spans else []
    return _joined([_unit(lines, start, end) for start, end in spans])


def _size(lines: Lines, start: int, end: int) -> int:
    return sum(map(len, lines[start:end])) + end - start


def _unit(lines: Lines, start: int, end: int) -> _Unit:
    words = Counter(stems("\n".join(lines[start:end])[:MAX_STEMS_CHARACTERS]))
    return _Unit(start, end, _size(lines, start, end), words)


def _glued(lines: Lines, blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Spans of blocks with their introductions and labels."""
    found: list[tuple[int, int]] = []
    last: Block | None = None
    size = 0  # of the current span
    for block in blocks:
        own = _size(lines, block.start, block.end)
        if last is not None and size + own <= MAX_CHARACTERS and _belongs(lines, last, block):
            found[-1] = (found[-1][0], block.end)
            size += own
        else:
            found.append((block.start, block.end))
            size = own
        last = block
    return found


def _belongs(lines: Lines, last: Block, block: Block) -> bool:
    if last.kind == "label" or block.kind == "rule":
        return True
    if last.kind != "paragraph":
        return False
    if block.kind == "code":
        return True
    return block.kind in ("list", "table", "quote", "directive") and lines[last.end - 1].rstrip().endswith(_LEAD_IN)


def _split(lines: Lines, start: int, end: int) -> list[tuple[int, int]]:
    """An oversized block in pieces of similar size, at the best breaks of its structure, never inside a line."""
    ranks = _break_ranks(lines, start, end)
    total = _size(lines, start, end)
    even = total / -(-total // MAX_CHARACTERS)
    bound = min(MAX_CHARACTERS, even * 1.2)  # the last piece is not tiny
    found: list[tuple[int, int]] = []
    size, at = 0, start
    piece = start
    while at < end:
        taken = len(lines[at]) + 1
        if at > piece and size + taken > bound:
            stop = at if taken > MAX_CHARACTERS else _best_break(lines, ranks, piece, at, start)
            found.append((piece, stop))
            piece, size, at = stop, 0, stop
            continue
        size += taken
        at += 1
    found.append((piece, end))
    return [trimmed for a, b in found if (trimmed := _trimmed(lines, a, b))]


def _best_break(lines: Lines, ranks: Sequence[int], piece: int, at: int, start: int) -> int:
    """The line before which a piece ends: the last of the best rank past the least size."""
    best, best_rank, size = at, ranks[at - start], 0
    for place in range(piece + 1, at + 1):
        size += len(lines[place - 1]) + 1
        if size >= MIN_CHARACTERS and ranks[place - start] <= best_rank:
            best, best_rank = place, ranks[place - start]
    return best


def _break_ranks(lines: Lines, start: int, end: int) -> list[int]:
    """Rank of a break before each line: 0 after a blank line at the margin … 4 in mid-sentence."""
    indents = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in lines[start:end]]
    inner = [indent for indent in indents[1:] if indent >= 0]
    margin = min(inner, default=0)
    ranks: list[int] = []
    for at, indent in enumerate(indents):
        after_blank = at > 0 and indents[at - 1] < 0
        if indent < 0:
            ranks.append(5)
        elif after_blank:
            ranks.append(0 if indent <= margin else 2)
        elif indent <= margin and _ITEM.match(lines[start + at]):
            ranks.append(1)
        elif at > 0 and _SENTENCE_END.search(lines[start + at - 1][-40:]):
            ranks.append(3)
        else:
            ranks.append(4)
    return ranks


def _trimmed(lines: Lines, start: int, end: int) -> tuple[int, int] | None:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return (start, end) if end > start else None


def _joined(units: Sequence[_Unit]) -> list[tuple[int, int]]:
    """Neighbouring units joined up to the bound; above the least size a passage ends where the topic changes."""
    ties = [_tie(a, b) for a, b in pairwise(units)]
    usual = sum(ties) / max(len(ties), 1)
    weak = usual - sqrt(sum((tie - usual) ** 2 for tie in ties) / max(len(ties), 1)) / 2
    found: list[list[int]] = [[units[0].start, units[0].end, units[0].size]]
    for unit, tie in zip(units[1:], ties, strict=True):
        last = found[-1]
        total = last[2] + unit.size
        ends = last[2] >= MIN_CHARACTERS and tie <= (usual if last[2] >= GOOD_CHARACTERS else weak)
        if total > MAX_CHARACTERS or ends:
            found.append([unit.start, unit.end, unit.size])
        else:
            last[1:] = [unit.end, total]
    if len(found) > 1 and found[-1][2] < MIN_CHARACTERS // 2 and found[-2][2] + found[-1][2] <= MAX_CHARACTERS:
        _, end, _ = found.pop()
        found[-1][1] = end
    return [(start, end) for start, end, _ in found]


def _tie(a: _Unit, b: _Unit) -> float:
    """Similarity of two units: the cosine of their stem counts."""
    if not a.words or not b.words:
        return 0.0
    few, many = (a.words, b.words) if len(a.words) < len(b.words) else (b.words, a.words)
    shared = sum(count * many[word] for word, count in few.items() if word in many)
    if not shared:
        return 0.0
    return shared / sqrt(sum(c * c for c in few.values()) * sum(c * c for c in many.values()))
