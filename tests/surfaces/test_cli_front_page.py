"""`weft --help`: every command in its place, on lines that fit; and what a slip of the finger is told."""

from __future__ import annotations

import shlex

import click
import pytest

from weft.surfaces.cli.commands import index
from weft.surfaces.cli.front_page import EXAMPLES
from weft.surfaces.cli.sections import DEFAULTS, GROUPS, SECTIONS

from .conftest import Cli

NAMED = [name for section in SECTIONS for name in (*section.shown, *section.more)]


def test_every_command_is_in_one_section(cli: Cli) -> None:
    there = cli.command.list_commands(click.Context(cli.command))
    assert sorted(NAMED) == sorted(there), "put it into weft.surfaces.cli.sections"
    assert len(NAMED) == len(set(NAMED))


def test_every_group_says_what_it_is() -> None:
    groups = {words[0] for words in index() if len(words) > 1}
    assert groups == set(GROUPS)
    assert set(DEFAULTS) <= groups


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_it_fits(cli: Cli, columns: int) -> None:
    shown = cli.real("--help", COLUMNS=str(columns)).out.decode()
    widest = max((line for line in shown.splitlines() if line.strip() not in EXAMPLES), key=len)
    assert len(widest) <= max(columns, 50), widest
    words = shown.replace(",", " ").split()
    assert [name for name in NAMED if name not in words] == []
    assert shown.index("Everyday:") < shown.index("Writing:") < shown.index("For whoever works on weft:")
    assert "Exit codes:" in shown


def test_examples_are_real(cli: Cli) -> None:
    (cli.root / "docs").mkdir()
    (cli.root / "docs" / "a.md").write_text("# One\n\nfirst\n")
    for line in EXAMPLES:
        first, *words = shlex.split(line.partition(" | ")[0])
        assert first == "weft"
        assert cli(*words).exit_code == 0, line


def test_help_of_a_command(cli: Cli) -> None:
    for path in (("recall",), ("log", "show"), ("hygiene",), ()):
        assert cli("help", *path).stdout == cli(*path, "--help").stdout
    lost = cli("help", "recal")
    assert (lost.exit_code, "Did you mean recall" in lost.stderr) == (2, True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("recal", "x"), "recall"),
        (("log", "verfy"), "verify"),
        (("recall", "x", "--limt", "3"), "--limit"),
        (("report", "wrote"), "write"),
    ],
)
def test_what_was_meant(cli: Cli, typed: tuple[str, ...], meant: str) -> None:
    done = cli(*typed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Did you mean" in done.stderr
    assert meant in done.stderr


def test_arguments_are_explained(cli: Cli) -> None:
    shown = cli("correct", "--help").stdout
    assert "ID    a node's id, its name, or a citation" in shown
    assert "TEXT  what is right" in shown
