"""Near-duplicate detection: pairs of texts that say the same and may be merged, and no pair that may differ.

Two texts are compared only within a *place* (guard, kind, focus area and subject) and only if they have the same
negations, numbers and signs (`dedup.turns_of`). They say the same if the words of one occur in the other in the same
order, and the other's extra words are few and carry no name, condition or quantity. So neither has a name, a value or a
verb in the place of another, nor the same words in another order.

They are similar if their Jaccard similarity exceeds 0.9 or, if it does not, the cosine of their stored vectors does.
Paraphrases in other words are not found, on purpose: they cannot be told from texts about something else.

The search is exact. Texts with equal words share a hash. A text whose words are all in another shares its rarest word
with it, so that only texts with that word are compared, vectorised over all of them.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from weft.core.kinds import DERIVED_FROM, RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.core.slices import in_slices
from weft.core.types import MAX_IDS_PER_READ, NodeVersion, When
from weft.runtime.call_context import CallContext
from weft.text.lexical import STOP_WORDS, text_to_embed, tokens
from weft.writing.checks.dedup import turns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALIKE: Final = 0.9
SHARED: Final = 0.85  # minimum share of the longer text's words that the shorter one has
READ_CHARACTERS: Final = 20_000  # of a long text; the rest must be identical
CHUNK: Final = 1_000_000  # pairs per vectorised step
MAX_EXAMINED: Final = 100_000_000  # pairs in total
MAX_WEIGHED: Final = 20_000  # candidate pairs that are compared in full
DAY_US: Final = 86_400_000_000

# Kinds that repeat by nature: reports of two days may say the same.
NOT_COMPARED: Final = tuple(
    sorted(
        STRUCTURAL_KINDS
        | RECORD_KINDS
        | VIEWS["entity"]
        | VIEWS["code"]
        | {"Message", "Chunk", "Report", "Episode", "Task", "Feature", "Claim", "Alert", "Digest"}
    )
)
DATED_KINDS: Final = frozenset({"Event", "Cause"})  # the same words on another day are a different event
# Words that do not change what a text says.
_WEIGHTLESS_TEXT = """
a an the that this these those and also just very so too then there it its of is are be been being am has have we our i
my us really please
"""
_WEIGHTLESS: Final = frozenset(_WEIGHTLESS_TEXT.split())
# Words that qualify a statement: both texts must have the same ones.
_BEARING_TEXT = """
maybe perhaps may might must always sometimes usually often rarely seldom mostly partly nearly almost every each several
many much less least later earlier first last next previous former new old still yet already again else alone exactly
roughly approximately temporarily permanently planned proposed possibly probably supposedly allegedly ex pre post anti
"""
_BEARING: Final = (STOP_WORDS - _WEIGHTLESS) | frozenset(_BEARING_TEXT.split())

Measure = Literal["words", "meaning"]


class Pair(Struct, frozen=True, kw_only=True):
    """Two nodes that say the same, with their similarity and how it was measured."""

    older: NodeVersion
    newer: NodeVersion
    similarity: float
    measure: Measure


class Pairs(Struct, frozen=True, kw_only=True):
    """Pairs, most similar first. `whole` is False if there were too many to compare all."""

    pairs: tuple[Pair, ...]
    whole: bool = True


def is_compared(node: NodeVersion) -> bool:
    """Whether a node was written as text, and not extracted from something else."""
    return node.kind not in NOT_COMPARED and DERIVED_FROM not in node.props and bool(node.text or node.name)


class Texts:
    """The word sequences of the texts read so far, without the texts."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._places: dict[bytes, int] = {}
        self.ids: list[str] = []
        self.order: list[tuple[int, int]] = []  # valid_from and row
        self.places: list[int] = []
        self.said: list[array[int]] = []
        self.exact: list[bytes] = []

    def add(self, node: NodeVersion) -> None:
        """Adds a node that has words to compare."""
        text = words_of(node)
        words = _read(text)
        number = self._words
        said = array("i", [number.setdefault(word, len(number)) for word in words if word not in _WEIGHTLESS])
        if not said:
            return
        self.ids.append(node.id)
        self.order.append((node.interval.valid_from, node.row))
        place = _place(node, text, words)
        self.places.append(self._places.setdefault(place, len(self._places)))
        self.said.append(said)
        self.exact.append(hashlib.blake2b(" ".join(words).encode(), digest_size=16).digest())


def words_of(node: NodeVersion) -> str:
    """The whole text of a node."""
    return text_to_embed(node.name, node.summary, node.text)


def _read(words: str) -> list[str]:
    return tokens(words[:READ_CHARACTERS])


def _place(node: NodeVersion, text: str, words: Sequence[str]) -> bytes:
    """The digest of everything that two comparable nodes must have in common."""
    about = [node.props.get(name) for name in ("subject", "predicate", "polarity")]
    day = node.interval.valid_from // DAY_US if node.kind in DATED_KINDS else 0
    bearing = [word for word in words if word in _BEARING]
    turns = turns_of(text[:READ_CHARACTERS], words)
    parts = (node.guard, node.kind, node.focus, about, day, text[READ_CHARACTERS:], bearing, turns)
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()


