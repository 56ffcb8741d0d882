"""Asserts in the shared modules explain themselves as those in tests do."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.backends.sqlite.files.directory import ACCOUNTS

pytest.register_assert_rewrite(f"{__package__}.workload", f"{__package__}.killing")


@pytest.fixture
def pristine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a bit of everything, closed: one file, no WAL."""
    from tests.crash.workload import make_small, opened, script  # once its assertions are to be explained

    make_small(monkeypatch)
    with opened(tmp_path / "pristine") as store:
        for step in script():
            step(store)
    assert not list((tmp_path / "pristine" / ACCOUNTS).glob("*-wal"))
    return tmp_path / "pristine"
