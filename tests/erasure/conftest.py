"""A store of each backend, and somebody who writes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.erasure.planting import fill, store_at, subject_texts
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.ports import Store
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe

MakeStore = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Makes empty stores of one backend."""
    made: list[Store] = []

    def make() -> Store:
        if request.param == "memory":
            made.append(MemoryStore(commit_genesis))
        else:
            made.append(SqliteStore(tmp_path / f"store-{len(made)}", commit_genesis))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def scribe(make_store: MakeStore) -> Scribe:
    return Scribe(make_store(), ManualClock())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a store in it, made once for all tests of a file."""
    path = tmp_path_factory.mktemp("filled") / "store"
    store = store_at(path)
    fill(store, subject_texts())
    store.close()
    return path
