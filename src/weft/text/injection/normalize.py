"""Normal form in which words are compared: invisible characters removed, look-alikes mapped to Latin letters."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

MAX_RUNS: Final = 16  # encoded parts that are decoded
MAX_RUN_CHARACTERS: Final = 20_000

# Format characters, fillers and variation selectors; tag characters, which spell ASCII invisibly; stray controls.
_UNSEEN: Final = (
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_CONTROL: Final = "[\x00-\x08\x0e-\x1f\x7f]"
_TAGS: Final = "[\U000e0020-\U000e007e]{4,}"
_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f"  # England, Scotland, Wales
_ACCENT: Final = "[\u0300-\u036f\u0483-\u0489\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
# Cyrillic, Greek and phonetic letters that look Latin, small.
_ALIKE: Final = str.maketrans(
    "авекмнорстухѕіјԁԛԝҽɡᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢαβγεηικνορτυχωօսհոıłøđ",
    "abekmhopctyxsijdqwegabcdefghijklmnoprstuvwyzabyenikvoptuxwouhnilod",
)
_LEET: Final = str.maketrans("0134578@$", "oieastbas")
_LEET_L: Final = str.maketrans("0134578@$", "oleastbas")
_BASE64: Final = r"[A-Za-z0-9+/_-]{20,}={0,2}"
_HEX: Final = r"(?:[0-9a-fA-F]{2}[ :]?){12,}"
_PERCENT: Final = r"%[2-7][0-9a-fA-F]"
_SPACED: Final = r"(?:(?<![^\W_])[^\W_][\W_]{1,4}){7,}[^\W_](?![^\W_])"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled expression, cached; only for the listed patterns.

    A text needs few of them, and compiling all takes longer than a recall.
    """
    return re.compile(pattern)


def folded(text: str) -> str:
    """Lower case, composed, without accents and invisible characters. Letters of other scripts are kept."""
    if text.isascii():
        return (
            compiled(_CONTROL).sub("", text) if not text.isprintable() and compiled(_CONTROL).search(text) else text
        ).lower()
    small = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", compiled(_UNSEEN).sub("", text)).casefold())
    return unicodedata.normalize("NFC", compiled(_ACCENT).sub("", small))


def latin(word: str) -> str:
    """A word with look-alikes of other scripts as Latin letters."""
    return word.translate(_ALIKE)


def unleet(word: str) -> tuple[str, str]:
    """A word with digits as the letters they imitate: 1 is an i or an l."""
    return word.translate(_LEET), word.translate(_LEET_L)


def without_spaces(text: str) -> str:
    """Text with spelt-out words (`i g n o r e`) joined; a sequence of letters becomes one word."""
    return compiled(_SPACED).sub(lambda found: re.sub(r"[\W_]+", "", found[0]), text)


def hidden(text: str) -> str:
    """Text spelt in tag characters, which are invisible; empty if there are none, or only flags."""
    if text.isascii() or not compiled(_TAGS).search(text):
        return ""
    return "".join(
        "".join(chr(ord(c) - 0xE0000) for c in found[0])
        for found in compiled(_TAGS).finditer(compiled(_FLAG).sub("", text))
    )


def decoded(text: str) -> Iterator[str]:
    """Readable texts encoded in this one: entities, percent signs, base64, hexadecimal digits.

    At most MAX_RUNS of each, without decoding the results again.
    """
    if "&" in text and ";" in text:
        import html

        if (plain := html.unescape(text)) != text:
            yield plain
    if "%" in text and compiled(_PERCENT).search(text):
        from urllib.parse import unquote

        yield unquote(text, errors="replace")
    for _, found in zip(range(MAX_RUNS), compiled(_BASE64).finditer(text), strict=False):
        yield from _readable(_from_base64(found[0][:MAX_RUN_CHARACTERS]))
    for _, found in zip(range(MAX_RUNS), compiled(_HEX).finditer(text), strict=False):
        digits = re.sub(r"[ :]", "", found[0][:MAX_RUN_CHARACTERS])
        yield from _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def turned(text: str) -> tuple[str, str]:
    """The text reversed, and in ROT13."""
    return text[::-1], codecs.encode(text, "rot13")


def _from_base64(run: str) -> bytes:
    written = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(written + "=" * (-len(written) % 4))
    except (binascii.Error, ValueError):
        return b""


def _readable(held: bytes) -> Iterator[str]:
    """The bytes as text, if they are words with spaces between them."""
    try:
        text = held.decode("utf-8")
    except UnicodeDecodeError:
        return
    if " " in text.strip() and all(c.isprintable() or c.isspace() for c in text):
        yield text
