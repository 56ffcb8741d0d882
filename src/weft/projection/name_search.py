"""Finds names as whole words, in capitals or not, in very many texts: most are passed over by one quick look."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Final

from weft.log.canonical import canonical
from weft.projection.tokens import words_pattern

_WORD: Final = re.compile(r"\w+")


def fold(text: str) -> str:
    """A text without capitals: what a pattern that ignores case takes for equal is equal here."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("ı", "i").replace("i̇", "i")  # a pattern takes all four letters i for one


class NameSearch:
    """Looks for any of these names (see `words_pattern`)."""

    def __init__(self, names: Collection[str]) -> None:
        self.pattern = words_pattern(names)
        self._words = frozenset(word for name in names for word in _longest_words(name))
        self._raw = frozenset(word.encode() for word in self._words)

    def may_hold(self, text: str) -> bool:
        """Whether a text, or JSON with texts in it, may hold one. Finds too much, never too little."""
        folded = fold(text) if self._words else ""
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
        return self.pattern is not None and self.pattern.search(text) is not None


def _longest_words(name: str) -> Iterator[str]:
    """The longest word of a name, however its accents are written: it stands as it is in texts and in JSON."""
    for form in ("NFC", "NFD"):
        spelt = unicodedata.normalize(form, name)
        words = _WORD.findall(spelt)
        if words:
            yield fold(max(words, key=len))
        elif signs := spelt.split():
            yield fold(max(signs, key=len))
            yield fold(canonical(max(signs, key=len))[1:-1].decode())
