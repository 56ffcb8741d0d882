"""How commands end that do not end well: one form for people, one for programs, an exit code, never a traceback."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.surfaces.conftest import WEFT, Cli
from weft.memory.facade import Memory

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


INTERRUPTED_AT_S = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)


def test_an_interrupt_is_quiet_at_every_moment(cli: Cli) -> None:
    """While modules are imported, while the model is loaded beside it, while the answer is made."""
    environment = {name: value for name, value in cli.environment().items() if name != "WEFT_EMBEDDER"}
    script = (
        "import sys\nfrom weft.surfaces.cli.entry import main\n"
        "sys.argv = ['weft', 'recall', 'when do deploys freeze?']\n"
        "sys.stdout.write('up\\n')\nsys.stdout.flush()\nmain()\n"
    )
    assert cli("remember", "Deploys freeze on Fridays.").exit_code == 0
    for moment in INTERRUPTED_AT_S:
        child = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cli.root,
            env=environment,
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"up\n"
            time.sleep(moment)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=30)
        # When all is said, Python is putting itself away, and may be ended by the signal.
        ended = child.returncode in (0, -signal.SIGINT) and out and not err
        assert ended or (child.returncode, err) == (130, b"interrupted\n"), (moment, child.returncode, err)


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", ">&- 2>&- <&-"])
def test_a_stream_that_is_closed_is_done_without(cli: Cli, closed: str) -> None:
    cli("remember", "Deploys freeze on Fridays.")
    for typed, code in (("recall deploys", 0), ("stats --json", 0), ("log export -", 0), ("recal", 2), ("stats -h", 0)):
        done = subprocess.run(
            ["sh", "-c", f"'{WEFT}' {typed} {closed}"],
            capture_output=True,
            cwd=cli.root,
            env=cli.environment(),
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (typed, done.stderr)
        assert b"fault in weft" not in done.stdout + done.stderr
        assert bool(done.stdout) == (not code and ">&- " not in f" {closed.replace('2>&-', '')} "), typed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize(
    "typed", [("--version",), ("--help",), ("recall", "x"), ("stats", "--json"), ("help", "recall")]
)
def test_output_that_cannot_be_written_is_told_in_a_line(cli: Cli, typed: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(WEFT), *typed],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=cli.root,
            env=cli.environment(),
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("typed", [("recall", "x"), ("mcp",), ("migrate",), ("serve", "--port", "0")])
def test_a_directory_that_is_gone_is_told(cli: Cli, typed: tuple[str, ...]) -> None:
    gone = cli.scratch / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir '{gone}'; exec '{WEFT}' {' '.join(typed)}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=gone,
        env=cli.environment(),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    first, second = done.stderr.decode().splitlines()
    assert first == "error: the working directory was deleted or moved"
    assert second.startswith("hint:  cd ")


def test_an_empty_home_is_the_one_the_system_knows(cli: Cli) -> None:
    unset = {"HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    done = cli.real("config", "--json", **unset)
    (store,) = [each["value"] for each in json.loads(done.out)["settings"] if each["name"] == "store"]
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert store == f"sqlite://{home / '.local' / 'share' / 'weft'}"
