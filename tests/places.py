"""Places to write to: a store of each backend, and whole memories over one directory."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.ports import Store
from weft.log.chain import commit_genesis
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe

MakeStore = Callable[[], Store]
KEY = "tests:" + base64.b64encode(bytes(range(32))).decode()  # seals what tests write as sensitive


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[MakeStore]:
    """Makes empty stores of one backend."""
    made: list[Store] = []

    def make() -> Store:
        if request.param == "memory":
            made.append(MemoryStore(commit_genesis, clock=clock))
        else:
            made.append(SqliteStore(tmp_path / f"store-{len(made)}", commit_genesis, clock=clock))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def scribe(make_store: MakeStore, clock: ManualClock) -> Scribe:
    return Scribe(make_store(), clock)


class Place:
    """A project's directory, a store beside it, and a clock that stands still."""

    def __init__(self, scratch: Path, clock: ManualClock) -> None:
        self.scratch, self.clock = scratch, clock
        self.root = scratch / "ferry"
        self.root.mkdir()
        self._opened: list[weft.Memory] = []

    def open(self, directory: Path | None = None, **settings: str) -> weft.Memory:
        """A memory over the one store; settings as the environment gives them. Words only, no audit, unless said."""
        settings = {"embedder": "none", "sensitive_key": KEY, "audit": "off"} | settings
        environment = {"HOME": str(self.scratch)} | {f"WEFT_{name.upper()}": value for name, value in settings.items()}
        url = f"sqlite://{self.scratch / 'store'}"
        memory = weft.open(url, directory=directory or self.root, environment=environment, clock=self.clock)
        self._opened.append(memory)
        return memory

    def close(self) -> None:
        for memory in self._opened:
            memory.close()


@pytest.fixture
def place(tmp_path: Path, clock: ManualClock) -> Iterator[Place]:
    made = Place(tmp_path, clock)
    yield made
    made.close()


@pytest.fixture
def memory(place: Place) -> weft.Memory:
    return place.open()
