"""Fixtures of tests that need a Neo4j server: skipped with the reason where there is none."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import neo4j_server
from weft.backends.neo4j import Address, Neo4jStore, address_of
from weft.core.clock import Clock
from weft.log.chain import commit_genesis


def address(url: str, *, space: str | None = None) -> Address:
    """A store of its own on that server."""
    return address_of(f"{url}?space={space or uuid.uuid4().hex[:12]}", password=neo4j_server.PASSWORD)


def store_at(url: str, clock: Clock, *, space: str | None = None) -> Neo4jStore:
    """An empty store on that server, or one named."""
    return Neo4jStore(address(url, space=space), commit_genesis, clock=clock)


@pytest.fixture(scope="session")
def neo4j_url(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of the server that all tests of this run share."""
    here = tmp_path_factory.getbasetemp()
    place = Path(here if worker_id == "master" else here.parent) / "neo4j"
    try:
        with neo4j_server.shared(place) as url:
            yield url
    except neo4j_server.Unavailable as problem:
        pytest.skip(f"needs a Neo4j server: {problem}")
