"""A server with workers: the same answers, on every core; no call is lost when a worker is replaced or dies."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.http.conftest import House, Server
from tests.waiting import wait_for

CALLERS = 4


@pytest.fixture
def own(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


def ready(server: Server, token: str) -> int:
    """How many workers take calls."""
    text = server.get("/metrics", token).body.decode()
    return int(float(next(line.split()[1] for line in text.splitlines() if line.startswith("weft_workers "))))


def workers_of(server: Server) -> set[int]:
    told = Path(f"/proc/{server.process.pid}/task")
    return {int(pid) for task in told.iterdir() for pid in (task / "children").read_text().split()}


def served(house: House) -> tuple[Server, str]:
    server, token = house.serve("--workers", "2"), house.token(role="operator")
    wait_for(lambda: ready(server, token) == 2, "two workers")
    return server, token


class Callers:
    """Threads that ask and write, one call after the other, until they are told to stop."""

    def __init__(self, server: Server, token: str) -> None:
        self.statuses: list[int] = []
        self.written: list[str] = []
        self.refused: list[str] = []
        self._server, self._token = server, token
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._call, args=(number,)) for number in range(CALLERS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def _call(self, number: int) -> None:
        count = 0
        while not self._over.is_set():
            count += 1
            text = f"Caller {number} saw ship number {count}."
            found = self._server.call(self._token, "remember", text=text)
            self.statuses.append(found.status)
            if found.status != 200:
                self.refused.append(found.body.decode())
            if found.status == 200:
                self.written.append(text)
            self.statuses.append(self._server.call(self._token, "recall", query=text).status)


def test_the_same_answers_and_refusals(own: House) -> None:
    server, token = served(own)
    plain = own.serve()
    assert any("workers: 2" in line for line in server.said)
    assert server.call(token, "remember", text="Deploys freeze on Fridays.").json["status"] == "saved"
    calls = (
        ("recall", {"query": "when do deploys freeze?"}),
        ("recall", {"query": "x", "limit": "many"}),
        ("show", {"id": "nothing"}),
        ("no_such_operation", {}),
        ("token_list", {}),
    )
    for name, given in calls:
        ours, theirs = server.call(token, name, **given), plain.call(token, name, **given)
        assert ours.status == theirs.status
        assert ours.headers["content-type"] == theirs.headers["content-type"]
        told = [{**json.loads(each.body), "valid_at": "", "known_at": ""} for each in (ours, theirs)]
        assert told[0] == told[1]
    assert server.call("weft_none", "recall", query="x").status == 401


def test_workers_are_replaced_without_a_lost_call(own: House) -> None:
    server, token = served(own)
    before = workers_of(server)
    callers = Callers(server, token)
    server.process.send_signal(signal.SIGHUP)
    after = wait_for(
        lambda: (found := workers_of(server)).isdisjoint(before) and len(found) == 2 and found, "new workers"
    )
    assert after
    wait_for(lambda: len(callers.written) > 3 * CALLERS, "some calls")
    callers.stop()
    assert set(callers.statuses) == {200}, callers.refused
    assert server.stop() == 0
    with own_memory(own) as memory:
        assert memory.ctx.store.stats(memory.ctx.viewer).nodes >= len(callers.written)
    for pid in after:
        wait_for(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the end of a worker")  # type: ignore[misc]


def test_a_worker_that_is_killed_costs_no_question(own: House) -> None:
    server, token = served(own)
    server.call(token, "remember", text="Deploys freeze on Fridays.")
    statuses: list[int] = []
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            statuses.append(server.call(token, "recall", query="when do deploys freeze?").status)

    threads = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    victim = min(workers_of(server))
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: victim not in workers_of(server) and ready(server, token) == 2, "another worker")
    over.set()
    for thread in threads:
        thread.join(60)
    assert set(statuses) == {200}
    assert any("is replaced" in line for line in server.said)


def test_workers_end_with_a_server_that_is_killed(own: House) -> None:
    server, _ = served(own)
    workers = workers_of(server)
    assert len(workers) == 2
    server.process.kill()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the end of its workers")


def own_memory(house: House):  # type: ignore[no-untyped-def]
    import weft

    return weft.open(directory=house.root, environment=house.environment())
