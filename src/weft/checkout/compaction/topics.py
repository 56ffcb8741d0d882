"""Topics among texts, each with its exemplar. Rows are unit vectors of one space.

A text joins the first topic whose first text is near enough, else it begins one. The exemplar of a topic is its medoid:
the text nearest to all others. Texts without a vector are compared by their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.text.lexical import query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR_BY_MEANING: Final = 0.6  # cosine from which two texts are of one topic
NEAR_BY_WORDS: Final = 0.6
PLACES: Final = 512  # dimensions that words are hashed into, without vectors
READ_CHARACTERS: Final = 4_000
AT_ONCE: Final = 256


def topics_of(texts: Sequence[str], vectors: Sequence[bytes | None]) -> list[list[int]]:
    """Numbers of texts by topic; the exemplar first, then the others, the nearest to it first.

    `vectors` are half-precision floats of unit length, None for a text that has none.
    """
    import numpy as np

    known = [at for at, data in enumerate(vectors) if data is not None]
    rest = [at for at, data in enumerate(vectors) if data is None]
    found: list[list[int]] = []
    if known:
        rows = np.stack([np.frombuffer(vectors[at] or b"", dtype="<f2") for at in known]).astype(np.float32)
        found += [[known[each] for each in group] for group in grouped(rows, NEAR_BY_MEANING)]
    if rest:
        rows = _by_words([texts[at] for at in rest])
        found += [[rest[each] for each in group] for group in grouped(rows, NEAR_BY_WORDS)]
    return found


def grouped(rows: NDArray[np.float32], near: float) -> list[list[int]]:
    """Groups of rows, each led by its medoid."""
    import numpy as np

    leaders = np.empty_like(rows)
    groups: list[list[int]] = []
    for start in range(0, len(rows), AT_ONCE):
        block = rows[start : start + AT_ONCE]
        before = len(groups)
        alike = block @ leaders[:before].T if before else np.zeros((len(block), 1), dtype=np.float32)
        nearest, best = alike.argmax(axis=1), alike.max(axis=1)
        for at, row in enumerate(block):
            place, score = int(nearest[at]), float(best[at])
            if score < near and len(groups) > before:  # those that this very block began
                fresh = leaders[before : len(groups)] @ row
                place, score = before + int(fresh.argmax()), float(fresh.max())
            if score >= near:
                groups[place].append(start + at)
            else:
                leaders[len(groups)] = row
                groups.append([start + at])
    return [_led_by_medoid(rows, group) for group in groups]


def _led_by_medoid(rows: NDArray[np.float32], group: list[int]) -> list[int]:
    if len(group) < 3:  # of two, both are equally near: the later one is the exemplar
        return group[::-1]
    own = rows[group]
    medoid = group[int((own @ own.sum(axis=0)).argmax())]
    alike = rows[group] @ rows[medoid]
    order = sorted(zip(group, alike.tolist(), strict=True), key=lambda each: (-each[1], each[0]))
    return [medoid, *(each for each, _ in order if each != medoid)]


def _by_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit rows of the words of each text, without stop words."""
    import zlib

    import numpy as np

    rows = np.zeros((len(texts), PLACES), dtype=np.float32)
    for at, text in enumerate(texts):
        for term, _ in query_terms(text[:READ_CHARACTERS]):
            rows[at, zlib.crc32(term.encode()) % PLACES] = 1.0
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = rows / np.maximum(lengths, 1e-9)
    return unit
