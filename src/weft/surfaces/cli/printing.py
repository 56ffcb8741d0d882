"""Prints answers: at the width of the terminal and in colours, or as they are into a pipe."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Final

import click

from weft.surfaces.render import Rendered, TextPage
from weft.surfaces.render import render as in_words
from weft.text.one_line import flat

if TYPE_CHECKING:
    from msgspec import Struct

MAX_COLUMNS: Final = 110
LEAST_COLUMNS: Final = 20


def render(answer: Struct) -> None:
    """Prints an answer for a person, with its notes.

    A text that is meant for a pipe (a prompt, a token) goes there alone; what there is to say of it goes to the error
    output.
    """
    show(in_words(answer, "person", width=columns()), getattr(answer, "notes", ()))


def show(rendered: Rendered, notes: tuple[str, ...] = ()) -> None:
    """Prints a page. If a note says why nothing was found, it replaces the summary."""
    beside = bool(rendered.text) and not sys.stdout.isatty()
    said = [] if not rendered.summary or (rendered.is_empty and notes) else [rendered.summary]
    if rendered.text:
        click.echo(rendered.text)
    elif rendered.summary and rendered.blocks and not rendered.is_empty:
        said = [*said, ""]
    for line in said:
        click.echo(line, err=beside)
    if rendered.blocks:
        click.echo("\n\n".join(rendered.blocks), err=beside)
    for note in notes:
        click.echo(faint(f"note: {flat(note)}"), err=beside)


def columns() -> int:
    """The maximal width of a line; 0 for unlimited, without a terminal."""
    return max(min(shutil.get_terminal_size().columns, MAX_COLUMNS), LEAST_COLUMNS) if sys.stdout.isatty() else 0


def page() -> TextPage:
    """An empty page for what is no answer of an operation."""
    return TextPage("person", width=columns())


def faint(text: str) -> str:
    """Prints secondary text."""
    return click.style(text, dim=True)
