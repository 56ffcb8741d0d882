"""How commands end that do not end well: one form for people, one for programs, an exit code, never a traceback."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest
from click.testing import CliRunner

from weft.memory import Memory

from .conftest import WEFT, Cli

TRACE = "Traceback"


def test_a_reader_that_leaves_is_no_error(cli: Cli) -> None:
    items = json.dumps([{"text": f"memory number {n} of many, with some words to it"} for n in range(60)])
    assert cli("remember-many", "--items", items).exit_code == 0
    child = subprocess.Popen(
        [str(WEFT), "recent", "--limit", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cli.root,
        env=cli.environment(),
    )
    assert child.stdout is not None
    child.stdout.close()  # before anything is written
    assert child.stderr is not None
    told = child.stderr.read()
    assert (child.wait(30), told) == (141, b"")
    child.stderr.close()


def test_an_interrupted_command_says_so_and_leaves(cli: Cli) -> None:
    child = subprocess.Popen(
        [str(WEFT), "log", "import", "-"],  # which waits for its input
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cli.root,
        env=cli.environment(),
    )
    deadline = time.monotonic() + 30
    while "pipe_read" not in _waiting_in(child.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (130, b"", b"interrupted\n")


def _waiting_in(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            return file.read()
    except OSError:
        time.sleep(3)  # no such file here: long enough to start
        return "pipe_read"


def test_what_nobody_expected_is_told_in_a_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Memory, "run", broken)
    told = CliRunner().invoke(cli.command, ["stats"], prog_name="weft")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.splitlines()[0] == "error: ZeroDivisionError: division by zero"
    assert "weft --debug" in told.stderr.splitlines()[1]
    body = json.loads(CliRunner().invoke(cli.command, ["stats", "--json"], prog_name="weft").stdout)
    assert (body["ok"], body["error_code"]) == (False, "internal")
    raised = CliRunner().invoke(cli.command, ["--debug", "stats"], prog_name="weft")
    assert isinstance(raised.exception, ZeroDivisionError)


def test_a_wrong_command_line_is_json_for_programs(cli: Cli) -> None:
    for typed in (("recal", "--json"), ("recall", "--json"), ("recall", "x", "--limit", "many", "--json")):
        done = cli(*typed)
        assert done.exit_code == 2
        body = json.loads(done.stdout)
        assert set(body) == {"ok", "error_code", "error", "hint"}
        assert (body["ok"], body["error_code"]) == (False, "invalid")
        assert "--help" in body["hint"]


def test_refusals_look_alike(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is raised, and two that are told as a status."""
    monkeypatch.setenv("WEFT_ROLE", "agent")
    monkeypatch.setenv("WEFT_AGENT", "ann")
    for typed in (
        ("rebuild",),
        ("remember", "for all", "--level", "global"),
        ("remember", "x", "--project", "nowhere"),
    ):
        done = cli(*typed)
        assert (done.exit_code, done.stdout) == (1, ""), typed
        first, second = done.stderr.splitlines()[:2]
        assert first.startswith("error: ")
        assert second.startswith("hint:  ")
