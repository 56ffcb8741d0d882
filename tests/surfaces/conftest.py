"""A place where the command line can run without touching anyone's home."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner, Result

from tests.kept_text import check_kept
from weft.surfaces.cli.main import weft as root

WEFT = Path(sys.executable).with_name("weft")
COLUMNS = "100"


class Ran(NamedTuple):
    """What a real process left behind."""

    code: int
    out: bytes
    err: str


class Cli:
    """The `weft` command in a directory of its own: in this process, or as a real one."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.root, self.data = scratch, scratch / "ferry", scratch / "data"
        self.home = scratch / "home"
        for each in (self.root, self.home):
            each.mkdir()
        self.command: click.Group = root

    @property
    def database(self) -> Path:
        return self.data / "weft" / "accounts" / "default.db"

    def __call__(self, *arguments: str, stdin: bytes | None = None) -> Result:
        # With --debug, what nobody expected is raised here rather than told.
        result = CliRunner().invoke(self.command, ["--debug", *arguments], input=stdin, prog_name="weft")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def real(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        done = subprocess.run(
            [str(WEFT), *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.root,
            env=self.environment() | environment,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    def environment(self) -> dict[str, str]:
        """Nothing of the caller's own but the path to Python."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.data),
            "COLUMNS": COLUMNS,
            "LC_ALL": "C.UTF-8",
            "WEFT_EMBEDDER": "none",  # words only: the model costs half a second a process
            "WEFT_AUDIT": "off",  # a second store for every test, which most say nothing about
        }


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    made = Cli(tmp_path)
    for name in [name for name in os.environ if name.startswith("WEFT_")]:
        if name != "WEFT_UPDATE_SNAPSHOTS":
            monkeypatch.delenv(name)
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.root)
    return made


SNAPSHOTS = Path(__file__).parent / "snapshots"
CheckSnapshot = Callable[[str, str], None]


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> CheckSnapshot:
    """Compares a text with the one kept in `snapshots`; with WEFT_UPDATE_SNAPSHOTS=1 keeps it instead."""
    return lambda name, text: check_kept(SNAPSHOTS / name, text)


def command_paths(group: click.Group, before: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """Every command, as the words that name it."""
    found: list[tuple[str, ...]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found.append((*before, name))
        if isinstance(command, click.Group):
            found.extend(command_paths(command, (*before, name)))
    return found


def every_command() -> list[tuple[str, ...]]:
    return command_paths(root)
