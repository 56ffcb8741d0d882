"""Lines of a text, as editors and citations count them."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """Lines as editors and Markdown count them; `str.splitlines` also splits at form feeds and U+2028."""
    lines = _LINE_END.split(text) if "\r" in text else text.split("\n")
    return lines if lines[-1] else lines[:-1]
