"""What can go wrong with a server, and what a user is told: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from msgspec.structs import replace

import weft
from tests.servers import neo4j_server
from tests.servers.neo4j_fixtures import address, store_at
from weft.backends.neo4j import BoltServer, Neo4jStore, address_of, bolt
from weft.backends.neo4j import database as schema
from weft.core.errors import Away, Misconfigured, SchemaMismatch
from weft.log.chain import commit_genesis
from weft.log.verify import verify
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, node
from weft.testing.viewers import OPERATOR


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("neo4j://ada:secret@host", "holds no password"),
        ("neo4j://", "the URL of a Neo4j store"),
        ("neo4j://host/db?spaces=x", "remove spaces"),
        ("bolt://host:99999", "below 65536"),
    ],
)
def test_a_url_that_is_none_is_refused_and_no_password_shown(url: str, complaint: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        address_of(url, password="")
    assert complaint in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_parts_of_a_url() -> None:
    found = address_of("neo4j+s://ada%40x@[::1]:7688/graph?space=mine", password="p")
    assert (found.uri, found.user, found.database, found.space) == ("neo4j+s://[::1]:7688", "ada@x", "graph", "mine")
    assert address_of("bolt://host", password="p").uri == "bolt://host:7687"


def test_a_wrong_password_is_said_at_once(neo4j_url: str) -> None:
    wrong = replace(address(neo4j_url), password="wrong")
    store = Neo4jStore(wrong, commit_genesis, clock=ManualClock())
    with pytest.raises(Misconfigured, match="refused the user name or the password") as refused:
        store.head(OPERATOR)
    assert "WEFT_STORE_PASSWORD" in refused.value.hint
    store.close()


def test_a_database_that_is_not_there(neo4j_url: str) -> None:
    store = Neo4jStore(replace(address(neo4j_url), database="nowhere"), commit_genesis, clock=ManualClock())
    with pytest.raises(Misconfigured, match="no such database"):
        store.head(OPERATOR)
    store.close()


def test_nobody_listens() -> None:
    store = store_at(f"bolt://127.0.0.1:{neo4j_server.free_port()}", ManualClock())
    with pytest.raises(Away, match="cannot be reached"):
        store.head(OPERATOR)
    with pytest.raises(Away, match="nothing was written"):
        Scribe(store, ManualClock()).write(node("a"))
    store.close()


def test_a_server_that_is_too_old_is_refused(neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bolt, "OLDEST", (5, 99))
    store = store_at(neo4j_url, ManualClock())
    with pytest.raises(SchemaMismatch, match=r"Neo4j/5\.26.*older than 5\.99"):
        store.head(OPERATOR)
    store.close()


def test_a_schema_from_the_future_is_refused(neo4j_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_schema = store_at(neo4j_url, ManualClock())
    with_schema.head(OPERATOR)
    with_schema.close()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION - 1)
    store = store_at(neo4j_url, ManualClock())
    with pytest.raises(SchemaMismatch, match="upgrade weft"):
        store.head(OPERATOR)
    store.close()


def test_indexes_are_found_whatever_they_are_called(neo4j_url: str) -> None:
    place = BoltServer(address(neo4j_url))
    schema.prepare(place)
    name = schema.text_index(place)
    assert name
    place.define(("CREATE FULLTEXT INDEX other IF NOT EXISTS FOR (x:Other) ON EACH [x.words]",))
    assert schema.text_index(place) == name
    place.close()


class _Breaking:
    """Breaks the connection at the next commit: before the server has heard of it, or after it has done it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
        self.left = 1
        whole = neo4j.Transaction.commit

        def commit(tx: neo4j.Transaction) -> None:
            if self.left:
                self.left -= 1
                whole(tx) if after else tx.rollback()
                raise neo4j.exceptions.ServiceUnavailable("the connection is gone")
            whole(tx)

        monkeypatch.setattr(neo4j.Transaction, "commit", commit)


@pytest.mark.parametrize("after", [False, True])
def test_a_connection_that_breaks_while_saving(neo4j_url: str, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    clock = ManualClock()
    scribe = Scribe(store_at(neo4j_url, clock), clock)
    scribe.one(node("a", "one"))
    _Breaking(monkeypatch, after=after)
    written = scribe.one(node("b", "two"))
    assert written.pos == 2
    assert scribe.texts("a", "b") == {"a": "one", "b": "two"}
    assert scribe.store.head(OPERATOR).pos == 2
    assert verify(scribe.store, OPERATOR).problem is None
    scribe.store.close()


def test_two_writers_take_turns(neo4j_url: str) -> None:
    clock, space = ManualClock(), "turns-" + str(id(object()))
    scribes = [Scribe(store_at(neo4j_url, clock, space=space), clock, session=f"s{n}") for n in range(3)]
    troubles: list[BaseException] = []

    def work(scribe: Scribe) -> None:
        try:
            for n in range(8):
                scribe.write(node(f"{scribe.session}-{n}", "the same words"))
        except BaseException as problem:
            troubles.append(problem)

    threads = [threading.Thread(target=work, args=(scribe,)) for scribe in scribes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    store = scribes[0].store
    assert store.head(OPERATOR).pos == 24
    assert verify(store, OPERATOR).problem is None
    assert scribes[0].search("words").population == 24
    for scribe in scribes:
        scribe.store.close()


def test_the_clock_of_another_machine_is_behind(neo4j_url: str) -> None:
    space = "skew-" + str(id(object()))
    ahead, behind = ManualClock(), ManualClock(ManualClock().now_us() - 3_600_000_000)
    first, second = (Scribe(store_at(neo4j_url, clock, space=space), clock) for clock in (ahead, behind))
    first.write(node("a", "one"))
    second.write(node("b", "two"))
    assert second.texts("a", "b") == {"a": "one", "b": "two"}
    events = second.store.events(OPERATOR, session=None, after_seq=0, limit=9)
    assert events[0].recorded_at < events[1].recorded_at
    for scribe in (first, second):
        scribe.store.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[neo4j_server.TestServer]:
    try:
        started = neo4j_server.start(tmp_path / "server")
    except neo4j_server.Unavailable as problem:
        pytest.skip(f"needs a Neo4j server: {problem}")
    yield started
    started.kill()


@pytest.mark.timeout(300)
def test_writes_wait_while_the_server_is_away(own_server: neo4j_server.TestServer, tmp_path: Path) -> None:
    environment = {
        "WEFT_STORE": own_server.url,
        "WEFT_STORE_PASSWORD": neo4j_server.PASSWORD,
        "WEFT_OUTBOX": str(tmp_path / "outbox"),
        "WEFT_EMBEDDER": "none",
        "HOME": str(tmp_path),
    }

    def opened() -> weft.Memory:
        return weft.open(directory=tmp_path, environment=environment)

    def texts(memory: weft.Memory) -> list[str]:
        found: Any = memory.recall("harbour ferry lock")
        return sorted(hit.node.text for hit in found.hits)

    with opened() as memory:
        memory.remember("The harbour office opens at nine.")
        own_server.kill()
        waiting = memory.remember("The ferry leaves at ten.")
        assert waiting.status == "pending_retry"
    again = neo4j_server.start(own_server.home, own_server.port)
    try:
        with opened() as memory:
            memory.remember("The lock is closed on Sundays.")
            assert texts(memory) == [
                "The ferry leaves at ten.",
                "The harbour office opens at nine.",
                "The lock is closed on Sundays.",
            ]
            assert memory.log_verify().problem is None
    finally:
        again.kill()
