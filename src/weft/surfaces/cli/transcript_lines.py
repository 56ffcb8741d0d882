"""How what was taken in from other programs' conversations looks on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.retrieval.views.ground import flat
from weft.surfaces.cli.lines import counted, dim, notes_below

if TYPE_CHECKING:
    from weft.operations.transcripts import TranscriptsIngested


def transcripts_lines(answer: TranscriptsIngested) -> None:
    """What was read and kept, by project, and what was left out."""
    turns = answer.read if answer.dry_run else answer.written + answer.unchanged + answer.skipped
    said = f"{counted(answer.conversations, 'conversation')}, {counted(turns, 'turn')}"
    found = f"{said} in {counted(answer.files, 'file')}"
    if answer.dry_run:
        click.echo(f"{found}; nothing was kept")
    else:
        kept = click.style(f"{answer.written} written", fg="green")
        click.echo(f"{found}: {kept}, {answer.unchanged} already known, {answer.skipped} skipped")
    for project, turns in answer.projects.items():
        click.echo(f"  project {flat(project)}: {counted(turns, 'turn')}")
    if answer.bad:
        click.secho(f"{counted(answer.bad, 'place')} could not be read", fg="yellow")
    for reason, count in answer.reasons.items():
        click.echo(dim(f"  left out: {count:,} × {flat(reason)}"))
    for line in answer.left_out:
        click.echo(dim(f"  {flat(line)}"))
    notes_below(answer.notes)
