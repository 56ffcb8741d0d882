"""Whether a text mentions what is erased: by id, by name, or by its own words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from weft.log.canonical import canonical
from weft.projection.name_search import NameSearch
from weft.projection.tokens import one_of

MIN_WORDS: Final = 20  # characters of a text by which it is known again
MAX_WORDS: Final = 60
_RELATIONS: Final = re.compile(r'^[A-Z0-9_]+$|(?<="rel":")[^"]+')  # a text that is one, and those in JSON
_BEFORE: Final = r"(?:(?<![\w-])|(?<=\\[bfnrt]))"  # a short path is the end of many: `a.py` is not `data.py`
# The halves of one character stand side by side: they are undone together.
_ESCAPES: Final = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')


class Mentioned:
    """Looks for ids and names, and with `texts` for their first words; with `all`, everything mentions it.

    `paths` are looked for as they stand in a project: as a whole, and at the end of longer paths.
    """

    def __init__(
        self,
        *,
        ids: Collection[str],
        names: Collection[str] = (),
        texts: Collection[str] = (),
        paths: Collection[str] = (),
        all: bool = False,  # noqa: A002
    ) -> None:
        self._all = all
        self._names = NameSearch(names)
        written = {form for each in (*ids, *filter(None, map(opening, texts))) for form in _forms(each)}
        self._needles = re.compile(one_of(written)) if written and not all else None
        placed = one_of({form for each in paths for form in _forms(each)})
        self._paths = re.compile(rf"{_BEFORE}(?:{placed})(?!\w)") if placed and not all else None

    def __call__(self, text: str) -> bool:
        if self._all or self._named(text):
            return True
        return any(each is not None and each.search(text) is not None for each in (self._needles, self._paths))

    def _named(self, text: str) -> bool:
        if not self._names.may_hold(text):
            return False
        return self._names.holds(text) or any(map(self._names.holds_as_relation, _RELATIONS.findall(text)))


def spelled_out(written: str) -> str:
    """JSON, or the beginning of some, with the escapes in its strings undone."""
    import json

    return _ESCAPES.sub(lambda found: str(json.loads(f'"{found[0]}"')), written)


def opening(text: str) -> str:
    """The first words of a text, if they are enough to know it by."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:MAX_WORDS] if len(line) >= MIN_WORDS else ""


def _forms(needle: str) -> tuple[str, str]:
    """As it is, and as JSON writes it."""
    return needle, canonical(needle)[1:-1].decode()
