"""Text of two or four bytes a character: told from what is no text at all, so that who wrote it knows what to do."""

from __future__ import annotations

import codecs
from typing import Final

LOOKED_AT: Final = 4_096  # bytes; a multiple of four
MOSTLY: Final = 0.7  # of the characters of code are plain letters, signs and blanks
_MARKS: Final = (  # the longer first: one of them begins with another
    (codecs.BOM_UTF32_LE, "UTF-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "UTF-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)


def wide_form(raw: bytes) -> str:
    """`UTF-16` or `UTF-32` for bytes that are such text, by the mark at their beginning or plainly so; else nothing."""
    start = raw[:LOOKED_AT]
    for mark, name, codec in _MARKS:
        if start.startswith(mark) and _is_text(start[len(mark) :], codec):
            return name
    return next((name for _, name, codec in _MARKS if _is_code(start, codec)), "")


def _decoded(start: bytes, codec: str) -> str | None:
    unit = 4 if "32" in codec else 2
    try:
        return codecs.getincrementaldecoder(codec)().decode(start[: len(start) // unit * unit])
    except UnicodeDecodeError:
        return None


def _is_text(start: bytes, codec: str) -> bool:
    text = _decoded(start, codec)
    return text is not None and "\0" not in text


def _is_code(start: bytes, codec: str) -> bool:
    """Without a mark: every one of its characters is one, and most are those that code is written in."""
    text = _decoded(start, codec)
    if not text or "\0" in text:
        return False
    plain = sum(each.isascii() and (each.isprintable() or each.isspace()) for each in text)
    return plain >= MOSTLY * len(text)
