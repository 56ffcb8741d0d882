"""Keys, as the command line prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.surfaces.cli.lines import notes_below

if TYPE_CHECKING:
    from weft.operations.keys import KeyMade, KeyRotated


def key_made(answer: KeyMade) -> None:
    """The key and nothing else: it goes into a variable."""
    click.echo(answer.key)


def key_rotated(answer: KeyRotated) -> None:
    """What was sealed anew."""
    if answer.status != "saved":
        click.secho(f"{answer.status}: not everything could be sealed anew", fg="red", err=True)
    click.echo(f"sealed anew with {answer.key}: {answer.strings} texts and properties in {answer.events} events")
    notes_below(answer.notes)
