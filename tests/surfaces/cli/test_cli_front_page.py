"""`weft --help`: every command in its place, on lines that fit; and what a slip of the finger is told."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from tests.surfaces.conftest import Cli
from weft.surfaces.cli.commands import index
from weft.surfaces.cli.front_page import EXAMPLES
from weft.surfaces.cli.sections import DEFAULTS, EVERYDAY, GROUPS, SECTIONS

NAMED = [name for names in SECTIONS.values() for name in names]


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
    shown, everything = (cli.real(*asked, COLUMNS=str(columns)).out.decode() for asked in ((), ("help", "all")))
    for text in (shown, everything):
        widest = max((line for line in text.splitlines() if line.strip() not in EXAMPLES), key=len)
        assert len(widest) <= max(columns, 50), widest
    assert [name for name in EVERYDAY if not re.search(rf"^  {name}\s", shown, re.MULTILINE)] == []
    assert "Exit codes:" in shown
    assert "`weft help all`" in shown
    assert [name for name in NAMED if not re.search(rf"^  {name}\s", everything, re.MULTILINE)] == []
    assert everything.index("Write:") < everything.index("Find:") < everything.index("Store:")


def test_examples_are_real(cli: Cli) -> None:
    (cli.root / "docs").mkdir()
    (cli.root / "docs" / "a.md").write_text("# One\n\nfirst\n")
    for line in EXAMPLES:
        first, *words = shlex.split(line.partition(" | ")[0])
        assert first == "weft"
        assert cli(*words).exit_code == 0, line


def test_help_of_a_command(cli: Cli) -> None:
    assert cli.real().out == cli.real("help").out
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
    assert "TEXT  the right text" in shown
