"""Aliases of titled texts, and runs of words that may be names.

`aliases` are computed when a text is written, and looked up by key. A mention in running text needs a capital letter,
one in a question does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

MAX_NAME_WORDS: Final = 8
MAX_ALIASES: Final = 12
LEAD_CHARACTERS: Final = 300
UNIQUE_ONLY: Final = 0.4  # an alias of this weight counts only if unambiguous

_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’][sS]\b")
_PARENTHESES = re.compile(r"\s*\([^)]*\)")
_SUBJECT = re.compile(r"^([^.(]{3,60}?)\s*(?:\(|,|\bis\b|\bwas\b|\bare\b|\bwere\b)")
_KNOWN_AS = re.compile(
    r"(?:also known as|better known as|known as|born|née|aka|called)\s+"
    r"([A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*){1,3})"
)
_KNOWN_WORDS = ("known as", "born", "née", "aka", "called")  # hints for the pattern above
_FUNCTION_TEXT = "the a an of in on at by for and or to is was are were with from as his her its"
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
# Single words that are far more often the beginning of a sentence than a name.
_PLAIN_TEXT = """
what who whom whose when where which why how do does did has have had be been can could would should will shall
i me my you your we our us he she him they them it this that these those there here if then than both all any some
one two not no yes more most many much first last new
"""
_NO_NAMES = _FUNCTION_WORDS.union(_PLAIN_TEXT.split())


_JOINERS = frozenset({"of", "the", "de", "la", "le", "di", "da", "von", "van", "der", "and", "for", "in"})
_SPLITTERS = frozenset({"and", "in", "for"})
_APART = re.compile(r"[^\s.\-–&]")  # any other character separates two names


class NameWord(NamedTuple):
    """A word as names are compared, and whether it began with a capital letter or a digit."""

    key: str
    capital: bool


def name_words(text: str) -> list[NameWord]:
    """Words without accents and possessives."""
    return [NameWord(word.casefold(), not word[0].islower()) for word in _words(text)]


def _words(text: str) -> list[str]:
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    if "'" in text or "’" in text:
        text = _POSSESSIVE.sub(" ", text)
    return _WORD.findall(text)


def alias_key(name: str) -> str:
    """The form in which aliases are compared: folded words, single-spaced."""
    return " ".join([word.casefold() for word in _words(name)])


def aliases(name: str, body: str) -> tuple[tuple[str, float], ...]:
    """(key, weight) of each name by which a text may be called; none for a text without a name.

    The title 1, without parentheses .9, before a comma .6, the subject of the first sentence .6, "also known as" and
    birth names .5, first and last of three or four words .4 (only if unambiguous).
    """
    if not name.strip():
        return ()
    found: dict[str, float] = {}
    lead = body[:LEAD_CHARACTERS]

    def add(written: str, weight: float, *, at_least: int = 1, at_most: int = MAX_NAME_WORDS, key: str = "") -> None:
        key = key or alias_key(written)
        if at_least <= len(key.split()) <= at_most:
            found.setdefault(key, weight)

    whole = alias_key(name)
    add(name, 1.0, key=whole)
    bare = _PARENTHESES.sub("", name) if "(" in name else name
    if bare != name:
        add(bare, 0.9)
    if "," in name:
        add(name.split(",", maxsplit=1)[0], 0.6, at_least=2)
    if _may_name(lead) and (subject := _SUBJECT.match(lead)) and _is_name(subject.group(1), name):
        add(subject.group(1), 0.6, at_least=2, at_most=6)
    if any(word in lead for word in _KNOWN_WORDS):
        for other in _KNOWN_AS.finditer(lead):
            add(other.group(1), 0.5, at_least=2)
    parts = (whole if bare == name else alias_key(bare)).split()
    if 3 <= len(parts) <= 4 and not _FUNCTION_WORDS.intersection(parts):
        add(f"{parts[0]} {parts[-1]}", UNIQUE_ONLY)
    return tuple(found.items())[:MAX_ALIASES]


def _may_name(lead: str) -> bool:
    """Whether the beginning of a text may be a name; a fast check that rules out code, which begins in lower case."""
    first = _WORD.search(lead)
    return first is not None and not (lead.isascii() and first[0][0].islower())


def _is_name(subject: str, title: str) -> bool:
    """Whether a sentence's subject names the thing, unlike "the city" or "in addition"."""
    words = name_words(subject)
    if not words or not words[0].capital:
        return False
    rest = words[1:]
    shared = {word.key for word in words} & {word.key for word in name_words(title)} - _FUNCTION_WORDS
    return bool(shared) or any(word.capital for word in rest)


def runs(words: Sequence[NameWord], *, need_capital: bool) -> Iterator[tuple[int, int, str]]:
    """(start, end, key) of every run of words that may be a name, longest first from each start."""
    for start in range(len(words)):
        for end in range(min(len(words), start + MAX_NAME_WORDS), start, -1):
            if end - start == 1:
                key, capital = words[start]
                if len(key) < 3 or key in _NO_NAMES or (need_capital and not capital):
                    continue
            elif need_capital and not (words[start].capital or words[end - 1].capital):
                continue
            yield start, end, " ".join([word.key for word in words[start:end]])


def capital_spans(sentence: str) -> list[str]:
    """Runs of capitalised words, which may be unknown names; a joined one ("A and B") also in parts.

    A single first word is left out: it is capitalised by position.
    """
    spans: list[list[str]] = [[]]
    end = 0
    found = list(_WORD.finditer(_POSSESSIVE.sub("  ", sentence)))
    for at, word in enumerate(found):
        text = word.group()
        apart = _APART.search(sentence, end, word.start()) is not None
        end = word.end()
        if apart and spans[-1]:
            spans.append([])
        joiner = text.lower() in _JOINERS
        if (
            text[0].isupper() and not (at == 0 and (joiner or len(found) == 1 or not found[1].group()[0].isupper()))
        ) or (spans[-1] and joiner):
            spans[-1].append(text)
        elif spans[-1]:
            spans.append([])
    named: dict[str, None] = {}
    for span in spans:
        for piece in _pieces(span):
            named[" ".join(piece)] = None
    return [name for name in named if len(name) > 2]


def _pieces(span: list[str]) -> Iterator[list[str]]:
    """The span without joiners at its ends, and its parts between "and", "in" and "for"."""
    parts: list[list[str]] = [[]]
    for word in span:
        if word.lower() in _SPLITTERS:
            parts.append([])
        else:
            parts[-1].append(word)
    for part in [*parts, span] if len(parts) > 1 else parts:
        words = [*part]
        while words and words[-1].lower() in _JOINERS:
            words.pop()
        while words and words[0].lower() in _JOINERS:
            words.pop(0)
        if words:
            yield words


def longest(found: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The leftmost longest runs, not nested."""
    chosen: list[tuple[int, int, str]] = []
    reached = 0
    for start, end, key in sorted(found, key=lambda run: (run[0], -run[1])):
        if start >= reached:
            chosen.append((start, end, key))
            reached = end
    return chosen


def spelling_words(key: str) -> set[str]:
    """The words of an alias that are compared with misspelt ones."""
    return {word for word in key.split() if len(word) >= 4 and not word.isdigit()}


def is_misspelling(written: str, meant: str) -> bool:
    """Whether the edit distance is at most one (two for words of nine letters and more)."""
    allowed = 2 if len(meant) >= 9 else 1
    return written != meant and abs(len(written) - len(meant)) <= allowed and _distance(written, meant) <= allowed


def _distance(one: str, other: str) -> int:
    """Edit distance with insertions, deletions, replacements and transpositions."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
