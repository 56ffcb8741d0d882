"""Whether one text says again what another says: by runs of three words, whatever marks stand between them."""

from __future__ import annotations

import re
from typing import Final

RUN: Final = 3  # words in a row: fewer stand together by chance
MOST: Final = 0.8  # of the runs: what was written as a link or as code is spelt otherwise
_WORD: Final = re.compile(r"\w+")

Run = tuple[str, ...]


def tells_again(short: str, long: str) -> bool:
    """Whether nearly all of a short text stands in a longer one."""
    runs = _runs(short)
    there = _runs(long, len(next(iter(runs)))) if runs else runs
    return bool(runs) and len(runs & there) >= MOST * len(runs)


def repeats(text: str, other: str) -> bool:
    """Whether a text has three words in a row of another; of a shorter one, such as a heading, all of them."""
    runs = _runs(other)
    return bool(runs) and bool(runs & _runs(text, len(next(iter(runs)))))


def _runs(text: str, size: int = RUN) -> set[Run]:
    words = _WORD.findall(text.casefold())
    size = min(size, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if size else set()
