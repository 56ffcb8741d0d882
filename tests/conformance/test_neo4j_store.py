"""The store in Neo4j keeps the contract of `weft.core.ports.Store`."""

from __future__ import annotations

import pytest

from tests.servers.neo4j_fixtures import store_at
from weft.core.clock import Clock
from weft.core.ports import Store
from weft.testing.store import StoreContract


class TestNeo4jStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, neo4j_url: str) -> None:
        self.url = neo4j_url

    def make_store(self, clock: Clock) -> Store:
        return store_at(self.url, clock)
