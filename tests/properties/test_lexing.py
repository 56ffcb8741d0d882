"""Texts are made ready for the index by shortcuts: they come to what the plain way does, word by word."""

from __future__ import annotations

import struct
import zlib
from collections import Counter

import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st

from weft.text.lexical import MAX_COUNT, STOP_WORDS, lex, tokens
from weft.text.names import (
    _FUNCTION_WORDS,
    _KNOWN_AS,
    _PARENTHESES,
    _SUBJECT,
    LEAD_CHARACTERS,
    MAX_ALIASES,
    MAX_NAME_WORDS,
    UNIQUE_ONLY,
    alias_key,
    aliases,
    name_words,
)

PIECES = (
    "def ", "class ", "read_file", "readFile", "HTTPServer", "__init__", "self.", "x", "_", "__", "'", "’", "it's",
    "dogs'", " ", "\n", "(", ")", ",", ".", "The", "Tay Bridge", "is", "was", "known as", "born", "Anna Lee", "née",
    "called", "aka", "é", "ﬁ", "™", "½", "日本", "a1B2", "I'm", "o'clock's", "ABC_def", "\x1f", "\t", "0x1F", "s's",
)  # fmt: skip
texts = st.one_of(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.text(max_size=60))
_stemmer = Stemmer.Stemmer("english", 0)


def plain_stems(text: str) -> list[str]:
    return [_stemmer.stemWord(word) for word in tokens(text) if word not in STOP_WORDS]


def plain_vector(fields: list[list[str]]) -> bytes:
    counts = [Counter(zlib.crc32(stem.encode()) for stem in field) for field in fields]
    order = sorted(set().union(*counts))
    rows = [bytes(min(count[key], MAX_COUNT) for key in order) for count in counts]
    return struct.pack(f"=I{len(order)}I", len(order), *order) + b"".join(rows)


def plain_aliases(name: str, body: str) -> tuple[tuple[str, float], ...]:
    if not name.strip():
        return ()
    found: dict[str, float] = {}
    lead = body[:LEAD_CHARACTERS]

    def add(written: str, weight: float, at_least: int = 1, at_most: int = MAX_NAME_WORDS) -> None:
        if at_least <= len(alias_key(written).split()) <= at_most:
            found.setdefault(alias_key(written), weight)

    add(name, 1.0)
    add(bare := _PARENTHESES.sub("", name), 0.9)
    if "," in name:
        add(name.split(",", maxsplit=1)[0], 0.6, at_least=2)
    if subject := _SUBJECT.match(lead):
        words = name_words(subject.group(1))
        shared = {word.key for word in words} & {word.key for word in name_words(name)} - _FUNCTION_WORDS
        if words and words[0].capital and (shared or any(word.capital for word in words[1:])):
            add(subject.group(1), 0.6, at_least=2, at_most=6)
    for other in _KNOWN_AS.finditer(lead):
        add(other.group(1), 0.5, at_least=2)
    parts = alias_key(bare).split()
    if 3 <= len(parts) <= 4 and not _FUNCTION_WORDS.intersection(parts):
        add(f"{parts[0]} {parts[-1]}", UNIQUE_ONLY)
    return tuple(found.items())[:MAX_ALIASES]


@given(texts, texts, texts)
@example("a", "a", "a " * 300)
@example("Tay Bridge (old)", "", "The Tay Bridge is known as Anna Lee")
def test_a_text_is_indexed_by_all_its_words_and_no_others(name: str, summary: str, body: str) -> None:
    made = lex(name, summary, body)
    fields = [plain_stems(field) for field in (name, summary, body)]
    assert made.stems == tuple(" ".join(field) for field in fields)
    assert made.length == sum(map(len, fields))
    assert made.vector == plain_vector(fields)


@given(texts, texts)
@example("Tay Bridge (old)", "Tay Bridge (1878) was called Anna Lee by some")
def test_a_text_goes_by_all_its_names_and_no_others(name: str, body: str) -> None:
    assert aliases(name, body) == plain_aliases(name, body)
