"""A backup beside writers: it ends, it is one state, and it is there whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.concurrency.member import ACCOUNT, OPERATOR, open_store
from tests.concurrency.servant import author, node
from weft.append.append import append
from weft.backends.sqlite.files import backup
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import SystemClock
from weft.core.errors import Invalid, StoreError
from weft.log.verify import verify

COUNT = 30
MOST_STEPS = 5_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_store(tmp_path / "store")
    for number in range(COUNT):
        append(opened, author("main"), [node(number)], clock=SystemClock())
    yield opened
    opened.close()


def files(target: Path) -> list[str]:
    return sorted(file.name for file in (target / "accounts").iterdir())


class _Between:
    """A backup whose steps another writer's commits fall between."""

    def __init__(self, path: Path, step: object) -> None:
        self._copy, self._step = apsw.Connection(str(path)), step

    def backup(self, *given: object) -> _Between:
        self._work = self._copy.backup(*given)
        return self

    def __enter__(self) -> _Between:
        self._work.__enter__()
        return self

    def __exit__(self, *given: object) -> None:
        self._work.__exit__(*given)

    @property
    def done(self) -> bool:
        return self._work.done

    def step(self, pages: int) -> None:
        self._step()
        self._work.step(pages)

    def pragma(self, *given: object) -> None:
        self._copy.pragma(*given)

    def close(self) -> None:
        self._copy.close()


class _Apsw:
    """The driver, with `Connection` exchanged."""

    def __init__(self, step: object) -> None:
        self.Connection = lambda path: _Between(path, step)


def test_it_ends_while_a_writer_goes_on(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = open_store(tmp_path / "store")
    before = store.head(OPERATOR)
    written = [COUNT]

    def write() -> None:
        written[0] += 1
        assert written[0] < MOST_STEPS, "the copy begins again and again"
        append(other, author("main"), [node(written[0])], clock=SystemClock())

    monkeypatch.setattr(backup, "apsw", _Apsw(write))
    monkeypatch.setattr(backup, "PAGES_PER_STEP", 10)
    store.backup(OPERATOR, tmp_path / "copy")
    assert written[0] > COUNT + 2
    copy = open_store(tmp_path / "copy")
    assert copy.head(OPERATOR) == before, "the state when it began"
    assert verify(copy, OPERATOR).problem is None
    for each in (copy, other):
        each.close()


def test_a_failed_copy_leaves_nothing(store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def fail() -> None:
        steps.append(1)
        if len(steps) == 3:
            raise apsw.FullError("no room")

    monkeypatch.setattr(backup, "apsw", _Apsw(fail))
    monkeypatch.setattr(backup, "PAGES_PER_STEP", 5)
    with pytest.raises(StoreError, match="no space left"):
        store.backup(OPERATOR, tmp_path / "copy")
    assert files(tmp_path / "copy") == []
    monkeypatch.undo()
    store.backup(OPERATOR, tmp_path / "copy")
    assert files(tmp_path / "copy") == [f"{ACCOUNT}.db"]
    with pytest.raises(Invalid, match="exists already"):
        store.backup(OPERATOR, tmp_path / "copy")
    append(store, author("main"), [node(COUNT)], clock=SystemClock())  # the read has ended: writing goes on
    assert store.head(OPERATOR).pos == COUNT + 1
