"""The search that other tests rely on finds what it is there for, wherever and however it is kept."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.erasure.byte_search import RUN_BYTES, Planted, search
from weft.text.lexical import content_hash, stems

VECTOR = np.random.default_rng(1).normal(size=32).astype("<f2").tobytes()
PLANTED = Planted(
    words=("Quindleberries", "zhorvathanes", "Ostervinkels", "ψαροντούφεκα"),
    name="Quindleberries",
    text="zhorvathanes and Ostervinkels: ψαροντούφεκα",
    vector=VECTOR,
    parts=bytes(range(40, 80)),
)
(STEM,) = stems("Quindleberries")


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("word", b"Quindleberries"),
        ("word", b"QUINDLEBERRIES"),
        ("word", "ψαροντουφεκα".encode()),
        ("word", STEM.encode()),
        ("word backwards", "Quindleberries"[::-1].encode()),
        ("word in UTF-16", "quindleberries".encode("utf-16-le")),
        ("word in UTF-16 (big end first)", "QuindleBerries".encode("utf-16-be")),
        ("word in hexadecimal", b"x" + "ψαροντουφεκα".encode().hex().encode()),
        ("start of a word", b"quindleberr"),
        ("end of a word", b"dleberries"),
        ("content hash", content_hash(PLANTED.name, PLANTED.summary, PLANTED.text)),
        ("content hash in hexadecimal", content_hash(PLANTED.name, PLANTED.summary, PLANTED.text).hex().encode()),
        ("SHA-256", hashlib.sha256(PLANTED.text.encode()).digest()),
        ("vector", VECTOR[RUN_BYTES : 2 * RUN_BYTES]),
        ("vector", VECTOR[7 : 7 + 2 * RUN_BYTES]),
        ("parts of a vector", PLANTED.parts[3:38]),
    ],
)
def test_what_is_in_a_plain_file_is_found(tmp_path: Path, form: str, data: bytes) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "some.lock").write_bytes(b"\x00 much else \xff" + data + b"\x01 and more")
    assert form in {finding.form for finding in search(tmp_path, [PLANTED])}


@pytest.mark.parametrize("order", ["little", "big"])
def test_numbers_of_stems_are_found_where_there_are_several(tmp_path: Path, order: str) -> None:
    numbers = [zlib.crc32(stem.encode()) for word in PLANTED.words for stem in stems(word)]
    packed = [number.to_bytes(4, order) for number in numbers]  # type: ignore[arg-type]
    (tmp_path / "one").write_bytes(b"abc" + packed[0])
    assert search(tmp_path, [PLANTED]) == []  # four bytes are there by chance, now and then
    (tmp_path / "two").write_bytes(b"abc".join(packed))
    assert {finding.form for finding in search(tmp_path, [PLANTED])} & {
        "number of a stem",
        "number of a stem (big end first)",
    }


def test_a_name_of_a_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "for-quindleberries.json").write_text("nothing")
    assert {finding.form for finding in search(tmp_path, [PLANTED])} >= {"name of the file"}


def test_a_vector_that_was_rounded_otherwise_is_found_in_its_table(tmp_path: Path) -> None:
    row = np.frombuffer(VECTOR, "<f2").astype(np.float32)
    unit = row / np.linalg.norm(row)
    planted = Planted(words=("quindleberries",), vector=unit.astype("<f2").tobytes())
    near = unit + 0.003 * np.random.default_rng(2).normal(size=unit.shape)
    db = apsw.Connection(str(tmp_path / "some.db"))
    db.execute("CREATE TABLE vector(key INTEGER PRIMARY KEY, data BLOB, parts BLOB)")
    db.execute(
        "INSERT INTO vector(data, parts) VALUES (?, x'')", ((near / np.linalg.norm(near)).astype("<f2").tobytes(),)
    )
    db.close()
    assert {finding.form for finding in search(tmp_path, [planted])} == {"vector in a table"}


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"other words, and " + hashlib.sha256(b"others").digest() * 40)
    assert search(tmp_path, [PLANTED]) == []