def find_pairs(
    ctx: CallContext,
    when: When,
    texts: Texts,
    *,
    progress: Callable[[int, int], None],
    stands: Callable[[Sequence[str]], set[str]],
) -> Pairs:
    """Pairs among these texts. `stands` returns the ids that nothing superseded."""
    groups: dict[tuple[int, bytes], list[int]] = {}
    for number, (place, exact) in enumerate(zip(texts.places, texts.exact, strict=True)):
        groups.setdefault((place, exact), []).append(number)
    likely = [pair for group in groups.values() for pair in _with_latest(texts, group)]
    latest = [max(group, key=lambda number: texts.order[number]) for group in groups.values()]
    contained, whole = _contained(texts, latest, progress)
    ordered = (pair for pair in contained if _in_order(texts.said[pair[0]], texts.said[pair[1]]))
    likely += dict.fromkeys((min(pair), max(pair)) for pair in ordered)
    standing = _standing(texts, likely, stands)
    likely = [pair for pair in likely if texts.ids[pair[0]] in standing and texts.ids[pair[1]] in standing]
    weighed = _weighed(ctx, when, texts, likely[:MAX_WEIGHED])
    found = tuple(sorted(weighed, key=lambda pair: (-pair.similarity, pair.older.row, pair.newer.row)))
    return Pairs(pairs=found, whole=whole and len(likely) <= MAX_WEIGHED)


