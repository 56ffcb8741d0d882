"""Every backend keeps the contract of `weft.core.ports.Store`."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest

from weft.append.decrypting_store import decrypting
from weft.append.privacy import PrivacyFilter
from weft.backends.memory import MemoryStore
from weft.backends.sqlite.store import SqliteStore
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.log.chain import commit_genesis
from weft.testing.store import StoreContract
from weft.text.encryption import Keyring, new_key


class TestMemoryStore(StoreContract):
    def make_store(self, clock: Clock) -> Store:
        return MemoryStore(commit_genesis, clock=clock)


class TestSqliteStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.place = tmp_path

    def make_store(self, clock: Clock) -> Store:
        return SqliteStore(Path(tempfile.mkdtemp(dir=self.place)), commit_genesis, clock=clock)


class TestDecryptingStore(StoreContract):
    """The store that operations work on: it decrypts, and keeps the contract of the store below it."""

    def make_store(self, clock: Clock) -> Store:
        return decrypting(MemoryStore(commit_genesis, clock=clock), PrivacyFilter(keys=Keyring(new_key("tests"))))


def test_no_contract_hides_a_test_of_another() -> None:
    named = Counter(name for part in StoreContract.__bases__ for name in vars(part) if name.startswith("test_"))
    assert [name for name, count in named.items() if count > 1] == []
