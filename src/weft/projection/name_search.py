"""Finds names as whole words in very many texts, however they are written: most are passed over by one quick look.

Whatever `lexical.name_key` takes for the same name is the same name here: in capitals or not, with accents or without,
over any white space. So are the several apostrophes and hyphens. Words of a name may be joined by "_" as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from weft.projection.spelling import IS_UNSPACED, UNSPACED, Glance, fold, glance

_WORD: Final = re.compile(r"[^\W_]+")
_PLAIN_SIGNS: Final = re.compile(r"[^\s\"\\\x00-\x1f]+")  # JSON has them as they are
_OUTER: Final = " .,;:!?\"'()[]{}"  # as for name_key
# Letters of a word: what \w has, and the vowel signs of India's scripts, which are no letters to it.
_LETTER: Final = (rf"[^\W{UNSPACED}]", "[\u0900-\u0963\u0966-\u0dff]")
_PART: Final = (rf"[^\W_{UNSPACED}]", _LETTER[1])  # the same, where "_" parts words
_ENDS_SYLLABLE: Final = "[\u11a8-\u11ff]"


class NameSearch:
    """Looks for any of these names."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(filter(None, map(_folded, names)))
        self._words = frozenset(_longest_word(name) for name in self._names)
        self._all = "" in self._words  # there is no word to look for: every text must be looked at closely
        self._raw = frozenset(word.encode() for word in self._words if word.isascii())

    def __bool__(self) -> bool:
        return bool(self._names)

    def may_hold(self, text: str) -> bool:
        """Whether a text, or JSON with texts in it, may hold one. Finds too much, never too little."""
        if not text.isascii():
            return bool(self._words) and (self._all or self._glance.found(text))
        folded = text.lower() if self._words else ""
        for word in self._words:  # noqa: SIM110 (`any` takes twice as long, and this is asked of every text there is)
            if word in folded:
                return True
        return False

    def may_stand_in(self, payload: bytes) -> bool:
        """The same for a payload."""
        if not payload.isascii():
            return self.may_hold(payload.decode())
        folded = payload.lower() if self._raw else b""
        for word in self._raw:  # noqa: SIM110
            if word in folded:
                return True
        return False

    def holds(self, text: str) -> bool:
        """Whether a text holds one."""
        return self.may_hold(text) and self._pattern.search(fold(text)) is not None

    def holds_as_relation(self, name: str) -> bool:
        """Whether the name of a relation holds one, as weft writes these: FUNDED_BY_MARA_QUILL."""
        return self.may_hold(name) and self._relation.search(fold(name)) is not None

    @cached_property
    def _glance(self) -> Glance:
        return glance(self._words)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _one_of(
            _whole(words, r"[\s_]", _PART) if len(words) > 1 else _whole(words, "", _LETTER)
            for words in map(str.split, _longest_first(self._names))
        )

    @cached_property
    def _relation(self) -> re.Pattern[str]:
        """Relations have letters only: what else a name has parts its words, and apostrophes may be left out."""
        spelt = {" ".join(_WORD.findall(form)) for name in self._names for form in (name, name.replace("'", ""))}
        return _one_of(_whole(form.split(), r"[\W_]", _PART) for form in _longest_first(spelt - {""}))


def _folded(name: str) -> str:
    """A name as it is looked for: with single spaces, and without outer signs unless it has no others."""
    whole = " ".join(fold(name).split())
    return whole.strip(_OUTER) or whole


def _longest_word(name: str) -> str:
    """The longest word of a name, which stands as it is in JSON too; signs where it has no words."""
    words: list[str] = _WORD.findall(name) or _PLAIN_SIGNS.findall(name)
    return max(words, key=len, default="")


def _longest_first(names: Collection[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


def _one_of(forms: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(forms) or "(?!)")


def _whole(words: Sequence[str], joint: str, letters: Sequence[str]) -> str:
    """A pattern for these words in a row, with no letter before or after them."""
    found = re.escape(words[0])
    for one, other in pairwise(words):
        close = IS_UNSPACED.match(one[-1]) and IS_UNSPACED.match(other[0])
        found += f"{joint}{'*' if close else '+'}{re.escape(other)}"
    before = "" if IS_UNSPACED.match(words[0]) else "".join(f"(?<!{each})" for each in letters)
    after = (_ENDS_SYLLABLE,) if IS_UNSPACED.match(words[-1][-1]) else letters
    return f"{before}{found}{''.join(f'(?!{each})' for each in after)}"
