"""Quoted parts of a text: titles and names in quotation marks."""

from __future__ import annotations

import re

MAX_QUOTED_CHARACTERS = 300
_MARK = re.compile("['\"‘’“”]")
_DECADE = re.compile(r"'\d0s")
_CLOSING = {"'": "'’", '"': '"”', "‘": "'’", "“": '"”'}


def quoted_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The span of each quoted part, without its marks. Apostrophes inside or after a word do not quote."""
    spans: list[tuple[int, int]] = []
    opened = -1
    for found in _MARK.finditer(text):
        at, mark = found.start(), found[0]
        before = text[at - 1] if at else " "
        after = text[at + 1] if at + 1 < len(text) else " "
        if opened >= 0 and at - opened > MAX_QUOTED_CHARACTERS:
            opened = -1
        if opened >= 0 and mark in _CLOSING[text[opened]]:
            if not before.isspace() and not after.isalnum() and at > opened + 1:
                spans.append((opened + 1, at))
                opened = -1
        elif opened < 0 and mark in _CLOSING and not before.isalnum() and not after.isspace():
            if _DECADE.match(text, at):
                continue
            opened = at
    return tuple(spans)
