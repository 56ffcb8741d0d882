"""Real servers: `weft serve` as a process of its own, on a free port, with a store and a home of its own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.surfaces.http.door import Door
from weft.access.tokens import Token, TokenBook, book_of, mint
from weft.core.clock import SystemClock, to_iso
from weft.runtime.settings.load import load_settings

WEFT = str(Path(sys.executable).with_name("weft"))
START_SECONDS = 30


class Answered(NamedTuple):
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], said: list[str], port: int) -> None:
        self.process, self.said, self.port = process, said, port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout: float = 30) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def socket(self, timeout: float = 30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answered:
        """One request on a connection of its own. Names of headers are written with underscores."""
        connection = self.connect()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): each for name, each in headers.items()})
            return answered(connection)
        finally:
            connection.close()

    def get(self, path: str, token: str = "", **headers: str) -> Answered:
        return self.send("GET", path, **headers, **_shown(token))

    def call(self, token: str, operation: str, **arguments: Any) -> Answered:
        return self.post(token, f"/api/{operation}", json.dumps(arguments).encode())

    def post(self, token: str, path: str, body: bytes, kind: str = "application/json") -> Answered:
        return self.send("POST", path, body, content_type=kind, **_shown(token))

    def stop(self, told: int = signal.SIGTERM, within: float = 20) -> int:
        """Asks it to end, and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(told)
        return self.process.wait(within)


def answered(connection: http.client.HTTPConnection) -> Answered:
    response = connection.getresponse()
    return Answered(response.status, {key.lower(): value for key, value in response.getheaders()}, response.read())


def _shown(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


class House:
    """A store, its tokens, and servers on it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.root, self.data = scratch, scratch / "ferry", scratch / "data"
        self.store = self.data / "weft"
        for each in (self.root, scratch / "home"):
            each.mkdir()
        self._running: list[Server] = []

    def environment(self, **settings: str) -> dict[str, str]:
        base = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.scratch / "home"),
            "XDG_DATA_HOME": str(self.data),
            "LC_ALL": "C.UTF-8",
        }
        given = {"embedder": "none", "rate_limit": "1000000"} | settings
        return base | {f"WEFT_{name.upper()}": value for name, value in given.items()}

    @property
    def book(self) -> TokenBook:
        return book_of(load_settings(self.root, self.environment()))

    def token(self, agent: str = "tester", **more: Any) -> str:
        """A token that is good from now on."""
        now_us = SystemClock().now_us()
        who = {"account": "default"} | more
        token, bearer = mint(Token(id="", hash="", agent=agent, created=to_iso(now_us), **who))
        self.book.add(token, now_us)
        return bearer

    def popen(self, *arguments: str, files: int = 0, **settings: str) -> subprocess.Popen[str]:
        """With `files`, the process may open no more than so many."""
        limited = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"] if files else []
        return subprocess.Popen(
            [*limited, WEFT, "serve", *arguments],
            cwd=self.root,
            env=self.environment(**settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def serve(self, *arguments: str, files: int = 0, **settings: str) -> Server:
        """Starts a server and waits until it listens."""
        process = self.popen("--port", "0", *arguments, files=files, **settings)
        said: list[str] = []
        listens = threading.Event()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if line.startswith("listening:"):
                    listens.set()
            listens.set()

        threading.Thread(target=read, daemon=True).start()
        assert listens.wait(START_SECONDS), said
        where = [line for line in said if line.startswith("listening: ")]
        assert where, "\n".join(said)
        server = Server(process, said, int(where[0].split()[1].rpartition(":")[2]))
        self._running.append(server)
        return server

    def close(self) -> None:
        for server in self._running:
            if server.process.poll() is None:
                server.process.kill()
            server.process.wait(10)
            if server.process.stdout is not None:
                until = time.monotonic() + 5
                while server.process.stdout.closed is False and time.monotonic() < until:
                    server.process.stdout.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for each file of tests."""
    made = House(tmp_path_factory.mktemp("house"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(house: House) -> Server:
    return house.serve()


@pytest.fixture(scope="module")
def token(house: House) -> str:
    return house.token()


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)
