"""Decoding of text files."""

from __future__ import annotations

import codecs
import re

from weft.core.errors import Invalid

MAX_CONTROL_SHARE = 0.01  # a larger share means binary data

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decode(raw: bytes) -> str:
    """The text in UTF-8, or in that of its byte order mark. Raises Invalid otherwise: no encoding is guessed."""
    encoding = next((name for mark, name in _WIDE_MARKS if raw.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in raw:
        raise Invalid("is binary, not text: it contains NUL bytes", hint="leave it out, or save its text as UTF-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8-sig" else encoding.upper()
        line = raw.count(b"\n", 0, error.start) + 1
        raise Invalid(
            f"is not {name} text: byte {error.start} (line {line}) cannot be read", hint="save it as UTF-8, then again"
        ) from error
    if len(_CONTROLS.findall(text)) > MAX_CONTROL_SHARE * len(text):
        raise Invalid("is binary, not text: it is full of control characters", hint="leave it out, or save its text")
    return text.removeprefix("\ufeff")
