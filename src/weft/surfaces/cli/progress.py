"""A progress bar on the terminal for anything that takes over a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from weft.runtime.call_context import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

AFTER_S: Final = 1.0


@contextmanager
def shown_progress(what: str, *, wanted: bool) -> Iterator[Progress]:
    """Yields the function that an operation reports its progress to.

    Work of over a second is shown, whether or not it reports.
    """
    if not wanted or not sys.stderr.isatty():
        yield no_progress
        return
    bar = _LateBar(what)
    try:
        yield bar.advance
    finally:
        bar.stop()


class _LateBar:
    """Appears after a second, from a thread of its own; an operation may report from any thread."""

    def __init__(self, what: str) -> None:
        self._told: tuple[str, int, int | None] = (what, 0, None)
        self._bar: Bar | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(AFTER_S, self._start)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, what: str, done: int, total: int) -> None:
        with self._lock:
            self._told = (what, done, total)
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=what, completed=done, total=total)

    def stop(self) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._bar is not None:
            self._bar.stop()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar

        with self._lock:
            what, done, total = self._told
            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.add_task(what, completed=done, total=total)
            self._bar.start()
