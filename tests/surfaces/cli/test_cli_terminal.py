"""What a person at a terminal sees: colours if they are wanted, tables that fit, a bar on what takes long."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.surfaces.conftest import WEFT, Cli

TERMINAL = {"TERM": "xterm"}


class Terminal:
    """A terminal in which a command runs, and what it shows."""

    def __init__(self, ours: int, child: subprocess.Popen[bytes]) -> None:
        self._ours, self.child, self.shown = ours, child, ""

    def read(self, until: str | None = None) -> str:
        """All that is shown, or what is shown up to some words. Waits half a minute at most."""
        deadline = time.monotonic() + 30
        while until is None or until not in self.shown:
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self._ours], [], [], left)[0]:
                break
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            self.shown += piece.decode(errors="replace")
        return self.shown


@contextmanager
def terminal(cli: Cli, *arguments: str, **environment: str) -> Iterator[Terminal]:
    """A command that runs in one; its standard input is a pipe."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [str(WEFT), *arguments],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        cwd=cli.root,
        env=cli.environment() | TERMINAL | environment,
    )
    os.close(theirs)
    assert child.stdin is not None
    try:
        yield Terminal(ours, child)
    finally:
        child.stdin.close()
        child.kill()
        child.wait(timeout=30)
        os.close(ours)


def shown(cli: Cli, *arguments: str, **environment: str) -> str:
    with terminal(cli, *arguments, **environment) as running:
        return running.read()


def test_colours_are_for_terminals_that_want_them(cli: Cli) -> None:
    cli("remember", "words")
    assert "\x1b[" in shown(cli, "recent")
    assert "\x1b[" not in shown(cli, "recent", NO_COLOR="1")
    assert "\x1b[" not in shown(cli, "stats", NO_COLOR="1")
    assert "\x1b[" not in shown(cli, "--color", "never", "recent")
    assert b"\x1b[" in cli.real("--color", "always", "recent").out
    assert b"\x1b[" not in cli.real("recent").out


def test_tables_fit_the_terminal_and_are_plain_elsewhere(cli: Cli) -> None:
    made = cli("remember", "The ferry runs.", "--kind", "Service", "--props", "colour=blue", "--props", "harbour=north")
    assert made.exit_code == 0
    for columns in ("60", "160"):
        drawn = shown(cli, "stats", COLUMNS=columns, NO_COLOR="1")
        table = drawn[drawn.index("nodes  kind") :].splitlines()
        assert len(table) > 1
        assert max(map(len, table)) <= int(columns)
    plain = cli.real("stats").out.decode()
    heading, row = (next(line for line in plain.splitlines() if word in line) for word in ("kind", "Service"))
    assert heading.index("kind") == row.index("Service")


def test_what_takes_over_a_second_is_seen_to_be_at_work(cli: Cli) -> None:
    cli("remember", "words")
    log = cli.real("log", "export", "-").out
    there = {"XDG_DATA_HOME": str(cli.scratch / "elsewhere")}
    with terminal(cli, "log", "import", "-", **there) as running:  # which waits for its input
        assert "weft log import" in running.read(until="weft log import")
        assert running.child.stdin is not None
        running.child.stdin.write(log)
        running.child.stdin.close()
        assert "1 event imported" in running.read()
