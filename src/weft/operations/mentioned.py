"""Whether a text mentions what is erased: by id, by name, or by its own words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from weft.log.canonical import canonical
from weft.projection.tokens import one_of, words_pattern

MIN_WORDS: Final = 20  # characters of a text by which it is known again
MAX_WORDS: Final = 60


class Mentioned:
    """Looks for ids and names, and with `texts` for their first words; with `all`, everything mentions it."""

    def __init__(
        self,
        *,
        ids: Collection[str],
        names: Collection[str] = (),
        texts: Collection[str] = (),
        all: bool = False,  # noqa: A002
    ) -> None:
        self._all = all
        self._names = words_pattern(names)
        written = {form for each in (*ids, *filter(None, map(opening, texts))) for form in _forms(each)}
        self._needles = re.compile(one_of(written)) if written and not all else None

    def __call__(self, text: str) -> bool:
        if self._all or (self._names is not None and self._names.search(text)):
            return True
        return self._needles is not None and self._needles.search(text) is not None


def opening(text: str) -> str:
    """The first words of a text, if they are enough to know it by."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:MAX_WORDS] if len(line) >= MIN_WORDS else ""


def _forms(needle: str) -> tuple[str, str]:
    """As it is, and as JSON writes it."""
    return needle, canonical(needle)[1:-1].decode()
