"""Background work whose result is needed later, in a thread that the process waits for at its end.

A daemon thread that is inside native code (loading a model, running it) when Python ends takes the process down with a
segmentation fault or an abort, after the answer was printed. The wait is bounded: a server may not answer.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from threading import Thread
from typing import Any, Final
from weakref import WeakSet

MAX_WAIT_S: Final = 3.0
_running: Final[WeakSet[Thread]] = WeakSet()


def begin_ahead(work: Callable[..., None], *given: Any) -> None:
    """Runs `work(*given)` in a thread of its own."""
    thread = Thread(target=work, args=given, name="weft-ahead", daemon=True)
    _running.add(thread)
    thread.start()


@atexit.register
def _wait() -> None:
    until = time.monotonic() + MAX_WAIT_S
    for thread in list(_running):
        thread.join(max(0.0, until - time.monotonic()))
