"""What the parts of an answer look like on a terminal."""

from __future__ import annotations

import click

from weft.operations.showing import NodeShown

LINE_CHARACTERS = 200


def dim(text: str) -> str:
    """Faint."""
    return click.style(text, dim=True)


def notes_below(notes: tuple[str, ...]) -> None:
    """Prints notes, faint."""
    for note in notes:
        click.echo(dim(f"note: {note}"))


def one_line(text: str) -> str:
    """At most LINE_CHARACTERS, without line breaks."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"


def heading(node: NodeShown) -> str:
    """Kind and name."""
    name = f" {click.style(node.name, bold=True)}" if node.name else ""
    return f"{click.style(f'[{node.kind}]', fg='cyan')}{name}"


def validity(node: NodeShown) -> str:
    """When it holds, in a few words."""
    begin = node.valid_from[:10]
    if begin == "0001-01-01" and node.valid_to is None:
        return "always"
    return f"since {begin}" if node.valid_to is None else f"{begin} to {node.valid_to[:10]}"
