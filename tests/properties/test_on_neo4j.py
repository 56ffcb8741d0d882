"""The machines of the two clocks and of the guards, with Neo4j as the backend that adopts the log."""

from __future__ import annotations

import pytest

from tests.properties.running import patient, run
from tests.properties.test_guards import Guards
from tests.properties.test_two_clocks import TwoClocks
from tests.servers.neo4j_fixtures import store_at
from weft.core.clock import Clock

CLOCKS, GUARDS = 0.2, 0.1  # shares of the examples: each opens a store on a server, and asks it hundreds of questions


class Neo4jPlace:
    """A store of its own on the server of this run."""

    url = ""

    def __init__(self, clock: Clock) -> None:
        self.store = store_at(self.url, clock)

    def close(self) -> None:
        self.store.close()


@pytest.fixture(autouse=True)
def _server(neo4j_url: str) -> None:
    Neo4jPlace.url = neo4j_url


@patient
def test_two_clocks() -> None:
    class OnNeo4j(TwoClocks):
        make_place = Neo4jPlace

    run(OnNeo4j, share=CLOCKS)


@patient
def test_guards() -> None:
    class OnNeo4j(Guards):
        make_place = Neo4jPlace

    run(OnNeo4j, share=GUARDS)
