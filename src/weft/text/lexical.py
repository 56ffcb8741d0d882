"""Tokens, stems, packed term counts and the BM25 score of the text index.

Pure functions of text. Backends store the output of `lex` and score with `Bm25`, so that all of them rank alike.
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, filterfalse, repeat
from typing import TYPE_CHECKING, NamedTuple

import Stemmer

from weft.core.commits import LexedText
from weft.core.queries import TermStat, TextQuery
from weft.text.encryption import is_sealed
from weft.text.names import aliases

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIELD_WEIGHTS = (3.0, 2.0, 1.0)  # name, summary, body
MAX_TERM_CHARACTERS = 64
MAX_COUNT = 255  # a stem's occurrences in one field, as packed
MAX_CACHED_WORDS = 200_000
SHORT_CHARACTERS = 120
FEWER = 6  # ratio of a text's stems to a field's above which the field's are searched among them
MAX_QUERY_TERMS = 32
MAX_MATCHES = 3_000  # texts that a question's terms may match together
ENOUGH_KEYS = 3  # rare words by themselves that find nearly all texts that share many words
COMBINED = 4  # words that are combined where there are fewer
RELATED = 6.0  # a word is likelier beside another of the same subject

# Characters that separate runs, as spaces.
_RUN_SIGNS = bytes(at if chr(at).isalnum() or chr(at) in "_'" else 32 for at in range(128)) + bytes(128)
_WORD = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_POSSESSIVE = re.compile(r"['’]s$")
_IDENTIFIER = re.compile(r"(?<![^\W_])(?:[A-Za-z]\w*_\w+|[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]{2}\w*)\b")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

# Question words, auxiliaries and pronouns carry no topic: in chat they would outweigh it.
_STOP_TEXT = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing down during each few for from further get got had has have having he her here hers
herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once
only or other our ours ourselves out over own same shall she should so some such than that the their theirs them
themselves then there these they this those through to too under until up us very was we were what when where which
while who whom whose why will with would you your yours yourself yourselves s t d ll m re ve
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


class _Stems(dict[str, str | None]):
    """Word → its stem, cached; None for stop words."""

    def __init__(self) -> None:
        super().__init__()
        self.stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

    def __missing__(self, word: str) -> str | None:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        self[word] = found = None if word in STOP_WORDS else self.stem(word)
        return found


_STEMS = _Stems()


def fold_case(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(filterfalse(unicodedata.combining, decomposed)).casefold()


def name_key(name: str) -> str:
    """The form in which names are compared: folded, single-spaced, without outer punctuation."""
    return " ".join(fold_case(name).split()).strip(" .,;:!?\"'()[]{}")


def tokens(text: str) -> list[str]:
    """Words, folded. An identifier (`fooBar`, `foo_bar`) gives itself and its parts."""
    found = _WORD.findall(fold_case(text))
    if "'" in text or "’" in text:
        found = [_unquoted(word) if "'" in word or "’" in word else word for word in found]
    if "_" in text or _CAMEL.search(text):
        found += _parts(text)
    if found and max(map(len, found)) > MAX_TERM_CHARACTERS:
        found = [word[:MAX_TERM_CHARACTERS] for word in found]
    return found


def _parts(text: str) -> list[str]:
    """The parts of a text's identifiers, folded."""
    split = (_PART.findall(identifier) for identifier in _IDENTIFIER.findall(text))
    return [part.lower() for parts in split if len(parts) > 1 for part in parts]


def _unquoted(word: str) -> str:
    return _POSSESSIVE.sub("", word).replace("'", "").replace("’", "")


class _Runs(dict[str, str]):
    """Run of letters, digits, underscores and quotes → the stems of its words, each followed by a space.

    `parts` are those of identifier parts, `hashes` those of stems. In ASCII no word spans two runs, so each run is
    stemmed once: code repeats its names. Entries are never removed; a full cache is replaced.
    """

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[str, str] = {}
        self.hashes = _Hashes()

    def __missing__(self, run: str) -> str:
        if run.isalnum() and (run.islower() or run.isdigit()):
            words = [run]
        elif "'" in run:
            words = [_unquoted(word) for word in _WORD.findall(run.lower())]
        else:
            words = _WORD.findall(run.lower())
        if ("_" in run or _CAMEL.search(run)) and (parts := _parts(run)):
            self.parts[run] = _spaced(parts)
        self[run] = found = _spaced(words)
        return found

    def stems(self, text: str) -> str:
        """The stems of `tokens`, in order, separated by spaces."""
        if not text.isascii():
            return _spaced(tokens(text))[:-1]
        runs = text.encode().translate(_RUN_SIGNS).decode().split()
        words = "".join(map(self.__getitem__, runs))
        parts = self.parts
        return (words + "".join(map(parts.__getitem__, filter(parts.__contains__, runs))))[:-1]

    def field(self, text: str) -> _Field:
        """The indexed form of one field."""
        words = self.stems(text)
        each = words.split(" ") if words else []
        return _Field(words, Counter(map(self.hashes.__getitem__, each)), len(each))


