"""Whole-word search for names in many texts, in any spelling, with a fast filter that rules out most texts.

Names are equal if `lexical.name_key` is: regardless of case, accents and white space. Apostrophes and hyphens of
different kinds are equal too, and words of a name may be joined by "_".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from weft.text.spelling import IS_UNSPACED, UNSPACED, Glance, fold, glance

_WORD: Final = re.compile(r"[^\W_]+")
_PLAIN_SIGNS: Final = re.compile(r"[^\s\"\\\x00-\x1f]+")  # unescaped in JSON
_OUTER: Final = " .,;:!?\"'()[]{}"  # as for name_key
# Letters of a word: those of \w and the vowel signs of Indian scripts, which \w lacks.
_LETTER: Final = (rf"[^\W{UNSPACED}]", "[\u0900-\u0963\u0966-\u0dff]")
_PART: Final = (rf"[^\W_{UNSPACED}]", _LETTER[1])  # the same with "_" as a separator
_ENDS_SYLLABLE: Final = "[\u11a8-\u11ff]"


class NameSearch:
    """Searches for any of these names."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(filter(None, map(_folded, names)))
        self._words = frozenset(_longest_word(name) for name in self._names)
        self._all = "" in self._words  # a name without words: the filter passes every text
        self._raw = frozenset(word.encode() for word in self._words if word.isascii())

    def __bool__(self) -> bool:
        return bool(self._names)

    def may_hold(self, text: str) -> bool:
        """Whether a text, or JSON with texts, may contain one. No false negatives."""
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
        """Whether a text contains one."""
        return self.may_hold(text) and self._pattern.search(fold(text)) is not None

    def holds_as_relation(self, name: str) -> bool:
        """Whether a relation's name contains one, in the form FUNDED_BY_MARA_QUILL."""
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
        """Relation names have letters only: other characters of a name separate words, apostrophes may be missing."""
        spelt = {" ".join(_WORD.findall(form)) for name in self._names for form in (name, name.replace("'", ""))}
        return _one_of(_whole(form.split(), r"[\W_]", _PART) for form in _longest_first(spelt - {""}))


def _folded(name: str) -> str:
    """The search form of a name: single-spaced, without outer punctuation unless it has nothing else."""
    whole = " ".join(fold(name).split())
    return whole.strip(_OUTER) or whole


def _longest_word(name: str) -> str:
    """The longest word of a name, which occurs unescaped in JSON too; punctuation if it has no words."""
    words: list[str] = _WORD.findall(name) or _PLAIN_SIGNS.findall(name)
    return max(words, key=len, default="")


def _longest_first(names: Collection[str]) -> list[str]:
    return sorted(names, key=lambda name: (-len(name), name))


def _one_of(forms: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(forms) or "(?!)")


def _whole(words: Sequence[str], joint: str, letters: Sequence[str]) -> str:
    """A pattern for these words in sequence, with no letter before or after."""
    found = re.escape(words[0])
    for one, other in pairwise(words):
        close = IS_UNSPACED.match(one[-1]) and IS_UNSPACED.match(other[0])
        found += f"{joint}{'*' if close else '+'}{re.escape(other)}"
    before = "" if IS_UNSPACED.match(words[0]) else "".join(f"(?<!{each})" for each in letters)
    after = (_ENDS_SYLLABLE,) if IS_UNSPACED.match(words[-1][-1]) else letters
    return f"{before}{found}{''.join(f'(?!{each})' for each in after)}"
