"""Places to write to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.append.privacy.harbour import Harbour
from weft.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def harbour(tmp_path: Path, clock: ManualClock) -> Iterator[Harbour]:
    made = Harbour(tmp_path, clock, in_files=True)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "memory"])
def either(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Harbour]:
    made = Harbour(tmp_path, clock, in_files=request.param == "sqlite")
    yield made
    made.close()