class _Hashes(dict[str, int]):
    """Stem → its CRC-32."""

    def __missing__(self, stem: str) -> int:
        self[stem] = found = zlib.crc32(stem.encode())
        return found


class _Field(NamedTuple):
    """The stems of a text, their counts by hash, and their number."""

    stems: str
    counts: Mapping[int, int]
    length: int


def _spaced(words: Iterable[str]) -> str:
    """The stems of words, each followed by a space."""
    return "".join([f"{stem} " for word in words if (stem := _STEMS[word[:MAX_TERM_CHARACTERS]]) is not None])


_RUNS = [_Runs()]  # the current cache


def _runs() -> _Runs:
    known = _RUNS[0]
    if len(known) >= MAX_CACHED_WORDS or len(known.hashes) >= MAX_CACHED_WORDS:
        known = _RUNS[0] = _Runs()
    return known


@lru_cache(maxsize=4_096)
def _short_field(text: str) -> _Field:
    """Cached indexed form of short fields that many texts share, such as the path of their symbols."""
    return _runs().field(text)


def stems(text: str) -> list[str]:
    """Stems of the words that are not stop words, in order."""
    return [stem for word in tokens(text) if (stem := _STEMS[word]) is not None]


def holds(fields: Iterable[str], phrase: str) -> bool:
    """Whether the stems of some field contain those of a phrase consecutively."""
    return any(f" {phrase} " in f" {field} " for field in fields)


def query_terms(text: str) -> tuple[tuple[str, float], ...]:
    """Stems of a question with weights; the stop words if it has nothing else."""
    found = stems(text) or [_STEMS.stem(word) for word in tokens(text)]
    return tuple((term, 1.0 + math.log(count)) for term, count in Counter(found).items())


def _pack(fields: Sequence[_Field]) -> bytes:
    """Sorted stem hashes, then the count of each in each field, one byte per field."""
    order = sorted(set().union(*[field.counts for field in fields]))
    packed = [_packed_counts(field.counts, order) for field in fields]
    return b"".join((len(order).to_bytes(4, sys.byteorder), array("I", order), *packed))


def _packed_counts(counts: Mapping[int, int], order: Sequence[int]) -> bytes:
    try:
        if len(counts) * FEWER < len(order):
            packed = bytearray(len(order))
            for key, count in counts.items():
                packed[bisect_left(order, key)] = count
            return bytes(packed)
        return bytes(map(counts.get, order, repeat(0)))
    except ValueError:  # more than a byte holds
        return bytes([min(counts.get(key, 0), MAX_COUNT) for key in order])


def content_hash(name: str, summary: str, body: str) -> bytes:
    """The SHA-256 of a text's fields. Lengths are included, so that no two splits of one string collide."""
    head = f"{len(name)}:{len(summary)}:".encode()
    return hashlib.sha256(head + f"{name}{summary}{body}".encode()).digest()


def text_to_embed(name: str, summary: str, body: str) -> str:
    """The text that is embedded: all fields, name first, nothing twice.

    A function's body already contains its name and docstring: repeating them before it would blur the vector.
    """
    if name and summary and name in body and summary.split("\n", 1)[0].strip() in body:
        return body
    return "\n".join(part for part in (name, summary, body) if part)


