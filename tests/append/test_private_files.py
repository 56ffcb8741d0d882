"""Files of a store are their owner's alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import pytest

import weft
from tests.places import Place


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """The umask under which everybody may read what is made."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def files_line(memory: weft.Memory) -> str:
    (line,) = [each.detail for each in memory.call("doctor").checks if each.name == "files"]
    return str(line)


def test_nobody_else_reads_a_store_a_backup_or_an_export(place: Place) -> None:
    memory = place.open(audit="on", embedder="builtin")
    memory.remember("The gull sleeps on the mast.")
    memory.add_entity("Petrel", kind="Product")
    assert memory.recall("gull").hits
    memory.call("backup", path=str(place.scratch / "copy"))
    memory.call("log_export", path=str(place.scratch / "log.jsonl"))
    found = [place.scratch / "store", place.scratch / "copy", place.scratch / "log.jsonl"]
    found += [each for top in found if top.is_dir() for each in top.rglob("*")]
    assert {"weft-store.json", "audit", "log.jsonl"} <= {each.name for each in found}
    assert any(each.name.endswith(".db-wal") for each in found)
    open_ones = [str(each) for each in found if stat.S_IMODE(each.stat().st_mode) & 0o077]
    assert open_ones == []
    assert "others" not in files_line(memory)


def test_a_store_that_is_open_to_others_is_left_and_told(place: Place) -> None:
    (place.scratch / "store").mkdir(mode=0o755)
    memory = place.open()
    memory.remember("The gull sleeps on the mast.")
    assert "other users of this machine may read them: chmod" in files_line(memory)
    (place.scratch / "store").chmod(0o700)
    assert "others" not in files_line(memory)
