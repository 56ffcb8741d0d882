"""A write that finds the store busy gives up soon."""

from __future__ import annotations

import pytest

from weft.backends.sqlite.files import write_lock as turnstile


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "WAIT_S", 0.05)
