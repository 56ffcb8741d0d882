"""The gate behind a real server and a real socket: clients that are slow, that stop halfway, and that send too much."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from weft.access.tokens import Token, TokenBook, mint
from weft.core.clock import SystemClock, to_iso
from weft.runtime.settings.load import load_settings
from weft.surfaces.http.auth import RequestGate

MOST = 100_000
BODY_SECONDS = 0.5


async def behind(scope: Scope, receive: Receive, send: Send) -> None:
    """Says how long the body was, and whether the client stayed for the answer."""
    if scope["type"] == "lifespan":
        return
    size, more = 0, True
    while more:
        message: Message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    body = f"{scope['weft.token'].agent} sent {size}".encode() if scope["weft.token"] else b"open"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Served:
    """A server on a free port, with one token."""

    def __init__(self, scratch: Path) -> None:
        environment = {"HOME": str(scratch), "WEFT_REQUEST_BYTES": str(MOST), "WEFT_RATE_LIMIT": "1000"}
        settings = load_settings(scratch, environment)
        self.book = TokenBook(scratch / "tokens.json")
        now_us = SystemClock().now_us()
        self.token, self.bearer = mint(Token(id="", hash="", account="a", agent="ann", created=to_iso(now_us)))
        self.book.add(self.token, now_us)
        gate = RequestGate(behind, settings=settings, book=self.book, body_seconds=BODY_SECONDS)
        config = uvicorn.Config(gate, port=0, log_config=None, lifespan="off", access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self) -> Served:
        self._thread.start()
        until_s = time.monotonic() + 20
        while not self._server.started:
            assert time.monotonic() < until_s
            time.sleep(0.01)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()

    def connect(self) -> Client:
        return Client(self)


class Client:
    """A connection on which any bytes can be sent."""

    def __init__(self, served: Served) -> None:
        self._socket = socket.create_connection(("127.0.0.1", served.port), timeout=10)
        self._file = self._socket.makefile("rb")
        self._bearer = served.bearer

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._socket.close()

    def head(self, *lines: str, path: str = "/api/recall", bearer: str | None = None) -> None:
        shown = self._bearer if bearer is None else bearer
        first = (f"POST {path} HTTP/1.1", "Host: localhost", *([f"Authorization: Bearer {shown}"] if shown else []))
        self.send("\r\n".join((*first, *lines, "", "")).encode())

    def send(self, raw: bytes) -> None:
        self._socket.sendall(raw)

    def half_close(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status = int(self._file.readline().split()[1])
        lines = iter(lambda: self._file.readline().decode().rstrip("\r\n"), "")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        return status, headers, self._file.read(int(headers["content-length"]))

    def is_closed(self) -> bool:
        return self._file.read(1) == b""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as made:
        yield made


def refusal(client: Client) -> tuple[int, str, dict[str, str]]:
    status, headers, body = client.answer()
    said: dict[str, Any] = json.loads(body)
    return status, said["error_code"], headers


def test_one_connection_carries_many_requests(served: Served) -> None:
    with served.connect() as client:
        for size in (0, 5, MOST):
            client.head(f"Content-Length: {size}")
            client.send(b"x" * size)
            assert client.answer()[::2] == (200, f"ann sent {size}".encode())
        client.head(bearer="")
        status, _, headers = refusal(client)
        assert (status, headers["www-authenticate"][:6]) == (401, "Bearer")
        client.head("Transfer-Encoding: chunked")
        client.send(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        assert client.answer()[2] == b"ann sent 5"


def test_what_is_announced_as_too_large_is_refused_before_it_comes(served: Served) -> None:
    with served.connect() as client:
        client.head(f"Content-Length: {50 * MOST}", "Expect: 100-continue")
        assert refusal(client)[:2] == (413, "too_large")  # nothing of it was sent
        assert client.is_closed()


def test_who_sends_too_much_without_looking_still_reads_why(served: Served) -> None:
    with served.connect() as client:
        client.head(f"Content-Length: {200 * MOST}")
        for _ in range(200):
            client.send(b"x" * MOST)
        status, code, headers = refusal(client)
        assert (status, code, headers["connection"]) == (413, "too_large", "close")
        assert client.is_closed()


def test_chunks_are_counted_as_they_come(served: Served) -> None:
    with served.connect() as client:
        client.head("Transfer-Encoding: chunked")
        chunk = b"%x\r\n%s\r\n" % (MOST // 4, b"x" * (MOST // 4))
        for _ in range(5):
            client.send(chunk)
        assert refusal(client)[:2] == (413, "too_large")
        client.send(b"0\r\n\r\n")
        assert client.is_closed()


def test_who_has_no_token_is_refused_before_anything_is_read(served: Served) -> None:
    with served.connect() as client:
        client.head("Content-Length: 90000", "Expect: 100-continue", bearer="")
        assert refusal(client)[:2] == (401, "unauthorized")
        client.half_close()
        assert client.is_closed()


def test_a_client_that_drips_is_cut_off(served: Served) -> None:
    with served.connect() as client:
        client.head("Content-Length: 1000")
        began_s = time.monotonic()
        for _ in range(3):
            client.send(b"x")
            time.sleep(0.1)
        assert refusal(client)[:2] == (408, "timeout")
        assert BODY_SECONDS - 0.1 <= time.monotonic() - began_s < BODY_SECONDS + 3
        assert client.is_closed()
        with served.connect() as other:
            other.head("Content-Length: 0")
            assert other.answer()[0] == 200


def test_a_client_that_stops_in_the_middle_is_let_go(served: Served) -> None:
    for _ in range(20):
        client = served.connect()
        client.head("Content-Length: 1000")
        client.send(b"half")
        client.half_close()
        client.__exit__()
    with served.connect() as client:
        client.head("Content-Length: 0")
        assert client.answer()[0] == 200


@pytest.mark.parametrize(
    "path", ["/api/%00", "/api/%ff%fe", "/sites/%2e%2e/%2e%2e/etc/passwd", "/api/%2e%2e%2f", "/%c0%ae", "/api/%"]
)
def test_no_path_does_harm(served: Served, path: str) -> None:
    with served.connect() as client:
        client.head("Content-Length: 0", path=path, bearer="")
        status, _, body = client.answer()
        assert status in (400, 401)
        assert b"Traceback" not in body


def test_raw_nonsense_does_no_harm(served: Served) -> None:
    for nonsense in (
        b"\0\0\0\0",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /\xff HTTP/1.1\r\n\r\n",
        b"\r\n" * 50,
    ):
        with served.connect() as client:
            client.send(nonsense)
            client.half_close()
            client._file.read()
    with served.connect() as client:
        client.head("Content-Length: 0")
        assert client.answer()[0] == 200
