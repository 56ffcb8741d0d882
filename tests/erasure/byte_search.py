"""Looks through every file of a directory for what was planted in a store, in any form in which a store may keep it.

    python -m tests.erasure.byte_search DIRECTORY WORD...

Words in UTF-8 and UTF-16, whole and in part, in capitals or not, forwards and backwards, as stems, without accents,
spelt in hexadecimal; hashes of texts, raw and spelt; sixteen bytes in a row of a vector or its parts; the numbers that
stand for rare stems; and, by reading the tables, any vector that lies where a planted one does.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from msgspec import Struct

from weft.text import lexical
from weft.text.sentence_vectors import part_cosines

RUN_BYTES = 16
SHORTEST_PART = 6  # letters: a shorter one may be in any text
SAME_DIRECTION = 0.995
PARTS_SAME_DIRECTION = 0.9  # packed with two bits a dimension
OVERLAP_BYTES = 4_096
BLOCK_BYTES = 1 << 26


class Planted(Struct, frozen=True, kw_only=True):
    """One text with words that occur nowhere else, and what a store makes of it."""

    words: tuple[str, ...]
    name: str = ""
    summary: str = ""
    text: str = ""
    vector: bytes = b""  # half-precision floats
    parts: bytes = b""


class Finding(NamedTuple):
    """What was found, in which form, where."""

    file: str
    form: str
    of: str
    at: int


class Needle(NamedTuple):
    """Bytes to look for. Those of letters are looked for in capitals too."""

    form: str
    of: str
    data: bytes
    letters: bool


def search(directory: Path, planted: Sequence[Planted]) -> list[Finding]:
    """Everything that is left of what was planted; empty if nothing is.

    Four bytes are found by chance now and then: numbers of stems count only where a fourth of all are found.
    """
    needles = [needle for each in planted for needle in needles_of(each)]
    stems = [needle for each in planted for needle in stem_numbers(each)]
    found: list[Finding] = []
    numbers: list[Finding] = []
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        name = str(file.relative_to(directory))
        found += [Finding(name, "name of the file", needle.of, 0) for needle in needles if _in_name(needle, name)]
        found += _in_bytes(file, name, needles)
        numbers += _in_bytes(file, name, stems)
        if file.suffix == ".db":
            found += _in_tables(file, name, planted)
    if stems and len({finding.of for finding in numbers}) >= max(2, len({stem.of for stem in stems}) // 4):
        found += numbers
    return found


def needles_of(planted: Planted) -> Iterator[Needle]:
    """Every form of one text that tells what it says."""
    for word in dict.fromkeys(form for each in planted.words for form in _spellings(each)):
        yield Needle("word", word, word.encode(), letters=True)
        yield Needle("word backwards", word, word[::-1].encode(), letters=True)
        yield Needle("word in UTF-16", word, word.encode("utf-16-le"), letters=True)
        yield Needle("word in UTF-16 (big end first)", word, word.encode("utf-16-be"), letters=True)
        if not word.isascii():
            yield Needle("word in hexadecimal", word, word.encode().hex().encode(), letters=True)
        # An index may keep of a word only where it differs from the one before it; a torn page, either part.
        for form, part in (("start of a word", word[: -(len(word) // 3)]), ("end of a word", word[len(word) // 3 :])):
            if len(part) >= SHORTEST_PART:
                yield Needle(form, word, part.encode(), letters=True)
    body = planted.text or planted.summary or planted.name
    hashes = {
        "content hash": lexical.content_hash(planted.name, planted.summary, planted.text),
        "SHA-256": hashlib.sha256(body.encode()).digest(),
    }
    for form, digest in hashes.items():
        yield Needle(form, body[:40], digest, letters=False)
        yield Needle(f"{form} in hexadecimal", body[:40], digest.hex().encode(), letters=True)
    for form, data in (("vector", planted.vector), ("parts of a vector", planted.parts)):
        runs = (data[at : at + RUN_BYTES] for at in range(0, len(data) - RUN_BYTES + 1, RUN_BYTES))
        for run in dict.fromkeys(runs):
            if len(set(run)) > 4:  # one of mostly zeros is in any file
                yield Needle(form, body[:40], run, letters=False)


def stem_numbers(planted: Planted) -> Iterator[Needle]:
    """What the index knows a stem by: four bytes, either end first."""
    for word in planted.words:
        for stem in lexical.stems(word):
            number = zlib.crc32(stem.encode())
            yield Needle("number of a stem", stem, number.to_bytes(4, "little"), letters=False)
            yield Needle("number of a stem (big end first)", stem, number.to_bytes(4, "big"), letters=False)


def _spellings(word: str) -> Iterator[str]:
    """The word, folded, and its stems: all that a store writes of it."""
    yield word
    yield word.casefold()
    yield lexical.fold_case(word)
    yield from lexical.stems(word)


def _in_name(needle: Needle, name: str) -> bool:
    return needle.letters and needle.data.lower() in name.encode().lower()


def _in_bytes(file: Path, name: str, needles: Sequence[Needle]) -> Iterator[Finding]:
    with file.open("rb") as opened:
        size = file.stat().st_size  # others may go on writing behind it
        for start in range(0, size, BLOCK_BYTES):
            opened.seek(start)
            block = opened.read(BLOCK_BYTES + OVERLAP_BYTES)  # what lies across the border is in both
            folded = block.lower()
            for needle in needles:
                at = folded.find(needle.data.lower()) if needle.letters else block.find(needle.data)
                if at >= 0:
                    yield Finding(name, needle.form, needle.of, start + at)


def _in_tables(file: Path, name: str, planted: Sequence[Planted]) -> Iterator[Finding]:
    """Vectors of the database that lie where a planted one does, however they are written."""
    wanted = [(each, np.frombuffer(each.vector, "<f2").astype(np.float32)) for each in planted if each.vector]
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = db.execute("SELECT key, data, parts FROM vector").fetchall() if _has_vectors(db) else []
    finally:
        db.close()
    for key, data, parts in rows:
        vector = np.frombuffer(data, "<f2").astype(np.float32)
        for each, towards in wanted:
            if vector.shape == towards.shape and float(vector @ towards) > SAME_DIRECTION:
                yield Finding(name, "vector in a table", each.text[:40], key)
            placed = part_cosines([parts], towards)[0] if parts else ()
            if any(cosine > PARTS_SAME_DIRECTION for _, _, cosine in placed):
                yield Finding(name, "part in a table", each.text[:40], key)


def _has_vectors(db: apsw.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'vector'").fetchone() is not None


if __name__ == "__main__":
    for each in search(Path(sys.argv[1]), [Planted(words=tuple(sys.argv[2:]))]):
        print(f"{each.file} at {each.at}: {each.form} of {each.of}")
