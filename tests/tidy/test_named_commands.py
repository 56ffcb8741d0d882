"""Every command that a hint, a note, a docstring or a guide names is there."""

from __future__ import annotations

import re
from pathlib import Path

import click

from weft.surfaces.cli.main import weft as root

ROOT = Path(__file__).parents[2]
FILES = sorted((*(ROOT / "src" / "weft").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"))
NAMED = re.compile(r"`weft ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")


def unknown_commands(text: str) -> list[str]:
    """The commands named in a text that do not exist."""
    context, missing = click.Context(root), []
    for first, second in NAMED.findall(text):
        command = root.get_command(context, first)
        if command is None:
            missing.append(f"weft {first}")
        elif isinstance(command, click.Group) and second and command.get_command(context, second) is None:
            missing.append(f"weft {first} {second}")
    return missing


def test_what_is_not_there_would_be_found() -> None:
    assert unknown_commands("`weft recall` and `weft log verify`") == []
    assert unknown_commands("`weft log nothing`, `weft sweeping`") == ["weft log nothing", "weft sweeping"]


def test_every_command_that_is_named_exists() -> None:
    unknown = {str(file.relative_to(ROOT)): unknown_commands(file.read_text(encoding="utf-8")) for file in FILES}
    assert {name: commands for name, commands in unknown.items() if commands} == {}


def test_every_symbol_that_an_example_names_exists() -> None:
    named = [
        match
        for file in (ROOT / "examples").glob("*.py")
        for match in re.findall(r'"(weft/[\w/]+\.py)::(\w+)"', file.read_text(encoding="utf-8"))
    ]
    assert named
    for path, name in named:
        source = ROOT / "src" / path
        assert source.is_file(), path
        assert re.search(rf"^(?:def|class) {name}\b", source.read_text(encoding="utf-8"), re.MULTILINE), (path, name)
