"""Fixtures of every contract: a new store, a manual clock and a scribe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.core.clock import Clock
from weft.core.ports import Store
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe


class StoreCase:
    """The base of the contracts. A backend's subclass defines `make_store`."""

    def make_store(self, clock: Clock) -> Store:
        """A new, empty store with this clock."""
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