def lex(name: str, summary: str, body: str) -> LexedText:
    """The indexed form of a text. Takes tens of microseconds per hundred words: call it outside the lock.

    Of encrypted fields nothing is indexed, neither stems nor aliases.
    """
    said = [("" if is_sealed(field) else field) for field in (name, summary, body)]
    fields = [_short_field(field) if len(field) < SHORT_CHARACTERS else _runs().field(field) for field in said]
    return LexedText(
        content_hash=content_hash(name, summary, body),
        name=name,
        name_key=name_key(said[0]),
        summary=summary,
        body=body,
        stems=tuple([field.stems for field in fields]),
        vector=_pack(fields),
        length=sum([field.length for field in fields]),
        aliases=aliases(said[0], said[2]),
    )


@lru_cache(maxsize=100_000)
def term_hash(term: str) -> int:
    """The key of a stem in packed texts."""
    return zlib.crc32(term.encode())


def term_hashes(vector: bytes) -> memoryview:
    """The distinct stem hashes of a packed text, sorted."""
    size = int.from_bytes(vector[:4], sys.byteorder)
    return memoryview(vector)[4 : 4 + 4 * size].cast("I")


def idf(population: int, document_frequency: int) -> float:
    """Inverse document frequency, never negative, so that a match never lowers a score."""
    return math.log(1.0 + max(population - document_frequency + 0.5, 0.5) / (document_frequency + 0.5))


def choose_terms(
    terms: Iterable[tuple[str, float]],
    frequencies: Mapping[str, int],
    population: int,
    *,
    most: int | None = None,
    rarest: int | None = None,
) -> tuple[tuple[TermStat, ...], tuple[str, ...]]:
    """(used, dropped) terms, rarest first, as many as can be scored quickly.

    Every matching text is scored, so the terms together match at most `most` texts (MAX_MATCHES if unset), unless the
    first alone has more. Terms of no live text come last: they match only texts visible to questions about the past.
    """
    stats = [
        TermStat(term=term, weight=weight, document_frequency=df, idf=idf(population, df))
        for term, weight in terms
        for df in (max(frequencies.get(term, 0), 0),)
    ]
    stats.sort(key=lambda stat: (stat.document_frequency == 0, stat.document_frequency, stat.term))
    used: list[TermStat] = []
    dropped: list[str] = []
    matches = 0
    for stat in stats:
        too_many = used and matches + stat.document_frequency > (most or MAX_MATCHES)
        if too_many or len(used) >= (rarest or MAX_QUERY_TERMS):
            dropped.append(stat.term)
        else:
            used.append(stat)
            matches += stat.document_frequency
    return tuple(used), tuple(dropped)


Key = tuple[TermStat, ...]  # terms that a text must hold all of


class ChosenTerms(NamedTuple):
    """The terms that score a text, those left out, and what is looked up: a text must match one of the keys."""

    used: tuple[TermStat, ...]
    dropped: tuple[str, ...]
    keys: tuple[Key, ...]


class TermCounts(NamedTuple):
    """A number of texts, and how many of them hold each term."""

    texts: int
    by_term: Mapping[str, int]


def choose_keys(
    query: TextQuery, frequencies: Mapping[str, int], population: int, read: TermCounts | None = None
) -> ChosenTerms:
    """What to look up for a query, and what to score by.

    `read` are the texts that a lookup reads, if those are more than the visible ones.
    """
    if not query.together:
        used, dropped = choose_terms(query.terms, frequencies, population, most=query.most, rarest=query.rarest)
        return ChosenTerms(used, dropped, tuple((stat,) for stat in used))
    used, dropped = choose_terms(query.terms, frequencies, population, most=population * MAX_QUERY_TERMS)
    texts, held = TermCounts(population, frequencies) if read is None else read
    live = [(max(held.get(stat.term, 0), 1), stat) for stat in used if stat.document_frequency]
    live.sort(key=lambda each: each[0])
    rarest, most = query.rarest or MAX_QUERY_TERMS, query.most or MAX_MATCHES
    return ChosenTerms(used, dropped, _keys_together(live[:rarest], max(texts, 1), most))


