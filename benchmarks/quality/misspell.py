"""The same questions as hurried people type them: one letter of one name wrong, or all in lower case."""

from __future__ import annotations

import hashlib
import random
import re
import string
from collections.abc import Callable

MIN_LETTERS = 5
_WORD = re.compile(r"[^\W\d_]+")
# Words that begin questions with a capital and are no names.
_OPENING_TEXT = """
about after along among before between could describe during either every explain given might other please recently
shall should since their there these those under until using where which while whose within without would
"""
_OPENINGS = frozenset(_OPENING_TEXT.split())


def misspelt(query: str, *, seed: str) -> str | None:
    """The query with one letter of one name swapped, dropped, doubled or replaced; None if it holds no name.

    A name is a capitalised word of five letters or more; one that opens a sentence counts only if there is no other.
    The same seed gives the same misspelling, on any machine.
    """
    chance = random.Random(hashlib.sha256(seed.encode()).digest())
    names = [word for word in _WORD.finditer(query) if _is_name(word[0])]
    inside = [word for word in names if not _opens_sentence(query, word.start())]
    if not names:
        return None
    word = chance.choice(inside or names)
    return query[: word.start()] + _edited(word[0], chance) + query[word.end() :]


def lower(query: str) -> str | None:
    """The query in lower case; None if it was."""
    return query.lower() if query != query.lower() else None


def _is_name(word: str) -> bool:
    return len(word) >= MIN_LETTERS and word[0].isupper() and not word.isupper() and word.lower() not in _OPENINGS


def _opens_sentence(query: str, at: int) -> bool:
    before = query[:at].rstrip(" \t\n\"'(«“‘")
    return not before or before[-1] in ".?!:\n"


def _edited(word: str, chance: random.Random) -> str:
    """One edit after the first letter, which people seldom get wrong. Always another word than the one given."""
    edit = chance.choice(_EDITS)
    places = list(range(1, len(word)))
    chance.shuffle(places)
    return next((made for at in places if (made := edit(word, at, chance)) != word), word + word[-1])


def _swap(word: str, at: int, _: random.Random) -> str:
    return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]


def _drop(word: str, at: int, _: random.Random) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int, _: random.Random) -> str:
    return word[:at] + word[at] + word[at:]


def _replace(word: str, at: int, chance: random.Random) -> str:
    others = string.ascii_lowercase.replace(word[at].lower(), "")
    return word[:at] + chance.choice(others) + word[at + 1 :]


_EDITS: tuple[Callable[[str, int, random.Random], str], ...] = (_swap, _drop, _double, _replace)
