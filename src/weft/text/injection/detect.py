"""Finds attempts to steer an assistant in a text. Pure, linear in the text, never raises.

Surrounding words never hide a match: a quotation of such a phrase is found too. Only "do not" directly before a request
for keys makes it the opposite of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from weft.text.injection import markup as marks
from weft.text.injection import phrases
from weft.text.injection import phrases_other_languages as phrases_abroad
from weft.text.injection.categories import UNSTEERING, Category, read_phrases
from weft.text.injection.normalize import compiled, decoded, folded, hidden, turned, without_spaces
from weft.text.injection.phrase_index import ADDRESS_WORD, END, LETTER, LONG, PAIR, Signs, compile_phrases, vocabulary

MAX_OF_KIND: Final = 4  # reported matches per category
SHOWN_CHARACTERS: Final = 80  # of the matched words
_WORD: Final = r"[^\W_]+|[.!?;。！？](?=\s|$)|\n[ \t]*\n"
_STOPS: Final = (". ", "! ", "? ", "; ", ".\n", "\n\n")
_STOP: Final = "\x01"  # not in normalised texts
_BLANKS: Final = "".join(chr(at) if chr(at).isalnum() or chr(at) == _STOP else " " for at in range(128))
_ADDRESS: Final = r"https?://[^\s<>\"')]{1,2000}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}"
_ALONE: Final = r"(?:\A|\n)[^\n]\n[^\n](?:\n|\Z)"  # several one-word sentences in a row
_UNSPACED: Final = "[\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_PAIRS: Final = 8 * PAIR
_LETTERS: Final = 3 * LETTER


class InjectionHit(Struct, frozen=True, kw_only=True):
    """One match: its category, the reason, and the matched words, shortened if long."""

    category: Category
    reason: str
    words: str


class _Words(NamedTuple):
    """A text's words and sentence ends, and the string of their signs."""

    tokens: list[str]
    signs: str


class _Lexicon:
    """The compiled vocabulary."""

    def __init__(self) -> None:
        listed = read_phrases(phrases.PHRASES, phrases_abroad.PHRASES, phrases.UNWANTED)
        self.signs = Signs(vocabulary(listed))
        self.phrases = compile_phrases(listed, self.signs)
        by_anchor: dict[str, list[int]] = {}
        for at, phrase in enumerate(self.phrases):
            for sign in phrase.anchor:
                by_anchor.setdefault(sign, []).append(at)
        self.by_anchor = {sign: tuple(numbers) for sign, numbers in by_anchor.items()}
        self.anchors = frozenset(by_anchor)


@lru_cache(maxsize=1)
def lexicon() -> _Lexicon:
    """The vocabulary, compiled on first use to keep start-up fast."""
    return _Lexicon()


@lru_cache(maxsize=1)
def unspaced() -> tuple[tuple[Category, re.Pattern[str], str], ...]:
    """The expressions for scripts without spaces between words, normalised like texts."""
    return tuple((kind, re.compile(folded(pattern)), reason) for kind, pattern, reason in marks.UNSPACED)


def find(text: str) -> tuple[InjectionHit, ...]:
    """Matches of every category in a message, up to MAX_OF_KIND each."""
    kept: dict[Category, dict[str, InjectionHit]] = {}
    for hit in _all(text, everything=True):
        of_kind = kept.setdefault(hit.category, {})
        if len(of_kind) < MAX_OF_KIND:
            of_kind.setdefault(hit.words, hit)
    return tuple(hit for of_kind in kept.values() for hit in of_kind.values())


def looks_like_instructions(text: str) -> tuple[Category, ...]:
    """The distinct categories of attempts to steer an assistant in a text; almost always none.

    For recalled text: patterns that manuals are full of (shell commands, example requests) are not checked.
    """
    if not text:
        return ()
    found = _all(text, everything=False)
    return tuple(dict.fromkeys(hit.category for hit in found if hit.category not in UNSTEERING))


