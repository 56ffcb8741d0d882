"""The process of `weft mcp`: killed, signalled, sent malformed lines, set wrongly; how it starts and ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import cast

import pytest

import weft
from tests.surfaces.mcp.clients import Bench, Start, quiet
from weft.surfaces.mcp.server import Context, Dispatcher


def test_kill_loses_nothing_that_was_acknowledged(bench: Bench, start: Start) -> None:
    server = start().greet()
    acknowledged = []
    for number in range(40):
        envelope = server.call("remember", text=f"Container {number} came ashore.")["structuredContent"]
        acknowledged.append(envelope["data"]["citation"])
    for number in range(40, 60):  # in flight when the end comes
        server.send("tools/call", {"name": "remember", "arguments": {"text": f"Container {number} came ashore."}})
    server.process.send_signal(signal.SIGKILL)
    server.process.wait(timeout=20)
    with bench.open() as memory:
        assert [memory.cite(citation).matches for citation in acknowledged] == [True] * 40
        assert memory.doctor().ok
    again = start().greet()
    assert again.call("cite", citation=acknowledged[-1])["structuredContent"]["ok"]


def test_malformed_lines_are_answered_and_survived(bench: Bench, start: Start) -> None:
    server = start()
    server.line(b"{not json")
    assert server.read()["error"]["code"] == -32700
    server.greet()
    for line, request, code in (
        (b"{not json", None, -32700),
        (b'\xff\xfe{"jsonrpc"', None, -32700),
        (b'{"jsonrpc": "2.0", "id": 7}', 7, -32600),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a", -32600),
        (b"[]", None, -32600),
        (b'"hello"', None, -32600),
        (b"[" * 100_000, None, -32700),
        (rb'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "\ud800"}}', 9, -32602),
        (rb'{"jsonrpc": "2.0", "id": "b", "method": "ping", "params": {"x": ["\udfff"]}}', "b", -32602),
        (rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}', None, -32700),
    ):
        server.line(line)
        answer = server.read()
        assert (answer["id"], answer["error"]["code"]) == (request, code), line[:40]
        assert code != -32602 or "lone surrogate" in answer["error"]["message"]
    server.line(b"")
    server.line(b'{"jsonrpc": "2.0", "result": {}}')
    server.line(b'{"jsonrpc": "2.0", "method": "notifications/nobody/knows"}')
    assert server.ask("no/such/method", {})["error"]["code"] == -32601
    assert server.ask("tools/call", {"name": "recall", "arguments": [1]})["error"]["code"] == -32602
    assert server.ask("tools/call", {"arguments": {}})["error"]["code"] == -32602
    assert server.call("recall", query="x")["structuredContent"]["ok"]
    out, _ = server.end()
    assert out == b""
    assert server.process.returncode == 0


def test_what_was_asked_before_the_end_is_answered(bench: Bench, start: Start) -> None:
    server = start().greet()
    asked = {
        server.send("tools/call", {"name": "remember", "arguments": {"text": f"Crate {number}."}})
        for number in range(20)
    }
    out, errors = server.end()
    answers = [json.loads(line) for line in out.splitlines()]
    assert {answer["id"] for answer in answers} == asked
    assert all(answer["result"]["structuredContent"]["ok"] for answer in answers)
    assert (server.process.returncode, quiet(errors)) == (0, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(start: Start, number: signal.Signals) -> None:
    server = start().greet()
    server.call("remember", text="The bell rings.")
    server.process.send_signal(number)
    assert server.process.wait(timeout=20) == 0
    assert server.process.stderr is not None
    assert quiet(server.process.stderr.read()) == []


def test_a_client_that_stops_listening_is_no_trouble(start: Start) -> None:
    server = start().greet()
    assert server.process.stdin is not None
    assert server.process.stdout is not None
    assert server.process.stderr is not None
    server.process.stdout.close()
    server.send("tools/list", {})
    server.process.stdin.close()
    assert server.process.wait(timeout=20) == 0
    assert server.process.stderr.read() == b""


def test_a_store_that_cannot_serve_is_an_answer_with_its_fix(bench: Bench, start: Start) -> None:
    store = bench.scratch / "not-a-store"
    store.mkdir()
    (store / "thesis.txt").write_text("years of work", encoding="utf-8")
    server = start(store=f"sqlite://{store}").greet()
    for _ in range(2):
        result = server.call("remember", text="x")
        assert result["isError"]
        assert result["structuredContent"]["error_code"] == "not_a_store"
        assert result["structuredContent"]["hint"]


def test_weft_s_own_fault_is_told_without_its_inside(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(context: Context) -> weft.Memory:
        raise ZeroDivisionError("the secret inside")

    monkeypatch.chdir(bench.root)
    for name, value in bench.environment().items():
        monkeypatch.setenv(name, value)
    dispatcher = Dispatcher(fail, network=False)
    answer = dispatcher.answer(cast("Context", None), "recall", {"query": "x"}).answer
    assert dispatcher.close()
    assert (answer.envelope.ok, answer.envelope.error_code) == (False, "internal")
    assert "secret" not in answer.text + str(answer.envelope)
    assert "the secret inside" in caplog.text


def test_wrong_settings_stop_it_before_it_serves(start: Start) -> None:
    server = start(role="emperor")
    out, errors = server.end()
    assert (server.process.returncode, out) == (1, b"")
    assert b"WEFT_ROLE" in errors
    assert b"Traceback" not in errors


def test_help_lists_it_without_loading_the_sdk() -> None:
    script = (
        "import sys\nfrom weft.surfaces.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'mcp', 'pydantic', 'apsw', 'numpy'} & set(sys.modules), 'heavy'"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert b"\n  mcp " in done.stdout


def test_serving_loads_nothing_heavy_before_the_first_call() -> None:
    script = (
        "import sys, weft.surfaces.mcp.server\n"
        "from weft.surfaces.mcp.find_tool import tools_of\n"
        "from weft.surfaces.toolsets import offer\n"
        "assert tools_of(offer(('core',), network=False))\n"
        "heavy = {'apsw', 'numpy', 'onnxruntime', 'rich', 'weft.memory.facade', 'weft.text.extract.extraction'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
