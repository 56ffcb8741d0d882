"""Index files belong to one state of one database: beside any other they are passed over, said so and made again."""

from __future__ import annotations

import errno
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.backends.test_index_files import (
    COUNT,
    answers,
    asked,
    check_same,
    directions,
    filled,
    generations,
    publish,
    small_generations,
    store_at,
    vector,
    walked,
)
from weft.backends.sqlite.search import index_files as files
from weft.backends.sqlite.store import SqliteStore
from weft.core.errors import DiskFull, ReadOnly, StoreError
from weft.core.types import SCOPES
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, edge, node
from weft.testing.viewers import OPERATOR

__all__ = ["filled", "small_generations"]


def fill(store: SqliteStore, rows: np.ndarray, numbers: list[int]) -> None:
    """Nodes with vectors, in the order given, and a chain of edges."""
    scribe = Scribe(store, ManualClock())
    scribe.write(*(node(f"n{n}", f"text {n}", scope=SCOPES[n % 3]) for n in numbers))
    scribe.write(*(edge(f"n{one}", "CALLS", f"n{other}") for one, other in pairwise(numbers)))
    store.put_vectors(OPERATOR.account, [vector(n, rows[n]) for n in numbers])


def remove_database(path: Path) -> None:
    for file in (path / "accounts").glob(f"{OPERATOR.account}.db*"):
        file.unlink()


def check_finds_itself(store: SqliteStore, numbers: list[int]) -> None:
    missed = [n for n in numbers if asked(store, OPERATOR, n)[0][0] != f"n{n}"]
    assert missed == []


def walk_of(store: SqliteStore) -> list[tuple[str, float]]:
    return sorted(walked(store, OPERATOR)[0])


@pytest.mark.parametrize("count", [COUNT // 2, COUNT], ids=["fewer", "as many"])
def test_a_database_made_again_does_not_trust_the_old_index(filled: Path, tmp_path: Path, count: int) -> None:
    publish(filled)
    remove_database(filled)
    numbers = list(range(count))[::-1]
    store, plain = store_at(filled), store_at(tmp_path / "plain")
    for each in (store, plain):
        fill(each, directions(), numbers)
    assert "belongs to another store" in " ".join(asked(store, OPERATOR, 1)[1])
    assert "belongs to another store" in " ".join(walked(store, OPERATOR)[1])
    check_finds_itself(store, numbers)
    assert walk_of(store) == walk_of(plain)
    assert generations(filled) == []
    assert len(publish(filled)) == 2


def test_a_database_restored_from_a_backup_does_not_trust_the_later_index(tmp_path: Path) -> None:
    path, rows = tmp_path / "store", directions()
    store = store_at(path)
    fill(store, rows, list(range(150)))
    kept = store.backup(OPERATOR, tmp_path / "kept.db")
    fill(store, rows, list(range(150, 350)))
    store.close()
    assert len(publish(path)) == 2
    remove_database(path)
    shutil.copy(kept / "accounts" / f"{OPERATOR.account}.db", path / "accounts")

    restored = store_at(path)
    assert "ahead of this store" in " ".join(asked(restored, OPERATOR, 1)[1])
    assert "ahead of this store" in " ".join(walked(restored, OPERATOR)[1])
    check_finds_itself(restored, list(range(150)))
    fill(restored, rows, list(range(150, COUNT))[::-1])
    check_finds_itself(restored, list(range(COUNT)))
    assert "belongs to another store" in " ".join(walked(restored, OPERATOR)[1])
    assert generations(path) == [], "by now it is plain that they are of another history"
    restored.close()
    assert len(publish(path)) == 2
    check_finds_itself(store_at(path), list(range(0, COUNT, 10)))


def test_indexes_ahead_of_a_restored_database_are_made_again(tmp_path: Path) -> None:
    path, rows = tmp_path / "store", directions()
    store = store_at(path)
    fill(store, rows, list(range(150)))
    kept = store.backup(OPERATOR, tmp_path / "kept.db")
    fill(store, rows, list(range(150, 350)))
    store.close()
    publish(path)
    remove_database(path)
    shutil.copy(kept / "accounts" / f"{OPERATOR.account}.db", path / "accounts")
    assert len(publish(path)) == 2
    again = store_at(path)
    assert asked(again, OPERATOR, 1)[1] == walked(again, OPERATOR)[1] == ()
    assert len(generations(path)) == 2


def test_origin_is_asked_once_for_each_generation(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(filled)
    store = store_at(filled)
    asks: list[int] = []
    ask = files.store_id
    monkeypatch.setattr(files, "store_id", lambda db: asks.append(1) or ask(db))
    for number in range(5):
        asked(store, OPERATOR, number)
        walked(store, OPERATOR)
    assert len(asks) == 2


REFUSALS = {errno.ENOSPC: DiskFull, errno.EDQUOT: DiskFull, errno.EROFS: ReadOnly, errno.EIO: StoreError}


@pytest.mark.parametrize("number", REFUSALS, ids=errno.errorcode.get)
def test_a_disk_that_refuses_an_index_is_a_clear_error(
    filled: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    before = store_at(filled)
    exact = answers(before)
    before.close()

    def refuse(path: Path) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(files, "sync_path", refuse)
    with pytest.raises(REFUSALS[number]) as caught:
        publish(filled)
    assert caught.value.hint
    assert type(caught.value) is REFUSALS[number]
    assert generations(filled) == [], "nothing half-made is left"
    check_same(store_at(filled), exact)


def test_a_directory_that_cannot_be_made_is_a_clear_error(filled: Path) -> None:
    (filled / "accounts" / f"{OPERATOR.account}.index").write_text("in the way")
    with pytest.raises(StoreError, match="no index could be written"):
        publish(filled)
