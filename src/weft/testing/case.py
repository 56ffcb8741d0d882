"""What every contract stands on: a new store, a clock that stands still, and a scribe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.instants import Clock
from weft.ports import Store
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe


class StoreCase:
    """A backend's subclass gives `make_store`; each call makes another store, empty."""

    def make_store(self, clock: Clock) -> Store:
        """A new, empty store that asks this clock for the present."""
        raise NotImplementedError

    @pytest.fixture
    def scribe(self) -> Iterator[Scribe]:
        clock = ManualClock()
        store = self.make_store(clock)
        yield Scribe(store, clock)
        store.close()

    @pytest.fixture
    def other(self) -> Iterator[Scribe]:
        """A second store with a clock of its own."""
        clock = ManualClock()
        store = self.make_store(clock)
        yield Scribe(store, clock)
        store.close()
