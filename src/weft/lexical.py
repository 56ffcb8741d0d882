"""Words as the text index sees them: tokens, stems, packed counts, and the BM25 score.

Pure functions of text. Backends store what `lex` makes and score with `Bm25`, so that every backend ranks alike.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
import unicodedata
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import Stemmer

from weft.ports import LexedText
from weft.types import TermStat

FIELD_WEIGHTS = (3.0, 2.0, 1.0)  # name, summary, body
MAX_TERM_CHARACTERS = 64
MAX_COUNT = 65_535  # a stem's occurrences in one field, as packed
MAX_CACHED_WORDS = 200_000
MAX_QUERY_TERMS = 8
COMMON_SHARE = 0.01  # a term in more of the texts than this may be dropped
KEEP_RARER_TERMS = 3  # as long as this many rarer ones remain
MAX_MATCHES = 3_000  # texts that a question's terms may match together
COMMON_FLOOR = 200  # in a small store nothing is too common to look up

_WORD = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_POSSESSIVE = re.compile(r"['’]s$")
_IDENTIFIER = re.compile(r"(?<![^\W_])(?:[A-Za-z]\w*_\w+|[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]{2}\w*)\b")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

# Question, auxiliary and pronoun words carry no topic: in chat they would outweigh what is asked about.
_STOP_TEXT = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing down during each few for from further get got had has have having he her here hers
herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once
only or other our ours ourselves out over own same shall she should so some such than that the their theirs them
themselves then there these they this those through to too under until up us very was we were what when where which
while who whom whose why will with would you your yours yourself yourselves s t d ll m re ve
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


class _Stems(dict[str, tuple[str, int] | None]):
    """Word → its stem and the stem's hash; None for words that carry no topic. Each word is worked out once."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer("english", 0)

    def __missing__(self, word: str) -> tuple[str, int] | None:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        self[word] = None if word in STOP_WORDS else self.stem(word)
        return self[word]

    def stem(self, word: str) -> tuple[str, int]:
        stem = self._stemmer.stemWord(word)
        return stem, zlib.crc32(stem.encode())


_STEMS = _Stems()


