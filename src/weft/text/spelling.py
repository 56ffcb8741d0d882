"""Equivalent spellings of a word: accents, case, wide letters, kinds of apostrophes.

`fold` maps them to one form, letter by letter, so all spellings of a letter can be listed. With that list words are
found in unfolded texts, many times faster than folding every text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple
from unicodedata import is_normalized

from weft.text.lexical import fold_case

_NOTHING, _SEVERAL, _MOST = 255, 254, 250  # letters that fold to nothing, to several; the most others

# Interchangeable characters, look-alike letters, and invisible characters.
_ALIKE: Final = {
    **dict.fromkeys(map(ord, "’‘‛ʼʻʹ′ꞌ"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060\ufeff"), ""),
    ord("\u200b"): " ",
    ord("ı"): "i",
}
# The blocks of 256 characters in which letters fold to others.
_BLOCKS: Final = (
    range(0x34),
    range(0xA6, 0x120),
    range(0x16A, 0x170),
    range(0x1BC, 0x1BD),
    range(0x1D1, 0x1D8),
    range(0x1E0, 0x1F3),
    range(0x1FB, 0x1FC),
    range(0x2F8, 0x2FB),
)
_SURROGATES: Final = range(0xD800, 0xE000)
# Scripts without spaces between words, and Korean, which appends particles: a name may be anywhere.
# Thai, Lao; Burmese; Korean; Khmer; kana; Chinese characters.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
IS_UNSPACED: Final = re.compile(f"[{UNSPACED}]")


def fold(text: str) -> str:
    """The form of a text in which names are searched: like `lexical.name_key`, and looser."""
    return text.lower() if text.isascii() else fold_case(text).translate(_ALIKE)


class _Ways(NamedTuple):
    """Letters that fold to something else, by their folded form: one letter, several, or nothing."""

    one: Mapping[str, str]
    several: Mapping[str, str]
    nothing: str


@lru_cache(maxsize=1)
def ways() -> _Ways:
    """All letters that do not fold to themselves."""
    found: dict[str, list[str]] = {}
    for code in chain.from_iterable(range(block.start << 8, block.stop << 8) for block in _BLOCKS):
        char = chr(code)
        if char.isalnum() and char.casefold() == char and is_normalized("NFKD", char) and code not in _ALIKE:
            continue  # fast path for most of them
        if code not in _SURROGATES and (folded := fold(char)) != char:
            found.setdefault(folded, []).append(char)
    spelt = {folded: "".join(letters) for folded, letters in found.items()}
    one = {folded: letters for folded, letters in spelt.items() if len(folded) == 1}
    several = {folded: letters for folded, letters in spelt.items() if len(folded) > 1}
    return _Ways(one, several, spelt[""])


class Glance:
    """Finds folded words in unfolded texts, without false negatives.

    A table maps every letter to a number, the same for all letters that fold to one letter of these words. A letter
    that folds to several of them is rare: a text with one always matches. Only ß is common: it counts as s, and so does
    ss.
    """

    def __init__(self, words: Collection[str]) -> None:
        import numpy as np

        self._read, self._code = np.frombuffer, np.dtype(np.int32)
        letters = sorted(set("".join(words)))
        self._numbers = {letter: 1 + at % _MOST for at, letter in enumerate(letters)}  # 0 for all others
        self._table = np.zeros(sys.maxunicode + 1, np.uint8)
        for letter, number in self._numbers.items():
            self._number(letter + ways().one.get(letter, ""), number)
        self._number(ways().nothing, _NOTHING)
        for folded, spelt in ways().several.items():
            if folded == "ss":
                self._number(spelt, self._numbers.get("s", 0))
            elif not self._numbers.keys().isdisjoint(folded) and any(_overlap(folded, word) for word in words):
                self._number(spelt, _SEVERAL)
        s = self._numbers.get("s", 0)
        self._s, self._ss = bytes((s,)), bytes((s, s)) if s else b""
        self._words = {self._single(bytes(map(self._numbers.__getitem__, word))) for word in words}

    def _number(self, letters: str, number: int) -> None:
        self._table[list(map(ord, letters))] = number

    def _single(self, numbers: bytes) -> bytes:
        while self._ss and self._ss in numbers:
            numbers = numbers.replace(self._ss, self._s)
        return numbers

    def found(self, text: str) -> bool:
        """Whether a text may contain one of the words."""
        codes = self._read(text.encode("utf-32-le", "surrogatepass"), self._code)
        numbers: bytes = self._table.take(codes, None, None, "clip").tobytes()
        if _SEVERAL in numbers:
            return True
        if _NOTHING in numbers:
            numbers = numbers.replace(bytes((_NOTHING,)), b"")
        if self._ss and self._ss in numbers:
            numbers = self._single(numbers)
        for word in self._words:  # noqa: SIM110 (`any` takes twice as long, and this is asked of very many texts)
            if word in numbers:
                return True
        return False


@lru_cache(maxsize=8)
def glance(words: frozenset[str]) -> Glance:
    """A cached `Glance` for these words."""
    return Glance(words)


def _overlap(folded: str, word: str) -> bool:
    """Whether a letter that folds to this may be part of a word, or overlap its beginning or end."""
    if folded in word or word in folded:
        return True
    parts = range(1, min(len(folded), len(word)))
    before = any(word.startswith(folded[-size:]) and _apart(folded[-size - 1]) for size in parts)
    return before or any(word.endswith(folded[:size]) and _apart(folded[size]) for size in parts)


def _apart(letter: str) -> bool:
    """Whether a word may begin after this letter, or end before it."""
    return not letter.isalnum() or IS_UNSPACED.match(letter) is not None


# Adjacent surrogate halves are decoded together.
_ESCAPES: Final = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')


def spelled_out(written: str) -> str:
    """JSON, possibly cut short, with the escapes in its strings decoded."""
    import json

    return _ESCAPES.sub(lambda found: str(json.loads(f'"{found[0]}"')), written)
