"""Waiting for a condition, never for a time: a test does not depend on how busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(look: Callable[[], Found | None], what: str = "", seconds: float = 60.0, every: float = 0.02) -> Found:
    """What a look finds, as soon as it finds anything. Raises AssertionError after so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := look():
            return found
        time.sleep(every)
    raise AssertionError(f"in {seconds} seconds there was no {what or 'such thing'}")