def _all(text: str, *, everything: bool) -> Iterator[InjectionHit]:
    small = folded(text)
    words = _read(small)
    yield from _plainly(small, words, everything=everything)
    if secret := hidden(text):
        yield InjectionHit(category="markup", reason="contains invisible words", words=_cut(secret))
        yield from _inside(secret, everything=everything)
    if LONG in words.signs or _PAIRS in words.signs or "%" in text or "&" in text:
        for inner in decoded(text):
            for hit in _inside(inner, everything=everything):
                yield replace(hit, category="encoded", reason=f"encoded: {hit.reason}")


def _inside(text: str, *, everything: bool) -> Iterator[InjectionHit]:
    small = folded(text)
    return _plainly(small, _read(small), everything=everything)


def _plainly(small: str, words: _Words, *, everything: bool) -> Iterator[InjectionHit]:
    """Matches in a normalised text: phrases, markup, scripts without spaces, and reversed text."""
    table = lexicon()
    yield from _spoken(table, words, everything=everything)
    if "<" in small or "[" in small or "|" in small or ":" in small or "rm -" in small:  # every mark has one
        for kind, pattern, reason, both in marks.MARKS:
            if (both or everything) and (found := compiled(pattern).search(small)):
                yield InjectionHit(category=kind, reason=reason, words=_cut(found[0]))
    if not small.isascii() and compiled(_UNSPACED).search(small):
        for kind, expression, reason in unspaced():
            if found := expression.search(small):
                yield InjectionHit(category=kind, reason=reason, words=_cut(found[0]))
    if not table.signs.turned.isdisjoint(words.tokens):
        for other in turned(small):
            for hit in _spoken(table, _read(other), everything=everything):
                yield replace(hit, category="encoded", reason=f"reversed or rotated: {hit.reason}")


def _read(small: str) -> _Words:
    """The words of a normalised text. An address is one word, and so are spelt-out letters."""
    if "@" in small or "://" in small:
        small = compiled(_ADDRESS).sub(f" {ADDRESS_WORD} ", small)
    words = _signed(_split(small))
    return _signed(_split(without_spaces(small))) if _LETTERS in words.signs else words


def _signed(tokens: list[str]) -> _Words:
    return _Words(tokens, "".join(map(lexicon().signs.__getitem__, tokens)))


def _split(small: str) -> list[str]:
    if not small.isascii():
        return compiled(_WORD).findall(small)
    for stop in _STOPS:
        if stop in small:
            small = small.replace(stop, f" {_STOP} ")
    return small.translate(_BLANKS).split()


def _spoken(table: _Lexicon, words: _Words, *, everything: bool) -> Iterator[InjectionHit]:
    there = table.anchors.intersection(words.signs)
    if not there:
        return
    if compiled(_ALONE).search(words.signs):  # one-word sentences in a row are read as one
        words = _signed(_without_stops(table.signs, words.tokens))
    for at in sorted({at for sign in there for at in table.by_anchor[sign]}):
        phrase = table.phrases[at]
        if (everything or phrase.everywhere) and (found := phrase.matches.search(words.signs)):
            told = _told(table.signs, words.tokens, found.start(), found.end())
            yield InjectionHit(category=phrase.category, reason=phrase.reason, words=told)


def _without_stops(signs: Signs, tokens: list[str]) -> list[str]:
    """The tokens without the ends of one-word sentences."""
    kept: list[str] = []
    length = 0
    for token in tokens:
        is_end = signs[token] == END
        if not is_end or length > 1:
            kept.append(token)
        length = 0 if is_end else length + 1
    return kept


def _told(signs: Signs, tokens: list[str], start: int, end: int) -> str:
    """The words behind a range of signs; words glued together have several signs."""
    found, at = [], 0
    for token in tokens:
        width = len(signs[token])
        if at < end and at + width > start:
            found.append(token)
        at += width
        if at >= end:
            break
    return _cut(" ".join(found))


def _cut(words: str) -> str:
    """The words on one line, shortened."""
    line = " ".join("".join(c if c.isprintable() else " " for c in words[: 4 * SHOWN_CHARACTERS]).split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
