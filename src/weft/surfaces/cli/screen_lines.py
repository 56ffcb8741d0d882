"""How a screened message looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import dim, notes_below, one_line

if TYPE_CHECKING:
    from weft.operations.screening import Screened

COLOURS = {"CLEAN": "green", "SUSPICIOUS": "yellow", "DISCARD": "red"}


def screened_lines(answer: Screened) -> None:
    """The verdict, why, and what the message is after."""
    advisory = dim("  (advisory: it goes on as it is)") if answer.advisory else ""
    click.echo(f"{click.style(answer.verdict, fg=COLOURS[answer.verdict])}  {answer.channel}{advisory}")
    for reason in answer.reasons:
        click.echo(f"  ! {reason.category}: {flat(reason.reason)}: {one_line(reason.words)}")
    click.echo(f"{answer.intent}, {answer.language}, {answer.complexity}  {dim(f'read by {answer.source}')}")
    if answer.query:
        click.echo(f"query: {one_line(answer.query)}")
    notes_below(answer.notes)