def _keys_together(live: Sequence[tuple[int, TermStat]], texts: int, most: int) -> tuple[Key, ...]:
    """Keys that find the texts that share many of the terms, which are in so many of the texts, rarest first.

    The rarest by themselves, as long as they match few; of the next, which match too many, two or three together, as
    far as those are few, and three if they never are.
    """
    keys: list[Key] = []
    matches = 0.0
    for count, stat in live:
        if matches + count > most:
            break
        keys.append((stat,))
        matches += count
    common = live[len(keys) :][:COMBINED]
    if len(keys) >= ENOUGH_KEYS or (keys and len(common) == 1):
        return tuple(keys)
    combined: list[Key] = []
    for group in [*combinations(common, 2), *combinations(common, 3)]:
        key = tuple(stat for _, stat in group)
        expected = texts * math.prod(min(1.0, RELATED * count / texts) for count, _ in group) / RELATED
        if matches + expected <= most and not any(set(each) <= set(key) for each in combined):
            combined.append(key)
            matches += expected
    if common and not combined:
        stats = [stat for _, stat in common]
        combined = [*combinations(stats, 3)] or [tuple(stats)]
    return (*keys, *combined)


TermValues = tuple[tuple[str, float], ...]


class ScoredTexts(NamedTuple):
    """Scored texts: scores, and by [text, term] the contribution and the weighted count of each term."""

    terms: list[str]
    scores: NDArray[np.float64]
    gave: NDArray[np.float64]
    counts: NDArray[np.float64]

    def parts(self, texts: Sequence[int]) -> list[TermValues]:
        """Each term's contribution to these texts' scores; they add up to the score."""
        return [_of_terms(self.terms, row) for row in self.gave[texts].tolist()]

    def counted(self, texts: Sequence[int]) -> list[TermValues]:
        """Each term's count in these texts, weighted by field."""
        return [_of_terms(self.terms, row) for row in self.counts[texts].tolist()]


def _of_terms(terms: list[str], row: list[float]) -> TermValues:
    return tuple([(term, value) for term, value in zip(terms, row, strict=True) if value])


class Bm25:
    """Scores packed texts for one question over one visible population."""

    def __init__(self, terms: Sequence[TermStat], *, mean_length: float, k1: float, b: float) -> None:
        # Two stems with one CRC-32 count as the first of them.
        by_hash = {term_hash(stat.term): stat for stat in reversed(terms)}
        self._hashes = sorted(by_hash)
        self._terms = [by_hash[key] for key in self._hashes]
        self._mean_length = max(mean_length, 1.0)
        self._k1, self._b = k1, b

    def weigh(self, texts: Sequence[tuple[bytes, int]]) -> ScoredTexts:
        """Scores each (packed text, length)."""
        import numpy as np

        counts = self._frequencies([vector for vector, _ in texts])
        lengths = np.array([length for _, length in texts], np.float64)
        norm = self._k1 * (1.0 - self._b + self._b * lengths / self._mean_length)
        weight = np.array([stat.weight * stat.idf for stat in self._terms])
        gave = weight * counts * (self._k1 + 1.0) / (counts + norm[:, None])
        return ScoredTexts([stat.term for stat in self._terms], gave.sum(axis=1), gave, counts)

    def _frequencies(self, vectors: Sequence[bytes]) -> NDArray[np.float64]:
        """[text, term]: the count weighted by field, vectorised over all texts."""
        import numpy as np

        if not vectors or not self._hashes:
            return np.zeros((len(vectors), len(self._hashes)))
        wanted = np.array(self._hashes, np.uint32)
        sizes = np.frombuffer(b"".join([vector[:4] for vector in vectors]), np.uint32).astype(np.int64)
        ends = (4 + 4 * sizes).tolist()
        hashes = np.frombuffer(b"".join([v[4:end] for v, end in zip(vectors, ends, strict=True)]), np.uint32)
        maybe = np.zeros(1 << 16, bool)  # few hashes share their upper half with a wanted one
        maybe[wanted >> 16] = True
        places = np.flatnonzero(maybe[hashes >> 16])
        terms = np.minimum(np.searchsorted(wanted, hashes[places]), len(wanted) - 1)
        same = wanted[terms] == hashes[places]
        places, terms = places[same], terms[same]
        starts = np.cumsum(sizes) - sizes
        rows = np.searchsorted(starts, places, side="right") - 1
        # A text without stems starts where the next one does; searchsorted gives the last of them, which has some.
        weighted = np.zeros(len(places))
        packed = list(zip(vectors, ends, sizes.tolist(), strict=True))
        for field, field_weight in enumerate(FIELD_WEIGHTS):
            counts = b"".join([v[end + field * n : end + (field + 1) * n] for v, end, n in packed])
            weighted += field_weight * np.frombuffer(counts, np.uint8)[places]
        found = np.zeros((len(vectors), len(wanted)))
        found[rows, terms] = weighted
        return found
