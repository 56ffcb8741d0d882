"""Connections that are slow, many, half closed or no HTTP at all: none of them keeps the others from being served."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import threading
import time

import pytest

from tests.surfaces.http.conftest import House, Server
from tests.waiting import wait_for
from weft.surfaces.http.auth import MAX_HEAD_BYTES
from weft.surfaces.http.protocol import HEAD_SECONDS

QUESTION = b'{"query": "why redis?"}'
IDLE = 1_000


def head(token: str, length: int, path: str = "/api/recall") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def everything(raw: socket.socket) -> bytes:
    """What comes until the other side closes."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := raw.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def test_who_never_finishes_a_head_is_closed(server: Server, token: str) -> None:
    """One says nothing, one says a byte a second, one had an answer before and then says a byte a second."""
    silent, slow, second = (server.socket(timeout=HEAD_SECONDS + 15) for _ in range(3))
    second.sendall(head(token, len(QUESTION)) + QUESTION)
    assert second.recv(65_536).startswith(b"HTTP/1.1 200")
    began = time.monotonic()
    ended: dict[str, float] = {}

    def drip(name: str, raw: socket.socket) -> None:
        with contextlib.suppress(OSError):
            for byte in b"GET /health HTTP/1.1\r\nHost: localhost\r\n":
                raw.sendall(bytes([byte]))
                raw.settimeout(0.5)
                with contextlib.suppress(TimeoutError):
                    if not raw.recv(65_536):
                        break
        ended[name] = time.monotonic() - began

    threads = [threading.Thread(target=drip, args=each) for each in (("slow", slow), ("second", second))]
    for thread in threads:
        thread.start()
    assert everything(silent).startswith(b"HTTP/1.1 408")
    ended["silent"] = time.monotonic() - began
    for thread in threads:
        thread.join()
    for raw in (silent, slow, second):
        raw.close()
    for name, seconds in ended.items():
        assert HEAD_SECONDS - 1 < seconds < HEAD_SECONDS + 5, (name, seconds)
    assert server.get("/health").status == 200


def test_a_head_without_end_is_refused(server: Server) -> None:
    with server.socket() as raw:
        with contextlib.suppress(OSError):
            raw.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (MAX_HEAD_BYTES * 4))
        assert everything(raw).startswith(b"HTTP/1.1 4")
    assert server.get("/health").status == 200


def test_what_is_no_http_is_refused(server: Server) -> None:
    for noise in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"SSH-2.0-x\r\n\r\n", b"\r\n" * 50 + b"x\r\n\r\n"):
        with server.socket() as raw:
            raw.sendall(noise)
            raw.shutdown(socket.SHUT_WR)
            assert not everything(raw).startswith(b"HTTP/1.1 2")
    assert server.get("/health").status == 200


def test_who_closes_its_half_after_a_call_is_answered(server: Server, token: str) -> None:
    with server.socket() as raw:
        raw.sendall(head(token, len(QUESTION)) + QUESTION)
        raw.shutdown(socket.SHUT_WR)
        answer = everything(raw)
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["query"] == "why redis?"


def test_who_goes_in_the_middle_of_a_body_leaves_nothing_behind(server: Server, token: str) -> None:
    for _ in range(20):
        with server.socket() as raw:
            raw.sendall(head(token, 1_000) + QUESTION)
            raw.shutdown(socket.SHUT_WR)
            everything(raw)
    wait_for(lambda: figure(server, token, "weft_http_requests_in_flight") == 1, "request but the one that asks")


def test_calls_sent_one_after_another_without_waiting_are_answered_in_order(server: Server, token: str) -> None:
    bodies = [json.dumps({"query": f"question {n}"}).encode() for n in range(5)]
    with server.socket() as raw:
        raw.sendall(b"".join(head(token, len(body)) + body for body in bodies))
        answers = b""
        while answers.count(b'"query":"question ') < len(bodies):
            part = raw.recv(65_536)
            assert part, answers
            answers += part
    told = [answers.index(f'"query":"question {n}"'.encode()) for n in range(len(bodies))]
    assert told == sorted(told)


def test_a_thousand_idle_connections_do_not_stop_a_caller(server: Server, token: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(IDLE, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, IDLE + 500)), hard))
    held: list[socket.socket] = []
    try:
        for _ in range(wanted):
            held.append(server.socket())
        took = []
        for _ in range(20):
            began = time.perf_counter()
            assert server.post(token, "/api/recall", QUESTION).status == 200
            took.append(time.perf_counter() - began)
        assert sorted(took)[len(took) // 2] < 1.0
    finally:
        for each in held:
            each.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_over_the_limit_of_connections_a_new_one_is_told_so(house: House, token: str) -> None:
    """A process that may open 300 files serves some connections, and says so to the rest."""
    small = house.serve(files=300)
    held = [small.socket() for _ in range(60)]
    try:
        with small.socket() as raw:
            assert everything(raw).startswith(b"HTTP/1.1 503")
    finally:
        for each in held:
            each.close()
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if small.post(token, "/api/recall", QUESTION).status == 200:
                return
        time.sleep(0.1)
    pytest.fail("it does not serve any more")


@pytest.fixture(scope="module")
def token(house: House) -> str:
    return house.token("boss", role="operator")


def figure(server: Server, token: str, name: str) -> float:
    """A figure of /metrics."""
    text = server.get("/metrics", token).body.decode()
    return float(next(line.split()[-1] for line in text.splitlines() if line.startswith(name)))
