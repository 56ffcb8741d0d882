"""How `weft mcp` ends, and what it outlives: signals, clients that stop reading or vanish, lines that are no calls."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.mcp.clients import WEFT, Bench, Raw, Start, quiet
from tests.waiting import wait_for
from weft.surfaces.mcp.jsonrpc import MAX_LINE_BYTES
from weft.surfaces.mcp.stdio import MAX_OPEN


def writes(server: Raw, count: int) -> set[int]:
    return {
        server.send("tools/call", {"name": "remember", "arguments": {"text": f"Crate {number} came ashore."}})
        for number in range(count)
    }


def kept(bench: Bench) -> int:
    with bench.open() as memory:
        assert memory.doctor().ok
        return len(memory.recent(limit=100).nodes)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_was_asked_be_answered(bench: Bench, start: Start, number: signal.Signals) -> None:
    server = start().greet()
    server.call("remember", text="The bell rings.")
    asked = writes(server, 30)
    first = server.read()["id"]  # all were taken in, or are being so
    time.sleep(0.05)
    server.process.send_signal(number)
    out, errors = server.end()
    answers = [json.loads(line) for line in out.splitlines()]
    assert server.process.returncode == 0
    assert quiet(errors) == []
    heard = {first, *(each["id"] for each in answers)}
    assert heard <= asked
    assert all(each["result"]["structuredContent"]["ok"] for each in answers)
    assert kept(bench) >= 1 + len(heard)


def test_a_second_signal_ends_it_at_once(start: Start) -> None:
    server = start(toolsets="memory").greet()
    items = [{"text": f"Crate {number} holds tea and {number} lamps."} for number in range(500)]
    wanted = {"name": "remember_many", "arguments": {"items": items}, "_meta": {"progressToken": "mine"}}
    server.send("tools/call", wanted)
    assert server.read()["method"] == "notifications/progress", "it is at work"
    wait_for(lambda: stopped(server), "end")
    assert server.process.returncode == 0


def stopped(server: Raw) -> bool:
    """Whether it has ended; otherwise it gets another signal."""
    server.process.send_signal(signal.SIGTERM)
    return server.process.poll() is not None


def test_a_client_that_never_reads_cannot_keep_it(bench: Bench, start: Start) -> None:
    """The pipe is full, the input ends, and the client lives on: the store is closed and the process goes."""
    server = start(toolsets="all").greet()
    for _ in range(12):  # each answer is larger than what a pipe holds
        server.send("tools/list", {})
    writes(server, 5)
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(timeout=60) == 0
    assert kept(bench) == 5


def test_a_client_that_never_reads_holds_up_no_signal(bench: Bench, start: Start) -> None:
    server = start(toolsets="all").greet()
    for _ in range(12):
        server.send("tools/list", {})
    wait_for(lambda: is_full(server), "full pipe")
    server.process.send_signal(signal.SIGTERM)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=30) == 0


def is_full(server: Raw) -> bool:
    """Whether all that a pipe holds waits to be read."""
    assert server.process.stdout is not None
    waiting = fcntl.ioctl(server.process.stdout, termios.FIONREAD, bytes(4))
    return int.from_bytes(waiting, sys.byteorder) >= fcntl.fcntl(server.process.stdout, fcntl.F_GETPIPE_SZ) - 4_096


def test_a_client_that_is_killed_leaves_no_server_behind(bench: Bench) -> None:
    """A client of its own process, which starts the server as clients do and is then shot."""
    script = (
        "import subprocess, sys, time\n"
        f"server = subprocess.Popen([{WEFT!r}, 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(server.pid, flush=True)\n"
        'server.stdin.write(b\'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\\n\')\n'
        "server.stdin.flush()\n"
        "server.stdout.readline()\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=bench.environment(), cwd=bench.root
    )
    with client:
        assert client.stdout is not None
        server = int(client.stdout.readline())
        assert client.stdout.readline() == b"up\n"
        client.kill()
    wait_for(lambda: not alive(server), "end of the server")


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    # A zombie whose parent is gone waits for whoever adopted it, which is not ours to do.
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_what_arrived_before_a_signal_is_done(bench: Bench, start: Start) -> None:
    server = start().greet()
    server.call("recall", query="x")
    server.process.send_signal(signal.SIGSTOP)  # so that all of it is there before the signal is seen
    asked = writes(server, 30)
    server.process.send_signal(signal.SIGTERM)
    server.process.send_signal(signal.SIGCONT)
    assert server.process.wait(timeout=30) == 0, "the input is still open"
    out, errors = server.end()
    assert (server.process.returncode, quiet(errors)) == (0, [])
    assert {json.loads(line)["id"] for line in out.splitlines()} == asked
    assert kept(bench) == 30


def test_a_client_that_has_asked_its_last_and_never_reads_is_left(bench: Bench, start: Start) -> None:
    """More is asked than can wait, so that the end of the input is not come to."""
    server = start(toolsets="all").greet()
    for _ in range(200):
        server.send("tools/list", {})
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(timeout=40) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_as_it_should(start: Start, number: signal.Signals) -> None:
    server = start().greet()
    server.process.send_signal(number)
    assert server.process.wait(timeout=20) == 0


@pytest.mark.parametrize("number", ["null", "{}", "1.5", "true", "[1]"])
def test_a_request_whose_id_is_none_is_refused(start: Start, number: str) -> None:
    server = start().greet()
    server.line(b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % number.encode())
    refused = server.read()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert server.ask("ping", {})["result"] == {}


def test_half_a_pipe_is_enough_to_answer(bench: Bench, start: Start) -> None:
    server = start().greet()
    asked = writes(server, 10)
    assert server.process.stdin is not None
    assert server.process.stdout is not None
    server.process.stdin.close()
    answers = [json.loads(line) for line in server.process.stdout]
    assert {each["id"] for each in answers} == asked
    assert server.process.wait(timeout=20) == 0


def test_what_stands_after_the_last_line_end_is_a_call_too(start: Start) -> None:
    server = start()
    out, errors = server.process.communicate(b'{"jsonrpc": "2.0", "id": "last", "method": "ping"}', timeout=30)
    assert json.loads(out) == {"jsonrpc": "2.0", "id": "last", "result": {}}
    assert (errors, server.process.returncode) == (b"", 0)


def test_no_input_at_all_is_no_trouble(bench: Bench) -> None:
    (bench.root / "empty").touch()
    for name in (os.devnull, bench.root / "empty"):
        with open(name, "rb") as source:
            done = subprocess.run(
                [WEFT, "mcp"],
                stdin=source,
                capture_output=True,
                env=bench.environment(),
                cwd=bench.root,
                timeout=60,
                check=False,
            )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_line_of_ten_megabytes_is_refused_by_what_it_calls(bench: Bench, start: Start) -> None:
    server = start().greet()
    words = "x" * 10_000_000
    refused = server.call("remember", text=words)
    assert refused["isError"]
    assert refused["structuredContent"]["error_code"] in ("invalid", "too_large")
    assert len(json.dumps(refused)) < 10_000
    assert server.ask("tools/call", {"name": words, "arguments": {}})["error"]["code"] == -32602
    server.line(words.encode())
    assert server.read()["error"]["code"] == -32700
    assert server.call("recall", query="x")["structuredContent"]["ok"]


def test_a_line_without_end_is_passed_over(bench: Bench, start: Start) -> None:
    server = start().greet()
    threading.Thread(target=server.line, args=(b'"' + b"y" * (MAX_LINE_BYTES + 1),), daemon=True).start()
    refused = server.read()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert "longer than" in refused["error"]["message"]
    assert server.call("recall", query="x")["structuredContent"]["ok"]
    resident = Path(f"/proc/{server.process.pid}/status")
    if resident.exists():
        kilobytes = next(line for line in resident.read_text().splitlines() if line.startswith("VmRSS"))
        assert int(kilobytes.split()[1]) < 400_000


def test_more_calls_than_can_wait_are_told_so(bench: Bench, start: Start) -> None:
    server = start(toolsets="memory").greet()
    items = [{"text": f"Crate {number} holds tea and {number} lamps."} for number in range(60)]
    heard: dict[Any, dict[str, Any]] = {}
    count = MAX_OPEN + 40

    def hear() -> None:
        while len(heard) < count:
            answer = server.read()
            heard[answer["id"]] = answer

    listening = threading.Thread(target=hear, daemon=True)
    listening.start()
    for _ in range(4):  # the threads are taken
        server.send("tools/call", {"name": "remember_many", "arguments": {"items": items}})
    for _ in range(count - 4):
        server.send("tools/call", {"name": "recent", "arguments": {}})
    listening.join(timeout=60)
    assert len(heard) == count
    busy = [each["error"] for each in heard.values() if "error" in each]
    assert all(each["code"] == -32000 and "wait already" in each["message"] for each in busy)
    assert len(busy) < count / 2
    assert server.call("recall", query="x")["structuredContent"]["ok"]


def test_several_clients_at_once_each_end_as_they_like(bench: Bench, start: Start) -> None:
    servers = [start().greet() for _ in range(4)]
    for number, server in enumerate(servers):
        for turn in range(5):
            assert server.call("remember", text=f"Pier {number} counted {turn} boats.")["structuredContent"]["ok"]
    servers[0].process.send_signal(signal.SIGKILL)
    servers[1].process.send_signal(signal.SIGTERM)
    assert servers[2].process.stdin is not None
    servers[2].process.stdin.close()
    assert servers[1].process.wait(timeout=20) == 0
    assert servers[2].process.wait(timeout=20) == 0
    found = servers[3].call("recall", query="pier boats", limit=50)["structuredContent"]
    assert found["ok"]
    assert servers[3].call("remember", text="The tide turned.")["structuredContent"]["ok"]
    servers[3].process.send_signal(signal.SIGINT)
    assert servers[3].process.wait(timeout=20) == 0
    assert kept(bench) == 21


def test_what_is_printed_by_mistake_misses_the_protocol(bench: Bench) -> None:
    """Standard output is the protocol's alone, whatever a library prints or a child of ours says."""
    script = (
        "import os, subprocess, weft.surfaces.mcp.dispatch as dispatch\n"
        "from weft.surfaces.mcp.server import serve\n"
        "listed = dispatch.Dispatcher.list_tools\n"
        "async def noisy(self, context, params):\n"
        "    print('a stray line', flush=True)\n"
        "    subprocess.run(['echo', 'from a child'])\n"
        "    return await listed(self, context, params)\n"
        "dispatch.Dispatcher.list_tools = noisy\n"
        "serve()\n"
    )
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input="\n".join(map(json.dumps, lines)).encode(),
        capture_output=True,
        env=bench.environment(),
        cwd=bench.root,
        timeout=60,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert b"a stray line" in done.stderr
    assert b"from a child" in done.stderr
