"""How a server ends: what was begun is answered whole, what was acknowledged is there, and nobody new is let in."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.surfaces.http.conftest import House, Server
from tests.waiting import wait_for

WRITERS = 8
CONTINUE = b"HTTP/1.1 100"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


class Load:
    """Writers that note what they were told, until the server is gone."""

    def __init__(self, server: Server, token: str) -> None:
        self.server, self.token = server, token
        self.acknowledged: list[str] = []
        self.statuses: set[int] = set()
        self.half: list[str] = []
        self._threads = [threading.Thread(target=self._write, args=(n,)) for n in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)

    def _write(self, writer: int) -> None:
        connection = self.server.connect()
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        for n in range(10_000):
            text = f"Writer {writer} saw ship number {n} of {os.getpid()}."
            try:
                connection.request("POST", "/api/remember", json.dumps({"text": text}), headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException):
                return  # nothing of an answer: the server is gone
            try:
                told = json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                self.half.append(text)
                return
            self.statuses.add(response.status)
            if response.status != 200:
                return
            self.acknowledged.append(told["id"])


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_under_load_no_acknowledged_write_is_lost_and_no_answer_is_half(own: House, told: int) -> None:
    server, token = own.serve(), own.token("writer")
    load = Load(server, token)
    wait_for(lambda: len(load.acknowledged) >= 20, "writes")
    assert server.stop(told) == 0
    load.join()
    assert "ended" in server.said
    assert load.half == []
    assert load.statuses <= {200, 503}
    assert len(load.acknowledged) >= 20
    with weft.open(directory=own.root, environment=own.environment(account="default")) as memory:
        for written in load.acknowledged:
            assert memory.show(written).node.id == written
    assert json.loads((own.store / "serving.json").read_bytes())["running"] is False


def test_from_the_signal_on_nobody_new_is_served_and_open_connections_are_told(own: House) -> None:
    server, token = own.serve(), own.token("asker")
    ready, caller = server.connect(), server.connect()
    for connection in (ready, caller):
        connection.request("GET", "/ready")
        assert connection.getresponse().read()
    with stalled(server, token):  # keeps the server from ending at once
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "end of listening")
        ready.request("GET", "/ready")
        answer = ready.getresponse()
        assert (answer.status, answer.read()) == (503, b"server: shutting down\n")
        caller.request("GET", "/api", headers={"authorization": f"Bearer {token}"})
        answer = caller.getresponse()
        assert (answer.status, json.loads(answer.read())["error_code"]) == (503, "draining")
        assert answer.headers["retry-after"]
        assert answer.headers["connection"] == "close"
    assert server.process.wait(20) == 0


@contextlib.contextmanager
def stalled(server: Server, token: str) -> Iterator[None]:
    """A request that is begun, and whose body is not all there yet."""
    with server.socket() as raw:
        raw.sendall(
            f"POST /api/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert raw.recv(100).startswith(CONTINUE)
        raw.sendall(b"{")
        yield


def refuses(server: Server) -> bool:
    """Whether no new connection is taken."""
    try:
        server.socket().close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_request_that_is_being_sent_may_finish(own: House) -> None:
    server, token = own.serve(), own.token("slow")
    body = b'{"query": "anything at all"}'
    with server.socket() as raw:
        raw.sendall(
            f"POST /api/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert raw.recv(100).startswith(CONTINUE)
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "end of listening")
        raw.sendall(body)
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["query"] == "anything at all"
    assert server.process.wait(20) == 0


def test_open_streams_of_mcp_are_ended_properly(own: House) -> None:
    server, token = own.serve(), own.token("listener")
    shown = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        },
    }
    begun = server.send("POST", "/mcp", json.dumps(hello).encode(), content_type="application/json", **shown)
    stream = server.connect()
    stream.request("GET", "/mcp", headers=shown | {"mcp-session-id": begun.headers["mcp-session-id"]})
    response = stream.getresponse()
    assert response.status == 200
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    response.read()  # raises IncompleteRead for a stream that is cut off
    assert server.process.wait(20) == 0
    assert time.monotonic() - began < 5
    stream.close()


def test_a_second_signal_leaves_at_once(own: House) -> None:
    server, token = own.serve(), own.token("slow")
    with stalled(server, token):
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "end of listening")
        assert server.process.poll() is None, "it waits for the one that is being sent"
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) != 0