def _with_latest(texts: Texts, group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each of several texts with equal words, paired with the latest."""
    *others, latest = sorted(group, key=lambda number: texts.order[number])
    return ((other, latest) for other in others)


def _standing(texts: Texts, pairs: Iterable[tuple[int, int]], stands: Callable[[Sequence[str]], set[str]]) -> set[str]:
    return stands(list(dict.fromkeys(texts.ids[number] for pair in pairs for number in pair)))


def _contained(
    texts: Texts, numbers: Sequence[int], progress: Callable[[int, int], None]
) -> tuple[list[tuple[int, int]], bool]:
    """Pairs (shorter, longer) where one has all words of the other and few more; and whether all were compared."""
    import numpy as np

    words = _Postings(
        [np.unique(np.frombuffer(texts.said[number], "i4")) for number in numbers],
        np.array([texts.places[number] for number in numbers], "i8"),
    )
    found: list[tuple[int, int]] = []
    examined = 0
    for begin, end in words.chunks(CHUNK):
        progress(begin, len(numbers))
        if examined > MAX_EXAMINED:
            return found, False
        shorter, longer, looked_at = words.holding(begin, end)
        examined += looked_at
        found += [(numbers[one], numbers[other]) for one, other in zip(shorter.tolist(), longer.tolist(), strict=True)]
    progress(len(numbers), len(numbers))
    return found, True


class _Postings:
    """An inverted index: the texts of a place with each word, and the frequency of each word."""

    def __init__(self, sets: Sequence[NDArray[np.int32]], places: NDArray[np.int64]) -> None:
        import numpy as np

        self.sizes = np.array([len(each) for each in sets], "i8")
        owners = np.repeat(np.arange(len(sets)), self.sizes)
        flat = np.concatenate(sets).astype("i8") if sets else np.zeros(0, "i8")
        # Words are counted per place.
        most = int(flat.max(initial=0)) + 1
        _, word = np.unique(places[owners] * most + flat, return_inverse=True)
        self.held_by = np.bincount(word, minlength=1) if len(word) else np.zeros(1, "i8")
        self.by_word = owners[np.argsort(word, kind="stable")]
        self.starts = np.cumsum(self.held_by) - self.held_by
        # Each text's words, the rarest first.
        order = np.lexsort((self.held_by[word], owners)) if len(word) else np.zeros(0, "i8")
        self.word, self.begins = word[order], np.cumsum(self.sizes) - self.sizes
        self.keys = np.sort(owners * (len(self.held_by) + 1) + word)

    def chunks(self, most: int) -> Iterator[tuple[int, int]]:
        """Ranges of texts whose rarest words occur in about `most` texts."""
        import numpy as np

        if not len(self.sizes):
            return
        reach = np.cumsum(self.held_by[self.word[self.begins]])
        begin = 0
        while begin < len(self.sizes):
            so_far = int(reach[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(reach, so_far + most, side="right")))
            yield begin, end
            begin = end

    def holding(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Texts of a range paired with texts that contain all their words; and how many pairs were compared."""
        import numpy as np

        rarest = self.word[self.begins[begin:end]]
        counts = self.held_by[rarest]
        looked_at = int(counts.sum())
        shorter = np.repeat(np.arange(begin, end), counts)
        inside = np.arange(looked_at) - np.repeat(np.cumsum(counts) - counts, counts)
        longer = self.by_word[np.repeat(self.starts[rarest], counts) + inside]
        kept = (self.sizes[longer] >= self.sizes[shorter]) & (self.sizes[shorter] >= SHARED * self.sizes[longer])
        kept &= longer != shorter
        shorter, longer = shorter[kept], longer[kept]
        at, done = 1, []
        while len(shorter):
            over = self.sizes[shorter] <= at
            done.append((shorter[over], longer[over]))
            shorter, longer = shorter[~over], longer[~over]
            wanted = longer * (len(self.held_by) + 1) + self.word[self.begins[shorter] + at]
            place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
            there = self.keys[place] == wanted
            shorter, longer = shorter[there], longer[there]
            at += 1
        ones = np.concatenate([one for one, _ in done]) if done else np.zeros(0, "i8")
        others = np.concatenate([other for _, other in done]) if done else np.zeros(0, "i8")
        return ones, others, looked_at


def _in_order(shorter: Iterable[object], longer: Iterable[object]) -> bool:
    """Whether the words of one occur in the other in order."""
    rest = iter(longer)
    return all(word in rest for word in shorter)


def _weighed(ctx: CallContext, when: When, texts: Texts, likely: Sequence[tuple[int, int]]) -> Iterator[Pair]:
    """The similar pairs among the candidates, whose texts and vectors are read again."""
    for some in in_slices(likely, MAX_IDS_PER_READ // 2):
        ids = list(dict.fromkeys(texts.ids[number] for pair in some for number in pair))
        nodes = {node.id: node for node in ctx.store.nodes(ctx.viewer, when, ids)}
        both = [(nodes.get(texts.ids[one]), nodes.get(texts.ids[other])) for one, other in some]
        yield from weigh(ctx, [(one, other) for one, other in both if one is not None and other is not None])


def weigh(ctx: CallContext, likely: Sequence[tuple[NodeVersion, NodeVersion]]) -> Iterator[Pair]:
    """The similar pairs: by words, or by stored vectors if the words do not suffice."""
    unsure: list[tuple[NodeVersion, NodeVersion]] = []
    for one, other in likely:
        if not _says_the_same(one, other):
            continue
        share = _share(one, other)
        if share > ALIKE:
            yield _pair(one, other, share, "words")
        else:
            unsure.append((one, other))
    cosines = _cosines(ctx, unsure)
    for pair in unsure:
        cosine = cosines.get((pair[0].content_hash, pair[1].content_hash), 0.0)
        if cosine > ALIKE:
            yield _pair(*pair, cosine, "meaning")


def _pair(one: NodeVersion, other: NodeVersion, similarity: float, measure: Measure) -> Pair:
    older, newer = sorted((one, other), key=lambda node: (node.interval.valid_from, node.row))
    return Pair(older=older, newer=newer, similarity=round(min(similarity, 1.0), 3), measure=measure)


def _says_the_same(one: NodeVersion, other: NodeVersion) -> bool:
    """The whole rule of the module docstring for two nodes."""
    texts = words_of(one), words_of(other)
    read = _read(texts[0]), _read(texts[1])
    if not (is_compared(one) and is_compared(other)):
        return False
    if _place(one, texts[0], read[0]) != _place(other, texts[1], read[1]):
        return False
    said = [[word for word in words if word not in _WEIGHTLESS] for words in read]
    (shorter, _), (longer, written) = sorted(zip(said, texts, strict=True), key=lambda each: len(each[0]))
    sizes = len(set(shorter)), len(set(longer))
    if not shorter or sizes[0] < SHARED * sizes[1] or not _in_order(shorter, longer):
        return False
    return not _names_among(set(Counter(longer) - Counter(shorter)), written)


def _names_among(added: set[str], written: str) -> bool:
    """Whether an extra word may be a name: it has a capital letter somewhere."""
    capitals = " ".join(word for word in written.split() if not word.islower())
    return bool(added & set(tokens(capitals)))


def _share(one: NodeVersion, other: NodeVersion) -> float:
    first, second = set(_read(words_of(one))), set(_read(words_of(other)))
    return len(first & second) / len(first | second)


def _cosines(ctx: CallContext, pairs: Sequence[tuple[NodeVersion, NodeVersion]]) -> Mapping[tuple[bytes, bytes], float]:
    """Cosines of the stored vectors of pairs that have both."""
    import numpy as np

    model = ctx.embedding.model
    if model is None or not pairs:
        return {}
    hashes = list(dict.fromkeys(node.content_hash for pair in pairs for node in pair))
    kept: dict[bytes, NDArray[np.float32]] = {}
    for some in in_slices(hashes, MAX_IDS_PER_READ):
        for key, data in ctx.store.vectors(ctx.viewer, model, some).items():
            row = np.frombuffer(data, np.float16).astype(np.float32)
            kept[key] = row / np.float32(max(float(np.linalg.norm(row)), 1e-9))
    wanted = {(one.content_hash, other.content_hash) for one, other in pairs}
    return {(one, other): float(kept[one] @ kept[other]) for one, other in wanted if one in kept and other in kept}
