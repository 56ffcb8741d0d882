"""Fixtures of tests that need a Neo4j server: skipped with the reason where there is none.

They come last: what the server needs may be fetched while the others run. Nothing of weft is imported before its use.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.servers import neo4j_server

if TYPE_CHECKING:
    from weft.backends.neo4j import Address, Neo4jStore
    from weft.core.clock import Clock

NEEDING = frozenset({"neo4j_url", "own_server"})
TIMEOUT_S = 600  # of a test that may have to wait for the server to be fetched


def address(url: str, *, space: str | None = None) -> Address:
    """A store of its own on that server."""
    from weft.backends.neo4j import address_of

    return address_of(f"{url}?space={space or uuid.uuid4().hex[:12]}", password=neo4j_server.PASSWORD)


def store_at(url: str, clock: Clock, *, space: str | None = None) -> Neo4jStore:
    """An empty store on that server, or one named."""
    from weft.backends.neo4j import Neo4jStore
    from weft.log.chain import commit_genesis

    return Neo4jStore(address(url, space=space), commit_genesis, clock=clock)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needing = [item for item in items if NEEDING & set(getattr(item, "fixturenames", ()))]
    for item in needing:
        item.add_marker(pytest.mark.timeout(TIMEOUT_S))
    if needing:
        items.sort(key=needing.__contains__)
        threading.Thread(target=_fetch, daemon=True).start()


def _fetch() -> None:
    with contextlib.suppress(neo4j_server.Unavailable):
        neo4j_server.class_path()


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
