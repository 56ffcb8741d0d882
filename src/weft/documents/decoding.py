"""Bytes of a text file → text, or the reason why they are none."""

from __future__ import annotations

import codecs
import re

from weft.errors import Invalid

MAX_CONTROL_SHARE = 0.01  # more control characters than that are no text, whatever its name

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def decode(raw: bytes) -> str:
    """UTF-8, or what a byte order mark says. Raises Invalid for anything else: no encoding is guessed."""
    encoding = next((name for mark, name in _WIDE_MARKS if raw.startswith(mark)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in raw:
        raise Invalid("is binary, not text: it holds NUL bytes", hint="leave it out, or save its text as UTF-8")
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
