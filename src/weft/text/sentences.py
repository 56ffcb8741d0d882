"""Sentence spans of a text, by rules for prose in Latin script; a line break always ends a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

MIN_PART_CHARACTERS = 60
MAX_SENTENCES = 64  # of one text; a longer one has this many groups of sentences

# White space before a line break is not matched, which would be slow for long runs; it is stripped anyway.
_BREAK = re.compile(r"(?<=[.!?])([\"”’)\]]*)\s+(?=[\"“‘'(\[]?[A-Z0-9À-Þ])|\n\s*|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|vs|No|Inc|Ltd|Co|Prof|Gen|Col|Lt|Sgt|Capt|Rev|ca|c|b|d|e\.g|i\.e)\.$"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, in order, without surrounding white space. Blank text has none."""
    spans: list[tuple[int, int]] = []
    start = 0
    for found in _BREAK.finditer(text):
        # "J. K. Rowling", "Dr. Smith": an abbreviation ends a sentence only at a line end.
        short = _ABBREVIATION.search(text, max(start, found.start() - 8), found.start())
        if short and "\n" not in found.group():
            continue
        _add(spans, text, start, found.start() if found.group(1) is None else found.end(1))
        start = found.end()
    _add(spans, text, start, len(text))
    if len(spans) <= MAX_SENTENCES:
        return spans
    step = -(-len(spans) // MAX_SENTENCES)
    groups = [spans[at : at + step] for at in range(0, len(spans), step)]
    return [(group[0][0], group[-1][1]) for group in groups]


def joined_spans(spans: Sequence[tuple[int, int]]) -> list[range]:
    """Ranges of sentences that share a vector: short ones are joined with the next until long enough."""
    groups: list[range] = []
    for at in range(len(spans)):
        if groups and _length(spans, groups[-1]) < MIN_PART_CHARACTERS:
            groups[-1] = range(groups[-1].start, at + 1)
        else:
            groups.append(range(at, at + 1))
    if len(groups) > 1 and _length(spans, groups[-1]) < MIN_PART_CHARACTERS:
        last = groups.pop()
        groups[-1] = range(groups[-1].start, last.stop)
    return groups


def _length(spans: Sequence[tuple[int, int]], group: range) -> int:
    return spans[group[-1]][1] - spans[group[0]][0]


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    stripped = piece.strip()
    if stripped:
        spans.append((start + left, start + left + len(stripped)))
