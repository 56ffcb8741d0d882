"""What the parts of an answer look like on a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from weft.context.wording import spoken, visible
from weft.gateway import mark_of
from weft.retrieval.views.ground import flat

if TYPE_CHECKING:
    from weft.operations.showing import NodeShown

LINE_CHARACTERS = 200
MAX_COLUMNS = 110


def dim(text: str) -> str:
    """Faint."""
    return click.style(text, dim=True)


def wrapped(text: str, *, indent: str = "  ") -> str:
    """A long line as several, no wider than the terminal."""
    width = min(shutil.get_terminal_size().columns, MAX_COLUMNS)
    return textwrap.fill(text, max(width, 20), subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def notes_below(notes: tuple[str, ...]) -> None:
    """Prints notes, faint."""
    for note in notes:
        click.echo(dim(f"note: {flat(note)}"))


def counted(number: int, one: str, many: str = "") -> str:
    """`1 memory`, `3 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def one_line(text: str) -> str:
    """At most LINE_CHARACTERS, without line breaks and without what could steer a terminal."""
    line = flat(text)
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"


def all_lines(text: str) -> str:
    """A text as it is, without what could steer a terminal."""
    return "\n".join(map(visible, text.splitlines()))


def quoted_lines(text: str) -> str:
    """A text of which every line is marked as not weft's own."""
    return "\n".join(f"> {visible(line)}".rstrip() for line in text.splitlines())


def heading(node: NodeShown) -> str:
    """Kind, speaker and name, on one line; a mark where its words look like instructions."""
    kind = spoken(node.kind, node.props, node.text, node.summary)
    name = f" {click.style(flat(node.name), bold=True)}" if node.name else ""
    return f"{click.style(f'[{kind}]', fg='cyan')}{name}{flag(node.flags)}"


def flag(flags: Sequence[str]) -> str:
    """The mark of words that look like instructions, with a blank before it; nothing where none do."""
    return click.style(f" ! {mark_of(flags)}", fg="yellow") if flags else ""


def arrow(rel: str, direction: str) -> str:
    """A relation, on one line: `-WORKS_AT->`, or the other way."""
    return f"-{flat(rel)}->" if direction == "out" else f"<-{flat(rel)}-"


def validity(node: NodeShown) -> str:
    """When it holds, in a few words."""
    begin = node.valid_from[:10]
    if begin == "0001-01-01" and node.valid_to is None:
        return "always"
    return f"since {begin}" if node.valid_to is None else f"{begin} to {node.valid_to[:10]}"
