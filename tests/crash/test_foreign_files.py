"""Files of others and of other versions of weft: refused, and left as they are."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from tests.crash.workload import (
    OPERATOR,
    START_US,
    FixedClock,
    assert_sound,
    database,
    opened,
    remembered,
    run_rebuild,
    state_of,
    writer,
)
from weft.append.append import append
from weft.backends.sqlite.files.directory import MARKER
from weft.backends.sqlite.schema import SCHEMA_VERSION
from weft.core.errors import NotAStore, SchemaMismatch, StoreError, WeftError

# Files of others


def _refused(directory: Path, error: type[WeftError]) -> None:
    """Reading and writing are refused alike, with a way out."""
    for use in (
        lambda store: store.head(OPERATOR),
        lambda store: append(store, writer(), [remembered("memory:x", "x")], clock=FixedClock(START_US)),
    ):
        with pytest.raises(error) as caught, opened(directory) as store:
            use(store)
        assert caught.value.hint


def test_foreign_database_is_refused_and_left_alone(pristine: Path) -> None:
    file = database(pristine)
    file.unlink()
    foreign = apsw.Connection(str(file))
    foreign.execute("CREATE TABLE invoice(id INTEGER PRIMARY KEY, total REAL); INSERT INTO invoice VALUES (1, 9.5)")
    foreign.close()
    before = file.read_bytes()
    _refused(pristine, NotAStore)
    assert file.read_bytes() == before
    assert not list(file.parent.glob("*.db-*"))


@pytest.mark.parametrize("size", [2, 30, 600, 20_000])
def test_text_file_in_place_of_the_database(pristine: Path, size: int) -> None:
    text = ("Dear diary, today I wove. " * 1_000)[:size].encode()
    database(pristine).write_bytes(text)
    _refused(pristine, NotAStore)
    assert database(pristine).read_bytes() == text


def test_directory_in_place_of_the_database(pristine: Path) -> None:
    database(pristine).unlink()
    database(pristine).mkdir()
    _refused(pristine, StoreError)


def test_directory_that_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    _refused(tmp_path, NotAStore)
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_file_that_is_not_a_store(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    _refused(tmp_path / "notes.txt", NotAStore)


@pytest.mark.parametrize("made", [[], [MARKER]], ids=["nothing", "marker"])
def test_making_a_store_that_was_cut_short_goes_on(tmp_path: Path, made: list[str]) -> None:
    """Killed after the directory was made, or after the marker was."""
    for name in made:
        (tmp_path / name).touch()
    with opened(tmp_path) as store:
        append(store, writer(), [remembered("memory:1", "the first")], clock=FixedClock(START_US))
        assert_sound(store)


def test_a_new_store_is_synced_with_its_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite syncs its own files; the marker and the directories above are weft's to sync."""
    synced: set[int] = set()
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.add(os.fstat(descriptor).st_ino), fsync(descriptor)))
    place = tmp_path / "a" / "b"
    with opened(place) as store:
        append(store, writer(), [remembered("memory:1", "the first")], clock=FixedClock(START_US))
    assert {each.stat().st_ino for each in (tmp_path, place.parent, place, place / MARKER)} <= synced


# Other versions


def _newer(directory: Path) -> None:
    db = apsw.Connection(str(database(directory)))
    db.pragma("user_version", SCHEMA_VERSION + 1)
    db.close()


def test_newer_schema_is_refused(pristine: Path) -> None:
    _newer(pristine)
    _refused(pristine, SchemaMismatch)


def test_newer_schema_stops_writers_that_are_already_open(pristine: Path) -> None:
    with opened(pristine) as store:
        before = state_of(store)
        append(store, writer(), [remembered("memory:a", "still fine")], clock=FixedClock(START_US))
        after = state_of(store)
        _newer(pristine)
        for write in (
            lambda: append(store, writer(), [remembered("memory:b", "too late")], clock=FixedClock(START_US)),
            lambda: run_rebuild(store),
        ):
            with pytest.raises(
                SchemaMismatch, match=rf"schema {SCHEMA_VERSION + 1}.* knows {SCHEMA_VERSION}"
            ) as caught:
                write()
            assert "upgrade" in caught.value.hint
        assert before != after == state_of(store)
