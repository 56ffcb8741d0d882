"""Garbage-collector thresholds during bulk indexing."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

THRESHOLDS: Final = (50_000, 20, 100)


class _Calm:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            self._asked += 1
            if self._asked == 1:
                self._before = gc.get_threshold()
                gc.set_threshold(*THRESHOLDS)

    def end(self) -> None:
        with self._lock:
            self._asked -= 1
            if not self._asked:
                gc.set_threshold(*self._before)


_calm = _Calm()


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Raises the thresholds of the garbage collector inside a block that creates many acyclic objects."""
    _calm.begin()
    try:
        yield
    finally:
        _calm.end()
