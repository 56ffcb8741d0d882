"""The fixed corpus, made once for all tests that only read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft
from tests.checkout.harbour import harbour


@pytest.fixture(scope="package")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    memory = harbour(tmp_path_factory.mktemp("harbour"))
    yield memory
    memory.close()
