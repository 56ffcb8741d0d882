"""Memories over one store, by words only, on the day of the fixed corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.checkout.prompts.checked_out import Opened
from tests.retrieval.views_world import NOW_US
from weft.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_US)


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Iterator[Opened]:
    """Memories over one store, by words only."""
    made: list[weft.Memory] = []

    def open_it(**settings: str) -> weft.Memory:
        told = {"project": "quay", "audit": "off", "embedder": "none"} | settings
        environment = {"HOME": str(tmp_path)} | {f"WEFT_{name.upper()}": value for name, value in told.items()}
        url = f"sqlite://{tmp_path / 'store'}"
        made.append(weft.open(url, directory=tmp_path, environment=environment, clock=clock))
        return made[-1]

    yield open_it
    for memory in made:
        memory.close()