def fold_case(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def name_key(name: str) -> str:
    """The form in which names are compared: folded, single-spaced, without outer punctuation."""
    return " ".join(fold_case(name).split()).strip(" .,;:!?\"'()[]{}")


def tokens(text: str) -> list[str]:
    """Words, folded. An identifier (`fooBar`, `foo_bar`) gives itself and its parts."""
    found = _WORD.findall(fold_case(text))
    if "'" in text or "’" in text:
        found = [_unquoted(word) if "'" in word or "’" in word else word for word in found]
    if "_" in text or _CAMEL.search(text):
        for identifier in _IDENTIFIER.findall(text):
            parts = _PART.findall(identifier)
            if len(parts) > 1:
                found.extend(part.lower() for part in parts)
    if found and max(map(len, found)) > MAX_TERM_CHARACTERS:
        found = [word[:MAX_TERM_CHARACTERS] for word in found]
    return found


def _unquoted(word: str) -> str:
    return _POSSESSIVE.sub("", word).replace("'", "").replace("’", "")


def stems(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order."""
    return [pair[0] for word in tokens(text) if (pair := _STEMS[word])]


def query_terms(text: str) -> tuple[tuple[str, float], ...]:
    """Stems of a question with weights; one that holds only stop words falls back to those."""
    found = stems(text) or [_STEMS.stem(word)[0] for word in tokens(text)]
    return tuple((term, 1.0 + math.log(count)) for term, count in Counter(found).items())


_EMPTY = (0).to_bytes(4, sys.byteorder)
_NOTHING = (memoryview(b"").cast("I"), memoryview(b"").cast("H"))


def _pack(pairs: Sequence[tuple[str, int]]) -> bytes:
    if not pairs:
        return _EMPTY
    counted = Counter([key for _, key in pairs])
    order = sorted(counted)
    counts = array("H", [min(counted[key], MAX_COUNT) for key in order])
    return len(order).to_bytes(4, sys.byteorder) + array("I", order).tobytes() + counts.tobytes()


def content_hash(name: str, summary: str, body: str) -> bytes:
    """Names a text by what it says. Lengths first, so that no two splits of one string collide."""
    head = f"{len(name)}:{len(summary)}:".encode()
    return hashlib.sha256(head + f"{name}{summary}{body}".encode()).digest()


def text_to_embed(name: str, summary: str, body: str) -> str:
    """What a vector is made of: everything a text says, name first."""
    return "\n".join(part for part in (name, summary, body) if part)


def lex(name: str, summary: str, body: str) -> LexedText:
    """Makes a text ready for the index. Costs tens of microseconds a hundred words: do it outside the lock."""
    fields = [[pair for word in tokens(field) if (pair := _STEMS[word])] for field in (name, summary, body)]
    return LexedText(
        content_hash=content_hash(name, summary, body),
        name=name,
        name_key=name_key(name),
        summary=summary,
        body=body,
        stems=tuple(" ".join([stem for stem, _ in field]) for field in fields),
        vector=b"".join(map(_pack, fields)),
        length=sum(map(len, fields)),
    )


def unpack(vector: bytes) -> list[tuple[memoryview, memoryview]]:
    """The three fields of a packed text: sorted stem hashes and their counts."""
    view, at, fields = memoryview(vector), 0, []
    for _ in FIELD_WEIGHTS:
        size = int.from_bytes(view[at : at + 4], sys.byteorder)
        if not size:
            fields.append(_NOTHING)
            at += 4
            continue
        hashes_end = at + 4 + 4 * size
        counts_end = hashes_end + 2 * size
        fields.append((view[at + 4 : hashes_end].cast("I"), view[hashes_end:counts_end].cast("H")))
        at = counts_end
    return fields


@lru_cache(maxsize=100_000)
def term_hash(term: str) -> int:
    """How packed texts name a stem."""
    return zlib.crc32(term.encode())


def term_hashes(vector: bytes) -> Collection[int]:
    """Which stems a packed text holds, in any field, each once."""
    held = [hashes for hashes, _ in unpack(vector) if hashes]
    return held[0] if len(held) == 1 else set().union(*held)


def idf(population: int, document_frequency: int) -> float:
    """Never negative, so that a match never costs."""
    return math.log(1.0 + max(population - document_frequency + 0.5, 0.5) / (document_frequency + 0.5))


def choose_terms(
    terms: Iterable[tuple[str, float]], frequencies: Mapping[str, int], population: int
) -> tuple[tuple[TermStat, ...], tuple[str, ...]]:
    """At most eight terms, rarest first; common ones go while three rarer remain. Returns (used, dropped).

    Every text that matches is looked at, so the terms together match MAX_MATCHES texts at most, unless one alone has
    more. Terms of no live text come last: they match only what a question about the past can see.
    """
    stats = [
        TermStat(term=term, weight=weight, document_frequency=df, idf=idf(population, df))
        for term, weight in terms
        for df in (max(frequencies.get(term, 0), 0),)
    ]
    stats.sort(key=lambda stat: (stat.document_frequency == 0, stat.document_frequency, stat.term))
    common = max(COMMON_FLOOR, int(population * COMMON_SHARE))
    used: list[TermStat] = []
    dropped: list[str] = []
    matches = 0
    for stat in stats:
        too_common = stat.document_frequency > common and len(used) >= KEEP_RARER_TERMS
        too_many = used and matches + stat.document_frequency > MAX_MATCHES
        if too_common or too_many or len(used) >= MAX_QUERY_TERMS:
            dropped.append(stat.term)
        else:
            used.append(stat)
            matches += stat.document_frequency
    return tuple(used), tuple(dropped)


class Bm25:
    """Scores packed texts for one question over one visible population."""

    def __init__(self, terms: Sequence[TermStat], *, mean_length: float, k1: float, b: float) -> None:
        self._terms = [(stat.term, term_hash(stat.term), stat.weight * stat.idf) for stat in terms]
        self._mean_length = max(mean_length, 1.0)
        self._k1, self._b = k1, b

    def score(self, vector: bytes, length: int) -> tuple[float, tuple[tuple[str, float], ...]]:
        """The score and what each term gave to it."""
        fields = [(*field, weight) for field, weight in zip(unpack(vector), FIELD_WEIGHTS, strict=True) if field[0]]
        norm = self._k1 * (1.0 - self._b + self._b * length / self._mean_length)
        parts = []
        for term, key, weight in self._terms:
            frequency = 0.0
            for hashes, counts, field_weight in fields:
                at = bisect_left(hashes, key)
                if at < len(hashes) and hashes[at] == key:
                    frequency += field_weight * counts[at]
            if frequency:
                parts.append((term, weight * frequency * (self._k1 + 1.0) / (frequency + norm)))
        return sum(part for _, part in parts), tuple(parts)
