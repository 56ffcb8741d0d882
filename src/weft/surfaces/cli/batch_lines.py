"""How the answer to many writes looks on a terminal: one line in all, then what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.batches import BatchWritten

COLOURS = {"saved": "green", "duplicate_skip": "green", "partial": "yellow"}


def batch_lines(answer: BatchWritten) -> None:
    """The status, how many were written, and each item that was not, by its place."""
    status = click.style(answer.status, fg=COLOURS.get(answer.status, "red"))
    click.echo(f"{status}  {answer.written} of {len(answer.items)} written")
    for item in answer.items:
        if item.error:
            click.echo(f"item {item.index}: {one_line(item.error)}")
            if item.hint:
                click.echo(dim(f"    {one_line(item.hint)}"))
        else:
            click.echo(dim(f"item {item.index}: {item.status}  {item.id}  {item.citation}".rstrip()))
    notes_below(answer.notes)
