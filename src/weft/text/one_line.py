"""Text on one line."""

from __future__ import annotations

from typing import Final

_JOINERS: Final = "\u200c\u200d"


def flat(text: str) -> str:
    """Text on one line, without control characters. Joiners (ZWJ, ZWNJ) are kept: some scripts need them."""
    if text.isprintable():  # the common case, checked quickly
        return " ".join(text.split())
    return " ".join("".join(c if c.isprintable() or c in _JOINERS else " " for c in text).split())
