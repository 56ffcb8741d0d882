"""Detection of UTF-16 and UTF-32 text, so that the author of such a file learns what to do."""

from __future__ import annotations

import codecs
from typing import Final

LOOKED_AT: Final = 4_096  # bytes; a multiple of four
MOSTLY: Final = 0.7  # share of ASCII characters in source code
_MARKS: Final = (  # longest first: one is a prefix of another
    (codecs.BOM_UTF32_LE, "UTF-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "UTF-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)


def wide_form(raw: bytes) -> str:
    """`UTF-16` or `UTF-32` for such text, by its byte order mark or by its content; else empty."""
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
    """Without a mark: the bytes decode completely, and most characters are ASCII."""
    text = _decoded(start, codec)
    if not text or "\0" in text:
        return False
    plain = sum(each.isascii() and (each.isprintable() or each.isspace()) for each in text)
    return plain >= MOSTLY * len(text)
